// SPDX-License-Identifier: Apache-2.0
// Finds the layer types of a RoPE model and the rope block of each. Follows convert_rope_params_to_dict of transformers
// 5, where a non-empty rope_scaling takes precedence over rope_parameters.
#include <algorithm>
#include <array>
#include <map>

#include "io/hf_rope.h"

namespace locus::io {
namespace {

/// True if the block is keyed by layer types. Its values are then blocks, or null for layers that do not rotate.
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
    } else if (*scaling != *parameters) {
      fields.note_ignored("rope_parameters", "rope_scaling is used, as transformers does");
    }
  }
  if (scaling) return {scaling, fields.path_of("rope_scaling.")};
  if (parameters) return {parameters, fields.path_of("rope_parameters.")};
  if (default_block.is_object()) return {&default_block, fields.path_of("rope_parameters."), true};
  return {};
}

/// Orders the plans by `first`; the others follow in their own order.
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
    constexpr std::size_t longest_name = 100;  // appears in messages and notes
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

constexpr std::int64_t most_layers = 4096;

std::int64_t count_layers(Fields& fields) {
  const std::int64_t count = fields.integer({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}).value_or(0);
  return count <= most_layers ? count : 0;
}

/// Splits the layers by `no_rope_layers` (1: the layer rotates), or by every n-th.
std::vector<LayerPlan> plan_with_some_without(Fields& fields, const RopeBlock& block) {
  LayerPlan rotating{.layer_type = "rope", .block = block}, still{.layer_type = "no_rope", .rotates = false};
  const Json* list = fields.peek("no_rope_layers");
  if (list && !(list->is_array() && list->empty())) {
    const auto flags = *fields.integer_list({"no_rope_layers"});
    fields.acknowledge({"no_rope_layer_interval"});
    for (std::size_t i = 0; i < flags.size(); ++i) {
      (flags[i] != 0 ? rotating : still).layers.push_back(static_cast<std::int64_t>(i));
    }
  } else {
    fields.acknowledge({"no_rope_layers"});
    const auto given = fields.integer({"no_rope_layer_interval"});
    const std::int64_t interval = given.value_or(4);
    if (!given) fields.note_default("no_rope_layer_interval", "4", "transformers' default");
    const std::int64_t count = count_layers(fields);
    for (std::int64_t i = 0; i < count; ++i) ((i + 1) % interval != 0 ? rotating : still).layers.push_back(i);
    if (count == 0) return {std::move(rotating), std::move(still)};
  }
  if (still.layers.empty()) return {{.layer_type = "", .block = block}};
  if (rotating.layers.empty()) return {std::move(still)};
  return {std::move(rotating), std::move(still)};
}

/// Groups layers with equal numbers: `layer_rope_theta` of Granite, lists of Step 3.5.
std::vector<LayerPlan> plan_by_bases(Fields& fields, const HfContext& context, const RopeBlock& block) {
  std::vector<double> bases;
  if (const Json* list = fields.peek("layer_rope_theta"); list && list->is_array() && !list->empty()) {
    require(list->size() <= static_cast<std::size_t>(most_layers), fields.subject("layer_rope_theta"),
            " must have at most ", most_layers, " entries, got ", list->size());
    for (const Json& entry : *list) {
      require(entry.is_number() && entry.get<double>() >= 0, fields.subject("layer_rope_theta"),
              " must be a list of numbers of at least 0");
      bases.push_back(entry.get<double>());
    }
    fields.acknowledge({"layer_rope_theta"});
    fields.notes().used.push_back(fields.path_of("layer_rope_theta"));
  } else if (context.model.name == "muse_glimmer_text") {
    fields.acknowledge({"layer_rope_theta"});
    fields.note_default("layer_rope_theta", "0 on every fourth layer, counted from the last", why_default(context));
    const std::int64_t count = count_layers(fields);
    for (std::int64_t i = 0; i < count; ++i) bases.push_back((count - 1 - i) % 4 == 0 ? 0 : -1);  // -1: rope_theta
  } else {
    return {{.layer_type = "", .block = block}};
  }
  if (bases.empty()) {  // the number of layers is unknown
    return {{.layer_type = "rope", .block = block}, {.layer_type = "no_rope", .rotates = false}};
  }
  std::map<double, std::vector<std::int64_t>> groups;
  for (std::size_t i = 0; i < bases.size(); ++i) groups[bases[i]].push_back(static_cast<std::int64_t>(i));
  const std::size_t turning = groups.size() - groups.count(0);
  std::vector<LayerPlan> plans;
  for (auto& [base, layers] : groups) {
    LayerPlan plan{.layer_type = base == 0 ? "no_rope" : "rope", .rotates = base != 0, .block = block};
    if (base > 0 && turning > 1) plan.layer_type += "_" + number_text(base);
    if (base > 0) plan.base = base;
    if (groups.size() == 1) plan.layer_type.clear();
    plan.layers = std::move(layers);
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Returns the layer type of each layer: as given, or as the family implies.
std::vector<std::string> layer_names(Fields& fields, const HfContext& context) {
  for (const std::string_view key : {"layer_types", "layers_block_type"}) {
    if (const auto types = fields.text_list({key}); types && !types->empty()) return *types;
  }
  const HfModel& model = context.model;
  std::int64_t every = model.full_every;
  for (const std::string_view key :
       {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"}) {
    if (const Json* value = fields.peek(key); value && value->is_number_integer() && *value >= 1) every = *value;
    if (fields.has(key)) fields.acknowledge({key});
  }
  std::vector<std::string> names;
  if (every < 1) return names;
  const std::int64_t count = count_layers(fields);
  std::int64_t first = 0;  // Cohere's mixture of experts counts from the end of its dense layers
  if (const Json* dense = fields.peek("first_k_dense_replace");
      model.name == "cohere2_moe" && dense && dense->is_number_integer() && *dense >= 0) {
    first = *dense;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const bool full = i < first || (i - first + (model.full_first ? 0 : 1)) % every == 0;
    names.emplace_back(full ? full_attention : sliding_attention);
  }
  if (!model.rope_block.empty() && !names.empty()) names.back() = full_attention;  // Gemma 4 ends with a full layer
  return names;
}

/// Step 3.5: `rope_theta` and `partial_rotary_factors` may have one entry per layer; the scaling applies to full
/// layers.
std::vector<LayerPlan> plan_by_lists(Fields& fields, const RopeBlock& block, const std::vector<std::string>& names) {
  const auto list_of = [&](std::string_view key) {
    const Json* value = fields.peek(key);
    return value && value->is_array() ? fields.positive_list({key}).value_or(std::vector<double>{})
                                      : std::vector<double>{};
  };
  const std::vector<double> bases = list_of("rope_theta"), fractions = list_of("partial_rotary_factors");
  if (names.empty() || (bases.empty() && fractions.empty())) return {{.layer_type = "", .block = block}};
  std::vector<LayerPlan> plans;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known =
        std::find_if(plans.begin(), plans.end(), [&](const LayerPlan& plan) { return plan.layer_type == names[i]; });
    if (known != plans.end()) continue;
    LayerPlan plan{.layer_type = names[i]};
    if (names[i] == full_attention) plan.block = block;
    if (i < bases.size()) plan.base = bases[i];
    if (i < fractions.size()) plan.fraction = fractions[i];
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// DeepSeek V4: `main` for sliding layers, `compress` for those with a compressor; flat files mean the latter.
std::vector<LayerPlan> plan_compressed(Fields& fields, const RopeBlock& block, std::vector<std::string>& names) {
  if (names.empty()) {
    if (const auto ratios = fields.integer_list({"compress_ratios"})) {
      for (const double ratio : *ratios) {
        names.emplace_back(ratio == 0   ? "sliding_attention"
                           : ratio == 4 ? "compressed_sparse_attention"
                                        : "heavily_compressed_attention");
      }
    }
    const std::int64_t count = count_layers(fields);
    if (count > 0 && names.size() > static_cast<std::size_t>(count)) names.resize(static_cast<std::size_t>(count));
  }
  const bool nested = block.json && block.json->contains("main") && block.json->contains("compress");
  const auto nested_block = [&](const char* key) {
    return RopeBlock{&block.json->at(key), block.path + key + ".", block.is_default};
  };
  std::vector<LayerPlan> plans;
  for (const char* name : {"sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"}) {
    const bool sliding = name == sliding_attention;
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    LayerPlan plan{.layer_type = name, .compressed = !sliding};
    if (nested) plan.block = nested_block(sliding ? "main" : "compress");
    if (!nested && !sliding) plan.block = block;
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Cohere's mixture of experts may rotate its dense first layers, although they are full ones.
void add_dense_prefix(std::vector<LayerPlan>& plans, Fields& fields, const RopeBlock& block) {
  const std::int64_t dense = fields.integer({"first_k_dense_replace"}, 0).value_or(0);
  const std::int64_t pattern = fields.integer({"prefix_dense_sliding_window_pattern"}).value_or(1);
  if (dense < 1 || dense > most_layers || pattern != 1) return;
  LayerPlan prefix{.layer_type = "dense_prefix", .block = block};
  for (std::int64_t i = 0; i < dense; ++i) prefix.layers.push_back(i);
  for (LayerPlan& plan : plans) {
    std::erase_if(plan.layers, [&](std::int64_t layer) { return layer < dense; });
  }
  plans.insert(plans.begin(), std::move(prefix));
}

/// Sets the layers of each type, if their names are known.
void place_layers(std::vector<LayerPlan>& plans, const std::vector<std::string>& names) {
  // Layers that mix tokens by other means have no positions to report.
  constexpr std::array<std::string_view, 8> other_mixers = {
      "linear_attention", "conv", "mamba", "recurrent", "moe", "mlp", "lightning", "mamba2"};
  const auto mixes = [&](const std::string& name) {
    return std::find(other_mixers.begin(), other_mixers.end(), name) != other_mixers.end();
  };
  const bool some = std::any_of(names.begin(), names.end(), mixes);
  for (LayerPlan& plan : plans) {
    if (!plan.layers.empty()) continue;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool here = plan.layer_type.empty() ? some && !mixes(names[i]) : names[i] == plan.layer_type;
      if (here) plan.layers.push_back(static_cast<std::int64_t>(i));
    }
  }
}

}  // namespace

std::vector<LayerPlan> plan_layers(Fields& fields, const HfContext& context, const Json& default_block) {
  const RopeBlock block = choose_block(fields, context, default_block);
  const HfLayers kind = context.model.layers;
  const bool own_bases = layers_have_own_bases(fields, context.model);
  const bool windowless = fields.json().contains("sliding_window") && !fields.has("sliding_window");
  std::vector<std::string> names = layer_names(fields, context);
  if (kind == HfLayers::main_and_compress) {
    std::vector<LayerPlan> plans = plan_compressed(fields, block, names);
    place_layers(plans, names);
    return plans;
  }
  std::vector<LayerPlan> plans;
  bool from_pattern = true;  // layer_types decides which types occur
  if (block.json && is_per_layer(*block.json)) {
    plans = plan_per_layer_block(block, own_bases, fields, context);
    // Without layer_types, these classes assign all layers to the first type, which is also the first by name.
    if (block.is_default && names.empty() && context.model.full_every == 0) plans.resize(1);
    from_pattern = !names.empty() && block.is_default;
  } else if (kind == HfLayers::layer_bases) {
    return plan_by_bases(fields, context, block);
  } else if (kind == HfLayers::listed_bases) {
    plans = plan_by_lists(fields, block, names);
  } else if (own_bases) {
    plans.push_back({.layer_type = std::string(sliding_attention), .has_local_base = true});
    plans.push_back({.layer_type = std::string(full_attention), .block = block});
    if (context.model.full_first) std::swap(plans[0], plans[1]);
  } else if (kind == HfLayers::sliding_unscaled && block.json) {
    plans.push_back({.layer_type = std::string(sliding_attention)});
    plans.push_back({.layer_type = std::string(full_attention), .block = block});
  } else if (kind == HfLayers::sliding_only && !windowless) {
    plans.push_back({.layer_type = std::string(sliding_attention), .block = block});
    plans.push_back({.layer_type = std::string(full_attention), .rotates = false});
  } else if (kind == HfLayers::some_without || fields.has("no_rope_layers")) {
    return plan_with_some_without(fields, block);
  } else {
    plans.push_back({.layer_type = "", .block = block});
  }
  const auto absent = [&](const LayerPlan& plan) {
    return std::find(names.begin(), names.end(), plan.layer_type) == names.end();
  };
  if (!names.empty() && plans.size() > 1) {
    if (from_pattern && !std::all_of(plans.begin(), plans.end(), absent)) std::erase_if(plans, absent);
    order_by(plans, names);
  }
  place_layers(plans, names);
  if (context.model.name == "cohere2_moe" && plans.size() > 1) add_dense_prefix(plans, fields, block);
  return plans;
}

}  // namespace locus::io
