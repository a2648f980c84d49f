// SPDX-License-Identifier: Apache-2.0
#include "learn/laws/plain_attention.h"

#include <cmath>

namespace locus::learn {
namespace {

/// Divides the weights of each row, or of each column, by their sum.
void normalise(Array& weights, bool columns) {
  const std::int64_t rows = weights.size(columns ? 1 : 0), entries = weights.size(columns ? 0 : 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < entries; ++j) sum += columns ? weights(j, i) : weights(i, j);
    for (std::int64_t j = 0; j < entries; ++j) (columns ? weights(j, i) : weights(i, j)) /= sum;
  }
}

}  // namespace

Array plain_attention(const Array& query, const Array& key, const Array& value, const AttentionForm& form) {
  const std::int64_t queries = query.size(0), keys = key.size(0), dim = query.size(1), width = value.size(1);
  Array weights = Array::real({queries, keys}, std::vector<double>(static_cast<std::size_t>(queries * keys)));
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < dim; ++c) score += query(i, c) * key(j, c);
      weights(i, j) = form.softmax ? std::exp(form.scale * score) : form.scale * score;
      if (form.causal && j > i) weights(i, j) = 0;
    }
  }
  if (form.softmax) normalise(weights, form.over_queries);
  Array output = Array::real({queries, width}, std::vector<double>(static_cast<std::size_t>(queries * width)));
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t c = 0; c < width; ++c) output(i, c) += weights(i, j) * value(j, c);
    }
  }
  return output;
}

Array permuted(const Array& x, const std::vector<std::int64_t>& order) {
  Array result = x;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    for (std::int64_t c = 0; c < x.size(1); ++c) result(i, c) = x(order[static_cast<std::size_t>(i)], c);
  }
  return result;
}

}  // namespace locus::learn
