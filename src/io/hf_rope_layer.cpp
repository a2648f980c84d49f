// SPDX-License-Identifier: Apache-2.0
// Reads one layer type of a RoPE model. Keys in the rope block take precedence over the top level, as in transformers,
// except that Phi-3's top-level original_max_position_embeddings takes precedence.
#include <algorithm>
#include <array>
#include <cmath>

#include "io/hf_rope.h"
#include "locus/names.h"
#include "locus/scaling.h"

namespace locus::io {
namespace {

constexpr std::string_view original_key = "original_max_position_embeddings";

std::string_view rule_of(const std::string& type, const Fields& block, std::string_view key) {
  std::vector<std::string_view> known;
  for (const Rule* rule : rules()) {
    for (const std::string_view spelling : rule->hf_types) {
      if (spelling == type) return rule->name;
      known.push_back(spelling);
    }
  }
  std::sort(known.begin(), known.end());
  fail(block.subject(key), ": ", unknown_name("rule", type, known));
}

class RopeLayerReader {
 public:
  RopeLayerReader(Fields& fields, Fields& block, const LayerPlan& plan, const HfContext& context)
      : fields_(fields), block_(block), plan_(plan), context_(context), model_(context.model) {}

  LayerEncoding read() {
    layer_.layer_type = plan_.layer_type;
    layer_.scheme = "rope";
    read_type();
    max_length_ = read_max_length(fields_);
    if (max_length_) set("max_length", *max_length_);
    layer_.trained_length = max_length_;
    read_width();
    read_pairing();
    set("base", read_base());
    read_rule();
    read_axes();
    read_query_scale();
    if (rule_ == "none") read_fope(layer_, fields_, block_);
    if (model_.turns_output) set("turned_output", true);
    if (plan_.compressed) {
      layer_.not_applied.emplace_back(
          "this model also pools several tokens into one key (compress_ratios); Locus gives such keys their positions "
          "(locus positions compressed) but does not pool");
    }
    add_other_base();
    if (plan_.block.json) block_.note_unread(true);
    note_idle_original_length();
    // GPT-J states that it is rotary; the other keys concern an indexer, a kernel, and training.
    fields_.acknowledge({"rotary", "indexer_rope_interleave", "flash_rotary", "max_trained_positions"});
    fields_.note_unread(false);
    return std::move(layer_);
  }

 private:
  void set(std::string_view name, Value value) { layer_.arguments.set(name, std::move(value)); }

  std::string why_default() const { return io::why_default(context_); }

  void read_type() {
    auto new_name = block_.text({"rope_type"});
    auto old_name = block_.text({"type"});
    for (auto* name : {&new_name, &old_name}) {
      if (*name != "xdrope") continue;
      *name = "dynamic";  // HunYuan: NTK by alpha, with sections for images
      is_xdrope_ = true;
    }
    rule_ = "none";
    if (new_name) {
      rule_ = rule_of(*new_name, block_, "rope_type");
      if (old_name && rule_of(*old_name, block_, "type") != rule_) block_.note_ignored("type", "rope_type is used");
    } else if (old_name) {
      rule_ = rule_of(*old_name, block_, "type");
    } else if (plan_.block.json) {
      block_.note_default("rope_type", "default", "transformers' default");
    }
    type_ = "rope_type " + new_name.value_or(old_name.value_or("default"));
    is_mrope_ = new_name == "mrope" || old_name == "mrope";
    is_video_ = new_name == "video_rope" || old_name == "video_rope";
    is_ming_ = is_video_ || new_name == "3D" || old_name == "3D";
    // Only vLLM knows this type: fixed divisors, or mixed ones.
    if (rule_ == "ntk") {
      rule_ = "ntk_mixed";
      if (!block_.has("mixed_b")) block_.note_default("mixed_b", "1", "vLLM's fixed divisors");
    }
    // Phi-3's first files called longrope "yarn"; transformers reads any yarn of Phi-3 as longrope.
    if (model_.original_length > 0 && rule_ == "yarn") rule_ = "longrope";
  }

  void read_width() {
    width_ = read_rope_width(fields_, block_, plan_, context_, rule_);
    set("head_dim", width_.head_dim);
    if (width_.fraction) set("rotary_fraction", *width_.fraction);
    set("rotary_dim", width_.rotary_dim);
    if (model_.rotates_last && width_.rotary_dim < width_.head_dim) {
      set("rotary_offset", width_.head_dim - width_.rotary_dim);
    }
    // transformers 5 reads the width of these two, but rotates the whole head.
    whole_head_reading_ =
        width_.rotary_dim < width_.head_dim && (model_.name == "recurrent_gemma" || model_.name == "minimax");
  }

  void read_pairing() {
    const auto stated = fields_.boolean({"rotary_emb_interleaved", "is_neox_style", "original_rope"});
    if (context_.options.pairing) return set("pairing", *context_.options.pairing);
    bool interleaved = model_.pairing != HfPairing::half && !width_.plain_heads;
    if (stated) {
      interleaved = fields_.has("rotary_emb_interleaved") ? *stated : fields_.has("is_neox_style") ? !*stated : *stated;
    } else if (!context_.listed) {
      const std::string why =
          context_.model_type.empty() ? "no model_type" : "model_type " + context_.model_type + " is not in the table";
      fields_.note_default("pairing", "half", why + ": assumed, since most models have it");
    }
    if (model_.pairing == HfPairing::deinterleaving && !width_.plain_heads) {
      interleaved = fields_.boolean({"rope_interleave"}).value_or(true);
      if (interleaved) set("output_order", std::string("deinterleaved"));
    }
    set("pairing", std::string(interleaved ? "interleaved" : "half"));
  }

  /// DBRX has its base in attn_config, which transformers 5 does not read.
  std::optional<double> read_dbrx_base() {
    const Json* attention = model_.name == "dbrx" ? fields_.object({"attn_config"}) : nullptr;
    if (attention == nullptr || !attention->contains("rope_theta")) return {};
    Fields inner(*attention, fields_.path_of("attn_config."), fields_.file(), fields_.notes());
    const auto base = inner.positive({"rope_theta"});
    if (base && *base != model_.base) {
      other_base_ = {"transformers 5", model_.base,
                     "attn_config.rope_theta is not read: rope_theta = " + number_text(model_.base)};
    }
    return base;
  }

  double read_base() {
    if (plan_.base) {
      fields_.acknowledge({"rope_theta"});
      return *plan_.base;
    }
    auto base = block_.positive({"rope_theta"});
    if (base) {
      // A copy outside the block has no effect; a different value is noted, since other readers may use it.
      for (const std::string_view key : {"rope_theta", "rotary_emb_base"}) {
        const Json* outside = plan_.has_local_base ? nullptr : fields_.peek(key);
        if (outside && outside->is_number() && outside->get<double>() == *base) fields_.acknowledge({key});
        if (outside && outside->is_number() && outside->get<double>() != *base && plan_.layer_type.empty()) {
          fields_.note_ignored(key, plan_.block.path + "rope_theta is used");
        }
      }
    } else if (plan_.has_local_base) {
      base = fields_.positive({"rope_local_base_freq", "local_rope_theta"});
    } else if (plan_.compressed) {
      base = fields_.positive({"compress_rope_theta"});
      if (!base) {
        fields_.note_default("compress_rope_theta", "160000", why_default());
        base = 160000;
      }
    } else if (const auto own = read_dbrx_base()) {
      base = own;
    } else {
      base = fields_.positive({"global_rope_theta", "rope_theta", "rotary_emb_base", "rope_embedding_base",
                               "rotary_base", "rope_base", "rope_freq_constant"});
    }
    if (!plan_.layer_type.empty()) {  // keys of the other layer types
      fields_.acknowledge(
          {"rope_theta", "rope_local_base_freq", "local_rope_theta", "global_rope_theta", "compress_rope_theta"});
    }
    if (base) return *base;
    if (const auto ratio = fields_.positive({"rope_ratio"})) return 10000 * *ratio;
    const double fallback = plan_.has_local_base ? model_.local_base : model_.base;
    fields_.note_default(plan_.has_local_base ? "rope_local_base_freq" : "rope_theta", number_text(fallback),
                         why_default());
    if (model_.older_base != 0 && !plan_.has_local_base) {
      other_base_ = {std::string(model_.name == "minicpm" ? "mlx-lm" : "transformers up to 4.57"), model_.older_base,
                     "default of rope_theta = " + number_text(model_.older_base)};
    }
    return fallback;
  }

  /// Adds readings of the same file by other versions.
  void add_other_base() {
    if (other_base_.base != 0) {
      Arguments arguments = layer_.arguments;
      arguments.set("base", other_base_.base);
      layer_.alternatives.push_back({other_base_.reader, "rope", std::move(arguments), other_base_.what});
    }
    if (whole_head_reading_) {
      Arguments arguments = layer_.arguments;
      arguments.set("rotary_dim", arguments.integer("head_dim"));
      layer_.alternatives.push_back({"transformers 5", "rope", std::move(arguments),
                                     "all " + std::to_string(layer_.arguments.integer("head_dim")) +
                                         " coordinates of a head rotate, whatever the rotary width is"});
    }
  }

  void copy_positive(std::string_view key) {
    if (const auto value = block_.positive({key})) set(key, *value);
  }
  void copy_needed(std::string_view key) { set(key, needed(block_.positive({key}), block_, key, type_)); }

  void set_length() {
    if (context_.options.length) set("length", *context_.options.length);
  }

  void read_rule() {
    if (rule_ == "dynamic_ntk" && (is_xdrope_ || context_.model_type.starts_with("hunyuan"))) {
      // HunYuan's dynamic rule with alpha is static NTK with that factor; the rest of its block is not used.
      const auto alpha = block_.number({"alpha"});
      if (alpha && *alpha != 0) {
        require(*alpha > 0, block_.subject("alpha"), " must be a positive number, got ", *alpha);
        set("rule", std::string("ntk"));
        set("factor", *alpha);
        block_.acknowledge({"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"});
        return;
      }
    }
    set("rule", std::string(rule_));
    if (rule_ == "yarn") return read_yarn();
    if (rule_ == "longrope") return read_longrope();
    for (const Parameter& parameter : find_rule(rule_).parameters) read_parameter(parameter);
  }

  // Reads parameters by their own names; lengths have other names in transformers.
  void read_parameter(const Parameter& parameter) {
    const std::string_view name = parameter.name;
    // transformers has no default for llama3's bounds, although the rule has.
    const bool is_needed = parameter.required || rule_ == "llama3";
    if (layer_.arguments.has(name) && name != "max_length") return;  // read_width() has read rotary_fraction
    if (name == "original_length") return read_original_length();
    if (name == "length") return set_length();
    if (name == "max_length") {
      if (parameter.required) needed(max_length_, fields_, "max_position_embeddings", type_);
    } else if (parameter.kind == ValueKind::boolean) {
      if (const auto value = block_.boolean({name})) set(name, *value);
    } else if (parameter.kind == ValueKind::list) {
      set(name, needed(block_.positive_list({name}), block_, name, type_));
    } else if (is_needed) {
      copy_needed(name);
    } else {
      copy_positive(name);
    }
  }

  void read_original_length() {
    const bool inside = block_.has(original_key);
    const bool outside = fields_.has(original_key);
    const bool take_outside = outside && (!inside || model_.original_length > 0);
    std::int64_t length = 0;
    if (inside || outside) {
      Fields& winner = take_outside ? fields_ : block_;
      Fields& loser = take_outside ? block_ : fields_;
      length = *winner.integer({original_key});
      if (inside && outside) {
        const bool differs = *loser.peek(original_key) != *winner.peek(original_key);
        if (differs) loser.note_ignored(original_key, winner.path_of(original_key) + " is used");
        loser.acknowledge({original_key});
      }
    } else if (model_.original_length > 0) {
      length = model_.original_length;
      fields_.note_default(original_key, std::to_string(length), why_default());
    } else {
      length = needed(max_length_, fields_, "max_position_embeddings", type_);
      fields_.note_default(original_key, std::to_string(length), "transformers' default: max_position_embeddings");
    }
    set("original_length", length);
    layer_.trained_length = length;
  }

  /// Without a rule that needs it, an original length equal to the length has no meaning.
  void note_idle_original_length() {
    const Json* original = fields_.peek(original_key);
    if (original == nullptr || layer_.arguments.has("original_length")) return;
    const bool same =
        original->is_number() && max_length_ && original->get<double>() == static_cast<double>(*max_length_);
    if (same) fields_.acknowledge({original_key});
    if (!same) fields_.note_ignored(original_key, "no rule needs it");
  }

  void read_attention_factor() {
    if (const auto factor = block_.positive({"attention_factor", "attn_factor"})) set("attention_factor", *factor);
  }

  void read_yarn() {
    read_original_length();
    auto factor = block_.positive({"factor"});
    const bool telechat = type_ == "rope_type telechat3-yarn";
    if (telechat && max_length_ && block_.has(original_key)) factor.reset();  // vLLM does not look at it then
    if (factor) {
      set("factor", *factor);
    } else {
      const auto longest = static_cast<double>(needed(max_length_, fields_, "max_position_embeddings", type_));
      const double ratio = longest / static_cast<double>(layer_.arguments.integer("original_length"));
      set("factor", ratio);
      block_.note_default("factor", number_text(ratio), "max_position_embeddings / " + std::string(original_key));
    }
    read_beta("beta_fast", 32);
    read_beta("beta_slow", 1);
    const auto truncate = block_.boolean({"truncate"});
    set("truncate", truncate.value_or(true));
    if (!truncate) block_.note_default("truncate", "true", "transformers' default");
    block_.acknowledge({"max_position_embeddings", "finetuned"});  // a copy in Mistral's classes, a remark of YaRN's
    read_mscales();
    if (telechat) {
      read_telechat_magnitude();
    } else {
      read_attention_factor();
    }
    if (plan_.compressed && !layer_.arguments.has("attention_factor")) {
      block_.note_default("attention_factor", "1", why_default());
      set("attention_factor", 1.0);
    }
  }

  /// TeleChat 3's magnitude grows more slowly, and attn_factor multiplies it instead of replacing it.
  void read_telechat_magnitude() {
    constexpr double slope = 0.07;
    set("magnitude_slope", slope);
    const auto factor = block_.positive({"attn_factor"});
    const double stretch = layer_.arguments.real("factor");
    if (factor && *factor != 1) set("attention_factor", *factor * (stretch <= 1 ? 1 : slope * std::log(stretch) + 1));
  }

  /// DeepSeek's attention also multiplies the softmax scale by the squared magnitude of mscale_all_dim. Other models
  /// have only the factor on cos and sin.
  void read_mscales() {
    std::array<double, 2> mscales = {0, 0};
    std::array<bool, 2> given = {false, false};
    constexpr std::array<std::string_view, 2> keys = {"mscale", "mscale_all_dim"};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto value = block_.number({keys[i]});
      require(!value || *value >= 0, block_.subject(keys[i]), " must be at least 0, got ", value.value_or(0));
      given[i] = value.has_value();
      mscales[i] = value.value_or(0);
    }
    const bool scales_softmax = context_.listed ? model_.scales_softmax : fields_.has("qk_rope_head_dim");
    if (scales_softmax || mscales[1] == 0) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (given[i]) set(keys[i], mscales[i]);
      }
    } else if (mscales[0] != 0) {
      const double factor = layer_.arguments.real("factor");
      const auto magnitude = [&](double k) { return factor <= 1 ? 1 : 0.1 * k * std::log(factor) + 1; };
      set("attention_factor", magnitude(mscales[0]) / magnitude(mscales[1]));
    }
  }

  void read_beta(std::string_view key, double fallback) {
    const auto beta = block_.number({key});
    require(!beta || *beta >= 0, block_.subject(key), " must be at least 0, got ", beta.value_or(0));
    const bool given = beta && *beta != 0;  // transformers treats 0 as absent
    set(key, given ? *beta : fallback);
    if (!given) block_.note_default(key, number_text(fallback), "transformers' default");
  }

  void read_longrope() {
    for (const std::string_view key : {"short_factor", "long_factor"}) {
      const auto list = needed(block_.positive_list({key}), block_, key, type_);
      const auto pairs = static_cast<std::size_t>(width_.rotary_dim / 2);
      require(context_.options.any_list_length || list.size() == pairs, block_.subject(key),
              " must have rotary_dim / 2 (", pairs, ") entries, got ", list.size());
      set(key, list);
    }
    read_original_length();
    copy_positive("factor");
    if (!layer_.arguments.has("factor")) {
      needed(max_length_, fields_, "max_position_embeddings", type_ + " without factor");
    }
    read_attention_factor();
    copy_positive("short_mscale");
    copy_positive("long_mscale");
    set_length();
  }

  /// Pixtral's ids count along rows of the largest image; DINOv3's coordinates need both sides.
  void set_grid() {
    const auto grid = read_patch_grid(fields_, model_);
    if (model_.axes != "grid" && grid) {
      if (model_.axes == "dinov3") set("grid_height", grid->rows);
      set("grid_width", grid->columns);
      fields_.note_default("grid_width", std::to_string(grid->columns), "image_size / patch_size");
    }
    if (model_.axes == "dinov3") {
      const std::int64_t registers = fields_.integer({"num_register_tokens"}, 0).value_or(0);
      set("prefix", model_.extra_rows + registers);
    }
  }

  void read_axes() {
    if (block_.has("xdrope_section")) return read_xdrope_sections();
    if (model_.axes == "pixtral" || model_.axes == "dinov3" || model_.axes == "grid") {
      set_grid();
      return set("axes", std::string(model_.axes));
    }
    const auto interleaved = block_.boolean({"mrope_interleaved", "interleaved"});
    block_.acknowledge({"interleaved"});  // Qwen's files write both
    auto sections = block_.integer_list({"mrope_section"});
    if (!sections && model_.sections[0] > 0) {
      sections.emplace(model_.sections.begin(), model_.sections.end());
      block_.note_default("mrope_section", to_text(Value(*sections)), why_default());
    }
    if (!sections && is_ming_) {
      sections = std::vector<double>{8, 12, 12};
      block_.note_default("mrope_section", to_text(Value(*sections)), "the default of Ming's code");
    }
    if (!sections) {
      require(!is_mrope_, block_.subject("mrope_section"), " is missing, but rope_type mrope needs it");
      return set("axes", std::string("1d"));
    }
    if (is_video_ || model_.axes == "first_last") {  // height and width alternate, then time
      require(sections->size() == 3, block_.subject("mrope_section"), " must have 3 entries, got ", sections->size());
      // Ernie's file counts height, width, time; Ming's counts time first, as here.
      if (!is_video_) std::rotate(sections->begin(), sections->begin() + 2, sections->end());
      set("axes", std::string("sections"));
      set("section_order", std::string("first_last"));
      return set("sections", *sections);
    }
    const bool interleaves = interleaved.value_or(false) || model_.axes == "mrope_interleaved";
    set("axes", std::string(interleaves ? "mrope_interleaved" : "mrope"));
    set("sections", *sections);
  }

  /// HunYuan-VL: a section of pairs per axis, in pairs or as shares of them.
  void read_xdrope_sections() {
    std::vector<double> sections = *block_.positive_list({"xdrope_section"});
    const bool shares = std::all_of(sections.begin(), sections.end(), [](double one) { return one < 1; });
    for (double& one : sections) {
      if (shares) one = std::floor(one * static_cast<double>(width_.rotary_dim / 2));
      require(one == std::floor(one), block_.subject("xdrope_section"),
              " must be whole numbers of pairs, or shares, got ", one);
    }
    set("axes", std::string("sections"));
    set("sections", sections);
    layer_.alternatives.push_back(
        {"transformers 5", "rope", layer_.arguments,
         "every section is doubled instead of repeated (xdrope_section), so that on images the "
         "two members of a pair follow different axes; text is the same"});
  }

  /// Ministral 3 and Mistral 4.
  void read_query_scale() {
    const auto beta = block_.positive({"llama_4_scaling_beta"});
    if (!beta) return;
    const std::int64_t length = layer_.arguments.has("original_length")
                                    ? layer_.arguments.integer("original_length")
                                    : needed(max_length_, fields_, "max_position_embeddings", "llama_4_scaling_beta");
    set_query_scale(layer_, {.beta = *beta, .length = length, .shift = 0});
    if (!model_.latent || width_.plain_heads) return;
    // The factor multiplies the whole query, so the part of the head that is not rotated is needed too.
    const std::int64_t unrotated =
        with_default(fields_.integer({"qk_nope_head_dim"}), model_.head_dim - model_.rotary_dim, fields_,
                     "qk_nope_head_dim", context_, "llama_4_scaling_beta");
    set("head_dim", unrotated + width_.rotary_dim);
    set("rotary_offset", unrotated);
  }

  struct OtherBase {
    std::string reader;
    double base = 0;
    std::string what;
  };

  Fields& fields_;
  Fields& block_;
  const LayerPlan& plan_;
  const HfContext& context_;
  const HfModel& model_;
  LayerEncoding layer_ = {};
  std::string_view rule_ = {};
  std::string type_ = {};  ///< `rope_type yarn`, for messages
  std::optional<std::int64_t> max_length_ = {};
  RopeWidth width_ = {};
  bool is_mrope_ = false;
  bool is_ming_ = false, is_video_ = false;  ///< Ming's types 3D and video_rope
  bool is_xdrope_ = false;
  OtherBase other_base_ = {};
  bool whole_head_reading_ = false;
};

}  // namespace

LayerEncoding read_rope_layer(Fields& fields, const LayerPlan& plan, const HfContext& context) {
  const Json none = Json::object();
  const bool given = plan.block.json != nullptr;
  Fields block(given ? *plan.block.json : none, given ? plan.block.path : fields.path_of("rope_parameters."),
               fields.file(), fields.notes());
  if (plan.block.is_default) block.are_defaults_of(context.model.name);
  return RopeLayerReader(fields, block, plan, context).read();
}

}  // namespace locus::io
