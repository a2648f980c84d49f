// SPDX-License-Identifier: Apache-2.0
// The config.json resolver: finds the text model in the file, its family, and the layers that were asked for.
#include "locus/io/hf_config.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "io/hf_resolve.h"
#include "locus/io/encoding_json.h"

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

std::optional<std::string> text_here_or_at_root(Fields& fields, const Json& root, Fields::Keys keys) {
  if (auto text = fields.text(keys)) return text;
  Fields top(root, "", fields.file(), fields.notes());
  return top.text(keys);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// What the file itself says about the kind of encoding, in place of what the model type implies.
struct StatedKind {
  HfFamily family;
  bool alibi = false;
};

StatedKind stated_kind(Fields& fields, const HfContext& context) {
  StatedKind kind{context.model.family};
  const auto stated = fields.text({"position_embedding_type", "position_embedding"});
  if (!stated) {
    // GraniteMoeHybrid rotates only when told to.
    if (context.model.name == "granitemoehybrid") {
      fields.note_default("position_embedding_type", "none", "transformers' default for granitemoehybrid");
      kind.family = HfFamily::nope;
    }
    return kind;
  }
  const std::string word = lower(*stated);
  if (word == "alibi") {
    kind.alibi = true;
  } else if (word == "rotary" || word.starts_with("rope")) {
    kind.family = HfFamily::rope;
  } else if (word == "nope" || word == "none") {
    kind.family = HfFamily::nope;
  } else if (word == "absolute" || word == "learned") {
    if (!context.listed) kind.family = HfFamily::learned;
  } else {
    require(kind.family != HfFamily::learned, fields.subject("position_embedding_type"),
            " must be one of absolute, alibi, learned, none, nope, rope, rotary, got \"", stated->substr(0, 80), "\"");
    fields.note_ignored("position_embedding_type", "its value is not understood");
  }
  return kind;
}

std::vector<LayerEncoding> resolve_layers(Fields& fields, const HfContext& context) {
  StatedKind kind = stated_kind(fields, context);
  if (kind.alibi) return {resolve_alibi(fields, context.model.name == "bert" ? "symmetric" : "causal")};
  if (kind.family == HfFamily::falcon) {
    if (fields.boolean({"alibi"}).value_or(false)) return {resolve_alibi(fields, "falcon")};
    kind.family = HfFamily::rope;
  }
  if (kind.family == HfFamily::baichuan) {
    // The files of both sizes are alike; their code is not. The 7B model is the one of width 4096.
    const bool rotates = read_hidden_size(fields) == 4096;
    fields.note_default("position_embedding", rotates ? "ROPE" : "ALIBI", "Baichuan, by its hidden_size");
    if (!rotates) return {resolve_alibi(fields, "causal")};
    kind.family = HfFamily::rope;
  }
  if (kind.family == HfFamily::rope) return resolve_rope(fields, context);
  return resolve_other(fields, context, kind.family);
}

/// A model that Locus's lab saved says it outright.
LayerEncoding resolve_locus_lab(Fields& fields) {
  const Json* const own = fields.peek("locus_encoding");
  require(own != nullptr && own->is_object(), fields.subject("locus_encoding"),
          " must be there and be an object, for model_type is locus_lab");
  LayerEncoding layer = parse_encoding_json(own->dump(), fields.subject("locus_encoding"));
  layer.used = {fields.path_of("locus_encoding")};
  layer.unknown = fields.notes().unknown;
  layer.training_length = read_max_length(fields);
  return layer;
}

/// Is `layer_type` named in the file's layer_types, although all of its layers are alike?
bool names_layer_type(const Fields& fields, const std::string& layer_type) {
  Notes unused;
  Fields reader(fields, unused);
  const auto types = reader.text_list({"layer_types"});
  return types && std::find(types->begin(), types->end(), layer_type) != types->end();
}

void keep_layer_type(std::vector<LayerEncoding>& layers, const std::string& wanted, const Fields& fields) {
  std::string known;
  for (const LayerEncoding& layer : layers) {
    if (!layer.layer_type.empty()) known += (known.empty() ? "" : ", ") + layer.layer_type;
  }
  if (known.empty() && names_layer_type(fields, wanted)) return;
  require(!known.empty(), fields.file(), ": layer_type cannot be chosen, all layers are alike; got ", wanted);
  std::erase_if(layers, [&](const LayerEncoding& layer) { return layer.layer_type != wanted; });
  require(!layers.empty(), fields.file(), ": layer_type must be one of ", known, ", got ", wanted);
}

}  // namespace

Fields find_text_model(const Json& root, const std::string& file, Notes& notes) {
  const Json* object = &root;
  std::string path;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const std::string_view key : hf_nesting_keys) {
      Fields fields(*object, path, file, notes);
      const Json* nested = fields.object({key});
      if (!nested) continue;
      for (const auto& [name, value] : object->items()) {
        if (is_about_position(name) && !value.is_null()) {
          fields.note_ignored(name, fields.path_of(key) + " is read instead");
        }
      }
      path = fields.path_of(key) + ".";
      object = nested;
      deeper = true;
      break;
    }
  }
  return Fields(*object, path, file, notes);
}

HfConfig resolve_hf_config(std::string_view json_text, const std::string& name, const HfOptions& options) {
  check_options(options);
  const JsonDocument document = parse_json_document(json_text, name);
  Notes notes;
  for (const std::string& path : document.repeated) {
    notes.add_unknown("ignored: " + path.substr(0, 100) + " (given more than once; the last one is read)");
  }
  Fields fields = find_text_model(document.root, name, notes);

  HfConfig config;
  config.model_type = text_here_or_at_root(fields, document.root, {"model_type"}).value_or("");
  const HfModel* model = find_hf_model(config.model_type);
  const HfContext context{model ? *model : unlisted_model, model != nullptr, config.model_type, options,
                          document.rope_order};
  config.layers =
      config.model_type == "locus_lab" ? std::vector{resolve_locus_lab(fields)} : resolve_layers(fields, context);
  if (options.layer_type) keep_layer_type(config.layers, *options.layer_type, fields);
  Notes unused;
  Fields reader(fields, unused);
  config.dtype = text_here_or_at_root(reader, document.root, {"dtype", "torch_dtype"});
  return config;
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
