// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/turning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Coordinates {
  std::int64_t in_x, in_y, out_x, out_y;
};

Coordinates coordinates_of(const TurnedSlice& slice, std::int64_t pair) {
  const std::int64_t o = slice.rotary_offset;
  const std::int64_t half = slice.rotary_dim / 2;
  const Coordinates by_half{o + pair, o + pair + half, o + pair, o + pair + half};
  if (slice.pairing == Pairing::half) return by_half;
  const Coordinates side_by_side{o + 2 * pair, o + 2 * pair + 1, o + 2 * pair, o + 2 * pair + 1};
  if (!slice.deinterleaved_output) return side_by_side;
  return {side_by_side.in_x, side_by_side.in_y, by_half.out_x, by_half.out_y};
}

// Sums over the heads of one token and pair: |after|^2, |before|^2, after times the conjugate of before.
struct Sums {
  double after = 0;
  double before = 0;
  Complex product = 0;
  double both = 0;  // |after|^2 |before|^2
};

Sums sums_of(const RotationDump& dump, std::int64_t row, const Coordinates& at) {
  Sums sums;
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    const std::size_t head = index_of((row * dump.heads + h) * dump.head_dim);
    const Complex b(dump.before[head + index_of(at.in_x)], dump.before[head + index_of(at.in_y)]);
    const Complex a(dump.after[head + index_of(at.out_x)], dump.after[head + index_of(at.out_y)]);
    sums.after += std::norm(a);
    sums.before += std::norm(b);
    sums.product += a * std::conj(b);
    sums.both += std::norm(a) * std::norm(b);
  }
  return sums;
}

// What is outside the slice must have stayed.
double outside_error(const RotationDump& dump, const TurnedSlice& slice) {
  double error = 0;
  for (std::size_t n = 0; n < dump.after.size(); ++n) {
    const auto j = static_cast<std::int64_t>(n) % dump.head_dim;
    if (j >= slice.rotary_offset && j < slice.rotary_offset + slice.rotary_dim) continue;
    error += (dump.after[n] - dump.before[n]) * (dump.after[n] - dump.before[n]);
  }
  return error;
}

double squared_size(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

struct Hull {
  std::int64_t first = 0;
  std::int64_t last = -1;  // none changed
};

Hull changed_coordinates(const RotationDump& dump, double unit) {
  Hull hull;
  for (std::int64_t j = 0; j < dump.head_dim; ++j) {
    double difference = 0;
    double size = 0;
    for (std::size_t n = index_of(j); n < dump.after.size(); n += index_of(dump.head_dim)) {
      difference += (dump.after[n] - dump.before[n]) * (dump.after[n] - dump.before[n]);
      size += dump.before[n] * dump.before[n];
    }
    if (difference <= unit * unit * size) continue;
    if (hull.last < 0) hull.first = j;
    hull.last = j;
  }
  return hull;
}

// The rows that structure is judged by: enough of them, evenly taken.
RotationDump thinned(const RotationDump& dump) {
  constexpr std::int64_t most = 48;
  const std::int64_t rows = dump.batch * dump.tokens;
  if (rows <= most) return dump;
  RotationDump few{.batch = 1, .tokens = most, .heads = dump.heads, .head_dim = dump.head_dim};
  const std::int64_t size = dump.heads * dump.head_dim;
  for (std::int64_t n = 0; n < most; ++n) {
    const std::int64_t at = (n * rows / most) * size;
    few.before.insert(few.before.end(), dump.before.begin() + at, dump.before.begin() + at + size);
    few.after.insert(few.after.end(), dump.after.begin() + at, dump.after.begin() + at + size);
  }
  return few;
}

// Wide slices first: a narrower one that explains as much left its slow pairs out.
std::vector<TurnedSlice> candidates(const RotationDump& dump, const Hull& hull) {
  std::vector<TurnedSlice> all;
  for (const std::int64_t offset : {hull.first, hull.first - 1}) {
    if (offset < 0) continue;
    const std::int64_t least = hull.last - offset + 1;
    for (std::int64_t width = (dump.head_dim - offset) / 2 * 2; width >= std::max<std::int64_t>(least, 2); width -= 2) {
      if (offset == hull.first) {
        all.push_back({Pairing::half, false, offset, width});
        all.push_back({Pairing::interleaved, false, offset, width});
      }
      all.push_back({Pairing::interleaved, true, offset, width});
    }
  }
  return all;
}

bool same(const TurnedSlice& a, const TurnedSlice& b) {
  return a.pairing == b.pairing && a.deinterleaved_output == b.deinterleaved_output &&
         a.rotary_offset == b.rotary_offset && a.rotary_dim == b.rotary_dim;
}

double held(double value) { return std::max(value, 0.0); }

}  // namespace

ElementType storage_of(const RotationDump& dump) {
  bool bfloat16 = true;
  bool float16 = true;
  bool float32 = true;
  for (const std::vector<double>* values : {&dump.before, &dump.after}) {
    for (const double value : *values) {
      bfloat16 = bfloat16 && static_cast<double>(to_float(to_bfloat16(value))) == value;
      float16 = float16 && static_cast<double>(to_float(to_float16(value))) == value;
      float32 = float32 && static_cast<double>(static_cast<float>(value)) == value;
    }
  }
  // Eight bits fit into float16's eleven as well, but not the other way round.
  if (bfloat16) return ElementType::bfloat16;
  if (float16) return ElementType::float16;
  return float32 ? ElementType::float32 : ElementType::float64;
}

double storage_noise(ElementType type) {
  return type == ElementType::float64 ? unit_roundoff(ElementType::float32) : unit_roundoff(type);
}

Turning measure(const RotationDump& dump, const TurnedSlice& slice, double unit) {
  Turning turning{.slice = slice, .rows = dump.batch * dump.tokens, .pairs = slice.rotary_dim / 2};
  turning.z.resize(index_of(turning.rows * turning.pairs));
  turning.sigma.resize(turning.z.size());
  double error = 0;
  double free_error = 0;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const Coordinates at = coordinates_of(slice, i);
    double after = 0;
    double before = 0;
    double product = 0;
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      const Sums sums = sums_of(dump, row, at);
      after += sums.after;
      before += sums.before;
      product += std::abs(sums.product);
      const auto n = index_of(row * turning.pairs + i);
      const bool empty = sums.before <= 0;
      turning.z[n] = empty ? Complex(0) : sums.product / sums.before;
      // A rounding is off by 0.42 units on average over a binade (1/sqrt(3) at its lower end), before and after alike.
      turning.sigma[n] =
          empty ? std::numeric_limits<double>::infinity() : 0.6 * unit * std::sqrt(sums.both / 2) / sums.before + 1e-15;
      free_error += empty ? sums.after : held(sums.after - std::norm(sums.product) / sums.before);
    }
    turning.magnitude.push_back(before > 0 ? product / before : 0);
    error += before > 0 ? held(after - product * product / before) : after;
  }
  const double outside = outside_error(dump, slice);
  const double size = std::max(squared_size(dump.after), std::numeric_limits<double>::min());
  turning.residual = std::sqrt((error + outside) / size);
  turning.free_residual = std::sqrt((free_error + outside) / size);
  return turning;
}

std::vector<Turning> fitting_slices(const RotationDump& dump, double unit,
                                    const std::optional<TurnedSlice>& preferred) {
  const RotationDump few = thinned(dump);
  const Hull hull = changed_coordinates(few, unit);
  if (hull.last < 0) return {};
  std::vector<Turning> tried;
  for (const TurnedSlice& slice : candidates(few, hull)) tried.push_back(measure(few, slice, unit));
  const auto value = [&](const Turning& turning) {  // xPos: |z| changes, and two heads must agree on it
    return few.heads > 1 && turning.residual > 3 * unit ? turning.free_residual : turning.residual;
  };
  double best = std::numeric_limits<double>::infinity();
  for (const Turning& turning : tried) best = std::min(best, value(turning));
  std::vector<Turning> fitting;
  for (const Turning& turning : tried) {
    const bool constant = turning.residual <= std::max(1.5 * best, 1.5 * unit);
    if (constant || value(turning) <= std::max(1.1 * best, unit)) fitting.push_back(measure(dump, turning.slice, unit));
  }
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Turning& a, const Turning& b) {
    const auto rank = [&](const Turning& turning) { return preferred && same(turning.slice, *preferred) ? 0 : 1; };
    const bool a_varies = a.residual > 3 * unit;
    const bool b_varies = b.residual > 3 * unit;
    return a_varies != b_varies ? b_varies : rank(a) < rank(b);
  });
  return fitting;
}

std::vector<std::int64_t> match_heads(const RotationDump& dump) {
  const std::int64_t rows = dump.batch * dump.tokens;
  const auto norms = [&](const std::vector<double>& values) {
    std::vector<double> result(index_of(rows * dump.heads));
    for (std::size_t n = 0; n < values.size(); ++n) result[n / index_of(dump.head_dim)] += values[n] * values[n];
    for (double& norm : result) norm = std::log(std::max(norm, 1e-300)) / 2;
    return result;
  };
  const std::vector<double> before = norms(dump.before);
  const std::vector<double> after = norms(dump.after);
  std::vector<std::int64_t> map;
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    double least = std::numeric_limits<double>::infinity();
    std::int64_t match = h;
    for (std::int64_t g = 0; g < dump.heads; ++g) {
      double sum = 0;
      double squares = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const double ratio = after[index_of(row * dump.heads + h)] - before[index_of(row * dump.heads + g)];
        sum += ratio;
        squares += ratio * ratio;
      }
      const double spread = squares - sum * sum / static_cast<double>(rows);
      if (spread < least) {
        least = spread;
        match = g;
      }
    }
    map.push_back(match);
  }
  return map;
}

}  // namespace locus::doctor
