// SPDX-License-Identifier: Apache-2.0
// llama2.c checkpoints of small models with all of their weights, and tokenizer files.
#include "checks.h"
#include "made_llama2c.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace locus::fuzz;
  Choices choices(data, size);
  const std::string file = choices.below(4) == 3 ? made_llama2c_tokenizer(choices) : made_llama2c(choices);
  check_llama2c(bytes_of(file));
  return 0;
}
