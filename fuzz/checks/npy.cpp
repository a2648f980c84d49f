// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to a consistent array, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/npy.h"

namespace locus::fuzz {

void check_npy(Bytes bytes) {
  try {
    const locus::io::NpyArray array = locus::io::parse_npy(bytes, "fuzz");
    const auto elements = static_cast<std::size_t>(array.size());
    if (array.bytes.size() > bytes.size() || elements > array.bytes.size()) std::abort();
    if (locus::io::to_doubles(array, "fuzz").size() != elements) std::abort();
    if (locus::io::to_floats(array, "fuzz").size() != elements) std::abort();
    if (locus::io::to_integers(array, "fuzz").size() != elements) std::abort();
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
