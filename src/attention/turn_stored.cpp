// SPDX-License-Identifier: Apache-2.0
// Rotates stored keys: to their stored form, or to numbers.
#include <cstring>
#include <vector>

#include "attention/paged.h"
#include "kernels/quantise.h"

namespace locus {
namespace {

void widen_integers(const StoredKeys& from, float* out) {
  const IntegerKernels kernels = integer_kernels();
  for (std::int64_t t = 0; t < from.count; ++t) {
    const StoredRows row{.data = from.keys + t * from.dim, .stride = 0, .rows = 1, .dim = from.dim};
    kernels.widen_rows(row, from.scales[t], out + t * from.dim, from.dim);
  }
}

TurnedRows rows_of(const StoredKeys& from, const void* in, void* out) {
  return {.in = in, .out = out, .rows = from.count, .in_stride = from.dim, .out_stride = from.dim, .turns = from.turns};
}

}  // namespace

void turn_stored(const PageLayout& layout, const StoredKeys& from, std::byte* out, float* scales) {
  if (!layout.integers) return layout.turn->apply(layout.type, rows_of(from, from.keys, out));
  std::vector<float> numbers(static_cast<std::size_t>(from.count * from.dim)), turned(numbers.size());
  widen_integers(from, numbers.data());
  layout.turn->apply(ElementType::float32, rows_of(from, numbers.data(), turned.data()));
  for (std::int64_t t = 0; t < from.count; ++t) {
    scales[t] = quantise(turned.data() + t * from.dim, from.dim, reinterpret_cast<std::int8_t*>(out) + t * from.dim);
  }
}

void turn_to_numbers(const PageLayout& layout, const StoredKeys& from, std::byte* out) {
  StoredKeys keys = from;
  std::vector<std::byte> turned;
  std::vector<float> scales;
  if (from.turns.any()) {
    turned.resize(static_cast<std::size_t>(from.count * from.dim * layout.element_size));
    scales.resize(static_cast<std::size_t>(from.count));
    turn_stored(layout, from, turned.data(), scales.data());
    keys.keys = turned.data();
    keys.scales = scales.data();
  }
  if (layout.integers) return widen_integers(keys, reinterpret_cast<float*>(out));
  std::memcpy(out, keys.keys, static_cast<std::size_t>(from.count * from.dim * layout.element_size));
}

}  // namespace locus
