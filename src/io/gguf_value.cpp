// SPDX-License-Identifier: Apache-2.0
// A number is stored directly, a boolean as one byte of 0 or 1, a string as its length (uint64) and its bytes, an array
// as the type of its elements (uint32), their number (uint64) and the elements, which may be arrays.
#include "locus/io/gguf_value.h"

#include <array>
#include <utility>

#include "io/gguf_format.h"

namespace locus::io {
namespace {

constexpr int deepest_array = 8;
constexpr std::size_t array_head_bytes = 12;  // type and number of the elements

constexpr std::array<std::string_view, 13> type_names = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                                         "int32",  "float32", "bool",   "string", "array",
                                                         "uint64", "int64",   "float64"};

GgufValueType checked_type(std::uint32_t number, const std::string& name) {
  require(number < type_names.size(), name, ": a metadata value must have a type from 0 to ", type_names.size() - 1,
          ", got ", number);
  return static_cast<GgufValueType>(number);
}

/// Size of numbers and booleans; 0 for strings and arrays, which store their own size.
std::size_t size_of(GgufValueType type) {
  using enum GgufValueType;
  switch (type) {
    case uint8:
    case int8:
    case boolean:
      return 1;
    case uint16:
    case int16:
      return 2;
    case uint32:
    case int32:
    case float32:
      return 4;
    case uint64:
    case int64:
    case float64:
      return 8;
    case text:
    case array:
      return 0;
  }
  return 0;
}

struct ArrayHead {
  GgufValueType type;
  std::uint64_t count;
};

ArrayHead take_array_head(ByteReader& reader) {
  const GgufValueType type = checked_type(reader.number<std::uint32_t>("the type of an array"), reader.name());
  const auto count = reader.number<std::uint64_t>("the length of an array");
  const std::size_t least = type == GgufValueType::text    ? 8
                            : type == GgufValueType::array ? array_head_bytes
                                                           : size_of(type);
  require(count <= reader.remaining() / least, reader.name(), ": truncated, an array of ", count, " elements of type ",
          name_of(type), " is longer than the ", reader.remaining(), " bytes that are left");
  return {type, count};
}

bool take_boolean(ByteReader& reader) {
  const auto byte = reader.number<std::uint8_t>("a boolean");
  require(byte <= 1, reader.name(), ": a boolean must be stored as 0 or 1, got ", int{byte});
  return byte == 1;
}

std::string_view take_text(ByteReader& reader) {
  const auto length = reader.number<std::uint64_t>("the length of a string");
  return text_of(reader.take(length, "a string"));
}

bool is_integer(GgufValueType type) {
  using enum GgufValueType;
  return size_of(type) != 0 && type != boolean && type != float32 && type != float64;
}
bool is_real(GgufValueType type) { return type == GgufValueType::float32 || type == GgufValueType::float64; }

std::int64_t take_integer(ByteReader& reader, GgufValueType type) {
  constexpr std::string_view what = "an integer";
  using enum GgufValueType;
  switch (type) {
    case uint8:
      return reader.number<std::uint8_t>(what);
    case int8:
      return reader.number<std::int8_t>(what);
    case uint16:
      return reader.number<std::uint16_t>(what);
    case int16:
      return reader.number<std::int16_t>(what);
    case uint32:
      return reader.number<std::uint32_t>(what);
    case int32:
      return reader.number<std::int32_t>(what);
    case int64:
      return reader.number<std::int64_t>(what);
    default:
      break;
  }
  const auto number = reader.number<std::uint64_t>(what);
  require(std::in_range<std::int64_t>(number), reader.name(), " must be below 2^63, got ", number);
  return static_cast<std::int64_t>(number);
}

double take_real(ByteReader& reader, GgufValueType type) {
  if (type == GgufValueType::float32) return reader.number<float>("a float32");
  return reader.number<double>("a float64");
}

void skip(ByteReader& reader, GgufValueType type, int depth) {
  using enum GgufValueType;
  if (type == boolean) {
    take_boolean(reader);
  } else if (type == text) {
    take_text(reader);
  } else if (type != array) {
    reader.take(size_of(type), "a number");
  } else {
    require(depth < deepest_array, reader.name(), ": arrays must be nested at most ", deepest_array, " deep");
    const ArrayHead head = take_array_head(reader);
    if (size_of(head.type) != 0 && head.type != boolean) {
      reader.take(head.count * size_of(head.type), "an array");  // cannot overflow: the count was checked
    } else {
      for (std::uint64_t i = 0; i < head.count; ++i) skip(reader, head.type, depth + 1);
    }
  }
}

/// Decodes a complete value. Error: bytes are left over.
template <class Take>
auto decode(const GgufValue& value, const std::string& what, Take take) {
  ByteReader reader(value.bytes, what);
  auto result = take(reader);
  require(reader.remaining() == 0, what, " must end after its value, ", reader.remaining(), " bytes are left over");
  return result;
}

/// Decodes an array if `fits` accepts its element type.
template <class Element, class Fits, class Take>
std::vector<Element> decode_array(const GgufValue& value, const std::string& what, std::string_view rule, Fits fits,
                                  Take take) {
  require(value.type == GgufValueType::array, what, " must be ", rule, ", got ", name_of(value.type));
  return decode(value, what, [&](ByteReader& reader) {
    const ArrayHead head = take_array_head(reader);
    require(fits(head.type), what, " must be ", rule, ", got an array of ", name_of(head.type));
    std::vector<Element> elements;
    elements.reserve(static_cast<std::size_t>(head.count));
    for (std::uint64_t i = 0; i < head.count; ++i) elements.push_back(take(reader, head.type));
    return elements;
  });
}

std::vector<std::byte> stored_text(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text.data(), text.size()));
  return {raw.begin(), raw.end()};
}

}  // namespace

std::string_view name_of(GgufValueType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < type_names.size() ? type_names[number] : "an unknown type";
}

void skip_gguf_value(ByteReader& reader, GgufValueType type) {
  skip(reader, checked_type(static_cast<std::uint32_t>(type), reader.name()), 0);
}

GgufValue GgufValue::of_elements(GgufValueType element_type, std::uint64_t count, std::span<const std::byte> elements) {
  std::string stored;
  append_number(stored, element_type);
  append_number(stored, count);
  stored += text_of(elements);
  return {GgufValueType::array, stored_text(stored)};
}

GgufValue GgufValue::of(std::string_view text) {
  std::string stored;
  append_text(stored, text);
  return {GgufValueType::text, stored_text(stored)};
}

GgufValue GgufValue::of_array(std::span<const std::string> texts) {
  std::string elements;
  for (const std::string& text : texts) append_text(elements, text);
  return of_elements(GgufValueType::text, texts.size(), std::as_bytes(std::span(elements)));
}

GgufValue GgufValue::of_array(std::span<const GgufValue> arrays) {
  std::string elements;
  for (const GgufValue& array : arrays) {
    require(array.type == GgufValueType::array, "a GGUF array of arrays must hold arrays, got ", name_of(array.type));
    elements += text_of(array.bytes);
  }
  return of_elements(GgufValueType::array, arrays.size(), std::as_bytes(std::span(elements)));
}

std::int64_t GgufValue::integer(const std::string& what) const {
  require(is_integer(type), what, " must be an integer, got ", name_of(type));
  return decode(*this, what, [&](ByteReader& reader) { return take_integer(reader, type); });
}

double GgufValue::real(const std::string& what) const {
  require(is_real(type), what, " must be a float32 or float64, got ", name_of(type));
  return decode(*this, what, [&](ByteReader& reader) { return take_real(reader, type); });
}

bool GgufValue::boolean(const std::string& what) const {
  require(type == GgufValueType::boolean, what, " must be a bool, got ", name_of(type));
  return decode(*this, what, take_boolean);
}

std::string GgufValue::text(const std::string& what) const {
  require(type == GgufValueType::text, what, " must be a string, got ", name_of(type));
  return decode(*this, what, [](ByteReader& reader) { return std::string(take_text(reader)); });
}

GgufValueType GgufValue::element_type(const std::string& what) const {
  require(type == GgufValueType::array, what, " must be an array, got ", name_of(type));
  ByteReader reader(bytes, what);
  return take_array_head(reader).type;
}

std::vector<std::int64_t> GgufValue::integers(const std::string& what) const {
  return decode_array<std::int64_t>(*this, what, "an array of integers", is_integer, take_integer);
}

std::vector<double> GgufValue::reals(const std::string& what) const {
  return decode_array<double>(*this, what, "an array of float32 or float64", is_real, take_real);
}

std::vector<bool> GgufValue::booleans(const std::string& what) const {
  return decode_array<bool>(
      *this, what, "an array of bool", [](GgufValueType t) { return t == GgufValueType::boolean; },
      [](ByteReader& reader, GgufValueType) { return take_boolean(reader); });
}

std::vector<std::string> GgufValue::texts(const std::string& what) const {
  return decode_array<std::string>(
      *this, what, "an array of strings", [](GgufValueType t) { return t == GgufValueType::text; },
      [](ByteReader& reader, GgufValueType) { return std::string(take_text(reader)); });
}

std::vector<GgufValue> GgufValue::arrays(const std::string& what) const {
  return decode_array<GgufValue>(
      *this, what, "an array of arrays", [](GgufValueType t) { return t == GgufValueType::array; },
      [this](ByteReader& reader, GgufValueType) {
        const std::size_t start = reader.at();
        skip(reader, GgufValueType::array, 1);
        const auto own = std::span(bytes).subspan(start, reader.at() - start);
        return GgufValue{GgufValueType::array, {own.begin(), own.end()}};
      });
}

}  // namespace locus::io
