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

/// Qwen's 1M models: vLLM and sglang remap offsets; transformers does not read the block, and all agree up to chunk_size -
/// local_size tokens.
void add_dual_chunks(LayerEncoding& layer, Fields& fields, const HfContext& context) {
  const Json* given = fields.object({"dual_chunk_attention_config"});
  if (given == nullptr || layer.scheme != "rope") return;
  Fields block(*given, fields.path_of("dual_chunk_attention_config."), fields.file(), fields.notes());
  const auto size = [&](const char* key, std::int64_t least, std::int64_t otherwise) {
    const auto found = block.integer({key}, least);
    if (!found) block.note_default(key, std::to_string(otherwise), "sglang's default");
    return found.value_or(otherwise);
  };
  const std::int64_t chunk = size("chunk_size", 2, 8192), local = size("local_size", 0, 1024);
  require(local < chunk, block.subject("local_size"), " must be below chunk_size (", chunk, "), got ", local);
  const std::int64_t unscaled = block.integer({"original_max_position_embeddings"}, 0).value_or(0);
  const std::string what =
      "offsets beyond " + std::to_string(chunk - local) + " tokens are remapped (dual_chunk_attention_config)";
  if (layer.arguments.text("axes") != "1d") {
    layer.not_applied.push_back("vLLM and sglang: " + what + "; Locus does not apply that to several axes");
    return;
  }
  Arguments mapped;
  for (const auto& [name, value] : layer.arguments.all()) {
    if (name != "axes") mapped.set(name, value);
  }
  mapped.set("map", std::string("dual_chunk"));
  mapped.set("chunk_size", chunk);
  mapped.set("local_size", local);
  if (unscaled > 0) mapped.set("unscaled_length", unscaled);
  if (unscaled > 0 && context.options.length) mapped.set("length", *context.options.length);
  layer.alternatives.push_back({"vLLM and sglang", "offset_map", std::move(mapped), what});
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
    add_dual_chunks(layer, own, context);
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
