// SPDX-License-Identifier: Apache-2.0
// results.json files of a small lab, with changes.
#include "checks.h"
#include "made_results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace locus::fuzz;
  Choices choices(data, size);
  Json results = small_results(choices);
  vary(results, choices);
  check_results(text_of(results, choices));
  return 0;
}
