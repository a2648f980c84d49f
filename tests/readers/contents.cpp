// SPDX-License-Identifier: Apache-2.0
// Prints what Locus reads in GGUF and safetensors files, for compare.py. Standard input holds files, each as its kind ('g'
// or 's'), its size (uint64) and its bytes; each gives a line of JSON: what was read, or {"refused": message}. Names and
// texts are in hexadecimal, since they may be any bytes; numbers that JSON does not have are null.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "locus/error.h"
#include "locus/io/gguf.h"
#include "locus/io/safetensors.h"

namespace {

using Json = nlohmann::json;
using locus::io::GgufValue;
using locus::io::GgufValueType;

std::string in_hex(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(digits[byte / 16]);
    hex.push_back(digits[byte % 16]);
  }
  return hex;
}

Json of_real(double value) { return std::isfinite(value) ? Json(value) : Json(); }

template <class Values, class Convert>
Json list_of(const Values& values, const Convert& convert) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(convert(value));
  return list;
}

Json json_of(const GgufValue& value);

Json elements_of(const GgufValue& value, GgufValueType element) {
  using enum GgufValueType;
  if (element == array) return list_of(value.arrays("array"), json_of);
  if (element == text) return list_of(value.texts("array"), in_hex);
  if (element == boolean) return list_of(value.booleans("array"), [](bool one) { return Json(one); });
  if (element == float32 || element == float64) return list_of(value.reals("array"), of_real);
  if (element == uint64) return nullptr;  // beyond int64 there is no getter
  return value.integers("array");
}

Json json_of(const GgufValue& value) {
  using enum GgufValueType;
  if (value.type == array) {
    const GgufValueType element = value.element_type("array");
    return {static_cast<std::uint32_t>(element), elements_of(value, element)};
  }
  if (value.type == text) return in_hex(value.text("text"));
  if (value.type == boolean) return value.boolean("boolean");
  if (value.type == float32 || value.type == float64) return of_real(value.real("real"));
  if (value.type == uint64) return nullptr;
  return value.integer("integer");
}

/// Where the bytes of a tensor begin in the file; null if it has none.
Json offset_of(std::span<const std::byte> bytes, std::span<const std::byte> file) {
  return bytes.empty() ? Json() : Json(bytes.data() - file.data());
}

Json read_gguf(std::span<const std::byte> bytes) {
  const locus::io::GgufFile file = locus::io::parse_gguf(bytes, "file");
  Json metadata = Json::array(), tensors = Json::array();
  for (const auto& entry : file.metadata()) {
    metadata.push_back({in_hex(entry.key), static_cast<std::uint32_t>(entry.value.type), json_of(entry.value)});
  }
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({{"name", in_hex(tensor.name)},
                       {"type", static_cast<std::uint32_t>(tensor.type)},
                       {"shape", tensor.shape},
                       {"offset", offset_of(tensor.bytes, bytes)},
                       {"bytes", tensor.bytes.size()}});
  }
  return {{"version", file.version()}, {"alignment", file.alignment()}, {"metadata", metadata}, {"tensors", tensors}};
}

Json read_safetensors(std::span<const std::byte> bytes) {
  const locus::io::SafetensorsFile file = locus::io::parse_safetensors(bytes, "file");
  Json metadata = Json::object(), tensors = Json::array();
  for (const auto& [key, value] : file.metadata()) metadata[in_hex(key)] = in_hex(value);
  for (const auto& tensor : file.tensors()) {
    tensors.push_back({{"name", in_hex(tensor.name)},
                       {"type", name_of(tensor.type)},
                       {"shape", tensor.shape},
                       {"offset", offset_of(tensor.bytes, bytes)},
                       {"bytes", tensor.bytes.size()}});
  }
  return {{"metadata", metadata}, {"tensors", tensors}};
}

}  // namespace

int main() {
  char kind = 0;
  std::uint64_t size = 0;
  while (std::cin.get(kind) && std::cin.read(reinterpret_cast<char*>(&size), sizeof size)) {
    std::vector<std::byte> file(size);
    std::cin.read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(size));
    Json read;
    try {
      read = kind == 'g' ? read_gguf(file) : read_safetensors(file);
    } catch (const locus::Error& error) {
      read = {{"refused", error.what()}};
    }
    std::cout << read.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
  }
  return 0;
}
