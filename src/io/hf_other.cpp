// SPDX-License-Identifier: Apache-2.0
// The part of the config.json resolver for all schemes but RoPE.
#include "io/hf_resolve.h"

namespace locus::io {
namespace {

std::int64_t integer_or(Fields& fields, std::string_view key, std::int64_t fallback) {
  if (const auto value = fields.integer({key})) return *value;
  fields.note_default(key, std::to_string(fallback), "transformers' default");
  return fallback;
}

/// Buckets for both directions, or for one.
LayerEncoding resolve_buckets(const Fields& model, const HfContext& context, bool bidirectional) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "t5"};
  layer.arguments.set(
      "heads", with_default(read_heads(fields), context.model.heads, fields, "num_heads", context, "the T5 bias"));
  layer.arguments.set("num_buckets", integer_or(fields, "relative_attention_num_buckets", 32));
  layer.arguments.set("max_distance", integer_or(fields, "relative_attention_max_distance", 128));
  layer.arguments.set("bidirectional", bidirectional);
  layer.trained_length = read_max_length(fields);
  if (context.model.softmax_scale != 0) layer.softmax_scale = context.model.softmax_scale;
  return finish_layer(std::move(layer), fields);
}

std::vector<LayerEncoding> resolve_t5(const Fields& model, const HfContext& context) {
  if (context.model.name == "pix2struct_text_model") return {resolve_buckets(model, context, false)};
  std::vector<LayerEncoding> layers;
  for (const bool bidirectional : {true, false}) {
    layers.push_back(resolve_buckets(model, context, bidirectional));
    layers.back().layer_type = bidirectional ? "encoder" : "decoder";
  }
  return layers;
}

/// Two sites: a table added before the first layer, and buckets on the scores of all layers.
std::vector<LayerEncoding> resolve_mpnet(const Fields& model, const HfContext& context) {
  LayerEncoding table = resolve_learned(model, context, context.model.row_offset);
  table.layer_type = "embeddings";
  LayerEncoding buckets = resolve_buckets(model, context, true);
  buckets.layer_type = "attention";
  return {std::move(table), std::move(buckets)};
}

std::vector<LayerEncoding> resolve_whisper(const Fields& model, const HfContext& context) {
  Fields shared(model);
  shared.acknowledge({"max_source_positions", "max_target_positions"});
  LayerEncoding encoder = resolve_sinusoidal(shared, context, "concatenated", "fairseq");
  encoder.layer_type = "encoder";

  Notes notes = model.notes();
  Fields fields(shared, notes);
  LayerEncoding decoder{.layer_type = "decoder", .scheme = "learned"};
  const std::int64_t rows = integer_or(fields, "max_target_positions", 448);
  decoder.arguments.set("max_positions", rows);
  decoder.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "d_model",
                                            context, "a learned table"));
  decoder.arguments.set("row_offset", std::int64_t{0});
  decoder.trained_length = rows;
  return {std::move(encoder), finish_layer(std::move(decoder), fields)};
}

LayerEncoding resolve_mpt(const Fields& model, const HfContext& context) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const Json none = Json::object();
  const Json* given = fields.object({"attn_config"});
  Fields attention(given ? *given : none, fields.path_of("attn_config."), fields.file(), notes);
  const auto alibi = attention.boolean({"alibi"});
  if (!alibi) attention.note_default("alibi", "true", "transformers' default for mpt");
  if (!alibi.value_or(true)) {
    // transformers adds the bias whatever the key says; MosaicML's code then has a learned table.
    refuse_model(fields, context,
                 "has attn_config.alibi false: a learned table in its own code, but ALiBi in "
                 "transformers");
  }
  const auto bias_max = attention.positive({"alibi_bias_max"});
  if (!bias_max) attention.note_default("alibi_bias_max", "8", "transformers' default for mpt");
  attention.note_unread(false);

  LayerEncoding layer{.scheme = "alibi"};
  layer.arguments.set("heads",
                      with_default(read_heads(fields), context.model.heads, fields, "n_heads", context, "ALiBi"));
  layer.arguments.set("bias_max", bias_max.value_or(8));
  layer.arguments.set("form", std::string("mpt"));
  layer.trained_length = read_max_length(fields);
  // The biases count from the last key, so they depend on the length of the sequence.
  const std::int64_t length = context.options.length.value_or(layer.trained_length.value_or(context.model.max_length));
  if (length > 0) layer.arguments.set("length", length);
  if (!context.options.length && length > 0) {
    fields.note_default("length", std::to_string(length), "the longest sequence, since no other is given");
  }
  return finish_layer(std::move(layer), fields);
}

}  // namespace

/// OPT's and BART's tables have two rows more than max_position_embeddings. RoBERTa's number includes the rows up to
/// the padding row. `max_positions` is what remains for positions.
LayerEncoding resolve_learned(const Fields& model, const HfContext& context, HfRowOffset row_offset) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "learned"};
  auto length = read_max_length(fields);
  if (!length && context.model.seen == "transformers bark") length = fields.integer({"block_size"});
  std::int64_t rows =
      with_default(length, context.model.max_length, fields, "max_position_embeddings", context, "a learned table");
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
  auto dim = fields.integer({"embedding_size", "word_embed_proj_dim"});  // separate in ELECTRA and ALBERT
  if (!dim || context.model.name == "opt") dim = read_hidden_size(fields);
  layer.arguments.set("max_positions", rows - offset);
  layer.arguments.set("dim",
                      with_default(dim, context.model.hidden_size, fields, "hidden_size", context, "a learned table"));
  layer.arguments.set("row_offset", offset);
  layer.trained_length = rows - offset;
  return finish_layer(std::move(layer), fields);
}

LayerEncoding resolve_sinusoidal(const Fields& model, const HfContext& context, std::string_view arrangement,
                                 std::string_view rate) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "sinusoidal"};
  layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "d_model",
                                          context, "a sinusoidal table"));
  layer.arguments.set("base", 10000.0);
  layer.arguments.set("arrangement", std::string(arrangement));
  layer.arguments.set("rate", std::string(rate));
  std::int64_t first = 0;
  if (context.model.row_offset == HfRowOffset::after_padding) {  // fairseq counts from the row after the padding row
    const auto padding = fields.integer({"pad_token_id"}, 0);
    if (!padding) fields.note_default("pad_token_id", "1", "transformers' default");
    first = padding.value_or(1) + 1;
  }
  layer.arguments.set("first_position", first);
  layer.trained_length = read_max_length(fields);
  if (!layer.trained_length) layer.trained_length = fields.integer({"max_source_positions"});
  fields.acknowledge({"static_position_embeddings"});
  return finish_layer(std::move(layer), fields);
}

LayerEncoding resolve_distances(const Fields& model, const HfContext& context, bool meets_key) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const std::int64_t rows = with_default(read_max_length(fields), context.model.max_length, fields,
                                         "max_position_embeddings", context, "a table of distances");
  const auto [hidden, heads] = read_widths(fields, context, "a table of distances");
  LayerEncoding layer{.scheme = "shaw"};
  layer.arguments.set("heads", heads);
  layer.arguments.set("head_dim", hidden / heads);
  layer.arguments.set("clip_left", rows - 1);
  layer.arguments.set("clip_right", rows - 1);
  layer.arguments.set("clip", false);
  layer.arguments.set("index", std::string("query_minus_key"));
  layer.arguments.set("meets_key", meets_key);
  layer.trained_length = rows;
  LayerEncoding later = resolve_learned(model, context, context.model.row_offset);
  layer.alternatives.push_back({"transformers 5", later.scheme, later.arguments,
                                "position_embedding_type is no longer read: a learned table of " +
                                    std::to_string(rows) + " rows is added in any case"});
  return finish_layer(std::move(layer), fields);
}

LayerEncoding resolve_projected_sines(const Fields& model, const HfContext& context, std::string_view scheme) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = std::string(scheme)};
  const auto [hidden, heads] = read_widths(fields, context, "the width of a head");
  const auto head_dim = fields.integer({"d_head", "attention_head_dim"});
  layer.arguments.set("heads", heads);
  layer.arguments.set("head_dim", head_dim.value_or(hidden / heads));
  layer.arguments.set("model_dim", hidden);
  fields.acknowledge({"position_embeddings_type", "max_position_embeddings", "max_source_positions", "pos_att_type"});
  return finish_layer(std::move(layer), fields);
}

LayerEncoding resolve_alibi(const Fields& model, const HfContext& context, std::string_view form) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  LayerEncoding layer{.scheme = "alibi"};
  layer.arguments.set(
      "heads", with_default(read_heads(fields), context.model.heads, fields, "num_attention_heads", context, "ALiBi"));
  layer.arguments.set("form", std::string(form));
  layer.trained_length = read_max_length(fields);
  return finish_layer(std::move(layer), fields);
}

std::vector<LayerEncoding> resolve_nope(const Fields& model) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  // Rope keys in the file do not make the model rotate; each is reported.
  for (const std::string_view key : {"rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor"}) {
    if (fields.has(key)) fields.note_ignored(key, "the attention of this model does not rotate");
  }
  fields.acknowledge({"max_position_embeddings", "n_positions"});
  return {finish_layer({.scheme = "nope"}, fields)};
}

std::vector<LayerEncoding> resolve_other(const Fields& model, const HfContext& context, HfFamily family) {
  switch (family) {
    case HfFamily::bloom:
      return {resolve_alibi(model, context, context.model.name == "step1" ? "sqrt" : "bloom")};
    case HfFamily::mpt:
      return {resolve_mpt(model, context)};
    case HfFamily::t5:
      return resolve_t5(model, context);
    case HfFamily::learned:
      return {resolve_learned(model, context, context.model.row_offset)};
    case HfFamily::sinusoidal:
      return {resolve_sinusoidal(model, context, "concatenated", "vaswani")};
    case HfFamily::fairseq:
      return {resolve_sinusoidal(model, context, "concatenated", "fairseq")};
    case HfFamily::xlm: {
      Fields fields(model);
      const bool computed = fields.boolean({"sinusoidal_embeddings", "sinusoidal_pos_embds"}).value_or(false);
      return {computed ? resolve_sinusoidal(fields, context, "interleaved", "vaswani")
                       : resolve_learned(fields, context, HfRowOffset::none)};
    }
    case HfFamily::whisper:
      return resolve_whisper(model, context);
    case HfFamily::transformer_xl:
      return {resolve_projected_sines(model, context, "transformer_xl")};
    case HfFamily::conformer:
      return {resolve_projected_sines(model, context, "conformer")};
    case HfFamily::mpnet:
      return resolve_mpnet(model, context);
    case HfFamily::image_table:
    case HfFamily::image_waves:
    case HfFamily::windows:
    case HfFamily::network_windows:
    case HfFamily::grid_keys:
      return resolve_images(model, context, family);
    case HfFamily::by_key:
      return resolve_by_key(model, context);
    case HfFamily::nope:
      return resolve_nope(model);
    case HfFamily::no_attention:
      throw UnsupportedModel(model.file() + ": " + context.model_type + " has no attention (" +
                                 std::string(context.model.what) + "): there are no positions to encode",
                             false);
    case HfFamily::composite:
      fail(model.file(), ": ", context.model_type, " consists of parts (", context.model.parts,
           "), and the file describes none of them");
    default:
      break;
  }
  refuse_model(model, context, context.model.what);
}

std::string described(Fields& fields, std::string_view what) {
  std::string text;
  while (!what.empty()) {
    const std::size_t open = what.find('{');
    text += what.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = what.find('}', open), equals = what.find('=', open);
    const std::string_view key = what.substr(open + 1, equals - open - 1);
    const Json* value = fields.peek(key);
    fields.acknowledge({key});
    std::string shown(what.substr(equals + 1, close - equals - 1));
    if (value != nullptr && value->is_number()) shown = number_text(value->get<double>());
    if (value != nullptr && value->is_array() && value->size() <= 4) {
      shown.clear();
      for (const Json& entry : *value) shown += (shown.empty() ? "" : " x ") + entry.dump().substr(0, 20);
    }
    text += shown;
    what.remove_prefix(close + 1);
  }
  return text;
}

void refuse_model(const Fields& fields, const HfContext& context, std::string_view what) {
  Notes unused;
  Fields reader(fields, unused);
  throw UnsupportedModel(
      fields.file() + ": " + context.model_type + " " + described(reader, what) + "; Locus does not express that yet",
      true);
}

std::optional<std::int64_t> read_max_length(Fields& fields) {
  return fields.integer({"max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "max_sequence_length",
                         "model_max_length", "n_ctx"});
}

std::optional<std::int64_t> read_hidden_size(Fields& fields) {
  return fields.integer({"hidden_size", "n_embd", "d_model", "embed_dim", "emb_dim", "dim"});
}

std::optional<std::int64_t> read_heads(Fields& fields) {
  return fields.integer({"num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
                         "attention_heads", "decoder_num_attention_heads"});
}

std::string why_default(const HfContext& context) {
  return context.listed ? "transformers' default for " + std::string(context.model.name) : "transformers' default";
}

std::int64_t with_default(const std::optional<std::int64_t>& value, std::int64_t fallback, Fields& fields,
                          std::string_view key, const HfContext& context, std::string_view by) {
  if (value || fallback == 0) return needed(value, fields, key, by);
  fields.note_default(key, std::to_string(fallback), why_default(context));
  return fallback;
}

HiddenAndHeads read_widths(Fields& fields, const HfContext& context, std::string_view by) {
  const std::int64_t hidden =
      with_default(read_hidden_size(fields), context.model.hidden_size, fields, "hidden_size", context, by);
  const std::int64_t heads =
      with_default(read_heads(fields), context.model.heads, fields, "num_attention_heads", context, by);
  require(heads <= hidden, fields.subject("num_attention_heads"), " must be at most hidden_size (", hidden, "), got ",
          heads);
  return {.hidden = hidden, .heads = heads};
}

LayerEncoding with_notes(LayerEncoding layer, Notes notes) {
  layer.used = std::move(notes.used);
  layer.defaulted = std::move(notes.defaulted);
  layer.unknown = std::move(notes.unknown);
  return layer;
}

LayerEncoding finish_layer(LayerEncoding layer, Fields& fields) {
  fields.note_unread(false);
  return with_notes(std::move(layer), fields.notes());
}

}  // namespace locus::io
