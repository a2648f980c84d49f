// SPDX-License-Identifier: Apache-2.0
// A safetensors file has: the length of the header (uint64), the header (a JSON object, padded with blanks), the data.
// For each tensor the header has {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, with offsets from the
// start of the data. It may have "__metadata__", an object of strings.
#include "locus/io/safetensors.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "io/safetensors_head.h"
#include "io/unread.h"
#include "locus/element.h"
#include "locus/io/atomic_file.h"
#include "parse/byte_reader.h"
#include "parse/strict_json.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::size_t safetensors_most_axes = 64;
constexpr std::size_t header_alignment = 8;

struct SafetensorsTypeRow {
  SafetensorsType type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<SafetensorsTypeRow, 15> safetensors_type_rows = {{
    {SafetensorsType::f64, "F64", 8},
    {SafetensorsType::f32, "F32", 4},
    {SafetensorsType::f16, "F16", 2},
    {SafetensorsType::bf16, "BF16", 2},
    {SafetensorsType::i64, "I64", 8},
    {SafetensorsType::i32, "I32", 4},
    {SafetensorsType::i16, "I16", 2},
    {SafetensorsType::i8, "I8", 1},
    {SafetensorsType::u64, "U64", 8},
    {SafetensorsType::u32, "U32", 4},
    {SafetensorsType::u16, "U16", 2},
    {SafetensorsType::u8, "U8", 1},
    {SafetensorsType::boolean, "BOOL", 1},
    {SafetensorsType::f8_e4m3, "F8_E4M3", 1},
    {SafetensorsType::f8_e5m2, "F8_E5M2", 1},
}};

const SafetensorsTypeRow& row_of(SafetensorsType type) {
  const auto row = std::find_if(safetensors_type_rows.begin(), safetensors_type_rows.end(),
                                [&](const SafetensorsTypeRow& r) { return r.type == type; });
  require(row != safetensors_type_rows.end(), "safetensors type must be one of the enumerators, got ",
          static_cast<int>(type));
  return *row;
}

SafetensorsType type_of(const Json& dtype, const std::string& subject) {
  require(dtype.is_string(), subject, ".dtype must be a string, got ", dtype.type_name());
  const auto& text = dtype.get_ref<const std::string&>();
  const auto row = std::find_if(safetensors_type_rows.begin(), safetensors_type_rows.end(),
                                [&](const SafetensorsTypeRow& r) { return r.name == text; });
  require(row != safetensors_type_rows.end(), subject,
          ".dtype must be one of F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL ", "F8_E4M3 F8_E5M2, got ",
          [&] { return shown(text); });
  return row->type;
}

/// Returns a list of integers from 0 to 2^63 - 1.
std::vector<std::int64_t> lengths_of(const Json& list, const std::string& subject) {
  require(list.is_array(), subject, " must be a list of integers, got ", list.type_name());
  require(list.size() <= safetensors_most_axes, subject, " must have at most ", safetensors_most_axes, " entries, got ",
          list.size());
  std::vector<std::int64_t> lengths;
  for (const Json& entry : list) {
    require(entry.is_number_unsigned() && std::in_range<std::int64_t>(entry.get<std::uint64_t>()), subject,
            " must be a list of integers from 0 to 2^63 - 1, got ", [&] { return shown(entry.dump()); });
    lengths.push_back(entry.get<std::int64_t>());
  }
  return lengths;
}

/// A tensor and the place of its data.
struct PlacedTensor {
  SafetensorsTensor tensor;
  std::uint64_t begin, size;
};

/// The data of a file: the bytes that were read, and how many follow them.
struct Data {
  std::span<const std::byte> bytes;
  std::uint64_t unread;
  std::uint64_t size() const { return bytes.size() + unread; }
};

/// A tensor that reaches into unread data has no bytes.
PlacedTensor placed_tensor(const std::string& tensor_name, const Json& entry, const Data& data,
                           const std::string& file_name) {
  const std::string subject = file_name + ": tensor " + shown(tensor_name);
  require(entry.is_object(), subject, " must be an object, got ", entry.type_name());
  for (const auto& item : entry.items()) {
    const std::string& key = item.key();
    require(key == "dtype" || key == "shape" || key == "data_offsets", subject,
            " must have only dtype, shape and data_offsets, got ", [&] { return shown(key); });
  }
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    require(entry.contains(key), subject, " must have ", key);
  }
  PlacedTensor placed;
  SafetensorsTensor& tensor = placed.tensor;
  tensor.name = tensor_name;
  tensor.type = type_of(entry["dtype"], subject);
  tensor.shape = lengths_of(entry["shape"], subject + ".shape");
  const auto offsets = lengths_of(entry["data_offsets"], subject + ".data_offsets");
  require(offsets.size() == 2 && offsets[0] <= offsets[1], subject, ".data_offsets must be [begin, end] in order");
  const auto begin = static_cast<std::uint64_t>(offsets[0]), end = static_cast<std::uint64_t>(offsets[1]);
  require(end <= data.size(), subject, ".data_offsets must end inside the data (", data.size(), " bytes), got ", end);
  const std::uint64_t needed = checked_multiply(checked_elements(tensor.shape, subject), size_of(tensor.type), subject);
  require(end - begin == needed, subject, " must have ", needed, " bytes for its shape, got ", end - begin);
  placed.begin = begin;
  placed.size = needed;
  if (end <= data.bytes.size()) {
    tensor.bytes = data.bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(needed));
  }
  return placed;
}

std::map<std::string, std::string> metadata_of(const Json& entry, const std::string& name) {
  require(entry.is_object(), name, ": __metadata__ must be an object, got ", entry.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& item : entry.items()) {
    require(
        item.value().is_string(), name, ": __metadata__.", [&] { return shown(item.key()); }, " must be a string, got ",
        item.value().type_name());
    metadata.emplace(item.key(), item.value().get_ref<const std::string&>());
  }
  return metadata;
}

/// Appends `"key":value` to the text of an open object. (An ordered_json of the whole would search all of its keys for
/// each new one.)
void append_member(std::string& object, const std::string& key, const nlohmann::ordered_json& value,
                   const std::string& name) {
  try {
    object += (object.size() == 1 ? "" : ",") + Json(key).dump() + ":" + value.dump();
  } catch (const Json::exception&) {
    fail(name, ": names of tensors and metadata must be UTF-8");
  }
}

template <class T>
float float_of(T value) {
  return static_cast<float>(value);
}
float float_of(Float16 value) { return to_float(value); }
float float_of(BFloat16 value) { return to_float(value); }

template <class T>
std::vector<float> converted(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float_of(load<T>(bytes.data() + i * sizeof(T)));
  return values;
}

}  // namespace

std::string_view name_of(SafetensorsType type) { return row_of(type).name; }
std::size_t size_of(SafetensorsType type) { return row_of(type).size; }

/// Fills a SafetensorsFile.
class SafetensorsParser {
 public:
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& name,
                               std::shared_ptr<const MappedFile> mapping, std::uint64_t unread = 0) {
    SafetensorsFile file;
    file.name_ = name;
    file.mapping_ = std::move(mapping);
    ByteReader reader(bytes, name);
    const auto length = reader.number<std::uint64_t>("the length of the header");
    const auto text = text_of(reader.take(length, "the header"));
    require(text.starts_with('{'), name, ": not a safetensors file (its header must start with '{')");
    const Json header = parse_strict_json(text, name);
    const Data data{reader.take(reader.remaining(), "the data"), unread};

    std::vector<PlacedTensor> placed;
    for (const auto& item : header.items()) {
      if (item.key() == metadata_key) {
        file.metadata_ = metadata_of(item.value(), name);
      } else {
        placed.push_back(placed_tensor(item.key(), item.value(), data, name));
      }
    }
    check_and_take(file, placed, data.size());
    return file;
  }

 private:
  /// The format allows neither gaps nor overlaps, so nothing can be hidden between tensors.
  static void check_and_take(SafetensorsFile& file, std::vector<PlacedTensor>& placed, std::uint64_t data_size) {
    std::sort(placed.begin(), placed.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
      return std::pair(a.begin, a.size) < std::pair(b.begin, b.size);
    });
    std::uint64_t filled = 0;
    for (PlacedTensor& one : placed) {
      require(
          one.begin >= filled, file.name_, ": tensor ", [&] { return shown(one.tensor.name); },
          " overlaps the previous one: it begins at ", one.begin, ", the previous one ends at ", filled);
      require(
          one.begin == filled, file.name_, ": tensor ", [&] { return shown(one.tensor.name); }, " must begin at ",
          filled, ", where the previous one ends, got ", one.begin);
      filled += one.size;
      file.index_.emplace(one.tensor.name, file.tensors_.size());
      file.tensors_.push_back(std::move(one.tensor));
    }
    require(filled == data_size, file.name_, ": tensors must fill the data, but have ", filled, " bytes of ",
            data_size);
  }
};

const SafetensorsTensor* SafetensorsFile::find_tensor(std::string_view tensor_name) const {
  const auto found = index_.find(tensor_name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::vector<float> SafetensorsFile::floats(const SafetensorsTensor& tensor) const { return to_floats(tensor, name_); }

SafetensorsFile parse_safetensors(std::span<const std::byte> file, const std::string& name) {
  return SafetensorsParser::parse(file, name, nullptr);
}

SafetensorsFile parse_safetensors_head(std::span<const std::byte> head, std::uint64_t unread, const std::string& name) {
  return SafetensorsParser::parse(head, name, nullptr, unread);
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  const auto bytes = mapping->bytes();
  return SafetensorsParser::parse(bytes, path.string(), std::move(mapping), unread_bytes(path));
}

std::vector<float> to_floats(const SafetensorsTensor& tensor, const std::string& name) {
  const std::string subject = name + ": tensor " + shown(tensor.name);
  const std::uint64_t needed = checked_multiply(checked_elements(tensor.shape, subject), size_of(tensor.type), subject);
  require(tensor.bytes.size() == needed, subject, " must have ", needed, " bytes for its shape, got ",
          tensor.bytes.size());
  using enum SafetensorsType;
  switch (tensor.type) {
    case f64:
      return converted<double>(tensor.bytes);
    case f32:
      return converted<float>(tensor.bytes);
    case f16:
      return converted<Float16>(tensor.bytes);
    case bf16:
      return converted<BFloat16>(tensor.bytes);
    case i64:
      return converted<std::int64_t>(tensor.bytes);
    case i32:
      return converted<std::int32_t>(tensor.bytes);
    case i16:
      return converted<std::int16_t>(tensor.bytes);
    case i8:
      return converted<std::int8_t>(tensor.bytes);
    case u64:
      return converted<std::uint64_t>(tensor.bytes);
    case u32:
      return converted<std::uint32_t>(tensor.bytes);
    case u16:
      return converted<std::uint16_t>(tensor.bytes);
    case u8:
    case boolean:
      return converted<std::uint8_t>(tensor.bytes);
    case f8_e4m3:
    case f8_e5m2:
      break;
  }
  fail(subject, " of type ", name_of(tensor.type), " cannot be read as numbers without the scales of its model");
}

void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string name = path.string();
  std::vector<const SafetensorsTensor*> in_order;
  for (const SafetensorsTensor& tensor : tensors) in_order.push_back(&tensor);
  std::stable_sort(in_order.begin(), in_order.end(), [](const SafetensorsTensor* a, const SafetensorsTensor* b) {
    return size_of(a->type) > size_of(b->type);
  });

  std::string text = "{";
  if (!metadata.empty()) append_member(text, std::string(metadata_key), metadata, name);
  std::unordered_set<std::string_view> names;
  std::uint64_t end = 0;
  for (const SafetensorsTensor* tensor : in_order) {
    const std::string subject = name + ": tensor " + shown(tensor->name);
    require(tensor->name != metadata_key, subject, " must have another name; the format reserves this one");
    require(names.insert(tensor->name).second, subject, " must occur once, got it twice");
    require(tensor->shape.size() <= safetensors_most_axes, subject, " must have at most ", safetensors_most_axes,
            " axes, got ", tensor->shape.size());
    const std::uint64_t needed =
        checked_multiply(checked_elements(tensor->shape, subject), size_of(tensor->type), subject);
    require(tensor->bytes.size() == needed, subject, " must have ", needed, " bytes for its shape, got ",
            tensor->bytes.size());
    const std::uint64_t begin = end;
    end += needed;
    append_member(text, tensor->name,
                  {{"dtype", name_of(tensor->type)}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}}, name);
  }
  text += '}';
  text.append((header_alignment - text.size() % header_alignment) % header_alignment, ' ');
  const std::uint64_t length = text.size();
  std::vector<ByteChunk> chunks = {std::as_bytes(std::span(&length, 1)), std::as_bytes(std::span(text))};
  for (const SafetensorsTensor* tensor : in_order) chunks.push_back(tensor->bytes);
  write_atomically(path, chunks);
}

}  // namespace locus::io
