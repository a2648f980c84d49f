// SPDX-License-Identifier: Apache-2.0
// Converts config.json to GGUF, as llama.cpp's converter does (conversion/base.py, phi.py and llama.py of August 2026).
#include <algorithm>

#include "io/hf_resolve.h"
#include "io/hf_rope.h"
#include "io/llama3_divisors.h"
#include "io/rope_architectures.h"
#include "locus/io/convert_rope.h"
#include "locus/scaling.h"
#include "locus/text.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

std::string architecture_for(const HfConfig& config, const std::string& name, const std::string& given) {
  if (!given.empty()) return given;
  const auto known = architecture_of(config.model_type);
  require(known.has_value(), name, ": model_type ", shown(config.model_type),
          " has no known architecture in GGUF; give it (--architecture)");
  return std::string(*known);
}

/// Error: BERT, T5 and others have no RoPE settings to convert.
void check_rotates(const HfConfig& config, const std::string& name) {
  std::vector<std::string> others;
  for (const LayerEncoding& layer : config.layers) {
    if (layer.scheme == "rope") return;
    if (std::find(others.begin(), others.end(), layer.scheme) == others.end()) others.push_back(layer.scheme);
  }
  fail(name, ": there is no RoPE in this model to convert; ",
       config.model_type.empty() ? "it" : "model_type " + shown(config.model_type), " has ", listed(others));
}

/// True if this key was defaulted. Notes start with its path: `rope_scaling.beta_fast = 32 (...)`.
bool was_defaulted(const LayerEncoding& layer, std::string_view key) {
  return std::any_of(layer.defaulted.begin(), layer.defaulted.end(), [&](const std::string& note) {
    const std::string_view path = std::string_view(note).substr(0, note.find(" = "));
    return path == key ||
           (path.size() > key.size() && path.ends_with(key) && path[path.size() - key.size() - 1] == '.');
  });
}

class GgufRopeWriter {
 public:
  GgufRopeWriter(const HfConfig& config, Fields& fields, std::string architecture)
      : config_(config), fields_(fields), name_(fields.file()) {
    settings_.architecture = std::move(architecture);
  }

  GgufRopeSettings write() {
    choose_layers();
    write_shape();
    const Arguments& arguments = full_->arguments;
    if (arguments.has("max_length")) add_integer("context_length", arguments.integer("max_length"));
    const std::int64_t rotary_dim = arguments.integer("rotary_dim");
    constexpr std::int64_t widest = 1 << 16;  // far above any head; bounds the table of divisors
    require(rotary_dim % 2 == 0 && rotary_dim <= widest, name_, ": the rotary width must be even and at most ", widest,
            ", got ", rotary_dim);
    add_integer("rope.dimension_count", rotary_dim);
    write_axes();
    add_real("rope.freq_base", arguments.real("base"));
    if (sliding_ != nullptr) add_real("rope.freq_base_swa", sliding_->arguments.real("base"));
    write_rule();
    if (arguments.has("rotary_offset") && arguments.integer("rotary_offset") != 0) {
      settings_.notes.push_back("rotary offset " + std::to_string(arguments.integer("rotary_offset")) +
                                " has no key; the architecture implies it");
    }
    for (const std::string& key : full_->unknown) settings_.notes.push_back("not converted: " + key);
    return std::move(settings_);
  }

 private:
  std::string key(std::string_view rest) const { return settings_.architecture + "." + std::string(rest); }
  void add(std::string_view rest, GgufValue value) { settings_.entries.push_back({key(rest), std::move(value)}); }
  void add_integer(std::string_view rest, std::int64_t number) {
    add(rest, GgufValue::of(static_cast<std::uint32_t>(number)));  // lengths of a config fit into 31 bits
  }
  void add_real(std::string_view rest, double number) { add(rest, GgufValue::of(static_cast<float>(number))); }
  void add_shape(std::string_view rest, std::int64_t number) {
    settings_.shape.push_back({key(rest), GgufValue::of(static_cast<std::uint32_t>(number))});
  }

  /// All layers are alike, or full layers have the rule and sliding layers their own base. The architecture determines
  /// which layers do not rotate.
  void choose_layers() {
    for (const LayerEncoding& layer : config_.layers) {
      if (layer.scheme == "nope") continue;
      require(layer.scheme == "rope", name_, ": only RoPE settings can be converted, this model has ", layer.scheme);
      if (layer.layer_type == sliding_attention && config_.layers.size() > 1) {
        sliding_ = &layer;
      } else {
        require(full_ == nullptr, name_, ": GGUF has keys for full and sliding layers only, got also ",
                layer.layer_type);
        full_ = &layer;
      }
    }
    if (full_ == nullptr) std::swap(full_, sliding_);
    require(full_ != nullptr, name_, ": no layer of this model rotates");
    if (sliding_ == nullptr) return;
    for (const char* const size : {"head_dim", "rotary_dim"}) {
      require(sliding_->arguments.integer(size) == full_->arguments.integer(size), name_,
              ": full and sliding layers must have the same ", size, ", got ", full_->arguments.integer(size), " and ",
              sliding_->arguments.integer(size));
    }
    require(sliding_->arguments.text("rule") == "none", name_, ": GGUF has no key for a rule of sliding layers, got ",
            sliding_->arguments.text("rule"));
  }

  void write_shape() {
    const auto hidden = read_hidden_size(fields_);
    const auto heads = read_heads(fields_);
    const auto pairs = fields_.integer({"num_key_value_heads", "num_kv_heads"});
    if (hidden) add_shape("embedding_length", *hidden);
    if (heads) add_shape("attention.head_count", *heads);
    if (heads) add_shape("attention.head_count_kv", pairs.value_or(*heads));
    if (has_latent_attention(settings_.architecture)) return;
    const std::int64_t head_dim = full_->arguments.integer("head_dim");
    const bool implied = hidden && heads && *hidden / *heads == head_dim;
    if (fields_.has("head_dim") || !implied) add_shape("attention.key_length", head_dim);
  }

  void write_axes() {
    const std::string& axes = full_->arguments.text("axes");
    if (axes == "1d") return;
    require(axes == "mrope" || axes == "mrope_interleaved", name_, ": axes ", axes, " have no key in GGUF");
    std::vector<std::int32_t> sections;
    for (const double section : full_->arguments.list("sections")) {
      sections.push_back(static_cast<std::int32_t>(section));
    }
    require(sections.size() <= 4, name_, ": GGUF has room for 4 sections, got ", sections.size());
    sections.resize(4, 0);
    add("rope.dimension_sections", GgufValue::of_array(std::span<const std::int32_t>(sections)));
  }

  void write_rule() {
    const std::string& rule = full_->arguments.text("rule");
    if (rule == "none") return;
    const std::string type(find_rule(rule).gguf_type);
    if (!type.empty()) add("rope.scaling.type", GgufValue::of(type));
    if (rule == "yarn") {
      write_yarn();
    } else if (rule == "longrope") {
      write_longrope();
    } else if (rule == "llama3") {
      write_llama3();
    } else {
      require(!type.empty(), name_, ": the rule ", rule, " has no keys in GGUF");
      write_keys(find_rule(rule));
    }
  }

  /// Writes the keys of the rule as the registry lists them.
  void write_keys(const Rule& rule) {
    const Arguments& arguments = full_->arguments;
    add_real("rope.scaling.factor", arguments.real("factor"));
    if (!rule.trained_length.empty()) {
      add_integer("rope.scaling.original_context_length", arguments.integer(rule.trained_length));
    }
    for (const GgufKey& key : rule.gguf_keys) {
      const bool given = arguments.has(key.parameter) && !was_defaulted(*full_, key.parameter);
      if (given) add_real("rope.scaling." + std::string(key.key), arguments.real(key.parameter));
    }
  }

  void write_yarn() {
    const Arguments& arguments = full_->arguments;
    write_keys(find_rule("yarn"));
    if (!arguments.boolean("truncate"))
      settings_.notes.push_back("not converted: truncate = false; llama.cpp truncates");
    const bool has_all = arguments.has("mscale_all_dim");
    if (has_all) {
      add_real("rope.scaling.yarn_log_multiplier",
               log_multiplier_per_mscale(settings_.architecture) * arguments.real("mscale_all_dim"));
    }
    if (arguments.has("mscale") && !(has_all && arguments.real("mscale") == arguments.real("mscale_all_dim"))) {
      settings_.notes.push_back("not converted: mscale = " + number_text(arguments.real("mscale")));
    }
  }

  void write_longrope() {
    const Arguments& arguments = full_->arguments;
    const auto original = static_cast<double>(arguments.integer("original_length"));
    add_integer("rope.scaling.original_context_length", arguments.integer("original_length"));
    // llama.cpp would divide positions by rope.scaling.factor for any type, so only its effect is written.
    double scale = arguments.has("max_length") ? static_cast<double>(arguments.integer("max_length")) / original : 1;
    if (arguments.has("factor")) scale = arguments.real("factor");
    add_real("rope.scaling.attn_factor", arguments.has("attention_factor")
                                             ? arguments.real("attention_factor")
                                             : longrope_attention_factor(scale, original));
    for (const char* const mscale : {"short_mscale", "long_mscale"}) {
      if (arguments.has(mscale)) settings_.notes.push_back(std::string("not converted: ") + mscale);
    }
    add_factors("rope_factors_long.weight", arguments.list("long_factor"));
    add_factors("rope_factors_short.weight", arguments.list("short_factor"));
  }

  void write_llama3() {
    const Arguments& arguments = full_->arguments;
    const Llama3Parameters parameters{arguments.real("factor"), arguments.real("low_freq_factor"),
                                      arguments.real("high_freq_factor"),
                                      static_cast<double>(arguments.integer("original_length"))};
    // llama.cpp's converter does not write this key, and it has no effect there; it makes the conversion back exact.
    add_integer("rope.scaling.original_context_length", arguments.integer("original_length"));
    settings_.factors.push_back(
        {"rope_freqs.weight", llama3_divisors(parameters, arguments.real("base"), arguments.integer("rotary_dim"))});
  }

  void add_factors(const char* tensor, const std::vector<double>& values) {
    RopeFactors factors{tensor, {}};
    for (const double value : values) factors.values.push_back(static_cast<float>(value));
    settings_.factors.push_back(std::move(factors));
  }

  const HfConfig& config_;
  Fields& fields_;
  const std::string& name_;
  const LayerEncoding* full_ = nullptr;
  const LayerEncoding* sliding_ = nullptr;
  GgufRopeSettings settings_ = {};
};

}  // namespace

GgufRopeSettings gguf_rope_settings(std::string_view config_text, const std::string& name,
                                    const std::string& architecture) {
  const HfConfig config = resolve_hf_config(config_text, name);
  check_rotates(config, name);
  const JsonDocument document = parse_json_document(config_text, name);
  Notes unused;
  Fields fields = find_text_model(document.root, name, unused);
  return GgufRopeWriter(config, fields, architecture_for(config, name, architecture)).write();
}

}  // namespace locus::io
