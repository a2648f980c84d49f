// SPDX-License-Identifier: Apache-2.0
// One row: every weight is used once, so reading the weights takes all the time; each thread processes a share of the
// rows of all matrices. Several rows: tiles of weights are decoded and multiplied by sgemm.
#include <algorithm>
#include <atomic>

#include "probe/ops.h"
#include "probe/weights/product_simd.h"
#ifdef LOCUS_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace locus::probe {
namespace {

// A smaller piece does not justify waking a thread.
constexpr std::int64_t small_piece = 1 << 16;

void add_bias(const Linear& linear, std::int64_t begin, std::int64_t end, Rows& out) {
  if (linear.bias.empty()) return;
  for (std::int64_t t = 0; t < out.count; ++t) {
    for (std::int64_t r = begin; r < end; ++r) out.row(t)[r] += linear.bias[static_cast<std::size_t>(r)];
  }
}

#ifdef LOCUS_HAS_OPENBLAS
void multiply_tile(const float* rows, std::int64_t count, std::int64_t columns, const Rows& x, float* out,
                   std::int64_t stride) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(x.count), static_cast<blasint>(count),
              static_cast<blasint>(columns), 1.0f, x.data.data(), static_cast<blasint>(columns), rows,
              static_cast<blasint>(columns), 0.0f, out, static_cast<blasint>(stride));
}
void use_own_threads_only() {
  static const bool once = (openblas_set_num_threads(1), true);
  static_cast<void>(once);
}
#else
void multiply_tile(const float* rows, std::int64_t count, std::int64_t columns, const Rows& x, float* out,
                   std::int64_t stride) {
  multiply_rows(rows, count, columns, x.data.data(), x.count, out, stride);
}
void use_own_threads_only() {}
#endif

void multiply_rows_of(const Linear& linear, std::int64_t begin, std::int64_t end, const Rows& x,
                      const IntegerRow& integers, Rows& out) {
  const Matrix& w = linear.weight;
  if (x.count == 1) {
    dot_rows(w, begin, end, x.data.data(), integers, out.row(0) + begin);
  } else if (w.type == WeightType::f32 && reinterpret_cast<std::uintptr_t>(w.data) % alignof(float) == 0) {
    multiply_tile(reinterpret_cast<const float*>(w.row(begin)), end - begin, w.columns, x, out.data.data() + begin,
                  out.width);
  } else {
    std::vector<float> decoded(static_cast<std::size_t>((end - begin) * w.columns));
    decode_rows(w, begin, end, decoded.data());
    multiply_tile(decoded.data(), end - begin, w.columns, x, out.data.data() + begin, out.width);
  }
  add_bias(linear, begin, end, out);
}

struct Piece {
  std::size_t matrix;
  std::int64_t begin, end;
};

// Runs do_piece(0) .. do_piece(count - 1). Each thread gets neighbouring pieces, so that memory is prefetched; a
// thread that finishes early helps the others.
template <class DoPiece>
void run_in_ranges(Executor& executor, std::int64_t count, const DoPiece& do_piece) {
  const std::int64_t ranges = std::clamp<std::int64_t>(executor.concurrency(), 1, count);
  std::vector<std::atomic<std::int64_t>> next(static_cast<std::size_t>(ranges));
  for (std::int64_t s = 0; s < ranges; ++s) next[static_cast<std::size_t>(s)] = count * s / ranges;
  executor.run(ranges, [&](std::int64_t first) {
    for (std::int64_t i = 0; i < ranges; ++i) {
      const std::int64_t s = (first + i) % ranges, end = count * (s + 1) / ranges;
      for (std::int64_t piece; (piece = next[static_cast<std::size_t>(s)]++) < end;) do_piece(piece);
    }
  });
}

}  // namespace

std::vector<Rows> products(const Rows& x, std::initializer_list<const Linear*> linears, Executor* executor) {
  use_own_threads_only();
  const std::vector<const Linear*> all(linears);
  std::vector<Rows> out;
  std::vector<Piece> pieces;
  std::int64_t work = 0;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const Matrix& w = all[m]->weight;
    out.emplace_back(x.count, w.rows);
    work += w.rows * w.columns * x.count;
    for (std::int64_t begin = 0; begin < w.rows; begin += tile_rows) {
      pieces.push_back({m, begin, std::min(begin + tile_rows, w.rows)});
    }
  }
  const bool quantised = std::any_of(all.begin(), all.end(), [](auto* l) { return is_quantised(l->weight.type); });
  const IntegerRow integers = x.count == 1 && quantised ? IntegerRow(x.data) : IntegerRow();
  const auto multiply = [&](std::int64_t index) {
    const Piece& piece = pieces[static_cast<std::size_t>(index)];
    multiply_rows_of(*all[piece.matrix], piece.begin, piece.end, x, integers, out[piece.matrix]);
  };
  if (executor != nullptr && work >= small_piece) {
    run_in_ranges(*executor, std::ssize(pieces), multiply);
  } else {
    for (std::int64_t i = 0; i < std::ssize(pieces); ++i) multiply(i);
  }
  return out;
}

Rows product(const Rows& x, const Linear& linear, Executor* executor) {
  return std::move(products(x, {&linear}, executor).front());
}

}  // namespace locus::probe
