// SPDX-License-Identifier: Apache-2.0
// Compiles products with stored weights for every SIMD target and picks the best at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "probe/product_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "kernels/widen-inl.h"
#include "probe/blocks-inl.h"
#include "probe/product_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

using probe::Matrix;
using probe::WeightType;

// Four sums, for one addition must not wait for the last.
struct Sums {
  hn::Vec<Lanes> sum[4];

  explicit Sums(Lanes d) : sum{hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)} {}
  HWY_INLINE void add(std::size_t which, hn::Vec<Lanes> a, hn::Vec<Lanes> b) {
    sum[which % 4] = hn::MulAdd(a, b, sum[which % 4]);
  }
  HWY_INLINE float total(Lanes d) const {
    const auto all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
    return hn::GetLane(hn::SumOfLanes(d, all));
  }
};

template <class T>
float dot_plain(const T* row, const float* x, std::size_t columns) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  Sums sums(d);
  std::size_t k = 0;
  for (; k + 4 * lanes <= columns; k += 4 * lanes) {
    sums.add(0, load(d, row + k), hn::LoadU(d, x + k));
    sums.add(1, load(d, row + k + lanes), hn::LoadU(d, x + k + lanes));
    sums.add(2, load(d, row + k + 2 * lanes), hn::LoadU(d, x + k + 2 * lanes));
    sums.add(3, load(d, row + k + 3 * lanes), hn::LoadU(d, x + k + 3 * lanes));
  }
  for (; k + lanes <= columns; k += lanes) sums.add(0, load(d, row + k), hn::LoadU(d, x + k));
  float total = sums.total(d);
  const hn::CappedTag<float, 1> one;
  for (; k < columns; ++k) total += hn::GetLane(load(one, row + k)) * x[k];
  return total;
}

template <class Block>
float dot_blocks(const std::uint8_t* row, const float* x, std::size_t columns) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  Sums sums(d);
  for (std::size_t k = 0; k < columns; k += Block::elements, row += Block::bytes) {
    const float* const here = x + k;
    Block::decode(d, row, [&](std::size_t offset, hn::Vec<Lanes> weights) HWY_ATTR {
      sums.add(offset / lanes, weights, hn::LoadU(d, here + offset));
    });
  }
  return sums.total(d);
}

template <class T>
void decode_plain(const T* row, std::size_t columns, float* out) {
  const Lanes d;
  const hn::CappedTag<float, 1> one;
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= columns; k += hn::Lanes(d)) hn::StoreU(load(d, row + k), d, out + k);
  for (; k < columns; ++k) out[k] = hn::GetLane(load(one, row + k));
}

template <class Block>
void decode_blocks(const std::uint8_t* row, std::size_t columns, float* out) {
  const Lanes d;
  for (std::size_t k = 0; k < columns; k += Block::elements, row += Block::bytes) {
    float* const here = out + k;
    Block::decode(d, row,
                  [&](std::size_t offset, hn::Vec<Lanes> weights) HWY_ATTR { hn::StoreU(weights, d, here + offset); });
  }
}

// The one place that knows which type is which: calls use(row_pointer, Block or element).
template <class T>
struct Plain {};
template <class Use>
void with_type(WeightType type, const Use& use) {
  switch (type) {
    case WeightType::f32:
      return use(Plain<float>());
    case WeightType::f16:
      return use(Plain<Float16>());
    case WeightType::bf16:
      return use(Plain<BFloat16>());
    case WeightType::q8_0:
      return use(BlockQ8_0());
    case WeightType::q4_0:
      return use(BlockQ4_0());
    case WeightType::q4_k:
      return use(BlockQ4_K());
    case WeightType::q6_k:
      return use(BlockQ6_K());
  }
}

template <class T>
float dot(Plain<T>, const std::byte* row, const float* x, std::size_t columns) {
  return dot_plain(reinterpret_cast<const T*>(row), x, columns);
}
template <class Block>
float dot(Block, const std::byte* row, const float* x, std::size_t columns) {
  return dot_blocks<Block>(reinterpret_cast<const std::uint8_t*>(row), x, columns);
}
template <class T>
void decode(Plain<T>, const std::byte* row, std::size_t columns, float* out) {
  decode_plain(reinterpret_cast<const T*>(row), columns, out);
}
template <class Block>
void decode(Block, const std::byte* row, std::size_t columns, float* out) {
  decode_blocks<Block>(reinterpret_cast<const std::uint8_t*>(row), columns, out);
}

}  // namespace

void dot_rows_here(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, float* out) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  with_type(matrix.type, [&](auto type) {
    for (std::int64_t r = begin; r < end; ++r) out[r - begin] = dot(type, matrix.row(r), x, columns);
  });
}

void decode_rows_here(const Matrix& matrix, std::int64_t begin, std::int64_t end, float* out) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  with_type(matrix.type, [&](auto type) {
    for (std::int64_t r = begin; r < end; ++r) decode(type, matrix.row(r), columns, out + (r - begin) * matrix.columns);
  });
}

void multiply_rows_here(const float* rows, std::int64_t row_count, std::int64_t columns, const float* x,
                        std::int64_t tokens, float* out, std::int64_t out_stride) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t r = 0; r < row_count; ++r) {
      out[t * out_stride + r] = dot_plain(rows + r * columns, x + t * columns, static_cast<std::size_t>(columns));
    }
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {
HWY_EXPORT(dot_rows_here);
HWY_EXPORT(decode_rows_here);
HWY_EXPORT(multiply_rows_here);

namespace probe {

void dot_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(dot_rows_here)(matrix, begin, end, x, out);
}
void decode_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_rows_here)(matrix, begin, end, out);
}
void multiply_rows(const float* rows, std::int64_t row_count, std::int64_t columns, const float* x, std::int64_t tokens,
                   float* out, std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(multiply_rows_here)(rows, row_count, columns, x, tokens, out, out_stride);
}

}  // namespace probe
}  // namespace locus
#endif
