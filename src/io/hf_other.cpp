// SPDX-License-Identifier: Apache-2.0
// The part of the config.json resolver for every scheme but RoPE.
#include "io/hf_resolve.h"

namespace locus::io {
namespace {

LayerEncoding finish(LayerEncoding layer, Fields& fields) {
  fields.note_left_over(false);
  return with_notes(std::move(layer), fields.notes());
}

std::int64_t integer_or(Fields& fields, std::string_view key, std::int64_t fallback) {
  if (const auto value = fields.integer({key})) return *value;
  fields.note_default(key, std::to_string(fallback), "transformers' default");
  return fallback;
}

std::vector<LayerEncoding> resolve_t5(const Fields& model) {
  std::vector<LayerEncoding> layers;
  for (const bool bidirectional : {true, false}) {
    Notes notes = model.notes();
    Fields fields(model, notes);
    LayerEncoding layer{.layer_type = bidirectional ? "encoder" : "decoder", .scheme = "t5"};
    layer.arguments.set("heads", needed(read_heads(fields), fields, "num_heads", "the T5 bias"));
    layer.arguments.set("num_buckets", integer_or(fields, "relative_attention_num_buckets", 32));
    layer.arguments.set("max_distance", integer_or(fields, "relative_attention_max_distance", 128));
    layer.arguments.set("bidirectional", bidirectional);
    layer.training_length = read_max_length(fields);
    layers.push_back(finish(std::move(layer), fields));
  }
  return layers;
}

/// OPT's and BART's tables have two rows more than max_position_embeddings; RoBERTa's number includes the rows up to
/// the padding's. `max_positions` is what remains for positions.
LayerEncoding resolve_learned(const Fields& model, HfRowOffset row_offset) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "learned"};
  std::int64_t rows = needed(read_max_length(fields), fields, "max_position_embeddings", "a learned table");
  std::int64_t offset = 0;
  if (row_offset == HfRowOffset::two) {
    offset = 2;
    rows += offset;
  } else if (row_offset == HfRowOffset::after_padding) {
    const auto padding = fields.integer({"pad_token_id"}, 0);
    if (!padding) fields.note_default("pad_token_id", "1", "transformers' default");
    offset = padding.value_or(1) + 1;
    require(offset < rows, fields.subject("pad_token_id"), " must leave rows for positions in a table of ", rows,
            ", got ", offset - 1);
  }
  auto dim = fields.integer({"embedding_size"});  // ELECTRA and ALBERT embed in a width of their own
  if (!dim) dim = read_hidden_size(fields);
  layer.arguments.set("max_positions", rows - offset);
  layer.arguments.set("dim", needed(dim, fields, "hidden_size", "a learned table"));
  layer.arguments.set("row_offset", offset);
  layer.training_length = rows - offset;
  return finish(std::move(layer), fields);
}

LayerEncoding resolve_sinusoidal(const Fields& model, std::string_view arrangement, std::string_view rate) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "sinusoidal"};
  layer.arguments.set("dim", needed(read_hidden_size(fields), fields, "d_model", "a sinusoidal table"));
  layer.arguments.set("base", 10000.0);
  layer.arguments.set("arrangement", std::string(arrangement));
  layer.arguments.set("rate", std::string(rate));
  layer.arguments.set("first_position", std::int64_t{0});
  layer.training_length = read_max_length(fields);
  return finish(std::move(layer), fields);
}

std::vector<LayerEncoding> resolve_whisper(const Fields& model) {
  Fields shared(model);
  shared.acknowledge({"max_source_positions", "max_target_positions"});
  LayerEncoding encoder = resolve_sinusoidal(shared, "concatenated", "fairseq");
  encoder.layer_type = "encoder";

  Notes notes = model.notes();
  Fields fields(shared, notes);
  LayerEncoding decoder{.layer_type = "decoder", .scheme = "learned"};
  const std::int64_t rows = integer_or(fields, "max_target_positions", 448);
  decoder.arguments.set("max_positions", rows);
  decoder.arguments.set("dim", needed(read_hidden_size(fields), fields, "d_model", "a learned table"));
  decoder.arguments.set("row_offset", std::int64_t{0});
  decoder.training_length = rows;
  return {std::move(encoder), finish(std::move(decoder), fields)};
}

LayerEncoding resolve_mpt(const Fields& model) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const Json none = Json::object();
  const Json* given = fields.object({"attn_config"});
  Fields attention(given ? *given : none, fields.path_of("attn_config."), fields.file(), notes);
  const auto alibi = attention.boolean({"alibi"});
  if (!alibi) attention.note_default("alibi", "true", "transformers' default for mpt");
  require(alibi.value_or(true), attention.subject("alibi"), " must be true for model type mpt, got false");
  const auto bias_max = attention.positive({"alibi_bias_max"});
  if (!bias_max) attention.note_default("alibi_bias_max", "8", "transformers' default for mpt");
  attention.note_left_over(false);

  LayerEncoding layer{.scheme = "alibi"};
  layer.arguments.set("heads", needed(read_heads(fields), fields, "n_heads", "ALiBi"));
  layer.arguments.set("bias_max", bias_max.value_or(8));
  layer.arguments.set("form", std::string("mpt"));
  layer.training_length = read_max_length(fields);
  return finish(std::move(layer), fields);
}

}  // namespace

LayerEncoding resolve_alibi(const Fields& model, std::string_view form) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "alibi"};
  layer.arguments.set("heads", needed(read_heads(fields), fields, "num_attention_heads", "ALiBi"));
  layer.arguments.set("form", std::string(form));
  layer.training_length = read_max_length(fields);
  return finish(std::move(layer), fields);
}

std::vector<LayerEncoding> resolve_other(const Fields& model, const HfContext& context, HfFamily family) {
  switch (family) {
    case HfFamily::bloom:
      return {resolve_alibi(model, "bloom")};
    case HfFamily::mpt:
      return {resolve_mpt(model)};
    case HfFamily::t5:
      return resolve_t5(model);
    case HfFamily::learned:
      return {resolve_learned(model, context.model.row_offset)};
    case HfFamily::sinusoidal:
      return {resolve_sinusoidal(model, "concatenated", "vaswani")};
    case HfFamily::xlm: {
      Fields fields(model);
      const bool computed = fields.boolean({"sinusoidal_embeddings", "sinusoidal_pos_embds"}).value_or(false);
      return {computed ? resolve_sinusoidal(fields, "interleaved", "vaswani")
                       : resolve_learned(fields, HfRowOffset::none)};
    }
    case HfFamily::whisper:
      return resolve_whisper(model);
    default: {
      Notes notes = model.notes();
      Fields fields(model, notes);
      return {finish({.scheme = "nope"}, fields)};
    }
  }
}

std::optional<std::int64_t> read_max_length(Fields& fields) {
  return fields.integer({"max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "max_sequence_length",
                         "model_max_length", "n_ctx"});
}

std::optional<std::int64_t> read_hidden_size(Fields& fields) {
  return fields.integer({"hidden_size", "n_embd", "d_model", "emb_dim", "dim"});
}

std::optional<std::int64_t> read_heads(Fields& fields) {
  return fields.integer({"num_attention_heads", "n_head", "n_heads", "num_heads"});
}

LayerEncoding with_notes(LayerEncoding layer, Notes notes) {
  layer.used = std::move(notes.used);
  layer.defaulted = std::move(notes.defaulted);
  layer.unknown = std::move(notes.unknown);
  return layer;
}

}  // namespace locus::io
