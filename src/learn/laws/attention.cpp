// SPDX-License-Identifier: Apache-2.0
// attention(q, k, v): weights sum to 1, only score differences matter, and order does not.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_attention.h"

namespace locus::learn {
namespace {

constexpr std::int64_t attention_tokens = 4, attention_dim = 3;

Array one_hot(std::int64_t size) {
  Array unit = Array::real({size, size}, std::vector<double>(static_cast<std::size_t>(size * size)));
  for (std::int64_t i = 0; i < size; ++i) unit(i, i) = 1;
  return unit;
}

/// Where every output is the right one times a number of its query, the sums of weights are wrong and nothing else.
std::string cause_of_sums(const Array& got, const Array& right) {
  if (agree(got.values, right.values)) return {};
  double all = 0;
  for (std::int64_t i = 0; i < right.size(0); ++i) {
    const double factor = got(i, 0) / right(i, 0);
    if (factor <= 0) return {};
    for (std::int64_t c = 1; c < right.size(1); ++c) {
      if (!agree(got(i, c), factor * right(i, c))) return {};
    }
    all += factor;
  }
  return agree(all, 1) ? "attention.over_all" : "attention.not_normalised";
}

std::string cause_of_attention(const Array& got, const Array& q, const Array& k, const Array& v) {
  const auto form = [&](const AttentionForm& wrong) {
    return [&, wrong] { return plain_attention(q, k, v, wrong).values; };
  };
  const std::string known = likely_cause(
      got.values, {{"attention.over_queries", form({.over_queries = true})},
                   {"attention.no_softmax", form({.softmax = false})},
                   {"attention.causal", form({.causal = true})},
                   {"attention.scaled", form({.scale = 1 / std::sqrt(static_cast<double>(attention_dim))})},
                   {"attention.scaled", form({.scale = 1 / static_cast<double>(attention_dim)})},
                   {"attention.sign", form({.scale = -1})},
                   {"attention.values", [&] { return plain_attention(q, k, k).values; }}});
  return known.empty() ? cause_of_sums(got, plain_attention(q, k, v)) : known;
}

/// With one-hot values the output is the weights: rows sum to 1, and ln(w_j / w_0) = q (k_j - k_0).
void check_weights(Solution& solution, const std::string& cause) {
  Random random(14);
  const Array q = random_array(random, {attention_tokens, attention_tokens}),
              k = random_array(random, {attention_tokens, attention_tokens});
  const Array weights =
      solution.call("attention", {q, k, one_hot(attention_tokens)}, {attention_tokens, attention_tokens});
  for (std::int64_t i = 0; i < attention_tokens; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < attention_tokens; ++j) sum += weights(i, j);
    if (!agree(sum, 1)) throw BrokenLaw{"attention.sum", cause, {{"token", shown(i)}, {"sum", shown(sum)}}};
    for (std::int64_t j = 1; j < attention_tokens; ++j) {
      double difference = 0;
      for (std::int64_t c = 0; c < attention_tokens; ++c) difference += q(i, c) * (k(j, c) - k(0, c));
      if (!agree(weights(i, j), weights(i, 0) * std::exp(difference))) {
        throw BrokenLaw{"attention.ratio", cause, {{"token", shown(i)}, {"key", shown(j)}}};
      }
    }
  }
}

}  // namespace

void laws_of_attention(Solution& solution) {
  Random random(11);
  const Array q = random_array(random, {attention_tokens, attention_dim}),
              k = random_array(random, {attention_tokens, attention_dim}),
              v = random_array(random, {attention_tokens, attention_dim});
  const Array out = solution.call("attention", {q, k, v}, {attention_tokens, attention_dim});
  const std::string cause = cause_of_attention(out, q, k, v);
  check_weights(solution, cause);
  require_equal(out.values, plain_attention(q, k, v).values, "attention.mean", cause, at_token(out));

  const std::vector<std::int64_t> order = {2, 0, 3, 1};
  const Array moved = solution.call("attention", {permuted(q, order), permuted(k, order), permuted(v, order)},
                                    {attention_tokens, attention_dim});
  require_equal(moved.values, permuted(out, order).values, "attention.equivariant", cause, at_token(out));

  const Array one = solution.call(
      "attention", {q, random_array(random, {1, attention_dim}), Array::real({1, 2}, {3, -4})}, {attention_tokens, 2});
  for (std::int64_t i = 0; i < attention_tokens; ++i) {
    if (!agree(one(i, 0), 3) || !agree(one(i, 1), -4))
      throw BrokenLaw{"attention.one_key", cause, {{"token", shown(i)}}};
  }

  Array large = q;
  for (double& value : large.values) value *= 2000;
  try {
    solution.call("attention", {large, k, v}, {attention_tokens, attention_dim});
  } catch (const BrokenLaw& broken) {
    if (broken.law == "run.not_finite") throw BrokenLaw{"attention.large", "attention.overflow", broken.parameters};
    throw;
  }
}

}  // namespace locus::learn
