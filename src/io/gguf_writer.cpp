// SPDX-License-Identifier: Apache-2.0
// gguf.cpp describes the layout. Tensors follow each other, each padded to the alignment: ggml reads no other order.
#include <set>

#include "io/gguf_format.h"
#include "locus/io/atomic_file.h"

namespace locus::io {
namespace {

constexpr std::size_t longest_tensor_name = 63;  // ggml stores names in 64 bytes with a terminating zero
constexpr std::uint64_t largest_alignment = 1 << 20;

void check_value(const GgufValue& value, const std::string& what) {
  ByteReader reader(value.bytes, what);
  skip_gguf_value(reader, value.type);
  require(reader.remaining() == 0, what, " must end after its value, ", reader.remaining(), " bytes are left over");
}

/// Appends the entries and returns the alignment that they set.
std::uint64_t append_metadata(std::string& head, std::span<const GgufEntry> metadata, const std::string& name) {
  std::uint64_t alignment = gguf_default_alignment;
  std::set<std::string_view> keys;
  for (const auto& [key, value] : metadata) {
    require(!key.empty() && key.size() <= gguf_longest_key, name, ": a metadata key must have 1 to ", gguf_longest_key,
            " bytes, got ", key.size());
    require(keys.insert(key).second, name, ": metadata key ", shown(key), " must occur once, got it twice");
    check_value(value, name + ": " + key);
    if (key == gguf_alignment_key) alignment = gguf_alignment(value, name + ": " + key);
    require(alignment <= largest_alignment, name, ": ", gguf_alignment_key, " must be at most ", largest_alignment,
            " to be written, got ", alignment);
    append_text(head, key);
    append_number(head, value.type);
    head += text_of(value.bytes);
  }
  return alignment;
}

void append_directory(std::string& head, std::span<const GgufTensor> tensors, std::uint64_t alignment,
                      const std::string& name) {
  std::set<std::string_view> names;
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    require(!tensor.name.empty() && tensor.name.size() <= longest_tensor_name, name,
            ": a tensor's name must have 1 to ", longest_tensor_name, " bytes, got ", shown(tensor.name));
    require(names.insert(tensor.name).second, name, ": tensor ", shown(tensor.name), " must occur once, got it twice");
    require(tensor.shape.size() <= gguf_most_axes, name, ": tensor ", shown(tensor.name), " must have at most ",
            gguf_most_axes, " axes, got ", tensor.shape.size());
    const std::uint64_t size = gguf_tensor_bytes(tensor, name);
    require(tensor.bytes.size() == size, name, ": tensor ", shown(tensor.name), " must have ", size,
            " bytes for its shape, got ", tensor.bytes.size());
    append_text(head, tensor.name);
    append_number(head, static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto length = tensor.shape.rbegin(); length != tensor.shape.rend(); ++length) append_number(head, *length);
    append_number(head, tensor.type);
    append_number(head, offset);
    offset += size + padding_to(alignment, size);
  }
}

}  // namespace

void write_gguf(const std::filesystem::path& path, std::span<const GgufEntry> metadata,
                std::span<const GgufTensor> tensors) {
  const std::string name = path.string();
  std::string head(gguf_magic);
  append_number(head, std::uint32_t{3});
  append_number(head, std::uint64_t{tensors.size()});
  append_number(head, std::uint64_t{metadata.size()});
  const std::uint64_t alignment = append_metadata(head, metadata, name);
  append_directory(head, tensors, alignment, name);
  if (!tensors.empty()) head.append(static_cast<std::size_t>(padding_to(alignment, head.size())), '\0');

  const std::vector<std::byte> zeros(static_cast<std::size_t>(alignment));
  std::vector<ByteChunk> chunks = {std::as_bytes(std::span(head))};
  for (const GgufTensor& tensor : tensors) {
    chunks.push_back(tensor.bytes);
    chunks.push_back(std::span(zeros).first(static_cast<std::size_t>(padding_to(alignment, tensor.bytes.size()))));
  }
  write_atomically(path, chunks);
}

}  // namespace locus::io
