// SPDX-License-Identifier: Apache-2.0
// Converts GGUF to config.json, in the keys that every version of transformers reads: rope_theta and rope_scaling.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "io/llama3_divisors.h"
#include "io/rope_architectures.h"
#include "locus/io/convert_rope.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf_rope.h"
#include "locus/scaling.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Returns the double with the fewest decimals that rounds to this float32; doubles that are not float32 are unchanged.
double shortest(double value) {
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value || !std::isfinite(value)) return value;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, narrow).ptr;
  double result = value;
  std::from_chars(text, end, result);
  return result;
}

/// Returns the shortest decimal x such that x times `unit`, as a float32, is `product`.
double simplest_quotient(double product, double unit) {
  const double quotient = product / unit;
  for (int digits = 1; digits <= 9; ++digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", digits, quotient);
    const double simple = std::strtod(text, nullptr);
    if (static_cast<float>(simple * unit) == static_cast<float>(product)) return simple;
  }
  return quotient;
}

class HfRopeWriter {
 public:
  HfRopeWriter(const GgufFile& file, const GgufRope& rope) : file_(file), rope_(rope) {}

  HfRopeSettings write() {
    require(!rope_.rope_type || *rope_.rope_type != GgufRopeType::none, file_.name(), ": architecture ",
            shown(rope_.architecture), " does not rotate");
    if (const auto type = model_type_of(rope_.architecture)) {
      config_["model_type"] = *type;
    } else {
      note("architecture " + shown(rope_.architecture) + " has no known model_type");
    }
    write_shape();
    if (rope_.freq_base) config_["rope_theta"] = shortest(*rope_.freq_base);
    if (!rope_.freq_base) note("rope_theta is not in the file; llama.cpp uses 10000");
    if (rope_.freq_base_swa) config_["rope_local_base_freq"] = shortest(*rope_.freq_base_swa);
    write_scaling();
    write_sections();
    if (!scaling_.empty()) config_["rope_scaling"] = scaling_;
    for (const std::string& key : rope_.unknown) note("not converted: " + key);
    if (rope_.scaling_alpha) note("not converted: rope.scaling.alpha");
    return {config_.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n", std::move(notes_)};
  }

 private:
  void note(std::string text) { notes_.push_back(std::move(text)); }

  /// Returns a count that is the same for all layers.
  std::optional<std::int64_t> common(const std::optional<std::vector<std::int64_t>>& counts, const char* key) {
    if (!counts || counts->empty()) return std::nullopt;
    const bool alike =
        std::all_of(counts->begin(), counts->end(), [&](auto count) { return count == counts->front(); });
    if (!alike) note(std::string("not converted: ") + key + " differs between layers");
    return alike ? std::optional(counts->front()) : std::nullopt;
  }

  void write_shape() {
    if (rope_.context_length) config_["max_position_embeddings"] = *rope_.context_length;
    if (rope_.embedding_length) config_["hidden_size"] = *rope_.embedding_length;
    const auto heads = common(rope_.head_count, "attention.head_count");
    const auto pairs = common(rope_.head_count_kv, "attention.head_count_kv");
    if (heads) config_["num_attention_heads"] = *heads;
    if (pairs) config_["num_key_value_heads"] = *pairs;
    if (rope_.dimension_count_swa && rope_.dimension_count_swa != rope_.dimension_count) {
      note("not converted: rope.dimension_count_swa differs from rope.dimension_count");
    }
    if (has_latent_attention(rope_.architecture)) {
      if (rope_.dimension_count) config_["qk_rope_head_dim"] = *rope_.dimension_count;
      return;
    }
    if (rope_.key_length) config_["head_dim"] = *rope_.key_length;
    std::int64_t head_dim = rope_.key_length.value_or(0);
    if (head_dim == 0 && rope_.embedding_length && heads && *heads > 0) head_dim = *rope_.embedding_length / *heads;
    if (!rope_.dimension_count || *rope_.dimension_count == head_dim) return;
    require(head_dim > 0 && *rope_.dimension_count > 0 && *rope_.dimension_count < head_dim, file_.name(), ": ",
            rope_.architecture, ".rope.dimension_count must be from 1 to the width of a head (", head_dim, "), got ",
            *rope_.dimension_count);
    config_["partial_rotary_factor"] = fraction(*rope_.dimension_count, head_dim);
  }

  /// Readers compute int(head_dim x fraction): returns the quotient, or the next double if the product is too small.
  static double fraction(std::int64_t width, std::int64_t head_dim) {
    const double quotient = static_cast<double>(width) / static_cast<double>(head_dim);
    const bool enough = static_cast<std::int64_t>(static_cast<double>(head_dim) * quotient) == width;
    return enough ? quotient : std::nextafter(quotient, 1.0);
  }

  void write_scaling() {
    const std::string type =
        rope_.scaling_type.value_or(rope_.scaling_factor && *rope_.scaling_factor != 0 ? "linear" : "none");
    const Rule& rule = rule_of_gguf(type, file_.name() + ": " + rope_.architecture);
    if (type == "longrope") {
      write_longrope();
    } else if (type != "none") {
      write_keys(rule);
      if (type == "yarn") write_magnitude();
    }
    if (rope_.freq_factors) {
      require(type == "none", file_.name(), ": rope_freqs.weight together with a scaling of type ", type,
              " has no counterpart in config.json");
      write_llama3();
    }
  }

  /// Writes the keys of the rule as the registry lists them. A missing trained length follows from the context length.
  void write_keys(const Rule& rule) {
    require(!rule.hf_types.empty(), file_.name(), ": rope.scaling.type ", shown(rule.gguf_type),
            " has no counterpart in config.json");
    require(rope_.scaling_factor || !rule.trained_length.empty(), file_.name(), ": ", rope_.architecture,
            ".rope.scaling.factor is missing, but type ", rule.gguf_type, " needs it");
    scaling_["rope_type"] = rule.hf_types.front();
    if (rope_.scaling_factor) scaling_["factor"] = shortest(*rope_.scaling_factor);
    if (!rule.trained_length.empty() && rope_.original_context_length) {
      scaling_["original_max_position_embeddings"] = *rope_.original_context_length;
    }
    for (const GgufKey& key : rule.gguf_keys) {
      const auto found = rope_.rule_numbers.find(key.key);
      if (found != rope_.rule_numbers.end()) scaling_[std::string(key.parameter)] = shortest(found->second);
    }
  }

  void write_magnitude() {
    if (rope_.yarn_log_multiplier) {
      const double tenth = log_multiplier_per_mscale(rope_.architecture);
      const double mscale = simplest_quotient(*rope_.yarn_log_multiplier, tenth);
      scaling_["mscale"] = mscale;  // equal values cancel on cos and sin; the multiplier acts on the scores
      scaling_["mscale_all_dim"] = mscale;
    }
    if (rope_.yarn_ext_factor) note("not converted: rope.scaling.yarn_ext_factor");
  }

  void write_longrope() {
    require(rope_.long_factors && rope_.short_factors, file_.name(),
            ": rope_factors_long.weight and rope_factors_short.weight must be given for type longrope");
    scaling_["rope_type"] = "longrope";
    scaling_["short_factor"] = decimals(*rope_.short_factors);
    scaling_["long_factor"] = decimals(*rope_.long_factors);
    if (rope_.original_context_length) config_["original_max_position_embeddings"] = *rope_.original_context_length;
    if (!rope_.scaling_attn_factor) return;
    const auto original = static_cast<double>(rope_.original_context_length.value_or(0));
    const double scale = original > 0 ? static_cast<double>(rope_.context_length.value_or(0)) / original : 1;
    const auto implied = static_cast<float>(longrope_attention_factor(scale, original));
    const auto given = static_cast<float>(*rope_.scaling_attn_factor);
    if (given != implied) scaling_["attention_factor"] = shortest(double{given});
  }

  static OrderedJson decimals(const std::vector<float>& values) {
    OrderedJson list = OrderedJson::array();
    for (const float value : values) list.push_back(shortest(double{value}));
    return list;
  }

  void write_llama3() {
    const auto found =
        recover_llama3(*rope_.freq_factors, rope_.freq_base.value_or(10000), rope_.original_context_length);
    require(found.has_value(), file_.name(), ": the divisors in rope_freqs.weight are not those of the rule llama3; ",
            "config.json has no other form for them");
    scaling_["rope_type"] = "llama3";
    scaling_["factor"] = found->factor;
    scaling_["low_freq_factor"] = found->low_freq_factor;
    scaling_["high_freq_factor"] = found->high_freq_factor;
    scaling_["original_max_position_embeddings"] = static_cast<std::int64_t>(found->original_length);
    if (!rope_.original_context_length) {
      note("original_max_position_embeddings was computed from the divisors, assuming that low_freq_factor is 1");
    }
  }

  void write_sections() {
    if (!rope_.dimension_sections) return;
    std::vector<std::int64_t> sections = *rope_.dimension_sections;
    while (sections.size() > 3 && sections.back() == 0) sections.pop_back();
    if (scaling_.empty()) scaling_["rope_type"] = "default";
    scaling_["mrope_section"] = sections;
    if (rope_.rope_type == GgufRopeType::imrope) scaling_["mrope_interleaved"] = true;
  }

  const GgufFile& file_;
  const GgufRope& rope_;
  OrderedJson config_ = OrderedJson::object();
  OrderedJson scaling_ = OrderedJson::object();
  std::vector<std::string> notes_;
};

/// A model saved by Locus's lab states its encoding, whatever its scheme.
HfRopeSettings lab_settings(const GgufFile& file) {
  gguf_lab_encoding(file);  // reports errors in it
  OrderedJson config = {{"model_type", "locus_lab"}};
  for (const auto& [key, from] : {std::pair{"num_attention_heads", "locus_lab.attention.head_count"},
                                  std::pair{"hidden_size", "locus_lab.embedding_length"},
                                  std::pair{"max_position_embeddings", "locus_lab.context_length"}}) {
    if (const auto value = file.integer(from)) config[key] = *value;
  }
  config["locus_encoding"] = OrderedJson::parse(*file.text("locus_lab.encoding"));
  return {config.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n", {}};
}

}  // namespace

HfRopeSettings hf_rope_settings(const GgufFile& file) {
  if (file.text("general.architecture") == "locus_lab") return lab_settings(file);
  const GgufRope rope = collect_gguf_rope(file);
  return HfRopeWriter(file, rope).write();
}

}  // namespace locus::io
