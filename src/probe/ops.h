// SPDX-License-Identifier: Apache-2.0
// The basic operations of transformers, on rows of float32: one row per token.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "locus/executor.h"
#include "locus/rotate.h"
#include "probe/weights/weights.h"

namespace locus::probe {

struct Rows {
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::vector<float> data;

  Rows() = default;
  Rows(std::int64_t rows, std::int64_t columns)
      : count(rows), width(columns), data(static_cast<std::size_t>(rows * columns)) {}
  float* row(std::int64_t index) { return data.data() + index * width; }
  const float* row(std::int64_t index) const { return data.data() + index * width; }
};

/// Products use tiles of this many weight rows, so that the bits do not depend on the number of threads.
inline constexpr std::int64_t tile_rows = 64;

/// Computes W x + b for every row, in float32. One row reads the weights at memory speed; several rows use sgemm. The
/// result does not depend on the number of threads.
Rows product(const Rows& x, const Linear& linear, Executor* executor);
/// Multiplies several matrices by the same rows in one call.
std::vector<Rows> products(const Rows& x, std::initializer_list<const Linear*> linears, Executor* executor);

/// x / sqrt(mean(x^2) + epsilon) * weight, sums in double, over each `weight.size()` columns: a row, or each head.
Rows rms_norm(const Rows& x, std::span<const float> weight, double epsilon);

struct LayerNorm {
  std::vector<float> weight;
  std::vector<float> bias;
};
/// (x - mean) / sqrt(variance + epsilon) * weight + bias, sums in double.
Rows layer_norm(const Rows& x, const LayerNorm& norm, double epsilon);

void add_to(Rows& x, const Rows& y);
/// gate = silu(gate) * up: the gated unit of Llama. The last few elements are computed separately, so the bits of an
/// element may depend on their number, by an ulp or two of its exponential.
void gate_by_silu(Rows& gate, const Rows& up, Executor* executor);
void gelu(Rows& x);          ///< x/2 (1 + erf(x / sqrt 2))
void gelu_by_tanh(Rows& x);  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))

/// `heads` heads of a block of rows: head h of a token starts at column `offset + h * stride`.
HeadsView heads_of(Rows& rows, std::int64_t heads, std::int64_t head_dim, std::int64_t offset = 0,
                   std::int64_t stride = 0);

}  // namespace locus::probe
