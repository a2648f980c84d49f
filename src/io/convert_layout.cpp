// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_layout.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "io/hf_json.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "locus/io/hf_config.h"

namespace locus::io {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 2> layer_types = {"full_attention", "sliding_attention"};

bool holds(const OrderedJson& object, const char* key) { return object.contains(key) && !object.at(key).is_null(); }

/// Removes and returns the value; null if there is none.
OrderedJson take(OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  OrderedJson value = std::move(*found);
  object.erase(found);
  return value;
}

class LayoutConverter {
 public:
  LayoutConverter(ConfigLayout to, const std::string& name) : to_(to), name_(name) {}

  void convert(OrderedJson& object, const std::string& path) {
    if (to_ == ConfigLayout::v5) {
      to_parameters(object, path);
    } else {
      to_flat(object, path);
    }
    for (auto& [key, value] : object.items()) {
      const bool nested = key.ends_with("_config") || key == "encoder" || key == "decoder";
      if (nested && value.is_object()) convert(value, path + key + ".");
    }
  }

  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  void to_parameters(OrderedJson& object, const std::string& path) {
    const bool scaled = holds(object, "rope_scaling"), based = holds(object, "rope_theta");
    if (holds(object, "rope_parameters")) {
      require(!scaled, name_, ": ", path, "rope_scaling and rope_parameters are both given; remove one");
      return;
    }
    if (!scaled && !based) return;
    require(!based || object.at("rope_theta").is_number(), name_, ": ", path,
            "rope_theta must be a number to be converted, got a list");
    OrderedJson block = OrderedJson::object();
    OrderedJson scaling = take(object, "rope_scaling");
    if (scaling.is_object()) block = std::move(scaling);
    if (!block.contains("rope_type")) block["rope_type"] = block.value("type", "default");
    block.erase("type");
    for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
      OrderedJson value = take(object, key);
      if (!value.is_null() && !block.contains(key)) block[key] = std::move(value);
    }
    const OrderedJson local = take(object, "rope_local_base_freq");
    if (local.is_null()) {
      object["rope_parameters"] = std::move(block);
    } else {
      object["rope_parameters"] = {{"full_attention", std::move(block)},
                                   {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", local}}}};
    }
    notes_.push_back(path + "rope_parameters now has the settings of the flat keys");
  }

  void to_flat(OrderedJson& object, const std::string& path) {
    if (!holds(object, "rope_parameters")) return;
    OrderedJson block = take(object, "rope_parameters");
    require(block.is_object(), name_, ": ", path, "rope_parameters must be an object");
    const bool per_layer = std::any_of(block.begin(), block.end(), [](const auto& value) { return value.is_object(); });
    if (per_layer) block = merge_layer_types(object, std::move(block), path);
    for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
      OrderedJson value = take(block, key);
      if (!value.is_null()) object[key] = std::move(value);
    }
    const std::string type = block.value("rope_type", block.value("type", "default"));
    const bool plain = type == "default" && block.size() <= 1;
    if (!plain) {
      block["type"] = type;  // the name that older readers expect
      object["rope_scaling"] = std::move(block);
    } else {
      object["rope_scaling"] = nullptr;
    }
    notes_.push_back(path + "rope_theta and rope_scaling now have the settings of rope_parameters");
  }

  /// Only Gemma has flat keys for two layer types: sliding layers differ in their base only.
  OrderedJson merge_layer_types(OrderedJson& object, OrderedJson blocks, const std::string& path) {
    OrderedJson full, sliding;
    for (auto& [key, value] : blocks.items()) {
      require(std::find(layer_types.begin(), layer_types.end(), key) != layer_types.end() && value.is_object(), name_,
              ": ", path, "rope_parameters.", key.substr(0, 80), " has no key in the flat layout");
      (key == "full_attention" ? full : sliding) = value;
    }
    require(full.is_object() && sliding.is_object(), name_, ": ", path,
            "rope_parameters must have full_attention and sliding_attention to be converted to flat keys");
    const OrderedJson base = take(sliding, "rope_theta");
    const std::string type = sliding.value("rope_type", "default");
    require(type == "default" && sliding.size() <= 1 && base.is_number(), name_, ": ", path,
            "rope_parameters.sliding_attention has more than a base, which the flat layout cannot express");
    object["rope_local_base_freq"] = base;
    return full;
  }

  ConfigLayout to_;
  const std::string& name_;
  std::vector<std::string> notes_;
};

bool same_arguments(const Arguments& a, const Arguments& b) {
  return std::equal(
      a.all().begin(), a.all().end(), b.all().begin(), b.all().end(), [](const auto& one, const auto& other) {
        return one.first == other.first && to_text(one.second) == to_text(other.second);  // configs have no tensors
      });
}

/// Returns the layer types in one order, since the layouts name them in different orders.
std::vector<LayerEncoding> layers_by_type(std::string_view text, const std::string& name) {
  std::vector<LayerEncoding> layers = resolve_hf_config(text, name).layers;
  std::stable_sort(layers.begin(), layers.end(), [](const LayerEncoding& one, const LayerEncoding& other) {
    return one.layer_type < other.layer_type;
  });
  return layers;
}

/// Error: the two texts have different meanings.
void require_same_meaning(std::string_view before, const std::string& after, const std::string& name) {
  const std::vector<LayerEncoding> a = layers_by_type(before, name), b = layers_by_type(after, name);
  const bool same =
      std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LayerEncoding& one, const LayerEncoding& other) {
        return one.layer_type == other.layer_type && one.scheme == other.scheme &&
               same_arguments(one.arguments, other.arguments);
      });
  require(same, name, ": the other layout would have a different meaning for this model; nothing was written");
}

}  // namespace

ConvertedConfig convert_config_layout(std::string_view json_text, ConfigLayout to, const std::string& name) {
  parse_json_document(json_text, name);  // checks limits
  OrderedJson root = OrderedJson::parse(json_text);
  LayoutConverter converter(to, name);
  try {
    converter.convert(root, "");
  } catch (const OrderedJson::exception& error) {
    fail(name, ": a RoPE setting has the wrong type: ", error.what());
  }
  ConvertedConfig converted{root.dump(2) + "\n", converter.take_notes()};
  require(!converted.notes.empty(), name, ": has no RoPE settings to convert; it may already have this layout");
  require_same_meaning(json_text, converted.text, name);
  return converted;
}

std::vector<std::string> write_config_layout(const std::string& input, ConfigLayout to, const std::string& output) {
  const ConvertedConfig converted = convert_config_layout(read_hf_config_text(input), to, input);
  const ByteChunk chunk = std::as_bytes(std::span(converted.text));
  write_atomically(output, {&chunk, 1});
  return converted.notes;
}

}  // namespace locus::io
