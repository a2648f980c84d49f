// SPDX-License-Identifier: Apache-2.0
// Makes the encoding that a model's file describes, ready for use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/io/hf_config.h"
#include "locus/settings.h"

namespace locus::io {

/// What the caller states instead of the file.
struct ModelOptions {
  std::string layer_type = {};              ///< one layer type; empty: all
  std::string pairing = {};                 ///< config.json: instead of what the model type implies
  std::string profile = {};                 ///< the engine whose float32 arithmetic to reproduce; empty: exact
  std::optional<std::int64_t> length = {};  ///< of the sequence, for rules that depend on it
  std::vector<Setting> overrides = {};      ///< parameters that replace those of the file
  /// Accepts layers of models that do something else that Locus does not apply, for display. false: they are an
  /// error, since the numbers would not be the model's.
  bool incomplete = false;
  std::function<void(LayerEncoding&)> adjust = {};  ///< changes what was read, before the encoding is made
};

struct ModelEncoding {
  LayerEncoding read;  ///< what the file stated, what was defaulted and what was not understood
  Encoding encoding;
};

/// Returns one encoding per layer type of a config.json, a model folder or a GGUF file (read as llama.cpp would).
/// Error: a file that cannot be read or resolved, an unknown layer type, invalid arguments.
std::vector<ModelEncoding> model_encodings(const std::filesystem::path& path, const ModelOptions& options = {});
/// Returns the parts of a composite config.json other than its language model, with their encodings; empty for GGUF
/// files.
std::vector<HfPart> model_parts(const std::filesystem::path& path);
/// Returns the only encoding of a model.
/// Error: as model_encodings(), and several layer types; the message names them.
ModelEncoding model_encoding(const std::filesystem::path& path, const ModelOptions& options = {});

}  // namespace locus::io
