// SPDX-License-Identifier: Apache-2.0
#include "model_reading.h"

#include <iostream>

#include "locus/error.h"
#include "locus/io/model_encoding.h"

namespace locus::tools {
namespace {

Json texts_of(const Arguments& arguments) {
  Json json = Json::object();
  for (const auto& [name, value] : arguments.all()) json[name] = to_text(value);
  return json;
}

Json part_layer_json(const io::LayerEncoding& layer) {
  Json json{{"layer_type", layer.layer_type},         {"scheme", layer.scheme},
            {"arguments", texts_of(layer.arguments)}, {"used", layer.used},
            {"defaulted", layer.defaulted},           {"unknown", layer.unknown}};
  add_model_reading(json, layer);
  return json;
}

}  // namespace

void add_model_reading(Json& object, const io::LayerEncoding& read) {
  if (!read.layers.empty()) object["layers"] = read.layers;
  if (!read.not_applied.empty()) object["not_applied"] = read.not_applied;
  if (read.softmax_scale) object["softmax_scale"] = *read.softmax_scale;
  if (read.query_scale) {
    object["query_scale"] = {
        {"beta", read.query_scale->beta}, {"length", read.query_scale->length}, {"shift", read.query_scale->shift}};
  }
  for (const io::AlternativeReading& other : read.alternatives) {
    object["alternatives"].push_back({{"reader", other.reader},
                                      {"what", other.what},
                                      {"scheme", other.scheme},
                                      {"arguments", texts_of(other.arguments)}});
  }
}

void print_model_reading(const io::LayerEncoding& read) {
  for (const io::AlternativeReading& other : read.alternatives) {
    std::cout << "otherwise   " << other.reader << ": " << other.what << '\n';
  }
  if (read.softmax_scale) std::cout << "softmax scale (instead of 1 / sqrt(head_dim))  " << *read.softmax_scale << '\n';
  for (const std::string& sentence : read.not_applied) std::cout << "not applied " << sentence << '\n';
}

std::vector<io::HfPart> parts_of(const std::string& config) {
  return config.empty() ? std::vector<io::HfPart>{} : io::model_parts(config);
}

Json parts_json(const std::vector<io::HfPart>& parts) {
  Json json = Json::object();
  for (const io::HfPart& part : parts) {
    Json& entry = json[part.path];
    entry = {{"model_type", part.model_type}};
    if (!part.refusal.empty()) entry["refusal"] = part.refusal;
    for (const io::LayerEncoding& layer : part.layers) entry["layers"].push_back(part_layer_json(layer));
  }
  return json;
}

void print_parts(const std::vector<io::HfPart>& parts) {
  for (const io::HfPart& part : parts) {
    std::cout << "\npart " << part.path;
    if (!part.model_type.empty()) std::cout << " (" << part.model_type << ")";
    std::cout << '\n';
    if (!part.refusal.empty()) std::cout << "  " << part.refusal << '\n';
    for (const io::LayerEncoding& layer : part.layers) {
      std::cout << "  " << (layer.layer_type.empty() ? "" : layer.layer_type + ": ") << layer.scheme;
      const char* separator = " ";
      for (const auto& [name, value] : layer.arguments.all()) {
        std::cout << separator << name << "=" << to_text(value);
        separator = ", ";
      }
      std::cout << '\n';
      for (const std::string& sentence : layer.not_applied) std::cout << "  not applied: " << sentence << '\n';
    }
  }
}

std::string softmax_scale_note(const ChosenEncoding& chosen) {
  return "the softmax scale is " + to_text(Value(*chosen.read.softmax_scale)) + ", from the config";
}

}  // namespace locus::tools
