// SPDX-License-Identifier: Apache-2.0
#include "probe/weights/weights.h"

#include <cstring>

#include "locus/error.h"
#include "locus/io/gguf_blocks.h"
#include "probe/memory.h"

namespace locus::probe {
namespace {

std::string shown(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return text + "]";
}

const io::GgufBlock& block_of(const StoredTensor& tensor, const std::string& file) {
  const io::GgufBlock* const block = io::find_gguf_block(tensor.type);
  require(block != nullptr && block->decode != nullptr, file, ": tensor ", tensor.name,
          " must be F32, F16, BF16, Q8_0, Q4_0, Q4_K or Q6_K, got ", io::name_of(tensor.type));
  return *block;
}

void check_shape(const StoredTensor& tensor, std::span<const std::int64_t> shape, const std::string& file) {
  require(
      std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end()), file, ": tensor ", tensor.name,
      " must have the shape ", [&] { return shown(shape); }, ", got ", [&] { return shown(tensor.shape); });
}

}  // namespace

bool is_quantised(WeightType type) {
  return type != WeightType::f32 && type != WeightType::f16 && type != WeightType::bf16;
}

Matrix as_matrix(const StoredTensor& tensor, std::int64_t rows, std::int64_t columns, const std::string& file) {
  const io::GgufBlock& block = block_of(tensor, file);
  const std::int64_t shape[] = {rows, columns};
  check_shape(tensor, shape, file);
  const auto per_block = static_cast<std::int64_t>(block.elements);
  require(columns % per_block == 0, file, ": rows of tensor ", tensor.name, " must be whole ", block.name,
          " blocks of ", per_block, " elements, got ", columns);
  Matrix matrix{.type = tensor.type,
                .rows = rows,
                .columns = columns,
                .row_bytes = columns / per_block * static_cast<std::int64_t>(block.bytes),
                .data = tensor.bytes.data()};
  require(static_cast<std::int64_t>(tensor.bytes.size()) == rows * matrix.row_bytes, file, ": tensor ", tensor.name,
          " must have ", rows * matrix.row_bytes, " bytes, got ", tensor.bytes.size());
  return matrix;
}

Matrix as_transposed_matrix(const StoredTensor& tensor, std::int64_t rows, std::int64_t columns,
                            const std::string& file) {
  const Matrix stored = as_matrix(tensor, columns, rows, file);
  const io::GgufBlock& block = block_of(tensor, file);
  require(block.elements == 1, file, ": tensor ", tensor.name, " is stored transposed and must be F32, F16 or BF16, ",
          "got ", block.name);
  require_memory("transposing tensor " + tensor.name, static_cast<double>(tensor.bytes.size()));
  std::vector<std::byte> turned(tensor.bytes.size());
  const std::size_t size = block.bytes;
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::memcpy(turned.data() + static_cast<std::size_t>(r * columns + c) * size,
                  stored.row(c) + static_cast<std::size_t>(r) * size, size);
    }
  }
  Matrix matrix{.type = tensor.type,
                .rows = rows,
                .columns = columns,
                .row_bytes = columns * static_cast<std::int64_t>(size),
                .owned = std::make_shared<const std::vector<std::byte>>(std::move(turned))};
  matrix.data = matrix.owned->data();
  return matrix;
}

Tensor as_tensor(const StoredTensor& tensor, std::span<const std::int64_t> shape, const std::string& file) {
  block_of(tensor, file);
  check_shape(tensor, shape, file);
  return {tensor.shape, io::to_floats(io::GgufTensor{tensor.name, tensor.type, tensor.shape, tensor.bytes}, file)};
}

std::vector<float> as_vector(const StoredTensor& tensor, std::int64_t length, const std::string& file) {
  const std::int64_t shape[] = {length};
  return as_tensor(tensor, shape, file).data;
}

}  // namespace locus::probe
