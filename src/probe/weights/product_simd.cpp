// SPDX-License-Identifier: Apache-2.0
// Compiles products with stored weights for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "probe/weights/product_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>

#include "hwy/highway.h"
#include "probe/weights/blocks-inl.h"
#include "probe/weights/product_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

using probe::IntegerRow;
using probe::Matrix;
using probe::WeightType;

// ---- float32, float16, bfloat16

//   for (k < columns) sum += float(row[k]) * x[k];
template <class T>
float dot(const T* row, const float* x, std::size_t columns) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  // Four sums, so that an addition does not wait for the previous one.
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  std::size_t k = 0;
  for (; k + 4 * lanes <= columns; k += 4 * lanes) {
    sum0 = hn::MulAdd(load(d, row + k), hn::LoadU(d, x + k), sum0);
    sum1 = hn::MulAdd(load(d, row + k + lanes), hn::LoadU(d, x + k + lanes), sum1);
    sum2 = hn::MulAdd(load(d, row + k + 2 * lanes), hn::LoadU(d, x + k + 2 * lanes), sum2);
    sum3 = hn::MulAdd(load(d, row + k + 3 * lanes), hn::LoadU(d, x + k + 3 * lanes), sum3);
  }
  for (; k + lanes <= columns; k += lanes) sum0 = hn::MulAdd(load(d, row + k), hn::LoadU(d, x + k), sum0);
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  const hn::CappedTag<float, 1> one;
  for (; k < columns; ++k) total += hn::GetLane(load(one, row + k)) * x[k];
  return total;
}

//   for (k < columns) out[k] = float(row[k]);
template <class T>
void decode(const T* row, std::size_t columns, float* out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= columns; k += hn::Lanes(d)) hn::StoreU(load(d, row + k), d, out + k);
  for (; k < columns; ++k) out[k] = hn::GetLane(load(one, row + k));
}

// ---- quantised

// Sums products of integers within a group exactly, and adds the sums with their factors. Four float sums alternate,
// so that an addition does not wait for the previous one.
template <std::size_t group_size>
class GroupSums {
 public:
  using Wide = hn::Repartition<std::int32_t, Integers>;
  using Real = hn::RebindToFloat<Wide>;

  GroupSums() : first_(hn::Zero(Real())), second_(first_), third_(first_), fourth_(first_) {}

  /// Sets the factors of the next block.
  HWY_INLINE void start(const std::int16_t* x, const float* factors) {
    x_ = x;
    factors_ = factors;
  }
  HWY_INLINE void add(std::size_t run, std::size_t word, hn::Vec<Integers> even, hn::Vec<Integers> odd) {
    const Integers d;
    const std::int16_t* const x = x_ + 32 * run + word;
    auto rest = hn::Zero(Wide());
    auto whole = hn::ReorderWidenMulAccumulate(Wide(), even, hn::LoadU(d, x), hn::Zero(Wide()), rest);
    whole = hn::ReorderWidenMulAccumulate(Wide(), odd, hn::LoadU(d, x + 16), whole, rest);
    const auto sums = hn::MulAdd(hn::ConvertTo(Real(), hn::Add(whole, rest)), factors_of(run, word), first_);
    first_ = second_;
    second_ = third_;
    third_ = fourth_;
    fourth_ = sums;
  }
  HWY_INLINE float total() const {
    return hn::GetLane(hn::SumOfLanes(Real(), hn::Add(hn::Add(first_, second_), hn::Add(third_, fourth_))));
  }

 private:
  HWY_INLINE hn::Vec<Real> factors_of(std::size_t run, std::size_t word) const {
    const Real d;
    if constexpr (group_size == 32) return hn::Set(d, factors_[run]);
#if HWY_TARGET != HWY_SCALAR
    if constexpr (hn::MaxLanes(Integers()) == 16) {  // both groups of the run
      return hn::ConcatUpperLower(d, hn::Set(d, factors_[2 * run + 1]), hn::Set(d, factors_[2 * run]));
    }
#endif
    return hn::Set(d, factors_[2 * run + word / 8]);
  }

  const std::int16_t* x_ = nullptr;
  const float* factors_ = nullptr;
  hn::Vec<Real> first_, second_, third_, fourth_;
};

// A load can broadcast a number to all lanes; g++ would shuffle it out of the register instead.
HWY_INLINE void keep_in_memory(float* values) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm volatile("" : "+r"(values) : : "memory");
#endif
  static_cast<void>(values);
}

/// sum + x . y over one block's groups.
template <std::size_t groups, class D>
HWY_INLINE hn::Vec<D> add_products(D d, const float* x, const float* y, hn::Vec<D> sum) {
  for (std::size_t g = 0; g < groups; g += hn::Lanes(d)) {
    sum = hn::MulAdd(hn::LoadU(d, x + g), hn::LoadU(d, y + g), sum);
  }
  return sum;
}

//   for each group:
//     sum += scale * x_scale * (sum over k of (weight[k] - offset) * x[k], in integers) - minimum * x_sum;
template <class Block>
float dot_blocks(const std::uint8_t* row, const IntegerRow& x, std::size_t columns) {
  constexpr std::size_t groups = Block::elements / Block::group_size;
  const IntegerRow::Groups& x_groups = Block::group_size == 32 ? x.by_32 : x.by_16;
  const hn::CappedTag<float, std::min<std::size_t>(groups, 8)> d;
  GroupSums<Block::group_size> sums;
  auto offsets = hn::Zero(d), minima = hn::Zero(d);
  for (std::size_t k = 0; k < columns; k += Block::elements, row += Block::bytes) {
    float scale[groups], minimum[groups];
    const std::size_t g = k / Block::group_size;
    Block::factors(row, x_groups.scales.data() + g, scale, minimum);
    if constexpr (Block::offset != 0) {
      offsets = add_products<groups>(d, scale, x_groups.integer_sums.data() + g, offsets);
    }
    if constexpr (Block::has_minimum) {
      minima = add_products<groups>(d, minimum, x_groups.sums.data() + g, minima);
    }
    keep_in_memory(scale);
    sums.start(x.integers.get() + k, scale);
    Block::visit(row, sums);
  }
  const auto below = hn::MulAdd(hn::Set(d, Block::offset), offsets, minima);
  return sums.total() - hn::GetLane(hn::SumOfLanes(d, below));
}

template <std::size_t group_size, int offset>
class GroupStore {
 public:
  using Real = hn::CappedTag<float, 8>;

  HWY_INLINE void start(const float* scale, const float* minimum, float* out) {
    scale_ = scale;
    minimum_ = minimum;
    out_ = out;
  }
  HWY_INLINE void add(std::size_t run, std::size_t word, hn::Vec<Integers> even, hn::Vec<Integers> odd) {
    const Real d;
    const hn::Rebind<std::int16_t, Real> narrow;
    alignas(64) std::int16_t lanes[32];
    hn::StoreInterleaved2(even, odd, Integers(), lanes);
    for (std::size_t i = 0; i < 2 * hn::Lanes(Integers()); i += hn::Lanes(d)) {
      const std::size_t at = 32 * run + 2 * word + i;
      const auto wide = hn::PromoteTo(hn::RebindToSigned<Real>(), hn::LoadU(narrow, lanes + i));
      const auto integers = hn::ConvertTo(d, hn::Sub(wide, hn::Set(hn::RebindToSigned<Real>(), offset)));
      const auto scale = hn::Set(d, scale_[at / group_size]), minimum = hn::Set(d, minimum_[at / group_size]);
      hn::StoreU(hn::MulSub(scale, integers, minimum), d, out_ + at);
    }
  }

 private:
  const float* scale_ = nullptr;
  const float* minimum_ = nullptr;
  float* out_ = nullptr;
};

//   for (k < columns) out[k] = scale * (integer[k] - offset) - minimum;   scale and minimum of k's group
template <class Block>
void decode_blocks(const std::uint8_t* row, std::size_t columns, float* out) {
  constexpr std::size_t groups = Block::elements / Block::group_size;
  GroupStore<Block::group_size, Block::offset> store_groups;
  float ones[groups];
  std::fill_n(ones, groups, 1.0f);
  for (std::size_t k = 0; k < columns; k += Block::elements, row += Block::bytes) {
    float scale[groups], minimum[groups] = {};
    Block::factors(row, ones, scale, minimum);
    store_groups.start(scale, minimum, out + k);
    Block::visit(row, store_groups);
  }
}

// ---- any type

template <class Plain, class Blocks>
void with_type(const Matrix& matrix, const Plain& plain, const Blocks& blocks) {
  const bool by_eight = matrix.columns % 256 == 0;
  switch (matrix.type) {
    case WeightType::f32:
      return plain(float());
    case WeightType::f16:
      return plain(Float16());
    case WeightType::bf16:
      return plain(BFloat16());
    case WeightType::q8_0:
      return by_eight ? blocks(BlocksQ8_0<8>()) : blocks(BlocksQ8_0<1>());
    case WeightType::q4_0:
      return by_eight ? blocks(BlocksQ4_0<8>()) : blocks(BlocksQ4_0<1>());
    case WeightType::q4_k:
      return blocks(BlockQ4_K());
    case WeightType::q6_k:
      return blocks(BlockQ6_K());
  }
}

const std::uint8_t* bytes_of(const Matrix& matrix, std::int64_t row) {
  return reinterpret_cast<const std::uint8_t*>(matrix.row(row));
}

}  // namespace

void dot_rows_here(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x,
                   const IntegerRow& integers, float* out) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  with_type(
      matrix,
      [&](auto element) {
        for (std::int64_t r = begin; r < end; ++r) {
          out[r - begin] = dot(reinterpret_cast<const decltype(element)*>(matrix.row(r)), x, columns);
        }
      },
      [&](auto block) {
        for (std::int64_t r = begin; r < end; ++r) {
          out[r - begin] = dot_blocks<decltype(block)>(bytes_of(matrix, r), integers, columns);
        }
      });
}

void decode_rows_here(const Matrix& matrix, std::int64_t begin, std::int64_t end, float* out) {
  const auto columns = static_cast<std::size_t>(matrix.columns);
  with_type(
      matrix,
      [&](auto element) {
        for (std::int64_t r = begin; r < end; ++r, out += columns) {
          decode(reinterpret_cast<const decltype(element)*>(matrix.row(r)), columns, out);
        }
      },
      [&](auto block) {
        for (std::int64_t r = begin; r < end; ++r, out += columns) {
          decode_blocks<decltype(block)>(bytes_of(matrix, r), columns, out);
        }
      });
}

//   for (t < tokens) for (r < row_count) out[t][r] = sum over k < columns of rows[r][k] * x[t][k];
void multiply_rows_here(const float* rows, std::int64_t row_count, std::int64_t columns, const float* x,
                        std::int64_t tokens, float* out, std::int64_t out_stride) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t r = 0; r < row_count; ++r) {
      out[t * out_stride + r] = dot(rows + r * columns, x + t * columns, static_cast<std::size_t>(columns));
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

void dot_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, const IntegerRow& integers,
              float* out) {
  HWY_DYNAMIC_DISPATCH(dot_rows_here)(matrix, begin, end, x, integers, out);
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
