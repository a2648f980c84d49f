// SPDX-License-Identifier: Apache-2.0
#include "io/pairing_shapes.h"

#include "io/hf_resolve.h"
#include "locus/io/gguf_rope.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

/// The one head shape of all layers that rotate.
HeadShape common_head(const HfConfig& config, const std::string& name) {
  std::optional<HeadShape> common;
  for (const LayerEncoding& layer : config.layers) {
    if (layer.scheme == "nope") continue;  // both orders are right without rotation
    require(layer.scheme == "rope", name, ": the pairing is a matter of RoPE, this model has ", layer.scheme);
    const Arguments& arguments = layer.arguments;
    const HeadShape head{arguments.integer("head_dim"), arguments.integer("rotary_dim"),
                         arguments.has("rotary_offset") ? arguments.integer("rotary_offset") : 0};
    require(!common || *common == head, name, ": layers must rotate alike, got head_dim ", common->head_dim,
            " with rotary width ", common->rotary_dim, " and ", head.head_dim, " with ", head.rotary_dim);
    common = head;
  }
  require(common.has_value(), name, ": no layer of this model rotates");
  return *common;
}

/// A number for all layers, or one per layer.
std::int64_t of_layer(const std::vector<std::int64_t>& numbers, std::int64_t layer, const std::string& what) {
  if (numbers.size() == 1) return numbers[0];
  require(layer < static_cast<std::int64_t>(numbers.size()), what, " must have a number for layer ", layer, ", it has ",
          numbers.size());
  return numbers[static_cast<std::size_t>(layer)];
}

}  // namespace

ModelShape model_shape_hf(std::string_view config_text, const std::string& name) {
  const HfConfig config = resolve_hf_config(config_text, name);
  const JsonDocument document = parse_json_document(config_text, name);
  Notes notes;
  Fields fields = find_text_model(document.root, name, notes);
  require(!fields.has("qk_rope_head_dim"), fields.subject("qk_rope_head_dim"),
          " means latent attention, whose weights are not converted");
  LayerShape shape;
  shape.head = common_head(config, name);
  shape.heads = needed(read_heads(fields), fields, "num_attention_heads", "the order of rows");
  shape.key_value_heads = fields.integer({"num_key_value_heads", "num_kv_heads", "n_kv_heads"}).value_or(shape.heads);
  pairing_order(shape.head, Pairing::half);  // says what is wrong with the width before any tensor is looked at

  ModelShape model{config.model_type, std::nullopt, [shape](std::int64_t) { return shape; }};
  if (const HfModel* known = find_hf_model(config.model_type)) {
    model.engine_pairing = known->pairing == HfPairing::half ? Pairing::half : Pairing::interleaved;
  }
  return model;
}

ModelShape model_shape_gguf(const GgufFile& file) {
  const GgufRope rope = collect_gguf_rope(file);
  const std::string& name = file.name();
  require(rope.rope_type.has_value(), name, ": architecture ", shown(rope.architecture),
          " is unknown, its pairs cannot be told");
  require(*rope.rope_type != GgufRopeType::none, name, ": architecture ", shown(rope.architecture), " does not rotate");
  require(!rope.dimension_count_swa || rope.dimension_count_swa == rope.dimension_count, name,
          ": layers must rotate alike, got rotary widths ", rope.dimension_count.value_or(0), " and ",
          rope.dimension_count_swa.value_or(0));
  require(!rope.key_length_swa || rope.key_length_swa == rope.key_length, name,
          ": layers must have heads alike, got widths ", rope.key_length.value_or(0), " and ",
          rope.key_length_swa.value_or(0));
  const std::string heads_key = name + ": " + rope.architecture + ".attention.head_count";
  require(rope.head_count && !rope.head_count->empty(), heads_key, " is missing");
  require(rope.key_length || rope.embedding_length, name, ": ", rope.architecture,
          ".attention.key_length or embedding_length must be there to tell the width of a head");

  const auto shape_of = [rope, heads_key, name](std::int64_t layer) {
    constexpr std::int64_t most = 1 << 20;
    LayerShape shape;
    shape.heads = of_layer(*rope.head_count, layer, heads_key);
    require(shape.heads >= 1 && shape.heads <= most, heads_key, " must be from 1 to ", most, ", got ", shape.heads);
    shape.key_value_heads = rope.head_count_kv && !rope.head_count_kv->empty()
                                ? of_layer(*rope.head_count_kv, layer, heads_key + "_kv")
                                : shape.heads;
    require(shape.key_value_heads >= 1 && shape.key_value_heads <= most, heads_key, "_kv must be from 1 to ", most,
            ", got ", shape.key_value_heads);
    shape.head.head_dim = rope.key_length.value_or(rope.embedding_length.value_or(0) / shape.heads);
    require(shape.head.head_dim >= 1 && shape.head.head_dim <= most, name, ": the width of a head must be from 1 to ",
            most, ", got ", shape.head.head_dim);
    shape.head.rotary_dim = rope.dimension_count.value_or(shape.head.head_dim);
    return shape;
  };
  const bool neighbours = *rope.rope_type == GgufRopeType::interleaved;
  return {rope.architecture, neighbours ? Pairing::interleaved : Pairing::half, shape_of};
}

}  // namespace locus::io
