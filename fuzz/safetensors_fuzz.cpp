// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to tensors that fill the data, or throw locus::Error; the same holds for an index.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "locus/error.h"
#include "locus/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = locus::io::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    std::size_t bytes = 0;
    for (const auto& tensor : file.tensors()) {
      bytes += tensor.bytes.size();
      if (file.find_tensor(tensor.name) != &tensor) std::abort();
      const bool eight_bit_float = name_of(tensor.type).starts_with("F8");
      if (!eight_bit_float && file.floats(tensor).size() * size_of(tensor.type) != tensor.bytes.size()) std::abort();
    }
    if (bytes > size) std::abort();
  } catch (const locus::Error&) {
  }
  try {
    for (const auto& [tensor, shard] :
         locus::io::parse_safetensors_index({reinterpret_cast<const char*>(data), size}, "fuzz")) {
      if (shard.find('/') != std::string::npos) std::abort();
    }
  } catch (const locus::Error&) {
  }
  return 0;
}
