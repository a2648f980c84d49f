// SPDX-License-Identifier: Apache-2.0
// How llama.cpp reads a GGUF file's position settings (llama_model_base::load_hparams and llama_context of 2026):
//   scaling type       absent: linear, which with no factor is none
//   freq_scale         1 / scaling.factor, 1 if that is absent or 0
//   YaRN               cos and sin times m(f, k) / m(f, a) where yarn_log_multiplier gives a, else m(f, 1); then times
//                      scaling.attn_factor. DeepSeek's converter writes 0.1 a and its graph puts m(f, a)^2 on the
//                      softmax scale; k = 1, but k = a in DeepSeek where a is not 1.
//   rope_freqs         divisors of the angles; the long list where the context exceeds the original length
#include "locus/io/gguf_encoding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/rope_architectures.h"
#include "locus/error.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf_rope.h"
#include "locus/scaling.h"

namespace locus::io {
namespace {

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Sliding layers have their own base, 10000 by default, and no scaling.
constexpr std::array<std::string_view, 3> own_sliding_base = {"gemma-embedding", "gemma3", "gemma3n"};
// Full layers do not rotate.
constexpr std::array<std::string_view, 1> sliding_only = {"cohere2"};
// Every fourth layer does not rotate.
constexpr std::array<std::string_view, 2> some_without = {"llama4", "smollm3"};
// The head has a separate rotary part (latent attention).
constexpr std::array<std::string_view, 5> latent = {"deepseek2", "deepseek2-ocr", "deepseek32", "glm-dsa", "minicpm3"};
// ALiBi with a maximum of 8, which the file does not state.
constexpr std::array<std::string_view, 3> alibi_of_eight = {"bloom", "jina-bert-v2", "refact"};

constexpr std::int64_t widest = 65536;  // limit of the scheme; bounds the lists of a hostile file

double magnitude(double factor, double k) { return factor <= 1 ? 1 : 0.1 * k * std::log(factor) + 1; }

class RopeReader {
 public:
  RopeReader(const GgufRope& rope, std::optional<std::int64_t> length) : rope_(rope), length_(length) {}

  /// `sliding`: a layer of the type that has its own base and no scaling.
  LayerEncoding read(std::string layer_type, bool sliding) {
    layer_ = {.layer_type = std::move(layer_type), .scheme = "rope"};
    layer_.unknown = rope_.unknown;
    layer_.trained_length = rope_.original_context_length ? rope_.original_context_length : rope_.context_length;
    if (rope_.context_length) set("max_length", *rope_.context_length);
    read_width(sliding);
    read_pairing();
    read_base(sliding);
    if (sliding) {
      set("rule", std::string("none"));
    } else {
      read_rule();
    }
    return std::move(layer_);
  }

 private:
  void set(std::string_view name, Value value) { layer_.arguments.set(name, std::move(value)); }
  void used(std::string_view key) { layer_.used.emplace_back(key); }
  void defaulted(const std::string& text) { layer_.defaulted.push_back(text + " (llama.cpp's default)"); }

  std::int64_t head_dim(bool sliding) {
    const auto given = sliding && rope_.key_length_swa ? rope_.key_length_swa : rope_.key_length;
    if (given) {
      used("attention.key_length");
      return *given;
    }
    require(rope_.embedding_length && rope_.head_count && !rope_.head_count->empty(), rope_.architecture,
            ": attention.key_length, or embedding_length and attention.head_count, must be given for head_dim");
    const std::int64_t heads = *std::max_element(rope_.head_count->begin(), rope_.head_count->end());
    require(heads >= 1, rope_.architecture, ": attention.head_count must be at least 1, got ", heads);
    const std::int64_t width = *rope_.embedding_length / heads;
    defaulted("attention.key_length = " + std::to_string(width));
    return width;
  }

  void read_width(bool sliding) {
    std::int64_t head = head_dim(sliding);
    const auto given = sliding && rope_.dimension_count_swa ? rope_.dimension_count_swa : rope_.dimension_count;
    if (given) {
      used("rope.dimension_count");
    } else {
      defaulted("rope.dimension_count = " + std::to_string(head));
    }
    const std::int64_t rotary = given.value_or(head);
    require(rotary >= 2 && rotary <= widest, rope_.architecture, ": the rotary width must be from 2 to ", widest,
            ", got ", rotary);
    if (is_one_of(latent, rope_.architecture)) head = rotary;
    set("head_dim", head);
    set("rotary_dim", rotary);
  }

  void read_pairing() {
    require(rope_.rope_type.has_value(), "general.architecture ", rope_.architecture,
            " is not in llama.cpp's table, so its pairing is unknown");
    const bool interleaved = rope_.rope_type == GgufRopeType::interleaved;
    set("pairing", std::string(interleaved ? "interleaved" : "half"));
    const bool in_turn = rope_.rope_type == GgufRopeType::imrope;
    if (rope_.rope_type != GgufRopeType::mrope && !in_turn) return set("axes", std::string("1d"));
    require(rope_.dimension_sections.has_value(), rope_.architecture,
            ": rope.dimension_sections is missing, but several axes need it");
    used("rope.dimension_sections");
    std::vector<double> sections(rope_.dimension_sections->begin(), rope_.dimension_sections->end());
    while (sections.size() > (in_turn ? 3U : 2U) && sections.back() == 0) sections.pop_back();
    set("axes", std::string(in_turn ? "mrope_interleaved" : "mrope"));
    set("sections", sections);
  }

  void read_base(bool sliding) {
    if (sliding) {
      if (rope_.freq_base_swa) used("rope.freq_base_swa");
      if (!rope_.freq_base_swa) defaulted("rope.freq_base_swa = 10000");
      return set("base", rope_.freq_base_swa.value_or(10000));
    }
    if (rope_.freq_base) used("rope.freq_base");
    if (!rope_.freq_base) defaulted("rope.freq_base = 10000");
    set("base", rope_.freq_base.value_or(10000));
  }

  double factor() {
    const double stated = rope_.scaling_factor.value_or(0);
    if (rope_.scaling_factor) used("rope.scaling.factor");
    return stated == 0 ? 1 : stated;
  }

  void read_rule() {
    const std::string type = rope_.scaling_type.value_or("linear");
    const Rule& rule = rule_of_gguf(type, rope_.architecture);
    if (rope_.scaling_type) {
      used("rope.scaling.type");
    } else if (rope_.scaling_factor) {
      defaulted("rope.scaling.type = linear");
    }
    const double stretch = type == "none" ? 1 : factor();
    const bool ramp = type == "yarn" && ext_factor() != 0 && stretch != 1;
    const bool lists = rope_.freq_factors || rope_.long_factors || rope_.short_factors;
    require(!(ramp && lists), rope_.architecture, ": Locus has no rule for rope.scaling.type yarn together with ",
            "a tensor of factors");
    if (ramp) return read_yarn(stretch);
    const bool has_keys_of_its_own = type == "none" || type == "linear" || type == "yarn" || type == "longrope";
    if (!has_keys_of_its_own) {
      set("rule", std::string(rule.name));
      if (!rule.trained_length.empty()) set(rule.trained_length, original_length());
      read_numbers(rule);
      return set("factor", stretch);
    }
    const double attention = rope_.scaling_attn_factor.value_or(1);
    if (rope_.scaling_attn_factor) used("rope.scaling.attn_factor");
    if (lists || attention != 1) return read_divisors(stretch, attention);
    if (rope_.scaling_alpha.value_or(0) > 0 && stretch == 1) {
      used("rope.scaling.alpha");
      set("rule", std::string("ntk"));
      return set("factor", *rope_.scaling_alpha);
    }
    set("rule", std::string(stretch == 1 ? "none" : "linear"));
    if (stretch != 1) set("factor", stretch);
  }

  void read_numbers(const Rule& rule) {
    for (const GgufKey& key : rule.gguf_keys) {
      const auto found = rope_.rule_numbers.find(key.key);
      if (found == rope_.rule_numbers.end()) continue;
      used("rope.scaling." + std::string(key.key));
      const Parameter& parameter = find_parameter(rule.name, rule.parameters, key.parameter);
      if (parameter.kind == ValueKind::integer) {
        set(key.parameter, static_cast<std::int64_t>(std::llround(found->second)));
      } else {
        set(key.parameter, found->second);
      }
    }
  }

  std::int64_t original_length() {
    if (rope_.original_context_length) {
      used("rope.scaling.original_context_length");
      return *rope_.original_context_length;
    }
    require(rope_.context_length.has_value(), rope_.architecture, ": rope.scaling.original_context_length or ",
            "context_length must be given for this rule");
    defaulted("rope.scaling.original_context_length = " + std::to_string(*rope_.context_length));
    return *rope_.context_length;
  }

  /// Negative means "not set".
  double ext_factor() const {
    const double given = rope_.yarn_ext_factor.value_or(-1);
    return given < 0 ? 1 : given;
  }

  void read_yarn(double stretch) {
    set("rule", std::string("yarn"));
    set("factor", stretch);
    require(ext_factor() <= 1, rope_.architecture, ": rope.scaling.yarn_ext_factor must be at most 1, got ",
            ext_factor());
    if (rope_.yarn_ext_factor) used("rope.scaling.yarn_ext_factor");
    if (ext_factor() != 1) set("ext_factor", ext_factor());
    set("original_length", original_length());
    set("beta_fast", rope_.yarn_beta_fast.value_or(32));
    set("beta_slow", rope_.yarn_beta_slow.value_or(1));
    set("truncate", true);  // always true in ggml
    double attention = magnitude(stretch, 1);
    if (rope_.yarn_log_multiplier.value_or(0) != 0) {
      used("rope.scaling.yarn_log_multiplier");
      const bool tenths = is_one_of(latent, rope_.architecture);
      const double all = *rope_.yarn_log_multiplier / (tenths ? 0.1 : 1);
      // float32 0.1 x 1 divided by 0.1 is 1 except for the last bits
      const bool is_one = std::fabs(all - 1) < 1e-6;
      attention = magnitude(stretch, rope_.architecture == "deepseek2" && !is_one ? all : 1) / magnitude(stretch, all);
      if (tenths) set("mscale_all_dim", is_one ? 1 : all);
    }
    set("attention_factor", attention * rope_.scaling_attn_factor.value_or(1) * rope_.yarn_attn_factor.value_or(1));
  }

  std::vector<double> divided(const std::optional<std::vector<float>>& list, double stretch) {
    const auto pairs = static_cast<std::size_t>(layer_.arguments.integer("rotary_dim") / 2);
    std::vector<double> divisors(pairs, stretch);
    if (!list) return divisors;
    divisors.clear();
    for (const float entry : *list) divisors.push_back(static_cast<double>(entry) * stretch);
    return divisors;
  }

  /// Reads arbitrary divisors: one list for all lengths (rope_freqs), or a long and a short one.
  void read_divisors(double stretch, double attention) {
    const auto& for_all = rope_.freq_factors;
    if (for_all) used("rope_freqs.weight");
    if (!for_all && rope_.long_factors) used("rope_factors_long.weight");
    if (!for_all && rope_.short_factors) used("rope_factors_short.weight");
    set("rule", std::string("longrope"));
    set("short_factor", divided(for_all ? for_all : rope_.short_factors, stretch));
    set("long_factor", divided(for_all ? for_all : rope_.long_factors, stretch));
    set("original_length", original_length());
    set("attention_factor", attention);
    // llama.cpp chooses once, by the size of the context
    const auto length = length_ ? length_ : rope_.context_length;
    if (length) set("length", *length);
  }

  const GgufRope& rope_;
  std::optional<std::int64_t> length_;
  LayerEncoding layer_ = {};
};

std::vector<LayerEncoding> rotations(const GgufRope& rope, std::optional<std::int64_t> length) {
  RopeReader reader(rope, length);
  LayerEncoding nope{.scheme = "nope"};
  const bool slides = rope.architecture != "gemma3" || rope.sliding_window.value_or(0) > 0;  // some have no window
  if ((is_one_of(own_sliding_base, rope.architecture) && slides) || rope.freq_base_swa) {
    return {reader.read("sliding_attention", true), reader.read("full_attention", false)};
  }
  if (is_one_of(sliding_only, rope.architecture)) {
    nope.layer_type = "full_attention";
    return {reader.read("sliding_attention", false), nope};
  }
  if (is_one_of(some_without, rope.architecture)) {
    nope.layer_type = "no_rope";
    return {reader.read("rope", false), nope};
  }
  return {reader.read("", false)};
}

std::int64_t heads_of(const GgufRope& rope) {
  require(rope.head_count && !rope.head_count->empty(), rope.architecture, ": attention.head_count is missing");
  return *std::max_element(rope.head_count->begin(), rope.head_count->end());
}

LayerEncoding alibi(const GgufRope& rope, double bias_max) {
  LayerEncoding layer{.scheme = "alibi"};
  layer.arguments.set("heads", heads_of(rope));
  layer.arguments.set("bias_max", bias_max);
  layer.arguments.set("form", std::string("symmetric"));  // -slope |query - key|
  layer.used = {"attention.head_count"};
  if (rope.max_alibi_bias) {
    layer.used.emplace_back("attention.max_alibi_bias");
  } else {
    layer.defaulted.emplace_back("attention.max_alibi_bias = 8 (llama.cpp's default)");
  }
  layer.trained_length = rope.context_length;
  layer.unknown = rope.unknown;
  return layer;
}

std::vector<LayerEncoding> t5_buckets(const GgufFile& file, const GgufRope& rope) {
  const std::int64_t buckets = file.integer(rope.architecture + ".attention.relative_buckets_count").value_or(32);
  std::vector<LayerEncoding> layers;
  for (const bool bidirectional : {true, false}) {
    if (!bidirectional && rope.architecture == "t5encoder") break;
    LayerEncoding layer{.layer_type = bidirectional ? "encoder" : "decoder", .scheme = "t5"};
    layer.arguments.set("heads", heads_of(rope));
    layer.arguments.set("num_buckets", buckets);
    layer.arguments.set("max_distance", std::int64_t{128});
    layer.arguments.set("bidirectional", bidirectional);
    layer.used = {"attention.head_count", "attention.relative_buckets_count"};
    layer.defaulted = {"relative_attention_max_distance = 128 (llama.cpp supports no other)"};
    layer.trained_length = rope.context_length;
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace

GgufEncoding resolve_gguf_encoding(const GgufFile& file, std::optional<std::int64_t> length) {
  if (file.text("general.architecture") == "locus_lab") return {"locus_lab", {gguf_lab_encoding(file)}};
  const GgufRope rope = collect_gguf_rope(file);
  GgufEncoding result{rope.architecture, {}};
  if (const GgufTensor* table = file.find_tensor("position_embd.weight")) {
    require(table->shape.size() == 2, file.name(), ": tensor position_embd.weight must have two axes, got ",
            table->shape.size());
    LayerEncoding layer{.scheme = "learned"};
    layer.arguments.set("max_positions", table->shape[0]);
    layer.arguments.set("dim", table->shape[1]);
    layer.arguments.set("row_offset", std::int64_t{0});
    layer.used = {"position_embd.weight"};
    layer.trained_length = table->shape[0];
    result.layers.push_back(std::move(layer));
  } else if (rope.architecture.starts_with("t5")) {
    result.layers = t5_buckets(file, rope);
  } else if (rope.max_alibi_bias.value_or(0) > 0 || is_one_of(alibi_of_eight, rope.architecture)) {
    result.layers.push_back(alibi(rope, rope.max_alibi_bias.value_or(8)));
  } else if (rope.architecture == "baichuan" && rope.block_count == 40) {
    result.layers.push_back(alibi(rope, 8));  // the 13B model, recognized by its 40 layers
  } else if (rope.rope_type == GgufRopeType::none) {
    result.layers.push_back({.scheme = "nope", .unknown = rope.unknown});
  } else {
    result.layers = rotations(rope, length);
  }
  return result;
}

}  // namespace locus::io
