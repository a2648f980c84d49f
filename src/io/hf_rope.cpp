// SPDX-License-Identifier: Apache-2.0
// Which kinds of layers a RoPE model has, and which rope block belongs to each. It follows convert_rope_params_to_dict
// of transformers 5, where a non-empty rope_scaling is taken before rope_parameters.
#include "io/hf_rope.h"

#include <algorithm>

namespace locus::io {
namespace {

/// Is the block keyed by layer types? Then its values are blocks, or null for layers that do not rotate.
bool is_per_layer(const Json& block) {
  bool any = false;
  for (const auto& [key, value] : block.items()) {
    if (!value.is_object() && !value.is_null()) return false;
    any = any || value.is_object();
  }
  return any;
}

bool layers_have_own_bases(const Fields& fields, const HfModel& model) {
  return model.layers == HfLayers::own_bases || fields.has("rope_local_base_freq") || fields.has("local_rope_theta") ||
         fields.has("global_rope_theta");
}

RopeBlock choose_block(Fields& fields, const HfContext& context, const Json& default_block) {
  const Json* scaling = fields.object({"rope_scaling"});
  const Json* parameters = fields.object({"rope_parameters"});
  if (scaling && parameters) {
    const bool split = layers_have_own_bases(fields, context.model) || context.model.layers != HfLayers::alike;
    if (split && is_per_layer(*parameters)) {
      fields.note_ignored("rope_scaling", "rope_parameters is given per layer type");
      scaling = nullptr;
    } else {
      fields.note_ignored("rope_parameters", "rope_scaling is used, as transformers does");
    }
  }
  if (scaling) return {scaling, fields.path_of("rope_scaling.")};
  if (parameters) return {parameters, fields.path_of("rope_parameters.")};
  if (default_block.is_object()) return {&default_block, fields.path_of("rope_parameters."), true};
  return {};
}

/// The names in the order of `first`, then the others in their own.
void order_by(std::vector<LayerPlan>& plans, const std::vector<std::string>& first) {
  std::stable_sort(plans.begin(), plans.end(), [&](const LayerPlan& a, const LayerPlan& b) {
    return std::find(first.begin(), first.end(), a.layer_type) < std::find(first.begin(), first.end(), b.layer_type);
  });
}

std::vector<LayerPlan> plan_per_layer_block(const RopeBlock& block, bool own_bases, const Fields& fields,
                                            const HfContext& context) {
  constexpr std::size_t most_layer_types = 64;
  require(block.json->size() <= most_layer_types, fields.file(), ": ", block.path, "* must be at most ",
          most_layer_types, " layer types, got ", block.json->size());
  std::vector<LayerPlan> plans;
  for (const auto& [key, value] : block.json->items()) {
    constexpr std::size_t longest_name = 100;  // it goes into messages and notes
    require(key.size() <= longest_name, fields.file(), ": ", block.path, "* must have names of at most ", longest_name,
            " characters, got ", key.size());
    LayerPlan plan{
        .layer_type = key, .rotates = value.is_object(), .has_local_base = own_bases && key == sliding_attention};
    plan.block = {&value, block.path + key + ".", block.is_default};
    plans.push_back(std::move(plan));
  }
  order_by(plans, context.rope_order);
  return plans;
}

/// Does any layer go without rotation? 1 in `no_rope_layers` means that the layer rotates.
bool some_layers_without(Fields& fields) {
  const Json* list = fields.peek("no_rope_layers");
  if (list && !(list->is_array() && list->empty())) {
    const auto flags = fields.integer_list({"no_rope_layers"});
    return std::find(flags->begin(), flags->end(), 0.0) != flags->end();
  }
  fields.acknowledge({"no_rope_layers"});
  const auto given = fields.integer({"no_rope_layer_interval"});
  const std::int64_t interval = given.value_or(4);
  if (!given) fields.note_default("no_rope_layer_interval", "4", "transformers' default");
  const auto layers = fields.integer({"num_hidden_layers"});
  return !layers || *layers >= interval;
}

std::vector<LayerPlan> plan_layers(Fields& fields, const HfContext& context, const Json& default_block) {
  const RopeBlock block = choose_block(fields, context, default_block);
  const bool own_bases = layers_have_own_bases(fields, context.model);
  const bool windowless = fields.json().contains("sliding_window") && !fields.has("sliding_window");
  std::vector<LayerPlan> plans;
  bool from_pattern = true;  // which kinds occur is for layer_types to say
  if (block.json && is_per_layer(*block.json)) {
    plans = plan_per_layer_block(block, own_bases, fields, context);
    from_pattern = false;
  } else if (own_bases) {
    plans.push_back({.layer_type = std::string(sliding_attention), .has_local_base = true});
    plans.push_back({.layer_type = std::string(full_attention), .block = block});
    if (context.model.name.starts_with("modernbert")) std::swap(plans[0], plans[1]);  // its first layer is a full one
  } else if (context.model.layers == HfLayers::sliding_unscaled && block.json) {
    plans.push_back({.layer_type = std::string(sliding_attention)});
    plans.push_back({.layer_type = std::string(full_attention), .block = block});
  } else if (context.model.layers == HfLayers::sliding_only && !windowless) {
    plans.push_back({.layer_type = std::string(sliding_attention), .block = block});
    plans.push_back({.layer_type = std::string(full_attention), .rotates = false});
  } else if ((context.model.layers == HfLayers::some_without || fields.has("no_rope_layers")) &&
             some_layers_without(fields)) {
    return {{.layer_type = "rope", .block = block}, {.layer_type = "no_rope", .rotates = false}};
  } else {
    return {{.layer_type = "", .block = block}};
  }
  if (const auto types = fields.text_list({"layer_types"})) {
    const auto absent = [&](const LayerPlan& plan) {
      return std::find(types->begin(), types->end(), plan.layer_type) == types->end();
    };
    if (from_pattern && !std::all_of(plans.begin(), plans.end(), absent)) std::erase_if(plans, absent);
    order_by(plans, *types);
  }
  return plans;
}

}  // namespace

std::vector<LayerEncoding> resolve_rope(const Fields& fields, const HfContext& context) {
  const Json default_block = context.model.rope_block.empty()
                                 ? Json()
                                 : Json::parse(context.model.rope_block.begin(), context.model.rope_block.end());
  Fields shared(fields);  // notes what concerns all layers
  std::vector<LayerEncoding> layers;
  for (const LayerPlan& plan : plan_layers(shared, context, default_block)) {
    Notes notes = shared.notes();
    Fields own(shared, notes);
    if (!plan.rotates) {
      layers.push_back(with_notes({.layer_type = plan.layer_type, .scheme = "nope"}, std::move(notes)));
      continue;
    }
    LayerEncoding layer = read_rope_layer(own, plan, context);
    layers.push_back(with_notes(std::move(layer), std::move(notes)));
  }
  return layers;
}

}  // namespace locus::io
