// SPDX-License-Identifier: Apache-2.0
// The source of a model: its settings, its encoding and its tensors by name, for every format.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "locus/io/hf_config.h"
#include "probe/model.h"
#include "probe/ops.h"
#include "probe/weights/weights.h"

namespace locus::probe {

struct Source {
  std::string file;  ///< starts every message
  ModelConfig config;
  bool parallel_residual = true;  ///< GPT-NeoX: attention and feed-forward read the same rows
  std::string activation;         ///< as named in the file; empty if the format has only one
  io::LayerEncoding encoding;     ///< of all layers, without learned weights
  std::vector<std::string> notes;
  std::function<std::optional<StoredTensor>(const std::string& name)> find;
  std::vector<std::string> names;     ///< of all tensors
  std::shared_ptr<const void> keeps;  ///< the open file that tensors point into
};

/// Error: an unknown architecture; the message names the known ones.
void require_served(const Source& source);
/// Adds to the notes what the encoding's reader defaulted or did not understand.
void note_reading(Source& source);

Source open_llama2c(const std::filesystem::path& path);
Source open_gguf(const std::filesystem::path& path);
Source open_hf_folder(const std::filesystem::path& folder);

/// The name of a tensor in a Hugging Face model and in GGUF, without prefix and ".weight".
struct Name {
  std::string hf;
  std::string gguf;
};

enum class Bias : std::uint8_t { where_present, required };

/// Reads the tensors of a model, or of one layer of it, under the names of the source's format.
class WeightReader {
 public:
  /// `hf_base`: the prefix of every name in a Hugging Face model; some files omit it.
  WeightReader(const Source& source, std::string hf_base, const Name& always_there);
  /// The same for layer `index`: `hf_layers` is `layers` or `h`.
  WeightReader layer(std::int64_t index, const std::string& hf_layers) const;

  bool has(const Name& name) const;
  Matrix matrix(const Name& name, std::int64_t rows, std::int64_t columns) const;
  Linear linear(const Name& name, std::int64_t rows, std::int64_t columns, Bias bias) const;
  /// Reads a Conv1D of transformers: stored transposed there, but not in GGUF.
  Linear conv1d(const Name& name, std::int64_t rows, std::int64_t columns) const;
  std::vector<float> vector(const Name& name, std::int64_t width) const;
  LayerNorm layer_norm(const Name& name, std::int64_t width) const;

  /// Reads the output projection: the embedding, or a separate matrix, named without the base.
  Linear head(const Name& name, const Matrix& embedding) const;

 private:
  std::string full(const Name& name, const char* suffix) const;
  StoredTensor tensor(const std::string& name) const;
  std::vector<float> bias(const Name& name, std::int64_t width, Bias bias) const;

  const Source& source_;
  std::string prefix_;
};

}  // namespace locus::probe
