// SPDX-License-Identifier: Apache-2.0
#include "array_files.h"

#include "locus/error.h"

namespace locus::tools {

ElementType element_type(io::NpyType type, const std::string& path) {
  switch (type) {
    case io::NpyType::float32:
      return ElementType::float32;
    case io::NpyType::float64:
      return ElementType::float64;
    case io::NpyType::float16:
      return ElementType::float16;
    default:
      fail(path, ": the input must be float32, float64 or float16, got ", io::name_of(type));
  }
}

}  // namespace locus::tools
