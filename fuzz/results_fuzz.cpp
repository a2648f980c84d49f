// SPDX-License-Identifier: Apache-2.0
// Any bytes.
#include <cstdint>

#include "checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  locus::fuzz::check_results(locus::fuzz::text_in(std::as_bytes(std::span(data, size))));
  return 0;
}
