// SPDX-License-Identifier: Apache-2.0
// Reads one kind of layer of a RoPE model. What is inside the rope block wins over the top level, as in transformers,
// except that Phi-3's top-level original_max_position_embeddings wins.
#include <algorithm>

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
    layer_.training_length = max_length_;
    read_width();
    read_pairing();
    set("base", read_base());
    read_rule();
    read_axes();
    if (plan_.block.json) block_.note_left_over(true);
    fields_.note_left_over(false);
    return std::move(layer_);
  }

 private:
  void set(std::string_view name, Value value) { layer_.arguments.set(name, std::move(value)); }

  std::string why_default() const {
    return context_.listed ? "transformers' default for " + std::string(model_.name) : "transformers' default";
  }

  void read_type() {
    const auto new_name = block_.text({"rope_type"});
    const auto old_name = block_.text({"type"});
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
    // Phi-3's first files called longrope "yarn"; transformers reads any yarn of Phi-3 so.
    if (model_.original_length > 0 && rule_ == "yarn") rule_ = "longrope";
  }

  std::int64_t read_head_dim() {
    if (plan_.layer_type == full_attention && (model_.global_head_dim > 0 || fields_.has("global_head_dim"))) {
      if (const auto size = fields_.integer({"global_head_dim"})) return *size;
      fields_.note_default("global_head_dim", std::to_string(model_.global_head_dim), why_default());
      return model_.global_head_dim;
    }
    if (const auto size = fields_.integer({"head_dim", "kv_channels"})) return *size;
    if (model_.head_dim > 0) {
      fields_.note_default("head_dim", std::to_string(model_.head_dim), why_default());
      return model_.head_dim;
    }
    const std::int64_t hidden = with_default(read_hidden_size(fields_), model_.hidden_size, "hidden_size");
    const std::int64_t heads = with_default(read_heads(fields_), model_.heads, "num_attention_heads");
    require(hidden >= heads, fields_.subject("hidden_size"), " must be at least the number of heads (", heads,
            "), got ", hidden);
    return hidden / heads;
  }

  std::int64_t with_default(const std::optional<std::int64_t>& value, std::int64_t fallback, std::string_view key) {
    if (value || fallback == 0) return needed(value, fields_, key, "the width of a head (head_dim)");
    fields_.note_default(key, std::to_string(fallback), why_default());
    return fallback;
  }

  void read_width() {
    if (const auto slice = fields_.integer({"qk_rope_head_dim"})) {  // the rotary part of a latent-attention head
      set("head_dim", *slice);
      set_rotary_dim(*slice, *slice, "qk_rope_head_dim");
      return;
    }
    const std::int64_t head_dim = read_head_dim();
    set("head_dim", head_dim);
    if (rule_ == "proportional") {
      set("rotary_fraction", read_fraction());
      set_rotary_dim(head_dim, head_dim, "head_dim");
      return;
    }
    if (const auto width = block_.integer({"rotary_dim"})) return set_rotary_dim(*width, head_dim, "rotary_dim");
    if (!gives_fraction()) {
      if (const auto width = fields_.integer({"rotary_dim"})) return set_rotary_dim(*width, head_dim, "rotary_dim");
      if (model_.rotary_dim > 0) {
        fields_.note_default("rotary_dim", std::to_string(model_.rotary_dim), why_default());
        return set_rotary_dim(model_.rotary_dim, head_dim, "rotary_dim");
      }
    }
    const double fraction = read_fraction();
    set_rotary_dim(static_cast<std::int64_t>(static_cast<double>(head_dim) * fraction), head_dim,
                   "partial_rotary_factor");
  }

  bool gives_fraction() const {
    return block_.has("partial_rotary_factor") || fields_.has("partial_rotary_factor") || fields_.has("rotary_pct") ||
           fields_.has("rope_pct");
  }

  double read_fraction() {
    auto fraction = block_.positive({"partial_rotary_factor"});
    if (fraction) {
      fields_.acknowledge({"partial_rotary_factor"});  // transformers writes a copy outside
    } else {
      fraction = fields_.positive({"partial_rotary_factor", "rotary_pct", "rope_pct"});
    }
    if (!fraction) {
      if (model_.rotary_fraction != 1 || rule_ == "proportional") {
        fields_.note_default("partial_rotary_factor", number_text(model_.rotary_fraction), why_default());
      }
      return model_.rotary_fraction;
    }
    require(*fraction <= 1, fields_.subject("partial_rotary_factor"), " must be at most 1, got ", *fraction);
    return *fraction;
  }

  void set_rotary_dim(std::int64_t rotary_dim, std::int64_t head_dim, std::string_view key) {
    require(rotary_dim >= 1 && rotary_dim <= head_dim, fields_.subject(key),
            " must make a rotary width from 1 to head_dim (", head_dim, "), got ", rotary_dim);
    rotary_dim_ = rotary_dim;
    set("rotary_dim", rotary_dim);
    if (model_.rotates_last && rotary_dim < head_dim) set("rotary_offset", head_dim - rotary_dim);
  }

  void read_pairing() {
    if (context_.options.pairing) return set("pairing", *context_.options.pairing);
    if (!context_.listed) {
      const std::string why =
          context_.model_type.empty() ? "no model_type" : "model_type " + context_.model_type + " is not in the table";
      fields_.note_default("pairing", "half", why);
    }
    bool interleaved = model_.pairing != HfPairing::half;
    if (model_.pairing == HfPairing::deinterleaving) {
      interleaved = fields_.boolean({"rope_interleave"}).value_or(true);
      if (interleaved) set("output_order", std::string("deinterleaved"));
    }
    set("pairing", std::string(interleaved ? "interleaved" : "half"));
  }

  double read_base() {
    auto base = block_.positive({"rope_theta"});
    if (base) {
      // Copies outside say nothing new; a different value is one that somebody may believe in.
      for (const std::string_view key : {"rope_theta", "rotary_emb_base"}) {
        const Json* outside = plan_.has_local_base ? nullptr : fields_.peek(key);
        if (outside && outside->is_number() && outside->get<double>() == *base) fields_.acknowledge({key});
        if (outside && outside->is_number() && outside->get<double>() != *base && plan_.layer_type.empty()) {
          fields_.note_ignored(key, plan_.block.path + "rope_theta is used");
        }
      }
    } else if (plan_.has_local_base) {
      base = fields_.positive({"rope_local_base_freq", "local_rope_theta"});
    } else {
      base = fields_.positive({"global_rope_theta", "rope_theta", "rotary_emb_base"});
    }
    if (!plan_.layer_type.empty()) {  // keys of the other kinds of layers
      fields_.acknowledge({"rope_theta", "rope_local_base_freq", "local_rope_theta", "global_rope_theta"});
    }
    if (base) return *base;
    if (const auto ratio = fields_.positive({"rope_ratio"})) return 10000 * *ratio;
    const double fallback = plan_.has_local_base ? model_.local_base : model_.base;
    fields_.note_default(plan_.has_local_base ? "rope_local_base_freq" : "rope_theta", number_text(fallback),
                         why_default());
    return fallback;
  }

  void copy_positive(std::string_view key) {
    if (const auto value = block_.positive({key})) set(key, *value);
  }
  void copy_needed(std::string_view key) { set(key, needed(block_.positive({key}), block_, key, type_)); }

  void set_length() {
    if (context_.options.length) set("length", *context_.options.length);
  }

  void read_rule() {
    if (rule_ == "dynamic_ntk" && context_.model_type.starts_with("hunyuan")) {
      // HunYuan's dynamic rule with alpha is static NTK by that factor.
      const auto alpha = block_.number({"alpha"});
      if (alpha && *alpha != 0) {
        require(*alpha > 0, block_.subject("alpha"), " must be a positive number, got ", *alpha);
        set("rule", std::string("ntk"));
        set("factor", *alpha);
        return;
      }
    }
    set("rule", std::string(rule_));
    if (rule_ == "yarn") return read_yarn();
    if (rule_ == "longrope") return read_longrope();
    for (const Parameter& parameter : find_rule(rule_).parameters) read_parameter(parameter);
  }

  // What transformers reads by the parameter's own name; lengths have names of their own there.
  void read_parameter(const Parameter& parameter) {
    const std::string_view name = parameter.name;
    // transformers has no default for llama3's bounds, though the rule has.
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
    layer_.training_length = length;
  }

  void read_attention_factor() {
    if (const auto factor = block_.positive({"attention_factor", "attn_factor"})) set("attention_factor", *factor);
  }

  void read_yarn() {
    read_original_length();
    const auto factor = block_.positive({"factor"});
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
    for (const std::string_view key : {"mscale", "mscale_all_dim"}) {
      const auto value = block_.number({key});
      require(!value || *value >= 0, block_.subject(key), " must be at least 0, got ", value.value_or(0));
      if (value) set(key, *value);
    }
    read_attention_factor();
  }

  void read_beta(std::string_view key, double fallback) {
    const auto beta = block_.number({key});
    require(!beta || *beta >= 0, block_.subject(key), " must be at least 0, got ", beta.value_or(0));
    const bool given = beta && *beta != 0;  // transformers takes 0 for absent
    set(key, given ? *beta : fallback);
    if (!given) block_.note_default(key, number_text(fallback), "transformers' default");
  }

  void read_longrope() {
    for (const std::string_view key : {"short_factor", "long_factor"}) {
      const auto list = needed(block_.positive_list({key}), block_, key, type_);
      const auto pairs = static_cast<std::size_t>(rotary_dim_ / 2);
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

  void read_axes() {
    if (model_.axes == "own") return set("axes", std::string("1d"));  // its mrope_section is left over, thus unknown
    if (model_.axes == "pixtral" || model_.axes == "dinov3") return set("axes", std::string(model_.axes));
    const auto interleaved = block_.boolean({"mrope_interleaved", "interleaved"});
    auto sections = block_.integer_list({"mrope_section"});
    if (!sections && model_.sections[0] > 0) {
      sections.emplace(model_.sections.begin(), model_.sections.end());
      block_.note_default("mrope_section", to_text(Value(*sections)), why_default());
    }
    if (!sections) {
      require(!is_mrope_, block_.subject("mrope_section"), " is missing, but rope_type mrope needs it");
      return set("axes", std::string("1d"));
    }
    const bool interleaves = interleaved.value_or(false) || model_.axes == "mrope_interleaved";
    set("axes", std::string(interleaves ? "mrope_interleaved" : "mrope"));
    set("sections", *sections);
  }

  Fields& fields_;
  Fields& block_;
  const LayerPlan& plan_;
  const HfContext& context_;
  const HfModel& model_;
  LayerEncoding layer_ = {};
  std::string_view rule_ = {};
  std::string type_ = {};  ///< `rope_type yarn`, for messages
  std::optional<std::int64_t> max_length_ = {};
  std::int64_t rotary_dim_ = 0;
  bool is_mrope_ = false;
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
