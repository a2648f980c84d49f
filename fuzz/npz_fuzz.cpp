// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to an archive, whose members are arrays or throw locus::Error, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "locus/error.h"
#include "locus/io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = locus::io::parse_npz(std::as_bytes(std::span(data, size)), "fuzz");
    for (const auto& name : file.array_names()) {
      if (!file.contains(name)) std::abort();
      try {
        file.read(name);
      } catch (const locus::Error&) {
      }
    }
  } catch (const locus::Error&) {
  }
  return 0;
}
