// SPDX-License-Identifier: Apache-2.0
// Random calls of attend() and their comparison with the reference, by the bound that attention.h states.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/elements.h"
#include "locus/attention.h"
#include "locus/reference_attention.h"

namespace locus::testing {

struct Extents {
  std::int64_t batch = 1, queries = 1, keys = 1, heads = 1, key_heads = 1, dim = 8;
};

/// Tensors of one call, [batch, tokens, heads, dim] or, with heads_first, [batch, heads, tokens, dim].
template <class T>
struct Tensors {
  explicit Tensors(const Extents& given, std::uint64_t seed = 1, double size = 1, bool heads_first = false) : e(given) {
    const auto count = [&](std::int64_t tokens, std::int64_t heads) {
      return static_cast<std::size_t>(e.batch * tokens * heads * e.dim);
    };
    q = random_elements<T>(count(e.queries, e.heads), seed);
    k = random_elements<T>(count(e.keys, e.key_heads), seed + 1);
    v = random_elements<T>(count(e.keys, e.key_heads), seed + 2);
    for (T& x : q) set(x, value_of(x) * size);
    out.assign(q.size(), element<T>(77.0));
    lse.assign(static_cast<std::size_t>(e.batch * e.heads * e.queries), 77.0f);
    const auto view = [&](std::vector<T>& data, std::int64_t tokens, std::int64_t heads) {
      const std::vector<std::int64_t> extents = heads_first ? std::vector<std::int64_t>{e.batch, heads, tokens, e.dim}
                                                            : std::vector<std::int64_t>{e.batch, tokens, heads, e.dim};
      return heads_view(data.data(), element_type_of<T>, heads_first ? "bhtd" : "bthd", extents);
    };
    call.query = view(q, e.queries, e.heads);
    call.key = view(k, e.keys, e.key_heads);
    call.value = view(v, e.keys, e.key_heads);
    call.output = view(out, e.queries, e.heads);
    call.log_sum_exp = lse.data();
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  double output(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t j) const {
    const HeadsView& o = call.output;
    return value_of(out[static_cast<std::size_t>(b * o.batch_stride + t * o.token_stride + h * o.head_stride + j)]);
  }

  Extents e;
  std::vector<T> q, k, v, out;
  std::vector<float> lse;
  AttentionCall call;
};

template <class T>
constexpr double unit_roundoff() {
  return element_type_of<T> == ElementType::float64 ? 0x1p-53 : 0x1p-24;
}

/// The bounds of attention.h, for scores of magnitude s and values up to v.
template <class T>
double output_bound(const Extents& e, double s, double v, bool skipped = false) {
  const double d = static_cast<double>(e.dim), n = static_cast<double>(e.keys);
  return (2 * (d + 16) * s + 4 * n + 16) * unit_roundoff<T>() * v + (skipped ? 0x1p-24 * v : 0);
}
template <class T>
double lse_bound(const Extents& e, double s, double lse) {
  const double d = static_cast<double>(e.dim), n = static_cast<double>(e.keys);
  return ((d + 16) * s + n + 16) * unit_roundoff<T>() + std::fabs(lse) * 0x1p-24 + 0x1p-25;
}

/// Random elements are below 1, plus what a table of relative values adds.
inline double largest_value(const AttentionCall& call) {
  double largest = 1;
  if (call.encoding == nullptr) return largest;
  if (const auto* keys = std::get_if<RelativeKeys>(&call.encoding->term())) {
    double row = 0;
    for (const float x : keys->value_table.data) row = std::max(row, std::fabs(static_cast<double>(x)));
    largest += row;
  }
  return largest;
}

/// The worst ratio of error to bound, of output and log-sum-exp; infinite if a row without visible keys is not
/// exactly zero.
template <class T>
double error_over_bound(const Tensors<T>& t, const reference::Attention& want, bool skipped = false) {
  const double v = largest_value(t.call);
  double worst = 0;
  const auto see = [&](double error, double bound) {
    const double share = error == 0 ? 0 : error / bound;
    worst = share <= worst ? worst : share;  // NaN is the worst
  };
  std::size_t row = 0;
  for (std::int64_t b = 0; b < t.e.batch; ++b) {
    for (std::int64_t h = 0; h < t.e.heads; ++h) {
      for (std::int64_t i = 0; i < t.e.queries; ++i, ++row) {
        const double lse = want.log_sum_exp[row];
        const double s = want.magnitude[row];
        const bool empty = lse == -HUGE_VAL;
        if (empty) {
          if (t.lse[row] != -std::numeric_limits<float>::infinity()) return HUGE_VAL;
        } else {
          see(std::fabs(static_cast<double>(t.lse[row]) - lse), lse_bound<T>(t.e, s, lse));
        }
        for (std::int64_t j = 0; j < t.e.dim; ++j) {
          const double exact = want.output[row * static_cast<std::size_t>(t.e.dim) + static_cast<std::size_t>(j)];
          const double bound = rounded_error<T>(exact, output_bound<T>(t.e, s, v, skipped));
          see(std::fabs(t.output(b, h, i, j) - exact), empty ? 0.0 : bound);
        }
      }
    }
  }
  return worst;
}

/// Runs the call and compares it with the reference.
template <class T>
void expect_matches_reference(Tensors<T>& t) {
  const AttentionWork work = attend(t.call);
  const double share = error_over_bound(t, reference::attend(t.call), work.skipped > 0);
  EXPECT_LE(share, 1.0) << t.e.batch << " x " << t.e.queries << " x " << t.e.keys << ", heads " << t.e.heads << "/"
                        << t.e.key_heads << ", dim " << t.e.dim << ", " << name_of(element_type_of<T>);
}

inline std::vector<Position> ids_from(Position first, std::int64_t count) {
  std::vector<Position> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

/// A small generator of choices.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::int64_t upto(std::int64_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(most + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace locus::testing
