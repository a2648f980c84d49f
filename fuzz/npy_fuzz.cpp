// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to a consistent array, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "locus/error.h"
#include "locus/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = std::as_bytes(std::span(data, size));
    const locus::io::NpyArray array = locus::io::parse_npy(file, "fuzz");
    const auto elements = static_cast<std::size_t>(array.size());
    if (array.bytes.size() > size || elements > array.bytes.size()) std::abort();
    if (locus::io::to_doubles(array, "fuzz").size() != elements) std::abort();
    if (locus::io::to_floats(array, "fuzz").size() != elements) std::abort();
    if (locus::io::to_integers(array, "fuzz").size() != elements) std::abort();
  } catch (const locus::Error&) {
  }
  return 0;
}
