// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to tensors that fill the data, or throw locus::Error; the same holds for an index.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/safetensors.h"

namespace locus::fuzz {

void check_safetensors(Bytes bytes) {
  try {
    const auto file = locus::io::parse_safetensors(bytes, "fuzz");
    std::size_t held = 0;
    for (const auto& tensor : file.tensors()) {
      held += tensor.bytes.size();
      if (file.find_tensor(tensor.name) != &tensor) std::abort();
      const bool eight_bit_float = name_of(tensor.type).starts_with("F8");
      if (!eight_bit_float && file.floats(tensor).size() * size_of(tensor.type) != tensor.bytes.size()) std::abort();
    }
    if (held > bytes.size()) std::abort();
  } catch (const locus::Error&) {
  }
  try {
    for (const auto& [tensor, shard] : locus::io::parse_safetensors_index(text_in(bytes), "fuzz")) {
      if (shard.find('/') != std::string::npos) std::abort();
    }
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
