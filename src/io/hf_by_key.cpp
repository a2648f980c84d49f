// SPDX-License-Identifier: Apache-2.0
// Families that are decided by a key of the file: one function each, chosen by the row's name.
#include <algorithm>
#include <array>

#include "io/hf_resolve.h"
#include "io/hf_rope.h"

namespace locus::io {
namespace {

using Layers = std::vector<LayerEncoding>;

Layers resolve_esm(const Fields& model, const HfContext& context) {
  Fields fields(model);
  if (fields.text({"position_embedding_type"}).value_or("absolute") == "rotary") return resolve_rope(fields, context);
  return {resolve_learned(fields, context, context.model.row_offset)};
}

Layers resolve_trocr(const Fields& model, const HfContext& context) {
  Fields fields(model);
  if (fields.boolean({"use_learned_position_embeddings"}).value_or(true)) {
    return {resolve_learned(fields, context, HfRowOffset::two)};
  }
  return {resolve_sinusoidal(fields, context, "concatenated", "fairseq")};
}

Layers resolve_beit(const Fields& model, const HfContext& context) {
  Fields fields(model);
  const bool per_layer = fields.boolean({"use_relative_position_bias"}).value_or(false);
  const bool shared = fields.boolean({"use_shared_relative_position_bias"}).value_or(false);
  if (per_layer || shared) refuse_model(fields, context, context.model.what);
  if (fields.boolean({"use_absolute_position_embeddings"}).value_or(false)) {
    return resolve_images(fields, context, HfFamily::image_table);
  }
  return resolve_nope(fields);
}

/// The terms of DeBERTa's scores, "c2p|p2c": text, or a list of texts.
std::string read_terms(Fields& fields) {
  const Json* value = fields.peek("pos_att_type");
  fields.acknowledge({"pos_att_type"});
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return value->get<std::string>();
  require(value->is_array(), fields.subject("pos_att_type"), " must be text or a list of texts");
  std::string terms;
  for (const Json& entry : *value)
    terms += (terms.empty() ? "" : "|") + (entry.is_string() ? entry.get<std::string>() : "");
  return terms;
}

/// An integer that may be negative, which means that there is none.
std::int64_t read_signed(Fields& fields, std::string_view key, std::int64_t fallback) {
  const Json* value = fields.peek(key);
  fields.acknowledge({key});
  if (value == nullptr || value->is_null()) return fallback;
  require(value->is_number_integer(), fields.subject(key), " must be an integer");
  return value->get<std::int64_t>();
}

Layers resolve_deberta(const Fields& model, const HfContext& context) {
  Fields fields(model);
  const bool relative = fields.boolean({"relative_attention"}).value_or(false);
  const bool absolute = fields.boolean({"position_biased_input"}).value_or(true);
  const std::string terms = relative ? read_terms(fields) : "";
  fields.acknowledge({"max_relative_positions", "position_buckets", "share_att_key", "norm_rel_ebd"});
  Layers layers;
  if (absolute) layers.push_back(resolve_learned(fields, context, HfRowOffset::none));
  if (terms.empty()) return absolute ? layers : resolve_nope(fields);
  if (absolute) layers.back().layer_type = "embeddings";
  Notes notes = fields.notes();
  Fields own(fields, notes);
  const auto [hidden, heads] = read_widths(own, context, "the width of a head");
  LayerEncoding layer{.layer_type = absolute ? "attention" : "", .scheme = "deberta"};
  layer.arguments.set("heads", heads);
  layer.arguments.set("head_dim", own.integer({"attention_head_size"}).value_or(hidden / heads));
  const auto length = read_max_length(own);
  std::int64_t furthest = read_signed(own, "max_relative_positions", -1);
  if (furthest < 1) {  // the class takes the length of its table then
    furthest = with_default(length, context.model.max_length, own, "max_position_embeddings", context, "DeBERTa");
  }
  layer.arguments.set("max_relative_positions", furthest);
  layer.arguments.set("position_buckets", std::max<std::int64_t>(read_signed(own, "position_buckets", -1), 0));
  layer.arguments.set("c2p", terms.find("c2p") != std::string::npos);
  layer.arguments.set("p2c", terms.find("p2c") != std::string::npos);
  layers.push_back(finish_layer(std::move(layer), own));
  return layers;
}

Layers resolve_conformer(const Fields& model, const HfContext& context) {
  Fields fields(model);
  const bool bert = context.model.name == "wav2vec2-bert";
  const std::string kind = fields.text({"position_embeddings_type"}).value_or(bert ? "relative_key" : "relative");
  if (kind == "relative") return {resolve_projected_sines(fields, context, "conformer")};
  if (kind == "rotary") {
    refuse_model(fields, context,
                 "rotates the hidden state before it is projected to queries and keys "
                 "(position_embeddings_type rotary)");
  }
  if (kind != "relative_key") return resolve_nope(fields);
  Notes notes = fields.notes();
  Fields own(fields, notes);
  LayerEncoding layer{.scheme = "shaw"};
  const auto [hidden, heads] = read_widths(own, context, "a table of distances");
  layer.arguments.set("heads", heads);
  layer.arguments.set("head_dim", hidden / heads);
  layer.arguments.set("clip_left", own.integer({"left_max_position_embeddings"}, 0).value_or(64));
  layer.arguments.set("clip_right", own.integer({"right_max_position_embeddings"}, 0).value_or(8));
  own.acknowledge({"max_source_positions"});
  return {finish_layer(std::move(layer), own)};
}

/// Speech encoder and text decoder of one model; only the text side can be expressed.
Layers resolve_seamless(const Fields& model, const HfContext& context) {
  refuse_model(model, context,
               "has a Conformer with separate positions ({position_embeddings_type=relative}) for "
               "speech, and sinusoidal rows for text");
}

Layers resolve_siglip2_vision(const Fields& model, const HfContext& context) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "learned"};
  const std::int64_t rows =
      with_default(fields.integer({"num_patches"}), 256, fields, "num_patches", context, "a table");
  layer.arguments.set("max_positions", rows);
  layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "hidden_size",
                                          context, "a learned table"));
  layer.arguments.set("row_offset", std::int64_t{0});
  layer.not_applied.emplace_back(
      "this model also resizes its table to the shape of each image; Locus does not apply "
      "that yet");
  return {finish_layer(std::move(layer), fields)};
}

/// Patches overlap: each side has (length - patch) / stride + 1 of them.
Layers resolve_spectrogram(const Fields& model, const HfContext& context) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const auto number = [&](std::string_view key, std::int64_t fallback) {
    return with_default(fields.integer({key}), fallback, fields, key, context, "the number of patches");
  };
  const std::int64_t patch = number("patch_size", 16);
  const std::int64_t bins = number("num_mel_bins", 128), frames = number("max_length", 1024);
  require(patch <= bins && patch <= frames, fields.subject("patch_size"), " must be at most num_mel_bins (", bins,
          ") and max_length (", frames, "), got ", patch);
  const std::int64_t rows = (bins - patch) / number("frequency_stride", 10) + 1;
  const std::int64_t columns = (frames - patch) / number("time_stride", 10) + 1;
  LayerEncoding layer{.scheme = "learned"};
  layer.arguments.set("max_positions", rows * columns + context.model.extra_rows);
  layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "hidden_size",
                                          context, "a learned table"));
  layer.arguments.set("row_offset", std::int64_t{0});
  return {finish_layer(std::move(layer), fields)};
}

Layers resolve_reformer(const Fields& model, const HfContext& context) {
  Fields fields(model);
  if (fields.boolean({"axial_pos_embds"}).value_or(true)) refuse_model(fields, context, context.model.what);
  return {resolve_learned(fields, context, HfRowOffset::none)};
}

Layers resolve_chatglm(const Fields& model, const HfContext& context) {
  Fields fields(model);
  if (fields.boolean({"position_encoding_2d"}).value_or(false)) {
    refuse_model(fields, context,
                 "of the first version rotates two halves of the head by two position ids, one of the "
                 "prompt and one of the answer (position_encoding_2d)");
  }
  return resolve_rope(fields, context);
}

/// Qwen's first version. Only its own code reads these two keys.
Layers resolve_qwen(const Fields& model, const HfContext& context) {
  Fields fields(model);
  const bool dynamic = fields.boolean({"use_dynamic_ntk"}).value_or(false);
  const bool logarithm = fields.boolean({"use_logn_attn"}).value_or(false);
  const std::int64_t length =
      logarithm ? with_default(fields.integer({"seq_length"}), 2048, fields, "seq_length", context, "use_logn_attn")
                : 0;
  Layers layers = resolve_rope(fields, context);
  for (LayerEncoding& layer : layers) {
    if (dynamic) {
      layer.not_applied.emplace_back(
          "this model's own code raises the base beyond seq_length (use_dynamic_ntk), other "
          "engines ignore the key; Locus does not apply that yet");
    }
    if (logarithm) {
      layer.alternatives.push_back({"vLLM and llama.cpp", layer.scheme, layer.arguments, "use_logn_attn is not read"});
      set_query_scale(layer, {.kind = QueryScale::Kind::logarithm, .length = length, .shift = 1});
    }
  }
  return layers;
}

/// A learned table of patches, and a rotation by column and row. The class token is the last token, not the first.
Layers resolve_llama4_vision(const Fields& model, const HfContext& context) {
  Layers layers = resolve_images(model, context, HfFamily::image_table);
  layers.back().layer_type = "patch embeddings";
  for (LayerEncoding& layer : resolve_rope(model, context)) {
    const std::int64_t width = layer.arguments.integer("rotary_dim");
    require(width % 4 == 0, model.subject("hidden_size"), " / num_attention_heads must be a multiple of 4, got ",
            width);
    const auto pairs = static_cast<double>(width / 4);  // half of them follow the column, half the row
    layer.layer_type = "attention";
    layer.arguments.set("axes", std::string("sections"));
    layer.arguments.set("sections", std::vector<double>{pairs, pairs});
    layer.arguments.set("frequency_index", std::string("restarting"));
    layer.not_applied.emplace_back(
        "a patch has the ids column + 1 and row + 1, the class token, which is the last token, 0 and 0; the caller "
        "passes them");
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// Sines and cosines of the index of each tube of patches.
Layers resolve_videomae(const Fields& model, const HfContext& context) {
  return {resolve_sinusoidal(model, context, "interleaved", "vaswani")};
}

Layers resolve_led(const Fields& model, const HfContext& context) {
  Layers layers;
  for (const bool encoder : {true, false}) {
    Notes notes = model.notes();
    Fields fields(model, notes);
    fields.acknowledge({"max_encoder_position_embeddings", "max_decoder_position_embeddings"});
    const std::string_view key = encoder ? "max_encoder_position_embeddings" : "max_decoder_position_embeddings";
    LayerEncoding layer{.layer_type = encoder ? "encoder" : "decoder", .scheme = "learned"};
    layer.arguments.set("max_positions", with_default(fields.integer({key}), encoder ? 16384 : 1024, fields, key,
                                                      context, "a learned table"));
    layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "d_model",
                                            context, "a learned table"));
    layer.arguments.set("row_offset", std::int64_t{0});
    layers.push_back(finish_layer(std::move(layer), fields));
  }
  return layers;
}

// The weights, with their normalisation, are in the model's file.
Layers resolve_convolution(const Fields& model, const HfContext& context) {
  Fields fields(model);
  Notes notes = fields.notes();
  Fields own(fields, notes);
  LayerEncoding layer{.scheme = "conv_position"};
  layer.arguments.set("dim", read_widths(own, context, "a convolution over the hidden state").hidden);
  layer.arguments.set("kernel", own.integer({"num_conv_pos_embeddings"}, 1).value_or(128));
  layer.arguments.set("groups", own.integer({"num_conv_pos_embedding_groups"}, 1).value_or(16));
  own.acknowledge({"conv_pos_batch_norm"});
  return {finish_layer(std::move(layer), own)};
}

struct Resolver {
  std::string_view name;
  Layers (*resolve)(const Fields&, const HfContext&);
};
constexpr std::array<Resolver, 22> resolvers = {{{"audio-spectrogram-transformer", resolve_spectrogram},
                                                 {"beit", resolve_beit},
                                                 {"chatglm", resolve_chatglm},
                                                 {"data2vec-vision", resolve_beit},
                                                 {"deberta", resolve_deberta},
                                                 {"deberta-v2", resolve_deberta},
                                                 {"esm", resolve_esm},
                                                 {"hubert", resolve_convolution},
                                                 {"led", resolve_led},
                                                 {"llama4_vision_model", resolve_llama4_vision},
                                                 {"qwen", resolve_qwen},
                                                 {"reformer", resolve_reformer},
                                                 {"seamless_m4t", resolve_seamless},
                                                 {"seamless_m4t_v2", resolve_seamless},
                                                 {"siglip2_vision_model", resolve_siglip2_vision},
                                                 {"trocr", resolve_trocr},
                                                 {"unispeech", resolve_convolution},
                                                 {"unispeech-sat", resolve_convolution},
                                                 {"videomae", resolve_videomae},
                                                 {"wav2vec2", resolve_convolution},
                                                 {"wav2vec2-bert", resolve_conformer},
                                                 {"wav2vec2-conformer", resolve_conformer}}};

}  // namespace

std::vector<LayerEncoding> resolve_by_key(const Fields& fields, const HfContext& context) {
  for (const Resolver& row : resolvers) {
    if (row.name == context.model.name) return row.resolve(fields, context);
  }
  refuse_model(fields, context, "has a key that decides how positions enter");
}

}  // namespace locus::io
