// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to metadata and tensors that can all be decoded, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/gguf.h"
#include "locus/io/gguf_encoding.h"
#include "locus/io/gguf_rope.h"

namespace {

using locus::io::GgufFile;
using locus::io::GgufValueType;

template <class Call>
void try_to(Call call) {
  try {
    call();
  } catch (const locus::Error&) {
  }
}

void decode_everything(const GgufFile& file) {
  for (const locus::io::GgufEntry& entry : file.metadata()) {
    const std::string& key = entry.key;
    const locus::io::GgufValue& value = entry.value;
    if (file.find(key) != &value) std::abort();
    try_to([&] { value.integer(key); });
    try_to([&] { value.real(key); });
    try_to([&] { value.boolean(key); });
    try_to([&] { value.integers(key); });
    try_to([&] { value.reals(key); });
    try_to([&] { value.booleans(key); });
    // A value that the parser accepted must decode as its type.
    if (value.type == GgufValueType::text) value.text(key);
    if (value.type == GgufValueType::array) {
      const GgufValueType element = value.element_type(key);
      if (element == GgufValueType::text) value.texts(key);
      if (element == GgufValueType::boolean) value.booleans(key);
      if (element == GgufValueType::array) value.arrays(key);
    }
  }
  for (const auto& tensor : file.tensors()) {
    try_to([&] { file.floats(tensor); });
  }
}

}  // namespace

namespace locus::fuzz {

void check_gguf(Bytes bytes) {
  try {
    const GgufFile file = locus::io::parse_gguf(bytes, "fuzz");
    decode_everything(file);
    locus::io::collect_gguf_rope(file);
    locus::io::resolve_gguf_encoding(file);
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
