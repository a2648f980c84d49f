// SPDX-License-Identifier: Apache-2.0
#include "locus/error.h"
#include "probe/weights/source.h"

namespace locus::probe {

WeightReader::WeightReader(const Source& source, std::string hf_base, const Name& always_there) : source_(source) {
  if (source.config.format == "gguf") return;
  if (source.find(hf_base + always_there.hf + ".weight")) prefix_ = std::move(hf_base);
}

WeightReader WeightReader::layer(std::int64_t index, const std::string& hf_layers) const {
  WeightReader reader = *this;
  reader.prefix_ += (source_.config.format == "gguf" ? "blk" : hf_layers) + "." + std::to_string(index) + ".";
  return reader;
}

std::string WeightReader::full(const Name& name, const char* suffix) const {
  return prefix_ + (source_.config.format == "gguf" ? name.gguf : name.hf) + suffix;
}

bool WeightReader::has(const Name& name) const { return source_.find(full(name, ".weight")).has_value(); }

StoredTensor WeightReader::tensor(const std::string& name) const {
  std::optional<StoredTensor> found = source_.find(name);
  require(found.has_value(), source_.file, ": tensor ", name, " is missing");
  return std::move(*found);
}

Matrix WeightReader::matrix(const Name& name, std::int64_t rows, std::int64_t columns) const {
  return as_matrix(tensor(full(name, ".weight")), rows, columns, source_.file);
}

std::vector<float> WeightReader::bias(const Name& name, std::int64_t width, Bias bias) const {
  const std::string bias_name = full(name, ".bias");
  if (bias == Bias::where_present && !source_.find(bias_name)) return {};
  return as_vector(tensor(bias_name), width, source_.file);
}

Linear WeightReader::linear(const Name& name, std::int64_t rows, std::int64_t columns, Bias wanted) const {
  return {matrix(name, rows, columns), bias(name, rows, wanted)};
}

Linear WeightReader::conv1d(const Name& name, std::int64_t rows, std::int64_t columns) const {
  const StoredTensor stored = tensor(full(name, ".weight"));
  const bool straight = source_.config.format == "gguf";
  return {straight ? as_matrix(stored, rows, columns, source_.file)
                   : as_transposed_matrix(stored, rows, columns, source_.file),
          bias(name, rows, Bias::required)};
}

std::vector<float> WeightReader::vector(const Name& name, std::int64_t width) const {
  return as_vector(tensor(full(name, ".weight")), width, source_.file);
}

LayerNorm WeightReader::layer_norm(const Name& name, std::int64_t width) const {
  return {vector(name, width), bias(name, width, Bias::required)};
}

Linear WeightReader::head(const Name& name, const Matrix& embedding) const {
  if (source_.config.tied_head) return {embedding, {}};
  WeightReader without_base = *this;
  without_base.prefix_.clear();
  return {without_base.matrix(name, embedding.rows, embedding.columns), {}};
}

}  // namespace locus::probe
