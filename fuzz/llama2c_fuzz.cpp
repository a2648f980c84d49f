// SPDX-License-Identifier: Apache-2.0
// Any bytes.
#include <cstdint>

#include "checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  locus::fuzz::check_llama2c(bytes);
  return 0;
}
