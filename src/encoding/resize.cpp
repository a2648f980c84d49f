// SPDX-License-Identifier: Apache-2.0
// Resizes learned position tables. Row o of the result reads the source coordinate
//
//   s = (o + 1/2) scale - 1/2,   scale = from / (to + scale_offset),
//
// and is a weighted sum of the source rows j around it:
//   linear    max(s, 0), the two neighbours, the last row repeated beyond the end;
//   bicubic   the four neighbours under Keys' cubic with a = -3/4, edge rows repeated beyond the ends;
//   antialias every row within r f of s, f = max(scale, 1), weighted by k((j - s) / f) and normalised;
//             k is the triangle (r = 1) or Keys' cubic with a = -1/2 (r = 2).
// These are the rules of torch.nn.functional.interpolate with align_corners=False. (R. Keys, Cubic convolution
// interpolation for digital image processing, IEEE Trans. ASSP 29, 1981, eq. 4 with a free parameter a.)
#include "locus/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

#include "locus/error.h"

namespace locus {
namespace {

struct Tap {
  std::int64_t row;
  double weight;
};

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double keys_cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return a * (((x - 5) * x + 8) * x - 4);
  return 0;
}

/// One axis of a resize: the source rows and weights of each row of the result.
class Axis {
 public:
  Axis(std::int64_t from, std::int64_t to, const ResizeOptions& options)
      : from_(from),
        to_(to),
        scale_(static_cast<double>(from) / (static_cast<double>(to) + options.scale_offset)),
        cubic_(options.method == ResizeMethod::bicubic),
        antialias_(options.antialias) {}

  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }

  /// Replaces `taps` by those of row `index` of the result.
  void find_taps(std::int64_t index, std::vector<Tap>& taps) const {
    taps.clear();
    const double source = (static_cast<double>(index) + 0.5) * scale_ - 0.5;
    if (antialias_) {
      find_antialias_taps(source, taps);
    } else if (cubic_) {
      const double base = std::floor(source);
      for (int step = -1; step <= 2; ++step) {
        taps.push_back({inside(base + step), keys_cubic(source - (base + step), -0.75)});
      }
    } else {
      const double clamped = std::max(source, 0.0);
      const double base = std::floor(clamped);
      taps.push_back({inside(base), 1 - (clamped - base)});
      taps.push_back({inside(base + 1), clamped - base});
    }
  }

 private:
  void find_antialias_taps(double source, std::vector<Tap>& taps) const {
    const double stretch = std::max(scale_, 1.0);
    const double reach = (cubic_ ? 2 : 1) * stretch;
    const std::int64_t last = inside(std::floor(source + reach));
    double total = 0;
    for (std::int64_t row = inside(std::ceil(source - reach)); row <= last; ++row) {
      const double x = (static_cast<double>(row) - source) / stretch;
      taps.push_back({row, cubic_ ? keys_cubic(x, -0.5) : triangle(x)});
      total += taps.back().weight;
    }
    for (Tap& tap : taps) tap.weight /= total;
  }

  std::int64_t inside(double row) const {
    return static_cast<std::int64_t>(std::clamp(row, 0.0, static_cast<double>(from_ - 1)));
  }

  std::int64_t from_;
  std::int64_t to_;
  double scale_;
  bool cubic_;
  bool antialias_;
};

/// Resizes the middle axis of `source` [outer, axis.from(), inner] into `result` [outer, axis.to(), inner].
template <class Source, class Result>
void resample(const Source* source, std::int64_t outer, const Axis& axis, std::int64_t inner, Result* result) {
  std::vector<Tap> taps;
  for (std::int64_t row = 0; row < axis.to(); ++row) {
    axis.find_taps(row, taps);
    for (std::int64_t block = 0; block < outer; ++block) {
      const Source* const block_source = source + block * axis.from() * inner;
      Result* const row_result = result + (block * axis.to() + row) * inner;
      for (std::int64_t column = 0; column < inner; ++column) {
        double sum = 0;
        for (const Tap& tap : taps) sum += tap.weight * static_cast<double>(block_source[tap.row * inner + column]);
        row_result[column] = static_cast<Result>(sum);
      }
    }
  }
}

/// Returns a * b of two non-negative numbers. Error: a product of doubles beyond the address space.
std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* what) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(double));
  require(b == 0 || a <= most / b, "resize: ", what, " overflows (", a, " x ", b, ")");
  return a * b;
}

void check_options(const ResizeOptions& options) {
  require(options.scale_offset >= 0 && options.scale_offset < 1, "resize.scale_offset must be in [0, 1), got ",
          options.scale_offset);
  require(options.prefix_rows >= 0, "resize.prefix_rows must not be negative, got ", options.prefix_rows);
}

/// Error: a table that does not have prefix_rows + `body` rows.
void check_rows(std::size_t elements, std::int64_t dim, std::int64_t body, const ResizeOptions& options) {
  require(dim >= 1, "resize.dim must be at least 1, got ", dim);
  require(elements % static_cast<std::size_t>(dim) == 0, "resize.table must have whole rows of dim (", dim,
          ") elements, got ", elements, " elements");
  const auto rows = static_cast<std::int64_t>(elements / static_cast<std::size_t>(dim));
  require(options.prefix_rows <= rows, "resize.prefix_rows must be at most the table's rows (", rows, "), got ",
          options.prefix_rows);
  require(rows - options.prefix_rows == body, "resize.table must have prefix_rows (", options.prefix_rows, ") + ", body,
          " rows, got ", rows);
}

/// Allocates the result and copies the prefix into it.
template <class T>
std::vector<T> start_result(std::span<const T> table, std::int64_t dim, std::int64_t body, std::int64_t prefix_rows) {
  const std::int64_t rows = checked_product(body, 1, "the result") + prefix_rows;
  std::vector<T> result(static_cast<std::size_t>(checked_product(rows, dim, "the result")));
  std::copy_n(table.begin(), prefix_rows * dim, result.begin());
  return result;
}

/// Runs `work`. Error: a result that does not fit in memory.
template <class Work>
auto within_memory(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail("resize: the result does not fit in memory");
  } catch (const std::length_error&) {
    fail("resize: the result does not fit in memory");
  }
}

template <class T>
std::vector<T> resize_line(std::span<const T> table, std::int64_t dim, std::int64_t from, std::int64_t to,
                           const ResizeOptions& options) {
  require(options.method == ResizeMethod::linear, "resize.method must be linear for a table with one axis");
  require(!options.antialias, "resize.antialias must be off for a table with one axis");
  require(from >= 1 && to >= 1, "resize.from and resize.to must be at least 1, got ", from, " and ", to);
  check_options(options);
  check_rows(table.size(), dim, from, options);
  if (from == to) return {table.begin(), table.end()};

  return within_memory([&] {
    std::vector<T> result = start_result(table, dim, to, options.prefix_rows);
    const std::int64_t prefix = options.prefix_rows * dim;
    resample(table.data() + prefix, 1, Axis(from, to, options), dim, result.data() + prefix);
    return result;
  });
}

template <class T>
std::vector<T> resize_grid(std::span<const T> table, std::int64_t dim, Grid from, Grid to,
                           const ResizeOptions& options) {
  require(options.method == ResizeMethod::bilinear || options.method == ResizeMethod::bicubic,
          "resize.method must be bilinear or bicubic for a grid");
  require(from.height >= 1 && from.width >= 1, "resize.from must be at least 1x1, got ", from.height, "x", from.width);
  require(to.height >= 1 && to.width >= 1, "resize.to must be at least 1x1, got ", to.height, "x", to.width);
  check_options(options);
  check_rows(table.size(), dim, checked_product(from.height, from.width, "the grid of resize.from"), options);
  if (from == to) return {table.begin(), table.end()};

  return within_memory([&] {
    const std::int64_t body = checked_product(to.height, to.width, "the grid of resize.to");
    std::vector<T> result = start_result(table, dim, body, options.prefix_rows);
    const std::int64_t wide_row = checked_product(to.width, dim, "a row of the grid of resize.to");
    std::vector<double> widened(static_cast<std::size_t>(checked_product(from.height, wide_row, "the widened grid")));
    const std::int64_t prefix = options.prefix_rows * dim;
    resample(table.data() + prefix, from.height, Axis(from.width, to.width, options), dim, widened.data());
    resample(widened.data(), 1, Axis(from.height, to.height, options), wide_row, result.data() + prefix);
    return result;
  });
}

}  // namespace

std::vector<float> resize_1d(std::span<const float> table, std::int64_t dim, std::int64_t from, std::int64_t to,
                             const ResizeOptions& options) {
  return resize_line(table, dim, from, to, options);
}
std::vector<double> resize_1d(std::span<const double> table, std::int64_t dim, std::int64_t from, std::int64_t to,
                              const ResizeOptions& options) {
  return resize_line(table, dim, from, to, options);
}

std::vector<float> resize_2d(std::span<const float> table, std::int64_t dim, Grid from, Grid to,
                             const ResizeOptions& options) {
  return resize_grid(table, dim, from, to, options);
}
std::vector<double> resize_2d(std::span<const double> table, std::int64_t dim, Grid from, Grid to,
                              const ResizeOptions& options) {
  return resize_grid(table, dim, from, to, options);
}

}  // namespace locus
