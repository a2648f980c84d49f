// SPDX-License-Identifier: Apache-2.0
// Weights as stored in a file, decoded on use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "locus/io/gguf.h"
#include "locus/value.h"

namespace locus::probe {

/// ggml's names, used for all formats: F32, F16, BF16 and the blocks Q8_0, Q4_0, Q4_K, Q6_K.
using WeightType = io::GgufTensorType;

/// Whether the type is stored as blocks of integers with scales.
bool is_quantised(WeightType type);

/// A tensor of any format, in C order.
struct StoredTensor {
  std::string name;
  WeightType type = WeightType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// y = W x: one row per output. Rows are contiguous, each a whole number of blocks.
struct Matrix {
  WeightType type = WeightType::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_bytes = 0;
  const std::byte* data = nullptr;
  std::shared_ptr<const std::vector<std::byte>> owned = nullptr;  ///< if the order of the file had to be changed

  const std::byte* row(std::int64_t index) const { return data + index * row_bytes; }
};

/// A matrix and, if the model has one, a bias.
struct Linear {
  Matrix weight;
  std::vector<float> bias;
};

/// Returns the tensor as a matrix of `rows` x `columns`.
/// Error: another shape or an unsupported type; `file` starts the message.
Matrix as_matrix(const StoredTensor& tensor, std::int64_t rows, std::int64_t columns, const std::string& file);
/// Returns the transpose of a tensor stored `columns` x `rows`, as a copy: GPT-2 in transformers stores its weights
/// that way.
Matrix as_transposed_matrix(const StoredTensor& tensor, std::int64_t rows, std::int64_t columns,
                            const std::string& file);
/// Returns the numbers of a tensor of any shape.
Tensor as_tensor(const StoredTensor& tensor, std::span<const std::int64_t> shape, const std::string& file);
std::vector<float> as_vector(const StoredTensor& tensor, std::int64_t length, const std::string& file);

}  // namespace locus::probe
