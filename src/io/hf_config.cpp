// SPDX-License-Identifier: Apache-2.0
// The config.json resolver: finds the models in the file, their families, and the requested layers.
#include "locus/io/hf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "io/hf_parts.h"
#include "io/hf_resolve.h"
#include "locus/io/encoding_json.h"
#include "locus/names.h"

namespace locus::io {
namespace {

const HfModel unlisted_model = {};

void check_options(const HfOptions& options) {
  if (options.pairing) {
    require(options.pairing == "half" || options.pairing == "interleaved", "pairing must be half or interleaved, got ",
            *options.pairing);
  }
  if (options.length) require(*options.length >= 1, "length must be at least 1, got ", *options.length);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// True if the file has a RoPE key. `null` counts: only rotary models write `rope_scaling: null`.
bool has_rope_key(const Fields& fields) {
  for (const auto& [key, value] : fields.json().items()) {
    const std::string word = lower(key);
    if (word.find("rope") != std::string::npos || word.find("rotary") != std::string::npos) return true;
  }
  return false;
}

/// The encoding that the file states, instead of the one that the model type implies.
struct StatedKind {
  HfFamily family;
  bool alibi = false, distances = false, meets_key = false;
};

StatedKind stated_kind(Fields& fields, const HfContext& context) {
  StatedKind kind{context.model.family};
  const auto stated = fields.text({"position_embedding_type", "position_embedding"});
  if (!stated) {
    // GraniteMoeHybrid rotates only if the file says so.
    if (context.model.name == "granitemoehybrid") {
      fields.note_default("position_embedding_type", "none", why_default(context));
      kind.family = HfFamily::nope;
    }
    return kind;
  }
  const std::string word = lower(*stated);
  const bool decided = kind.family == HfFamily::by_key || kind.family == HfFamily::unsupported;
  if (decided) return kind;
  if (word == "alibi") {
    kind.alibi = true;
  } else if (word == "rotary" || word.starts_with("rope")) {
    kind.family = HfFamily::rope;
  } else if (word == "nope" || word == "none") {
    kind.family = HfFamily::nope;
  } else if (word == "absolute" || word == "learned") {
    if (!context.listed) kind.family = HfFamily::learned;
  } else if (kind.family == HfFamily::learned && (word == "relative_key" || word == "relative_key_query")) {
    kind.distances = true;
    kind.meets_key = word == "relative_key_query";
  } else {
    require(
        kind.family != HfFamily::learned, fields.subject("position_embedding_type"),
        " must be one of absolute, alibi, learned, none, nope, relative_key, relative_key_query, rope, rotary, got \"",
        stated->substr(0, 80), "\"");
    fields.note_ignored("position_embedding_type", "its value is not understood");
  }
  return kind;
}

/// RoPE is inferred from a known family or from a rope key in the file, never from their absence.
void require_rope_evidence(const Fields& fields, const HfContext& context) {
  if (context.listed || has_rope_key(fields)) return;
  const std::string type =
      context.model_type.empty() ? "no model_type is given" : "model_type '" + context.model_type + "' is unknown";
  fail(fields.file(), ": ", fields.path().empty() ? "" : fields.path() + " ", type,
       ", and no key mentions RoPE, ALiBi or a table of positions: its encoding cannot be inferred");
}

std::vector<LayerEncoding> resolve_kind(Fields& fields, const HfContext& context) {
  StatedKind kind = stated_kind(fields, context);
  const bool alibi_by_flag = !context.listed && fields.boolean({"alibi"}).value_or(false);
  if (kind.alibi || alibi_by_flag) {
    return {resolve_alibi(fields, context, context.model.name == "bert" ? "symmetric" : "causal")};
  }
  if (kind.distances) return {resolve_distances(fields, context, kind.meets_key)};
  if (kind.family == HfFamily::falcon) {
    if (fields.boolean({"alibi"}).value_or(false)) return {resolve_alibi(fields, context, "falcon")};
    kind.family = HfFamily::rope;
  }
  if (kind.family == HfFamily::baichuan) {
    // The files of both sizes are alike; their code is not. The 7B model has width 4096.
    const bool rotates = read_hidden_size(fields) == 4096;
    fields.note_default("position_embedding", rotates ? "ROPE" : "ALIBI", "Baichuan, by its hidden_size");
    if (!rotates) return {resolve_alibi(fields, context, "causal")};
    kind.family = HfFamily::rope;
  }
  if (context.model.name == "zamba2" && !fields.boolean({"use_mem_rope"}).value_or(false)) kind.family = HfFamily::nope;
  if (kind.family == HfFamily::rope) {
    require_rope_evidence(fields, context);
    return resolve_rope(fields, context);
  }
  return resolve_other(fields, context, kind.family);
}

/// Adds what every layer of the family does in addition to its encoding.
void add_what_else(std::vector<LayerEncoding>& layers, Fields& fields, const HfContext& context) {
  const HfFamily family = context.model.family;
  const bool refuses =
      family == HfFamily::unsupported || family == HfFamily::no_attention || family == HfFamily::by_key;
  if (context.model.what.empty() || refuses) return;
  const std::string sentence =
      "this model also " + described(fields, context.model.what) + "; Locus does not apply that yet";
  for (LayerEncoding& layer : layers) layer.not_applied.push_back(sentence);
}

/// A model saved by Locus's lab states its encoding.
LayerEncoding resolve_locus_lab(Fields& fields) {
  const Json* const own = fields.peek("locus_encoding");
  require(own != nullptr && own->is_object(), fields.subject("locus_encoding"),
          " must be there and be an object, since model_type is locus_lab");
  LayerEncoding layer = parse_encoding_json(own->dump(), fields.subject("locus_encoding")());
  layer.used = {fields.path_of("locus_encoding")};
  layer.unknown = fields.notes().unknown;
  layer.trained_length = read_max_length(fields);
  return layer;
}

std::vector<LayerEncoding> resolve_place(const ModelPlace& place, const std::string& file, const Notes& passed,
                                         const HfOptions& options, const std::vector<std::string>& rope_order) {
  Notes notes = passed;
  Fields fields(*place.object, place.path, file, notes);
  if (place.model_type == "locus_lab") return {resolve_locus_lab(fields)};
  const HfModel* model = find_hf_model(place.model_type);
  const HfContext context{model ? *model : unlisted_model, model != nullptr, place.model_type, options, rope_order};
  fields.text({"model_type"});
  std::vector<LayerEncoding> layers = resolve_kind(fields, context);
  add_what_else(layers, fields, context);
  if (!place.role.empty()) {
    for (LayerEncoding& layer : layers) {
      layer.layer_type = layer.layer_type.empty() ? place.role : place.role + "/" + layer.layer_type;
    }
  }
  return layers;
}

/// True if the file's layer_types has `layer_type`, although all of its layers are alike.
bool names_layer_type(const Json& object, const std::string& layer_type) {
  const auto types = object.find("layer_types");
  return types != object.end() && types->is_array() &&
         std::any_of(types->begin(), types->end(), [&](const Json& type) { return type == layer_type; });
}

void keep_layer_type(std::vector<LayerEncoding>& layers, const std::string& wanted, const Json& object,
                     const std::string& file) {
  std::vector<std::string> known;
  for (const LayerEncoding& layer : layers) {
    if (!layer.layer_type.empty()) known.push_back(layer.layer_type);
  }
  if (known.empty() && names_layer_type(object, wanted)) return;
  require(!known.empty(), file, ": layer_type must be empty, because all layers are alike; got ", wanted);
  std::erase_if(layers, [&](const LayerEncoding& layer) { return layer.layer_type != wanted; });
  if (layers.empty()) fail(file, ": ", unknown_name("layer type", wanted, {known.begin(), known.end()}));
}

HfPart resolve_part(const ModelPlace& place, const std::string& file, const std::vector<std::string>& rope_order) {
  HfPart part{
      .path = place.path.substr(0, place.path.size() - 1), .model_type = place.model_type, .layers = {}, .refusal = {}};
  try {
    // A part may have parts: its own language model counts, or else the part itself.
    Notes notes;
    ModelPlaces inner = find_models(*place.object, file, notes);
    ModelPlace& main = inner.main.front();
    if (main.object == place.object) main.model_type = place.model_type;
    main.path = place.path + main.path;
    part.layers = resolve_place(main, file, notes, {}, rope_order);
  } catch (const Error& error) {
    part.refusal = error.what();
  }
  return part;
}

}  // namespace

Fields find_text_model(const Json& root, const std::string& file, Notes& notes) {
  const ModelPlaces places = find_models(root, file, notes);
  return Fields(*places.main.front().object, places.main.front().path, file, notes);
}

HfConfig resolve_hf_config(std::string_view json_text, const std::string& name, const HfOptions& options) {
  check_options(options);
  const JsonDocument document = parse_json_document(json_text, name);
  Notes passed;
  for (const std::string& path : document.repeated) {
    passed.add_unknown("ignored: " + path.substr(0, 100) + " (given more than once; the last one is read)");
  }
  const ModelPlaces places = find_models(document.root, name, passed);

  HfConfig config;
  config.model_type = places.main.back().model_type;
  for (const ModelPlace& place : places.main) {
    for (LayerEncoding& layer : resolve_place(place, name, passed, options, document.rope_order)) {
      config.layers.push_back(std::move(layer));
    }
  }
  if (options.layer_type) keep_layer_type(config.layers, *options.layer_type, *places.main.back().object, name);
  for (const ModelPlace& place : places.parts) config.parts.push_back(resolve_part(place, name, document.rope_order));
  for (const Json* object : {places.main.back().object, &document.root}) {
    Notes unused;
    Fields reader(*object, "", name, unused);
    if (!config.dtype) config.dtype = reader.text({"dtype", "torch_dtype"});
  }
  return config;
}

void require_applicable(const LayerEncoding& layer, const std::string& name) {
  if (layer.not_applied.empty()) return;
  const std::string kind = layer.layer_type.empty() ? "" : layer.layer_type + ": ";
  throw UnsupportedModel(name + ": " + kind + layer.not_applied.front(), true);
}

std::string read_hf_config_text(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  require(!error, name, " cannot be read: ", error.message());
  require(size <= most_config_bytes, name, " must be at most ", most_config_bytes >> 20, " MB, got ", size, " bytes");
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), name, " cannot be opened");
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  require(file.gcount() == static_cast<std::streamsize>(size), name, " cannot be read to its end");
  return text;
}

HfConfig read_hf_config(const std::filesystem::path& path, const HfOptions& options) {
  return resolve_hf_config(read_hf_config_text(path), path.string(), options);
}

}  // namespace locus::io
