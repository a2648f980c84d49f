// SPDX-License-Identifier: Apache-2.0
// The encoding that a model's file describes, bound and ready for use.
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

/// What the caller knows better than the file.
struct ModelOptions {
  std::string layer_type = {};              ///< one kind of layer; empty: all there are
  std::string pairing = {};                 ///< config.json: in place of what the model type implies
  std::string profile = {};                 ///< whose float32 arithmetic to reproduce; empty: exact
  std::optional<std::int64_t> length = {};  ///< of the sequence, for rules that depend on it
  std::vector<Setting> overrides = {};      ///< parameters in place of those that the file gives
  /// Also layers of models that do something beside the encoding which Locus does not apply, for those who show them;
  /// false: they are an error, for the numbers would not be the model's.
  bool incomplete = false;
  std::function<void(LayerEncoding&)> adjust = {};  ///< changes what was read, before the encoding is made of it
};

struct ModelEncoding {
  LayerEncoding read;  ///< what the file said, what was defaulted and what was not understood
  Encoding encoding;
};

/// One per kind of layer of a config.json, of the one in a model folder, or of a GGUF file (read as llama.cpp reads it).
std::vector<ModelEncoding> model_encodings(const std::filesystem::path& path, const ModelOptions& options = {});
/// The parts of a composite config.json beside its language model, each with its own encodings; empty for GGUF files.
std::vector<HfPart> model_parts(const std::filesystem::path& path);
/// The same where exactly one is needed; Error naming the kinds of layers otherwise.
ModelEncoding model_encoding(const std::filesystem::path& path, const ModelOptions& options = {});

}  // namespace locus::io
