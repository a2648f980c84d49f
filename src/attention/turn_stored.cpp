// SPDX-License-Identifier: Apache-2.0
// Stored keys, turned: as numbers, and in the form in which they are stored.
#include <cstring>
#include <vector>

#include "attention/paged.h"
#include "kernels/quantise.h"

namespace locus {

void turn_to_numbers(const PageLayout& layout, const StoredKeys& from, std::byte* out) {
  TurnedRows rows{.in = from.keys,
                  .out = out,
                  .rows = from.count,
                  .in_stride = from.dim,
                  .out_stride = from.dim,
                  .turns = from.turn,
                  .turn_stride = from.turn_stride};
  std::vector<float> numbers;
  if (layout.integers) {
    numbers.resize(static_cast<std::size_t>(from.count * from.dim));
    const auto* integers = reinterpret_cast<const std::int8_t*>(from.keys);
    const IntegerKernels kernels = integer_kernels();
    for (std::int64_t t = 0; t < from.count; ++t) {
      const StoredRows row{.data = integers + t * from.dim, .stride = 0, .rows = 1, .dim = from.dim};
      kernels.widen_rows(row, from.scales[t], numbers.data() + t * from.dim, from.dim);
    }
    rows.in = numbers.data();
  }
  if (from.turn != nullptr) return layout.turn->apply(layout.integers ? ElementType::float32 : layout.type, rows);
  const auto size = layout.integers ? sizeof(float) : static_cast<std::size_t>(layout.element_size);
  std::memcpy(out, rows.in, static_cast<std::size_t>(from.count * from.dim) * size);
}

void turn_stored(const PageLayout& layout, const StoredKeys& from, std::byte* out, float* scales) {
  if (!layout.integers) return turn_to_numbers(layout, from, out);
  std::vector<float> numbers(static_cast<std::size_t>(from.count * from.dim));
  turn_to_numbers(layout, from, reinterpret_cast<std::byte*>(numbers.data()));
  for (std::int64_t t = 0; t < from.count; ++t) {
    scales[t] = quantise(numbers.data() + t * from.dim, from.dim, reinterpret_cast<std::int8_t*>(out) + t * from.dim);
  }
}

}  // namespace locus
