// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/turning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

struct Pair {
  Complex before, after;
};

Pair pair_at(const RotationDump& dump, const Cells& cells, std::int64_t row, std::int64_t head, const PairPlace& at) {
  const std::size_t cell = index_of(row * dump.heads + head);
  const std::size_t from = index_of(cells.source[cell] * dump.head_dim);
  const std::size_t to = cell * index_of(dump.head_dim);
  return {{dump.before[from + index_of(at.in_x)], dump.before[from + index_of(at.in_y)]},
          {dump.after[to + index_of(at.out_x)], dump.after[to + index_of(at.out_y)]}};
}

bool counts(const Cells& cells, std::int64_t row, std::int64_t head) {
  const std::size_t cell = index_of(row * cells.heads + head);
  return cells.state[cell] == CellState::usable && cells.excluded[cell] == 0;
}

double scale_at(const std::vector<double>& scale, std::int64_t row, std::int64_t pairs, std::int64_t pair) {
  return scale.empty() ? 1 : scale[index_of(row * pairs + pair)];
}

// Calls act(row, head, pair index, place, the pair) for every pair that is used.
template <class Act>
void for_pairs(const RotationDump& dump, const Cells& cells, const TurnedSlice& slice, const Act& act) {
  for (std::int64_t i = 0; i < slice.rotary_dim / 2; ++i) {
    const PairPlace place = place_of(slice, i);
    for (std::int64_t row = 0; row < cells.rows; ++row) {
      for (std::int64_t h = 0; h < cells.heads; ++h) {
        if (counts(cells, row, h)) act(row, h, i, pair_at(dump, cells, row, h, place));
      }
    }
  }
}

// Lengths are computed in double, so noise is at least their rounding error.
double least_noise(double floor) { return std::max(0.2 * floor, 0x1p-52); }

// Measures |z| over all pairs, and the noise of the lengths. Unchanged vectors show nothing about either.
void measure_noise(Turning& turning, const RotationDump& dump, double floor, const std::vector<double>& scale) {
  std::vector<double> ratios;
  const auto moved = [](const Pair& pair) { return pair.before != pair.after && std::norm(pair.before) > 0; };
  for_pairs(dump, turning.cells, turning.slice, [&](auto row, auto, auto i, const Pair& pair) {
    if (!moved(pair)) return;
    ratios.push_back(std::abs(pair.after) / std::abs(pair.before) / scale_at(scale, row, turning.pairs, i));
  });
  const auto count = static_cast<double>(ratios.size());
  if (!ratios.empty()) turning.size = densest(std::move(ratios));
  std::vector<Deviation> offs;
  for_pairs(dump, turning.cells, turning.slice, [&](auto row, auto, auto i, const Pair& pair) {
    if (!moved(pair)) return;
    const double length = turning.size * scale_at(scale, row, turning.pairs, i) * std::abs(pair.before);
    offs.push_back({length, std::abs(pair.after) - length});
  });
  std::vector<double> lengths;
  for (const Deviation& one : offs) lengths.push_back(one.size);
  turning.noise = measured_noise(std::move(offs), least_noise(floor));
  turning.median_length = median(std::move(lengths));
  // If nothing moved, the noise is unknown.
  const double length = turning.median_length;
  turning.relative_noise = length > 0 ? turning.noise.at(length) / length : 1;
  turning.size_sigma = count == 0 ? 1 : 1.3 * turning.relative_noise / std::sqrt(count);
}

// Least squares over the heads, then the noise of z from its own lengths, which includes errors that heads share.
void measure_turns(Turning& turning, const RotationDump& dump, double floor, const std::vector<double>& scale) {
  const std::size_t count = index_of(turning.rows * turning.pairs);
  std::vector<double> before(count), after(count);
  turning.z.assign(count, 0);
  for_pairs(dump, turning.cells, turning.slice, [&](auto row, auto, auto i, const Pair& pair) {
    const auto n = index_of(row * turning.pairs + i);
    before[n] += std::norm(pair.before);
    after[n] += std::norm(pair.after);
    turning.z[n] += pair.after * std::conj(pair.before);
  });
  std::vector<Deviation> offs;
  double typical = 0;
  for (std::size_t n = 0; n < count; ++n) {
    if (before[n] <= 0) continue;
    turning.z[n] /= before[n];
    typical += before[n] / static_cast<double>(count);
  }
  for (std::size_t n = 0; n < count; ++n) {
    if (before[n] <= 0 || turning.z[n] == Complex(1)) continue;
    const double length = scale.empty() ? turning.size : turning.size * scale[n];
    // Relative to a vector of typical length, the noise grows as vectors get shorter.
    const double weight = std::sqrt(before[n] / typical);
    offs.push_back({weight, weight * (std::abs(turning.z[n]) - length) / length});
  }
  const Noise noise = measured_noise(std::move(offs), least_noise(floor));
  turning.sigma.assign(count, std::numeric_limits<double>::infinity());
  for (std::size_t n = 0; n < count; ++n) {
    if (before[n] <= 0) continue;
    const double weight = std::sqrt(before[n] / typical);
    const double length = scale.empty() ? turning.size : turning.size * scale[n];
    turning.sigma[n] = length * noise.at(weight) / weight + 1e-16;
  }
}

// True if an earlier head of the token has the same numbers, as repeated key heads have.
bool repeats(const RotationDump& dump, const Cells& cells, std::int64_t row, std::int64_t head) {
  const auto numbers = [&](std::int64_t h) {
    return dump.before.begin() + cells.source[index_of(row * dump.heads + h)] * dump.head_dim;
  };
  for (std::int64_t other = 0; other < head; ++other) {
    if (std::equal(numbers(head), numbers(head) + dump.head_dim, numbers(other))) return true;
  }
  return false;
}

// A single head always agrees with itself. Tokens with at least two different usable heads show whether |z| varies.
void measure_residuals(Turning& turning, const RotationDump& dump) {
  double error = 0, free_error = 0, size = 0, free_size = 0;
  std::vector<int> heads_of(index_of(turning.rows), 0);
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    for (std::int64_t h = 0; h < dump.heads; ++h) {
      if (counts(turning.cells, row, h) && !repeats(dump, turning.cells, row, h)) ++heads_of[index_of(row)];
    }
  }
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const PairPlace place = place_of(turning.slice, i);
    double after = 0, before = 0, product = 0;
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      double a = 0, b = 0;
      for (std::int64_t h = 0; h < dump.heads; ++h) {
        if (!counts(turning.cells, row, h)) continue;
        const Pair pair = pair_at(dump, turning.cells, row, h, place);
        a += std::norm(pair.after);
        b += std::norm(pair.before);
      }
      const double turned = std::abs(turning.at(row, i)) * b;
      after += a;
      before += b;
      product += turned;
      if (heads_of[index_of(row)] < 2) continue;
      free_error += b > 0 ? std::max(0.0, a - turned * turned / b) : a;
      free_size += a;
    }
    turning.magnitude.push_back(before > 0 ? product / before : 0);
    error += before > 0 ? std::max(0.0, after - product * product / before) : after;
    size += after;
  }
  size = std::max(size, std::numeric_limits<double>::min());
  turning.residual = std::sqrt(error / size);
  turning.free_residual = free_size > 0 ? std::sqrt(free_error / free_size) : turning.residual;
}

// If heads agree on |z| much better than it is constant, it varies; the noise is the disagreement between heads.
void let_magnitude_vary(Turning& turning, const RotationDump& dump, double floor) {
  if (turning.residual < 20 * floor || turning.free_residual > 0.2 * turning.residual) return;
  std::vector<double> scale, offs;
  for (const Complex& z : turning.z) {
    scale.push_back(std::abs(z) / turning.size);
    offs.push_back(std::abs(scale.back() - 1));
  }
  if (median(std::move(offs)) < 5 * turning.free_residual) return;
  const auto heads = static_cast<double>(dump.heads);
  turning.varies = true;
  turning.noise = {.absolute = 0,
                   .relative = std::max(turning.free_residual * std::sqrt(heads / (heads - 1)), 0.2 * floor)};
  turning.relative_noise = turning.size_sigma = turning.noise.relative;
  for (std::size_t n = 0; n < scale.size(); ++n) {
    if (std::isfinite(turning.sigma[n])) turning.sigma[n] = turning.noise.relative * std::abs(turning.z[n]);
  }
  turning.scale = std::move(scale);
}

std::vector<double> log_norms(const RotationDump& dump, const std::vector<double>& values) {
  std::vector<double> result(values.size() / index_of(dump.head_dim));
  for (std::size_t n = 0; n < values.size(); ++n) result[n / index_of(dump.head_dim)] += values[n] * values[n];
  for (double& norm : result) norm = std::log(std::max(norm, 1e-300)) / 2;
  return result;
}

}  // namespace

PairPlace place_of(const TurnedSlice& slice, std::int64_t pair) {
  const std::int64_t o = slice.rotary_offset;
  const std::int64_t half = slice.rotary_dim / 2;
  const PairPlace by_half{o + pair, o + pair + half, o + pair, o + pair + half};
  if (slice.pairing == Pairing::half) return by_half;
  const PairPlace side_by_side{o + 2 * pair, o + 2 * pair + 1, o + 2 * pair, o + 2 * pair + 1};
  if (!slice.deinterleaved_output) return side_by_side;
  return {side_by_side.in_x, side_by_side.in_y, by_half.out_x, by_half.out_y};
}

bool same_slice(const TurnedSlice& a, const TurnedSlice& b) {
  return a.pairing == b.pairing && a.deinterleaved_output == b.deinterleaved_output &&
         a.rotary_offset == b.rotary_offset && a.rotary_dim == b.rotary_dim;
}

ElementType storage_of(const std::vector<double>& values) {
  bool bfloat16 = true;
  bool float16 = true;
  bool float32 = true;
  for (const double value : values) {
    bfloat16 = bfloat16 && static_cast<double>(to_float(to_bfloat16(value))) == value;
    float16 = float16 && static_cast<double>(to_float(to_float16(value))) == value;
    float32 = float32 && static_cast<double>(static_cast<float>(value)) == value;
  }
  // bfloat16's eight bits fit into float16's eleven, but not the other way round.
  if (bfloat16) return ElementType::bfloat16;
  if (float16) return ElementType::float16;
  return float32 ? ElementType::float32 : ElementType::float64;
}

ElementType storage_of(const RotationDump& dump) {
  const ElementType before = storage_of(dump.before), after = storage_of(dump.after);
  return unit_roundoff(before) > unit_roundoff(after) ? before : after;
}

double storage_noise(ElementType type) {
  return type == ElementType::float64 ? unit_roundoff(ElementType::float32) : unit_roundoff(type);
}

Turning measure(const RotationDump& dump, const TurnedSlice& slice, const Cells& cells, double floor,
                const std::vector<double>& scale) {
  Turning turning{.slice = slice, .rows = dump.batch * dump.tokens, .pairs = slice.rotary_dim / 2};
  turning.cells = cells;
  turning.scale = scale;
  turning.skipped.assign(index_of(turning.pairs), 0);
  measure_noise(turning, dump, floor, scale);
  measure_turns(turning, dump, floor, scale);
  measure_residuals(turning, dump);
  if (scale.empty() && dump.heads > 1) let_magnitude_vary(turning, dump, floor);
  return turning;
}

Turning measure(const RotationDump& dump, const TurnedSlice& slice, double floor) {
  return measure(dump, slice, classify_cells(dump), floor);
}

void skip(Turning& turning, std::int64_t pair) {
  turning.skipped[index_of(pair)] = 1;
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    turning.sigma[index_of(row * turning.pairs + pair)] = std::numeric_limits<double>::infinity();
  }
}

void measure_again(Turning& turning, const RotationDump& dump, const Cells& cells, double floor) {
  Turning again = measure(dump, turning.slice, cells, floor, turning.varies ? std::vector<double>{} : turning.scale);
  again.kept = turning.kept;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    if (turning.skipped[index_of(i)] != 0) skip(again, i);
  }
  turning = std::move(again);
}

bool keeps_length(const RotationDump& dump, const Turning& turning, std::int64_t cell, std::int64_t pair,
                  double sigmas) {
  const std::int64_t row = cell / dump.heads;
  const Pair seen = pair_at(dump, turning.cells, row, cell % dump.heads, place_of(turning.slice, pair));
  const double length = turning.size * scale_at(turning.scale, row, turning.pairs, pair) * std::abs(seen.before);
  return std::abs(std::abs(seen.after) - length) <= sigmas * turning.noise_at(length);
}

double share_kept(const RotationDump& dump, const Turning& turning, const Noise& noise) {
  constexpr double sigmas = 6;
  double kept = 0, all = 0;
  for_pairs(dump, turning.cells, turning.slice, [&](auto row, auto, auto i, const Pair& pair) {
    const double length = turning.size * scale_at(turning.scale, row, turning.pairs, i) * std::abs(pair.before);
    all += 2;
    kept += std::abs(std::abs(pair.after) - length) <= sigmas * noise.at(length) ? 2 : 0;
  });
  for (std::int64_t n = 0; n < turning.rows * dump.heads; ++n) {
    if (!counts(turning.cells, n / dump.heads, n % dump.heads)) continue;
    for (std::int64_t j = 0; j < dump.head_dim; ++j) {
      if (j >= turning.slice.rotary_offset && j < turning.slice.rotary_offset + turning.slice.rotary_dim) continue;
      const double before = dump.before[index_of(turning.cells.source[index_of(n)] * dump.head_dim + j)];
      const double after = dump.after[index_of(n * dump.head_dim + j)];
      all += 1;
      kept += std::abs(after - before) <= sigmas * noise.at(std::abs(before)) ? 1 : 0;
    }
  }
  return all > 0 ? kept / all : 0;
}

std::vector<std::int64_t> match_heads(const RotationDump& dump, const Cells& cells) {
  const std::int64_t rows = dump.batch * dump.tokens;
  const std::vector<double> before = log_norms(dump, dump.before), after = log_norms(dump, dump.after);
  const auto spread = [&](std::int64_t to, std::int64_t from) {
    std::vector<double> ratios;
    for (std::int64_t row = 0; row < rows; ++row) {
      if (cells.at(row, to) != CellState::usable || cells.at(row, from) == CellState::empty) continue;
      ratios.push_back(after[index_of(row * dump.heads + to)] - before[index_of(row * dump.heads + from)]);
    }
    if (ratios.empty()) return std::numeric_limits<double>::infinity();
    const double middle = median(ratios);
    for (double& ratio : ratios) ratio = std::abs(ratio - middle);
    return median(std::move(ratios));
  };
  std::vector<std::int64_t> map;
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    double least = spread(h, h);
    std::int64_t match = h;
    for (std::int64_t g = 0; g < dump.heads; ++g) {
      const double other = spread(h, g);
      if (other >= 0.5 * least) continue;  // keeps its own head unless another is much nearer
      least = other;
      match = g;
    }
    map.push_back(match);
  }
  return map;
}

}  // namespace locus::doctor
