// SPDX-License-Identifier: Apache-2.0
// Compares what the library reads from a config with what the model does in the peers' own code.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/io/hf_config.h"
#include "support/oracle.h"

namespace locus::testing {

/// The result of one case.
struct ModelVerdict {
  enum class Kind { right, named, refused, wrong };
  Kind kind = Kind::wrong;
  std::string text = {};  ///< the refusal, or what is wrong, or what is named as not applied
};

class ModelCheck {
 public:
  explicit ModelCheck(const Json& model) : case_(model), text_(model.at("config").dump()) {}

  ModelVerdict run() {
    try {
      config_ = io::resolve_hf_config(text_, "config.json");
    } catch (const Error& error) {
      return {ModelVerdict::Kind::refused, error.what()};
    }
    const Json& truth = case_.at("truth");
    std::string wrong = compare(truth.at("layers"));
    for (const Json& other : truth.at("alternatives")) {
      if (wrong.empty()) break;
      if (compare(other.at("layers")).empty()) wrong.clear();
    }
    if (wrong.empty() && !truth.at("alternatives").empty() && !gives_alternatives()) {
      wrong = "the other reading is not given";
    }
    for (const Json& key : truth.at("must_mention")) {
      if (!mentions(key.get<std::string>())) wrong = "does not mention " + key.get<std::string>();
    }
    if (!wrong.empty()) return {ModelVerdict::Kind::wrong, wrong};
    for (const io::LayerEncoding& layer : config_.layers) {
      if (!layer.not_applied.empty()) return {ModelVerdict::Kind::named, layer.not_applied.front()};
    }
    return {ModelVerdict::Kind::right, ""};
  }

 private:
  using Layer = io::LayerEncoding;

  bool gives_alternatives() const {
    return std::any_of(config_.layers.begin(), config_.layers.end(),
                       [](const Layer& layer) { return !layer.alternatives.empty(); });
  }

  bool mentions(const std::string& key) const {
    for (const Layer& layer : config_.layers) {
      for (const auto* list : {&layer.used, &layer.defaulted, &layer.unknown, &layer.not_applied}) {
        for (const std::string& line : *list) {
          if (line.find(key) != std::string::npos) return true;
        }
      }
    }
    return false;
  }

  static bool has_attention(const Json& truth) {
    return !truth.contains("attention") || truth.at("attention") != false;
  }

  std::string compare(const Json& truths) {
    std::set<const Layer*> met;
    for (const Json& truth : truths) {
      if (!has_attention(truth)) continue;
      const std::vector<const Layer*> layers = layers_for(truth);
      if (layers.empty()) return "no layer is read for " + truth.at("which").dump().substr(0, 60);
      for (const Layer* layer : layers) {
        met.insert(layer);
        if (const std::string wrong = compare(*layer, truth); !wrong.empty()) return wrong;
      }
    }
    for (const Layer& layer : config_.layers) {
      if (!met.contains(&layer)) return "reads a layer type that the model does not have: " + layer.layer_type;
    }
    return "";
  }

  /// The layers that the truth describes: by their numbers, their names, or their part of the model.
  std::vector<const Layer*> layers_for(const Json& truth) const {
    std::vector<const Layer*> found;
    const Json& which = truth.at("which");
    if (which == "vision model") {
      for (const io::HfPart& part : config_.parts) {
        for (const Layer& layer : part.layers) found.push_back(&layer);
      }
      return found;
    }
    std::set<std::int64_t> numbers;
    if (which.is_array()) numbers = which.get<std::set<std::int64_t>>();
    for (const Layer& layer : config_.layers) {
      const bool by_number = !numbers.empty() && !layer.layers.empty();
      const bool here =
          config_.layers.size() == 1 || (by_number ? numbers.contains(layer.layers.front()) : by_name(truth, layer));
      // A model of two sites: "all" are the layers of attention, not the table under them.
      const bool under = truth.at("kind") == "relative_key" && layer.scheme == "learned";
      if (here && !under) found.push_back(&layer);
    }
    return found;
  }

  static bool by_name(const Json& truth, const Layer& layer) {
    const std::string which = truth.at("which").is_string() ? truth.at("which").get<std::string>() : "";
    if (which.find("encoder and decoder") != std::string::npos || which == "all" || which == "text model") return true;
    const Json& type = truth.contains("layer_type") ? truth.at("layer_type") : Json();
    const std::string name = layer.layer_type.substr(0, layer.layer_type.find('/'));
    if (type.is_string()) return type == name || type == layer.layer_type;
    if (type.is_array()) return std::find(type.begin(), type.end(), layer.layer_type) != type.end();
    return which.find(name) != std::string::npos;
  }

  static std::string differs(const std::string& what, const Json& read, const Json& truth) {
    return what + " is " + read.dump().substr(0, 80) + ", the model's is " + truth.dump().substr(0, 80);
  }

  static bool close(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b)); }

  std::string compare(const Layer& layer, const Json& truth) {
    const std::string kind = truth.at("kind");
    if (truth.at("which").is_array() && !layer.layers.empty()) {
      const auto numbers = truth.at("which").get<std::set<std::int64_t>>();
      if (!std::includes(numbers.begin(), numbers.end(), layer.layers.begin(), layer.layers.end())) {
        return differs("layers of " + layer.layer_type, layer.layers, truth.at("which"));
      }
    }
    const std::string scaled = compare_query_scale(layer, truth);
    if (!scaled.empty()) return scaled;
    if (kind == "rope") return compare_rope(layer, truth);
    if (kind == "none") {
      const bool none = layer.scheme == (layer.query_scale ? "query_temperature" : "nope");
      return none ? "" : "is read as " + layer.scheme + ", the model has none";
    }
    if (kind == "alibi") return compare_alibi(layer, truth);
    if (kind == "t5_bias") return compare_integers(layer, truth, "t5", {"heads", "num_buckets", "max_distance"});
    if (kind == "learned") return compare_learned(layer, truth);
    if (kind == "sinusoidal") return compare_integers(layer, truth, "sinusoidal", {"dim"});
    if (kind == "relative_key") {
      const std::string form = truth.at("form");
      // Parakeet's form is Transformer-XL's with the channels in Conformer's order.
      const std::string scheme = form.starts_with("shaw")         ? "shaw"
                                 : form.starts_with("decomposed") ? "decomposed_2d"
                                 : layer.scheme == "conformer"    ? "conformer"
                                                                  : "transformer_xl";
      return compare_integers(layer, truth, scheme, {"head_dim"});
    }
    if (kind == "conv") return compare_integers(layer, truth, "conv_position", {"kernel", "groups"});
    if (kind == "deberta") return compare_deberta(layer, truth);
    if (kind == "other" && truth.at("form").get<std::string>().starts_with("continuous relative bias")) {
      return layer.scheme == "swin_v2" ? "" : "is read as " + layer.scheme + ", the model has a network of offsets";
    }
    return "is read as " + layer.scheme + ", the model has " + kind;
  }

  static std::string compare_integers(const Layer& layer, const Json& truth, const std::string& scheme,
                                      const std::vector<std::string>& keys) {
    if (layer.scheme != scheme) return "is read as " + layer.scheme + ", the model has " + scheme;
    for (const std::string& key : keys) {
      const std::int64_t read = layer.arguments.integer(key);
      if (truth.contains(key) && truth.at(key) != read) return differs(key, read, truth.at(key));
    }
    if (truth.contains("bidirectional")) {
      const Value* both = layer.arguments.find("bidirectional");
      if (both == nullptr || std::get<bool>(*both) != truth.at("bidirectional").get<bool>()) return "other direction";
    }
    return "";
  }

  static std::string compare_deberta(const Layer& layer, const Json& truth) {
    if (layer.scheme != "deberta") return "is read as " + layer.scheme + ", the model has DeBERTa's attention";
    const Json& buckets = truth.at("buckets");
    const std::int64_t read = layer.arguments.integer("position_buckets");
    if (read != (buckets.is_null() ? 0 : buckets.get<std::int64_t>())) return differs("buckets", read, buckets);
    for (const char* term : {"c2p", "p2c"}) {
      const Json& terms = truth.at("terms");
      const bool has = std::find(terms.begin(), terms.end(), term) != terms.end();
      if (layer.arguments.boolean(term) != has) return std::string("has another reading of ") + term;
    }
    return compare_integers(layer, truth, "deberta", {"max_relative_positions"});
  }

  static std::string compare_learned(const Layer& layer, const Json& truth) {
    if (layer.scheme != "learned") return "is read as " + layer.scheme + ", the model has a learned table";
    const std::int64_t rows = layer.arguments.integer("max_positions"), offset = layer.arguments.integer("row_offset");
    if (truth.at("max_positions") != rows + offset) return differs("rows", rows + offset, truth.at("max_positions"));
    if (truth.contains("usable_positions") && truth.at("usable_positions") != rows) {
      return differs("usable rows", rows, truth.at("usable_positions"));
    }
    if (truth.at("row_offset") != offset) return differs("row_offset", offset, truth.at("row_offset"));
    if (truth.at("dim") != layer.arguments.integer("dim")) {
      return differs("dim", layer.arguments.integer("dim"), truth.at("dim"));
    }
    return "";
  }

  static std::string compare_alibi(const Layer& layer, const Json& truth) {
    if (layer.scheme != "alibi") return "is read as " + layer.scheme + ", the model has ALiBi";
    if (truth.contains("form") && truth.at("form") != layer.arguments.text("form")) return "other form";
    Arguments arguments = layer.arguments;
    if (arguments.text("form") == "mpt") arguments.set("length", std::int64_t{8});
    const Encoding encoding("alibi", arguments);
    const auto slopes = truth.at("slopes").get<std::vector<double>>();
    const auto& read = std::get<ScoreBias>(encoding.term()).slopes;
    if (read.size() != slopes.size()) return differs("heads", read.size(), slopes.size());
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      // Falcon's slopes are bfloat16.
      const double tolerance = arguments.text("form") == "falcon" ? 4e-3 : 1e-9;
      if (std::fabs(read[h] - slopes[h]) > tolerance * slopes[h]) return differs("slope", read[h], slopes[h]);
    }
    return "";
  }

  static std::string compare_query_scale(const Layer& layer, const Json& truth) {
    const bool scaled = truth.contains("query_scale") && truth.at("query_scale").is_object();
    if (scaled != layer.query_scale.has_value()) return scaled ? "query scale is not read" : "invents a query scale";
    if (!scaled) return "";
    const Rotation rotation = Encoding(layer.scheme, layer.arguments).rotation();
    for (const auto& [position, factor] : truth.at("query_scale").at("at").items()) {
      const double read = rotation.query_scale ? rotation.query_scale->at(std::stoll(position)) : 0;
      if (std::fabs(read - factor.get<double>()) > 1e-9) return differs("query scale at " + position, read, factor);
    }
    return "";
  }

  /// The layer as it is for sequences of `length`.
  Rotation rotation_at(const Layer& layer, std::int64_t length) const {
    io::HfOptions options;
    options.length = length;
    const io::HfConfig config = io::resolve_hf_config(text_, "config.json", options);
    const auto same = std::find_if(config.layers.begin(), config.layers.end(),
                                   [&](const Layer& other) { return other.layer_type == layer.layer_type; });
    return Encoding(same->scheme, same->arguments).rotation();
  }

  std::string compare_rope(const Layer& layer, const Json& truth) {
    if (layer.scheme != "rope") return "is read as " + layer.scheme + ", the model rotates";
    const Rotation rotation = rotation_at(layer, 1);
    if (const std::string wrong = compare_shape(rotation, truth); !wrong.empty()) return wrong;
    if (!close(layer.arguments.real("base"), truth.at("base").get<double>())) {
      return differs("base", layer.arguments.real("base"), truth.at("base"));
    }
    if (!same_rule(layer.arguments.text("rule"), truth.at("rule"))) {
      return differs("rule", layer.arguments.text("rule"), truth.at("rule"));
    }
    if (const std::string wrong = compare_frequencies(rotation, truth.at("inv_freq")); !wrong.empty()) return wrong;
    if (!close(rotation.magnitude, truth.value("attention_factor", 1.0))) {
      return differs("attention factor", rotation.magnitude, truth.at("attention_factor"));
    }
    if (!close(rotation.softmax_scale_factor, softmax_factor(truth))) {
      return differs("softmax factor", rotation.softmax_scale_factor, softmax_factor(truth));
    }
    if (truth.contains("direction") && layer.not_applied.empty()) return "turns the other way, which is not named";
    for (const Json& other : truth.value("at_length", Json::array())) {
      const Rotation longer = rotation_at(layer, other.at("seq_len"));
      if (const std::string wrong = compare_frequencies(longer, other.at("inv_freq")); !wrong.empty()) return wrong;
    }
    return compare_axes(rotation, truth);
  }

  /// For Mistral 4 the reference gives 1 and the whole scale of the peer's attention, which includes the factor: the
  /// scale counts.
  static double softmax_factor(const Json& truth) {
    const double stated = truth.value("softmax_scale_factor", 1.0);
    const bool latent = truth.value("mla", false);
    if (!latent || !truth.contains("softmax_scale") || !truth.at("softmax_scale").is_number()) return stated;
    return truth.at("softmax_scale").get<double>() * std::sqrt(truth.at("head_dim").get<double>());
  }

  static std::string compare_shape(const Rotation& rotation, const Json& truth) {
    const std::string pairing(name_of(rotation.pairing));
    if (truth.at("pairing") != pairing) return differs("pairing", pairing, truth.at("pairing"));
    if (rotation.rotary_dim != truth.at("rotary_dim")) {
      return differs("rotary_dim", rotation.rotary_dim, truth.at("rotary_dim"));
    }
    const bool slice = rotation.head_dim == rotation.rotary_dim && truth.value("mla", false);
    if (!slice && rotation.head_dim != truth.at("head_dim")) {
      return differs("head_dim", rotation.head_dim, truth.at("head_dim"));
    }
    if (!slice && rotation.rotary_offset != truth.at("rotary_offset")) {
      return differs("rotary_offset", rotation.rotary_offset, truth.at("rotary_offset"));
    }
    const bool sorted = truth.value("output_order", "") == "deinterleaved";
    return sorted == rotation.deinterleaved_output ? "" : "other output order";
  }

  /// HunYuan's `dynamic` with alpha is static NTK; the frequencies decide.
  static bool same_rule(const std::string& read, const std::string& truth) {
    if (truth == "default") return read == "none";
    if (truth == "dynamic") return read == "dynamic_ntk" || read == "ntk";
    return read == truth;
  }

  static std::string compare_frequencies(const Rotation& rotation, const Json& truth) {
    const auto values = truth.get<std::vector<double>>();
    if (rotation.inv_freq.size() != values.size()) {
      return differs("number of pairs", rotation.inv_freq.size(), values.size());
    }
    for (std::size_t pair = 0; pair < values.size(); ++pair) {
      if (!close(rotation.inv_freq[pair], values[pair])) {
        return differs("frequency of pair " + std::to_string(pair), rotation.inv_freq[pair], values[pair]);
      }
    }
    return "";
  }

  static std::string compare_axes(const Rotation& rotation, const Json& truth) {
    const bool several = truth.contains("axes") && truth.at("axes").is_object();
    if (!several) return rotation.axes == 1 && rotation.map.kind == PositionMap::Kind::direct ? "" : "invents axes";
    const auto axis = truth.at("axes").at("pair_axis").get<std::vector<int>>();
    if (rotation.axis.size() != axis.size()) return "has no axes";
    for (std::size_t i = 0; i < axis.size(); ++i) {
      if (static_cast<int>(rotation.axis[i]) != axis[i]) {
        return differs("axis of pair " + std::to_string(i), static_cast<int>(rotation.axis[i]), axis[i]);
      }
    }
    return "";
  }

  const Json& case_;
  std::string text_;
  io::HfConfig config_;
};

}  // namespace locus::testing
