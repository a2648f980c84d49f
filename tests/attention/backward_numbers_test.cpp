// SPDX-License-Identifier: Apache-2.0
// The backward pass of what tokens bring to the score (forget gates), and of many heads and documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backward_check.h"

namespace locus::testing {
namespace {

using Int = std::int64_t;

HeadsView in_double(std::vector<double>& data, const std::vector<Int>& extents) {
  return heads_view(data.data(), ElementType::float64, "bthd", extents);
}

/// Two documents: the first has 3 queries and 3 keys, the second has 2 keys and no query.
struct Gated {
  static constexpr Int queries = 3, keys = 5, heads = 2, dim = 2;

  explicit Gated(bool bidirectional)
      : encoding("forget_gate", {{"heads", heads}, {"bidirectional", bidirectional}}), numbers(bidirectional ? 2 : 1) {
    const auto sized = [](Int count, std::uint64_t seed) {
      return random_elements<double>(static_cast<std::size_t>(count), seed);
    };
    q = sized(queries * heads * dim, 1);
    k = sized(keys * heads * dim, 2);
    v = sized(keys * heads * dim, 3);
    g = sized(queries * heads * dim, 4);
    query_numbers = sized(queries * heads * numbers, 5);
    key_numbers = sized(keys * heads * numbers, 6);
    out.resize(q.size());
  }

  AttentionCall call() {
    AttentionCall made;
    made.query = in_double(q, {1, queries, heads, dim});
    made.key = in_double(k, {1, keys, heads, dim});
    made.value = in_double(v, {1, keys, heads, dim});
    made.output = in_double(out, {1, queries, heads, dim});
    made.query_numbers = in_double(query_numbers, {1, queries, heads, numbers});
    made.key_numbers = in_double(key_numbers, {1, keys, heads, numbers});
    made.encoding = &encoding;
    made.mask.causal = numbers == 1;
    made.query_boundaries = query_ends;
    made.key_boundaries = key_ends;
    return made;
  }

  double loss() {
    attend(call());
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
    return sum;
  }

  Encoding encoding;
  Int numbers;
  std::vector<double> q, k, v, g, query_numbers, key_numbers, out;
  std::vector<Int> query_ends{0, 3, 3}, key_ends{0, 3, 5};
};

void expect_slopes(Gated& one, std::vector<double>& values, const std::vector<double>& gradient, const char* what) {
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double kept = values[i];
    values[i] = kept + step;
    const double up = one.loss();
    values[i] = kept - step;
    const double down = one.loss();
    values[i] = kept;
    EXPECT_NEAR(gradient[i], (up - down) / (2 * step), 1e-8) << what << " " << i;
  }
}

TEST(BackwardNumbers, AreTheSlopesOfTheLossAndZeroWithoutQueries) {
  for (const bool bidirectional : {false, true}) {
    Gated one(bidirectional);
    one.loss();
    const auto fresh = [](const std::vector<double>& like) { return std::vector<double>(like.size(), 77.0); };
    std::vector<double> dq = fresh(one.q), dk = fresh(one.k), dv = fresh(one.v);
    std::vector<double> by_query = fresh(one.query_numbers), by_key = fresh(one.key_numbers);
    AttentionGradientCall call;
    call.forward = one.call();
    const auto like = [](HeadsView view, std::vector<double>& data) {
      view.data = data.data();
      return view;
    };
    call.output_gradient = like(call.forward.output, one.g);
    call.query_gradient = like(call.forward.query, dq);
    call.key_gradient = like(call.forward.key, dk);
    call.value_gradient = like(call.forward.value, dv);
    call.query_numbers_gradient = like(call.forward.query_numbers, by_query);
    call.key_numbers_gradient = like(call.forward.key_numbers, by_key);
    attend_backward(call);
    expect_slopes(one, one.query_numbers, by_query, "query number");
    expect_slopes(one, one.key_numbers, by_key, "key number");
    expect_slopes(one, one.k, dk, "key");
    expect_slopes(one, one.v, dv, "value");
    for (std::size_t i = 3 * one.heads * static_cast<std::size_t>(one.numbers); i < by_key.size(); ++i) {
      EXPECT_EQ(by_key[i], 0) << "nobody sees key " << i;
    }
  }
}

// Heads and batch rows are independent, however many there are: 9 rows of 2 heads give what each row gives alone.
TEST(BackwardOnce, ManyRowsAreIndependent) {
  const Learned plain{"nope", {}, {}};
  const Extents all{.batch = 9, .queries = 4, .keys = 4, .heads = 2, .key_heads = 2, .dim = 3};
  Extents single = all;
  single.batch = 1;
  Backward<double> whole(all, plain);
  whole.run();
  const std::size_t each = whole.dk.size() / 9;
  for (std::size_t row = 0; row < 9; ++row) {
    Backward<double> alone(single, plain);
    const auto part = [&](const std::vector<double>& of) {
      return std::vector<double>(of.begin() + static_cast<std::ptrdiff_t>(row * each),
                                 of.begin() + static_cast<std::ptrdiff_t>((row + 1) * each));
    };
    std::ranges::copy(part(whole.t.q), alone.t.q.begin());
    std::ranges::copy(part(whole.t.k), alone.t.k.begin());
    std::ranges::copy(part(whole.t.v), alone.t.v.begin());
    std::ranges::copy(part(whole.g), alone.g.begin());
    alone.run();
    EXPECT_EQ(part(whole.dq), alone.dq) << row;
    EXPECT_EQ(part(whole.dk), alone.dk) << row;
    EXPECT_EQ(part(whole.dv), alone.dv) << row;
  }
}

}  // namespace
}  // namespace locus::testing
