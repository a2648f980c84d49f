// SPDX-License-Identifier: Apache-2.0
// A GGUF file has: "GGUF", the version (uint32), the numbers of tensors and of metadata entries (uint64 each); per
// entry a key (string), the type of its value (uint32) and the value; per tensor a name (string), the number of axes
// (uint32), their lengths (uint64 each, innermost first), the type (uint32) and the offset of its data (uint64); then,
// at the next multiple of the alignment, the data. Every offset is a multiple of the alignment too.
#include "locus/io/gguf.h"

#include <algorithm>
#include <utility>

#include "io/gguf_format.h"
#include "io/gguf_head.h"
#include "io/unread.h"
#include "locus/io/gguf_blocks.h"

namespace locus::io {
namespace {

constexpr std::uint64_t least_entry_bytes = 8 + 1 + 4 + 1;   // a key of one byte and a value of one byte
constexpr std::uint64_t least_tensor_bytes = 8 + 4 + 4 + 8;  // no name and no axes

struct GgufHeader {
  std::uint32_t version;
  std::uint64_t tensors, entries;
};

std::uint32_t byte_swapped(std::uint32_t v) { return v >> 24 | (v >> 8 & 0xff00u) | (v << 8 & 0xff0000u) | v << 24; }

GgufHeader take_header(ByteReader& reader) {
  const std::string& name = reader.name();
  require(reader.remaining() >= gguf_magic.size() && text_of(reader.take(4, "the magic")) == gguf_magic, name,
          ": not a GGUF file (it does not start with GGUF)");
  GgufHeader header{};
  header.version = reader.number<std::uint32_t>("the version");
  const std::uint32_t swapped = byte_swapped(header.version);
  require(header.version < 65536 || swapped >= 65536, name, ": big endian GGUF (version ", swapped,
          ") is not supported; convert the file to little endian");
  require(header.version == 2 || header.version == 3, name, ": GGUF version must be 2 or 3, got ", header.version);
  header.tensors = reader.number<std::uint64_t>("the number of tensors");
  header.entries = reader.number<std::uint64_t>("the number of metadata entries");
  require(header.entries <= reader.remaining() / least_entry_bytes, name, ": truncated, ", header.entries,
          " metadata entries do not fit into the ", reader.remaining(), " bytes that are left");
  require(header.tensors <= reader.remaining() / least_tensor_bytes, name, ": truncated, a directory of ",
          header.tensors, " tensors does not fit into the ", reader.remaining(), " bytes that are left");
  return header;
}

std::string take_name(ByteReader& reader, std::string_view what) {
  const auto length = reader.number<std::uint64_t>(what);
  require(length <= gguf_longest_key, reader.name(), ": ", what, " must be at most ", gguf_longest_key,
          " bytes long, got ", length);
  return std::string(text_of(reader.take(length, what)));
}

/// A tensor without its data, and the offset of its data.
struct PlacedGgufTensor {
  GgufTensor tensor;
  std::uint64_t offset;
};

PlacedGgufTensor take_tensor(ByteReader& reader) {
  PlacedGgufTensor placed;
  GgufTensor& tensor = placed.tensor;
  tensor.name = take_name(reader, "a tensor's name");
  const auto axes = reader.number<std::uint32_t>("a tensor's number of axes");
  require(axes <= gguf_most_axes, reader.name(), ": tensor ", shown(tensor.name), " must have at most ", gguf_most_axes,
          " axes, got ", axes);
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    tensor.shape.push_back(reader.number<std::int64_t>("a tensor's shape"));  // negative lengths are checked below
  }
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  tensor.type = static_cast<GgufTensorType>(reader.number<std::uint32_t>("a tensor's type"));
  placed.offset = reader.number<std::uint64_t>("a tensor's offset");
  return placed;
}

/// Error: the data of two tensors overlap.
void check_apart(std::span<const GgufTensor> tensors, const std::string& name) {
  std::vector<const GgufTensor*> in_order;
  for (const GgufTensor& tensor : tensors) {
    if (!tensor.bytes.empty()) in_order.push_back(&tensor);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const GgufTensor* a, const GgufTensor* b) { return a->bytes.data() < b->bytes.data(); });
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    const GgufTensor &before = *in_order[i - 1], &after = *in_order[i];
    require(before.bytes.data() + before.bytes.size() <= after.bytes.data(), name, ": tensors ", shown(before.name),
            " and ", shown(after.name), " overlap");
  }
}

}  // namespace

std::uint64_t gguf_alignment(const GgufValue& value, const std::string& what) {
  require(value.type == GgufValueType::uint32, what, " must be a uint32, got ", name_of(value.type));
  const std::int64_t alignment = value.integer(what);
  require(alignment > 0 && (alignment & (alignment - 1)) == 0, what, " must be a power of two, got ", alignment);
  return static_cast<std::uint64_t>(alignment);
}

std::uint64_t gguf_tensor_bytes(const GgufTensor& tensor, const std::string& file_name) {
  const std::string subject = file_name + ": tensor " + shown(tensor.name);
  const GgufBlock* const block = find_gguf_block(tensor.type);
  require(block != nullptr, subject, " must have a type that ggml knows, got number ",
          static_cast<std::uint32_t>(tensor.type));
  const std::uint64_t elements = checked_elements(tensor.shape, subject);
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  require(static_cast<std::uint64_t>(row) % block->elements == 0, subject, " of type ", block->name,
          " must have rows of a multiple of ", block->elements, " elements, got ", row);
  return checked_multiply(elements / block->elements, block->bytes, subject);
}

/// Fills a GgufFile from front to back.
class GgufParser {
 public:
  static GgufFile parse(std::span<const std::byte> bytes, const std::string& name,
                        std::shared_ptr<const MappedFile> mapping, std::uint64_t unread = 0) {
    GgufFile file;
    file.name_ = name;
    file.mapping_ = std::move(mapping);
    ByteReader reader(bytes, name);
    const GgufHeader header = take_header(reader);
    file.version_ = header.version;
    for (std::uint64_t i = 0; i < header.entries; ++i) take_entry(file, reader, bytes);
    if (const GgufValue* alignment = file.find(gguf_alignment_key)) {
      file.alignment_ = gguf_alignment(*alignment, file.subject(gguf_alignment_key));
    }
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < header.tensors; ++i) {
      PlacedGgufTensor placed = take_tensor(reader);
      const bool is_new = file.tensor_index_.emplace(placed.tensor.name, file.tensors_.size()).second;
      require(is_new, name, ": tensor ", shown(placed.tensor.name), " must be in the directory once, got it twice");
      offsets.push_back(placed.offset);
      file.tensors_.push_back(std::move(placed.tensor));
    }
    find_data(file, offsets, reader, unread);
    check_apart(file.tensors_, name);
    return file;
  }

 private:
  static void take_entry(GgufFile& file, ByteReader& reader, std::span<const std::byte> bytes) {
    GgufEntry entry;
    entry.key = take_name(reader, "a metadata key");
    require(!entry.key.empty(), file.name_, ": a metadata key must not be empty (at byte ", reader.at(), ")");
    entry.value.type = static_cast<GgufValueType>(reader.number<std::uint32_t>("the type of a metadata value"));
    const std::size_t start = reader.at();
    skip_gguf_value(reader, entry.value.type);
    const auto own = bytes.subspan(start, reader.at() - start);
    entry.value.bytes.assign(own.begin(), own.end());
    const bool is_new = file.key_index_.emplace(entry.key, file.metadata_.size()).second;
    require(is_new, file.name_, ": metadata key ", shown(entry.key), " must occur once, got it twice");
    file.metadata_.push_back(std::move(entry));
  }

  /// The data begin at the next aligned byte after the directory. A file without tensors may end there. `unread` bytes
  /// follow those of the reader; a tensor that reaches into them has no bytes.
  static void find_data(GgufFile& file, std::span<const std::uint64_t> offsets, ByteReader& reader,
                        std::uint64_t unread) {
    if (file.tensors_.empty()) return;
    reader.take(padding_to(file.alignment_, reader.at()), "the padding before the data");
    const auto data = reader.take(reader.remaining(), "the data");
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      GgufTensor& tensor = file.tensors_[i];
      const std::uint64_t offset = offsets[i], size = gguf_tensor_bytes(tensor, file.name_);
      require(offset % file.alignment_ == 0, file.name_, ": tensor ", shown(tensor.name),
              " must have an offset that is a multiple of ", file.alignment_, ", got ", offset);
      const std::uint64_t whole = data.size() + unread;
      require(offset <= whole && size <= whole - offset, file.name_, ": tensor ", shown(tensor.name), " needs ", size,
              " bytes at offset ", offset, ", the file has only ", whole, " bytes of data");
      if (offset > data.size() || size > data.size() - offset) continue;
      tensor.bytes = data.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
    }
  }
};

std::string GgufFile::subject(std::string_view key) const { return name_ + ": " + std::string(key); }

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = key_index_.find(key);
  return found == key_index_.end() ? nullptr : &metadata_[found->second].value;
}

std::optional<std::int64_t> GgufFile::integer(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? std::optional(value->integer(subject(key))) : std::nullopt;
}

std::optional<double> GgufFile::real(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? std::optional(value->real(subject(key))) : std::nullopt;
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? std::optional(value->boolean(subject(key))) : std::nullopt;
}

std::optional<std::string> GgufFile::text(std::string_view key) const {
  const GgufValue* const value = find(key);
  return value ? std::optional(value->text(subject(key))) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> GgufFile::integers(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (!value) return std::nullopt;
  if (value->type == GgufValueType::array) return value->integers(subject(key));
  return std::vector{value->integer(subject(key))};
}

const GgufTensor* GgufFile::find_tensor(std::string_view tensor_name) const {
  const auto found = tensor_index_.find(tensor_name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

std::vector<float> GgufFile::floats(const GgufTensor& tensor) const { return to_floats(tensor, name_); }

GgufFile parse_gguf(std::span<const std::byte> file, const std::string& name) {
  return GgufParser::parse(file, name, nullptr);
}

GgufFile parse_gguf_head(std::span<const std::byte> head, std::uint64_t unread, const std::string& name) {
  return GgufParser::parse(head, name, nullptr, unread);
}

GgufFile read_gguf(const std::filesystem::path& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  const auto bytes = mapping->bytes();
  return GgufParser::parse(bytes, path.string(), std::move(mapping), unread_bytes(path));
}

}  // namespace locus::io
