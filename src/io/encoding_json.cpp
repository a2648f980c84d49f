// SPDX-License-Identifier: Apache-2.0
#include "locus/io/encoding_json.h"

#include <limits>

#include "locus/error.h"
#include "parse/strict_json.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

Json json_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Tensor>) {
          return {{"shape", held.shape}};
        } else {
          return held;
        }
      },
      value);
}

bool fits_int64(const Json& number) {
  return !number.is_number_unsigned() ||
         number.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

std::vector<double> list_of(const Json& json, const std::string& what) {
  std::vector<double> list;
  for (const Json& entry : json) {
    require(entry.is_number(), what, " must be a list of numbers, got ", [&] { return entry.dump().substr(0, 80); });
    list.push_back(entry.get<double>());
  }
  return list;
}

Value value_of(const Json& json, const std::string& what) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer() && fits_int64(json)) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return list_of(json, what);
  fail(what, " must be a number, a string, true, false, a list or the shape of a tensor, got ",
       json.dump().substr(0, 80));
}

std::vector<std::int64_t> shape_of(const Json& json, const std::string& what) {
  constexpr std::size_t most_axes = 4;
  constexpr std::int64_t longest = std::int64_t{1} << 31;
  require(json.size() == 1 && json.contains("shape") && json["shape"].is_array() && !json["shape"].empty() &&
              json["shape"].size() <= most_axes,
          what, " must be {\"shape\": [...]} of one to four axes, got ", [&] { return json.dump().substr(0, 80); });
  std::vector<std::int64_t> shape;
  for (const Json& axis : json["shape"]) {
    require(axis.is_number_integer() && axis >= 1 && axis < longest, what,
            ": the axes of a tensor must be from 1 to 2^31 - 1, got ", [&] { return axis.dump().substr(0, 80); });
    shape.push_back(axis.get<std::int64_t>());
  }
  return shape;
}

}  // namespace

std::string encoding_json(const Encoding& encoding) {
  Json arguments = Json::object();
  for (const auto& [name, value] : encoding.arguments().all()) arguments[name] = json_of(value);
  return Json{{"scheme", std::string(encoding.scheme().name)}, {"arguments", std::move(arguments)}}.dump();
}

LayerEncoding parse_encoding_json(std::string_view text, const std::string& name) {
  const Json json = parse_strict_json(text, name);
  require(json.contains("scheme") && json["scheme"].is_string(), name, ": scheme must be given, as a string");
  require(json.contains("arguments") && json["arguments"].is_object(), name, ": arguments must be given, as an object");
  for (const auto& [key, unused] : json.items()) {
    require(key == "scheme" || key == "arguments", name, ": must have only scheme and arguments, got ",
            key.substr(0, 80));
  }
  LayerEncoding layer{.scheme = json["scheme"].get<std::string>()};
  for (const auto& [key, value] : json["arguments"].items()) {
    const std::string what = name + ": " + key;
    if (value.is_object()) {
      layer.tensors[key] = shape_of(value, what);
    } else {
      layer.arguments.set(key, value_of(value, what));
    }
  }
  return layer;
}

std::string encoding_json_with(std::string_view text, Pairing pairing, const std::string& name) {
  Json json = parse_strict_json(text, name);
  require(json.contains("arguments") && json["arguments"].is_object(), name, ": arguments must be given, as an object");
  json["arguments"]["pairing"] = std::string(name_of(pairing));
  return json.dump();
}

LayerEncoding gguf_lab_encoding(const GgufFile& file) {
  const auto text = file.text("locus_lab.encoding");
  require(text.has_value(), file.name(), ": locus_lab.encoding is missing");
  LayerEncoding layer = parse_encoding_json(*text, file.name() + ": locus_lab.encoding");
  layer.used = {"encoding"};
  layer.trained_length = file.integer("locus_lab.context_length");
  return layer;
}

std::string encoding_tensor_name(std::string_view argument) { return "positions." + std::string(argument); }

}  // namespace locus::io
