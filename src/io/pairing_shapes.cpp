// SPDX-License-Identifier: Apache-2.0
#include "io/pairing_shapes.h"

#include "io/hf_resolve.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf_rope.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

HeadShape rotated_head(const LayerEncoding& layer, const std::string& name) {
  require(layer.scheme == "rope" || layer.scheme == "xpos", name, ": pairing applies to RoPE only; this model has ",
          layer.scheme);
  const Arguments& arguments = layer.arguments;
  const std::int64_t head_dim = arguments.integer("head_dim");
  return {head_dim, arguments.maybe_integer("rotary_dim").value_or(head_dim),
          arguments.maybe_integer("rotary_offset").value_or(0)};
}

Pairing stated_pairing(const LayerEncoding& layer) {
  return layer.arguments.text("pairing") == name_of(Pairing::half) ? Pairing::half : Pairing::interleaved;
}

/// A model saved by Locus's lab.
ModelShape model_shape_lab(const GgufFile& file) {
  const LayerEncoding layer = gguf_lab_encoding(file);
  LayerShape shape{.head = rotated_head(layer, file.name())};
  const auto heads = file.integer("locus_lab.attention.head_count");
  require(heads && *heads >= 1, file.name(), ": locus_lab.attention.head_count must be given, at least 1");
  shape.heads = shape.key_value_heads = *heads;
  return {"locus_lab", stated_pairing(layer), [shape](std::int64_t) { return shape; }, true};
}

/// Returns the head shape that all rotating layers share.
HeadShape common_head(const HfConfig& config, const std::string& name) {
  std::optional<HeadShape> common;
  for (const LayerEncoding& layer : config.layers) {
    if (layer.scheme == "nope") continue;  // without rotation, both orders are right
    const HeadShape head = rotated_head(layer, name);
    require(!common || *common == head, name, ": layers must rotate alike, got head_dim ", common->head_dim,
            " with rotary width ", common->rotary_dim, " and ", head.head_dim, " with ", head.rotary_dim);
    common = head;
  }
  require(common.has_value(), name, ": no layer of this model rotates");
  return *common;
}

/// Returns the number for all layers, or the one of this layer.
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
          " means latent attention, whose weights cannot be converted");
  LayerShape shape;
  shape.head = common_head(config, name);
  shape.heads = needed(read_heads(fields), fields, "num_attention_heads", "the order of rows");
  shape.key_value_heads = fields.integer({"num_key_value_heads", "num_kv_heads", "n_kv_heads"}).value_or(shape.heads);
  pairing_order(shape.head, Pairing::half);  // reports an invalid width before any tensor is read

  ModelShape model{config.model_type, std::nullopt, [shape](std::int64_t) { return shape; }, false};
  if (const HfModel* known = find_hf_model(config.model_type)) {
    model.engine_pairing = known->pairing == HfPairing::half ? Pairing::half : Pairing::interleaved;
  }
  if (config.model_type == "locus_lab") {
    model.engine_pairing = stated_pairing(config.layers.front());
    model.states_pairing = true;
  }
  return model;
}

ModelShape model_shape_gguf(const GgufFile& file) {
  if (file.text("general.architecture") == "locus_lab") return model_shape_lab(file);
  const GgufRope rope = collect_gguf_rope(file);
  const std::string& name = file.name();
  require(rope.rope_type.has_value(), name, ": architecture ", shown(rope.architecture),
          " is unknown, so its pairing is unknown too");
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
          ".attention.key_length or embedding_length must be given for the width of a head");

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
  return {rope.architecture, neighbours ? Pairing::interleaved : Pairing::half, shape_of, false};
}

}  // namespace locus::io
