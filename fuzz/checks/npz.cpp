// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to an archive, whose members are arrays or throw locus::Error, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/npz.h"

namespace locus::fuzz {

void check_npz(Bytes bytes) {
  try {
    const auto file = locus::io::parse_npz(bytes, "fuzz");
    for (const auto& name : file.array_names()) {
      if (!file.contains(name)) std::abort();
      try {
        file.read(name);
      } catch (const locus::Error&) {
      }
    }
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
