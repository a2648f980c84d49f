// SPDX-License-Identifier: Apache-2.0
// The layer types of a RoPE model, and what the model does to its queries in addition.
#include "io/hf_rope.h"

#include <algorithm>
#include <cmath>

namespace locus::io {
namespace {

/// Llama 4 scales the queries of its layers without rotation.
void add_temperature(LayerEncoding& layer, Fields& fields, const LayerPlan& plan, const HfContext& context) {
  const bool tuned = fields.boolean({"attn_temperature_tuning"}).value_or(true);
  const double scale = fields.positive({"attn_scale"}).value_or(0.1);
  const std::int64_t floor_scale = fields.integer({"floor_scale"}).value_or(8192);
  if (!tuned) return;
  const Json no_block = Json::object();
  Fields block(no_block, fields.path_of("rope_parameters."), fields.file(), fields.notes());
  layer.scheme = "query_temperature";
  layer.arguments.set("head_dim", read_rope_width(fields, block, plan, context, "none").head_dim);
  set_query_scale(layer, {.beta = scale, .length = floor_scale, .shift = 1});
}

/// vLLM and sglang remap distances; transformers ignores the key.
void add_dual_chunks(LayerEncoding& layer, Fields& fields) {
  const Json* chunks = fields.object({"dual_chunk_attention_config"});
  if (chunks == nullptr) return;
  const auto number = [&](const char* key) {
    const auto found = chunks->find(key);
    return found != chunks->end() && found->is_number() ? found->get<double>() : 0;
  };
  const double reach = number("chunk_size") - number("local_size");
  layer.not_applied.push_back("vLLM and sglang read dual_chunk_attention_config and remap distances beyond " +
                              number_text(std::max(reach, 0.0)) +
                              " tokens, transformers ignores the key; Locus does not apply that yet");
}

/// Returns the softmax scale if it is not 1 / sqrt(head_dim).
std::optional<double> read_softmax_scale(Fields& fields, const HfContext& context) {
  if (const auto multiplier = fields.positive({"attention_multiplier"})) return multiplier;
  if (const auto scalar = fields.positive({"query_pre_attn_scalar"})) return 1 / std::sqrt(*scalar);
  if (context.model.softmax_scale != 0) return context.model.softmax_scale;
  return {};
}

/// OLMo's hybrid rotates only if it has a base.
bool is_without_base(const Fields& fields, const HfContext& context) {
  const Json* block = fields.peek("rope_parameters");
  return context.model.name == "olmo_hybrid" && block != nullptr && block->is_object() &&
         block->contains("rope_theta") && block->at("rope_theta").is_null();
}

}  // namespace

void set_query_scale(LayerEncoding& layer, const QueryScale& scale) {
  const bool steps = scale.kind == QueryScale::Kind::steps;
  layer.query_scale = scale;
  layer.arguments.set("temperature", std::string(steps ? "steps" : "logarithm"));
  layer.arguments.set("temperature_length", scale.length);
  layer.arguments.set("temperature_shift", scale.shift);
  if (steps) layer.arguments.set("temperature_beta", scale.beta);
}

std::vector<LayerEncoding> resolve_rope(const Fields& fields, const HfContext& context) {
  if (is_without_base(fields, context)) return resolve_nope(fields);
  const Json default_block = context.model.rope_block.empty()
                                 ? Json()
                                 : Json::parse(context.model.rope_block.begin(), context.model.rope_block.end());
  Fields shared(fields);  // notes what concerns all layers
  const std::optional<double> softmax_scale = read_softmax_scale(shared, context);
  std::vector<LayerEncoding> layers;
  for (const LayerPlan& plan : plan_layers(shared, context, default_block)) {
    Notes notes = shared.notes();
    Fields own(shared, notes);
    LayerEncoding layer{.layer_type = plan.layer_type, .scheme = "nope"};
    own.acknowledge({"attn_temperature_tuning", "attn_scale", "floor_scale"});
    if (plan.rotates) {
      layer = read_rope_layer(own, plan, context);
    } else if (context.model.name == "llama4_text") {
      add_temperature(layer, own, plan, context);
    }
    add_dual_chunks(layer, own);
    if (own.boolean({"rotary_value"}).value_or(false)) {
      layer.not_applied.emplace_back("this model also turns its values (rotary_value); Locus does not apply that yet");
    }
    layer.layers = plan.layers;
    layer.softmax_scale = softmax_scale;
    layers.push_back(with_notes(std::move(layer), std::move(notes)));
  }
  return layers;
}

}  // namespace locus::io
