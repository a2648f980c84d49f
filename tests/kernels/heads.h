// SPDX-License-Identifier: Apache-2.0
// Heads in memory, and the check of a rotation against the reference.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "elements.h"
#include "locus/encoding.h"
#include "locus/reference.h"
#include "locus/rotate.h"

namespace locus::testing {

/// A view without its data: extents, strides, and the element at which it starts.
struct Shape {
  HeadsView view;
  std::int64_t first = 0;
};

inline std::int64_t last_index(const HeadsView& view) {
  return (view.batch - 1) * view.batch_stride + (view.tokens - 1) * view.token_stride +
         (view.heads - 1) * view.head_stride + view.head_dim - 1;
}

/// [batch, tokens, heads, dim] without gaps.
inline Shape packed(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  return {{.batch = batch,
           .tokens = tokens,
           .heads = heads,
           .head_dim = dim,
           .batch_stride = tokens * heads * dim,
           .token_stride = heads * dim,
           .head_stride = dim}};
}

/// The same, with irregular gaps, starting one element off alignment.
inline Shape ragged(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  const std::int64_t token_stride = heads * (dim + 3) + 5;
  return {{.batch = batch,
           .tokens = tokens,
           .heads = heads,
           .head_dim = dim,
           .batch_stride = tokens * token_stride + 7,
           .token_stride = token_stride,
           .head_stride = dim + 3},
          1};
}

/// Memory full of random elements, some of which belong to the view.
template <class T>
class Heads {
 public:
  explicit Heads(const Shape& shape, std::uint64_t seed = 1)
      : shape_(shape),
        memory_(random_elements<T>(static_cast<std::size_t>(shape.first + last_index(shape.view) + 8), seed)) {}

  HeadsView view() {
    HeadsView view = shape_.view;
    view.type = element_type_of<T>;
    view.data = memory_.data() + shape_.first;
    return view;
  }
  const HeadsView& extents() const { return shape_.view; }
  const std::vector<T>& memory() const { return memory_; }

  std::size_t index(std::int64_t batch, std::int64_t token, std::int64_t head) const {
    const HeadsView& v = shape_.view;
    return static_cast<std::size_t>(shape_.first + batch * v.batch_stride + token * v.token_stride +
                                    head * v.head_stride);
  }
  std::span<const T> head(std::int64_t batch, std::int64_t token, std::int64_t head) const {
    return std::span(memory_).subspan(index(batch, token, head), static_cast<std::size_t>(shape_.view.head_dim));
  }
  std::span<T> head(std::int64_t batch, std::int64_t token, std::int64_t head) {
    return std::span(memory_).subspan(index(batch, token, head), static_cast<std::size_t>(shape_.view.head_dim));
  }

 private:
  Shape shape_;
  std::vector<T> memory_;
};

/// The elements between the heads of two blocks of one shape are the same.
template <class T>
bool same_outside_heads(const Heads<T>& a, const Heads<T>& b) {
  std::vector<T> rest_a = a.memory();
  std::vector<T> rest_b = b.memory();
  const HeadsView& view = a.extents();
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      for (std::int64_t head = 0; head < view.heads; ++head) {
        const auto at = static_cast<std::ptrdiff_t>(a.index(batch, token, head));
        std::fill_n(rest_a.begin() + at, view.head_dim, T());
        std::fill_n(rest_b.begin() + at, view.head_dim, T());
      }
    }
  }
  return same_bits(rest_a, rest_b);
}

inline PositionIds ids_of(std::vector<Position> ids, std::int64_t axes = 1, std::int64_t batch = 1) {
  return {.axes = axes, .batch = batch, .tokens = static_cast<std::int64_t>(ids.size()) / (axes * batch), .ids = ids};
}

inline PositionIds consecutive_ids(Position first, std::int64_t tokens) {
  std::vector<Position> ids(static_cast<std::size_t>(tokens));
  std::iota(ids.begin(), ids.end(), first);
  return ids_of(std::move(ids));
}

/// The ids of one token, one per axis.
inline std::vector<Position> place(const PositionIds& ids, std::int64_t batch, std::int64_t token) {
  std::vector<Position> result;
  for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
    result.push_back(ids.axis(axis)[static_cast<std::size_t>((ids.batch == 1 ? 0 : batch) * ids.tokens + token)]);
  }
  return result;
}

/// The allowed error of a rotated element of type T. `length` is that of the exact rotated pair; since cos^2 + sin^2
/// = magnitude^2, |x cos| + |y sin| is at most `length`.
///
/// float32: the entries of the row, the products and the sum round by 2^-24 each, which makes 3 * 2^-24 * length; the
/// row's angle adds 2e-9 per entry (rows.h), at most sqrt(2) * 2e-9 * length. 16-bit types round once more.
/// float64: the same with 2^-53, plus 1e-15 + |id| 2e-19 for the row (rows.h) and 1e-15 + |id| 1e-19 for the
/// reference. The last factor covers products of errors.
template <class T>
double rotation_error(double want, double length, double row_error) {
  if (sizeof(T) == 8) return length * (3 * 0x1p-53 + std::sqrt(2.0) * row_error) * (1 + 1e-6);
  return rounded_error<T>(want, length * (3 * 0x1p-24 + std::sqrt(2.0) * 2e-9) * (1 + 1e-6));
}

/// The error of a double row and of the reference's, together.
inline double double_row_error(const Rotation& rotation, std::span<const Position> ids) {
  // A real coordinate's angle is a product of at most four factors up to 2 pi, on both sides.
  if (rotation.map.kind == PositionMap::Kind::patch_centres) return 2e-15 + 2 * 4 * 6.2832 * 0x1p-53;
  double largest = 0;
  for (const Position id : ids) largest = std::max(largest, std::fabs(static_cast<double>(id)));
  return 2e-15 + largest * 3e-19;
}

/// The other coordinate of the pair that `j` belongs to in the output.
inline std::int64_t partner(const Rotation& rotation, Direction direction, std::int64_t j) {
  const bool split = direction == Direction::forward && rotation.deinterleaved_output;
  const std::int64_t inside = j - rotation.rotary_offset;
  if (rotation.pairing == Pairing::interleaved && !split) return rotation.rotary_offset + (inside ^ 1);
  return inside < rotation.pairs() ? j + rotation.pairs() : j - rotation.pairs();
}

/// The largest ratio of error to bound of a rotated head; infinite if a coordinate that is not rotated has changed.
template <class T>
double error_over_bound(const Rotation& rotation, Role role, Direction direction, std::span<const Position> ids,
                        std::span<const T> before, std::span<const T> after) {
  std::vector<double> head;
  for (const T x : before) head.push_back(value_of(x));
  const std::vector<double> want = reference::rotate(rotation, role, direction, ids, head);
  const double row_error = double_row_error(rotation, ids);
  double worst = 0;
  for (std::int64_t j = 0; j < rotation.head_dim; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool rotated = j >= rotation.rotary_offset && j < rotation.rotary_offset + rotation.rotary_dim;
    double share = same_bits(before[at], after[at]) ? 0.0 : std::numeric_limits<double>::infinity();
    if (rotated) {
      const double other = want[static_cast<std::size_t>(partner(rotation, direction, j))];
      const double bound = rotation_error<T>(want[at], std::hypot(want[at], other), row_error);
      share = std::fabs(value_of(after[at]) - want[at]) / bound;
    }
    worst = share <= worst ? worst : share;  // NaN is the worst
  }
  return worst;
}

/// The same over all heads.
template <class T>
double error_over_bound(const Encoding& encoding, const PositionIds& ids, Role role, Direction direction,
                        const Heads<T>& before, const Heads<T>& after) {
  const HeadsView& view = before.extents();
  double worst = 0;
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      for (std::int64_t head = 0; head < view.heads; ++head) {
        const double share = error_over_bound<T>(encoding.rotation(), role, direction, place(ids, batch, token),
                                                 before.head(batch, token, head), after.head(batch, token, head));
        worst = share <= worst ? worst : share;
      }
    }
  }
  return worst;
}

/// Every head of `after` is bit for bit that of `before`.
template <class T>
bool same_heads(const Heads<T>& a, const Heads<T>& b) {
  const HeadsView& view = a.extents();
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      for (std::int64_t head = 0; head < view.heads; ++head) {
        if (!same_bits(a.head(batch, token, head), b.head(batch, token, head))) return false;
      }
    }
  }
  return true;
}

}  // namespace locus::testing
