// SPDX-License-Identifier: Apache-2.0
// Numbers that tokens bring: the score gains number 0 of the query minus that of the key or, with two numbers and for
// a key after the query, number 1 of the key minus that of the query. Differences of running sums are formed in double.
#include "attention/position_terms.h"
#include "locus/error.h"

namespace locus {
namespace {

void read(const HeadsView& view, std::int64_t batch, std::int64_t first, std::int64_t head,
          std::vector<double> (&to)[2]) {
  for (std::int64_t n = 0; n < view.head_dim; ++n) {
    for (std::size_t t = 0; t < to[n].size(); ++t) {
      to[n][t] = Problem::element(view, Problem::row(view, batch, first + static_cast<std::int64_t>(t), head), n);
    }
  }
}

}  // namespace

TokenNumbers::TokenNumbers(const Problem& problem, const Document& document, std::int64_t head)
    : document_(document), count_(problem.bias() == nullptr ? 0 : problem.bias()->token_numbers) {
  for (std::int64_t n = 0; n < count_; ++n) {
    query_[n].resize(static_cast<std::size_t>(document.queries));
    key_[n].resize(static_cast<std::size_t>(document.keys));
  }
  if (count_ == 0) return;
  read(problem.call().query_numbers, document.batch, document.first_query, head, query_);
  read(problem.call().key_numbers, document.batch, document.first_key, head, key_);
  if (count_ != 1) return;
  add_differences_ = attend_kernels(ElementType::float32).add_differences;
  for (const double number : query_[0]) scaled_query_.push_back(log2_e * number);
  for (const double number : key_[0]) scaled_key_.push_back(log2_e * number);
}

int TokenNumbers::which(std::int64_t query, std::int64_t key) const {
  return count_ == 2 &&
         document_.key_ids[static_cast<std::size_t>(key)] > document_.query_ids[static_cast<std::size_t>(query)];
}

double TokenNumbers::of(std::int64_t query, std::int64_t key) const {
  const int n = which(query, key);
  return sign(n) * (query_[n][static_cast<std::size_t>(query)] - key_[n][static_cast<std::size_t>(key)]);
}

void TokenNumbers::add(const TilePlace& tile, float* scores, std::int64_t stride) const {
  if (count_ == 1) {
    return add_differences_({.rows = tile.rows,
                             .columns = tile.columns,
                             .row = scaled_query_.data() + tile.first_query,
                             .column = scaled_key_.data() + tile.first_key,
                             .scores = scores,
                             .stride = stride});
  }
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    float* row = scores + i * stride;
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      row[c] += static_cast<float>(log2_e * of(tile.first_query + i, tile.first_key + c));
    }
  }
}

std::vector<double> running_sums(const HeadsView& numbers, std::span<const double> before) {
  const std::int64_t width = numbers.heads * numbers.head_dim;
  require(before.empty() || std::ssize(before) == numbers.batch * width, "running_sums: before must have ",
          numbers.batch * width, " values (batch x heads x numbers), got ", before.size());
  std::vector<double> sums(static_cast<std::size_t>(numbers.batch * numbers.tokens * width));
  double* to = sums.data();
  for (std::int64_t b = 0; b < numbers.batch; ++b) {
    for (std::int64_t t = 0; t < numbers.tokens; ++t) {
      for (std::int64_t i = 0; i < width; ++i, ++to) {
        const std::int64_t head = i / numbers.head_dim, n = i % numbers.head_dim;
        const double first = before.empty() ? 0 : before[static_cast<std::size_t>(b * width + i)];
        *to = (t == 0 ? first : to[-width]) + Problem::element(numbers, Problem::row(numbers, b, t, head), n);
      }
    }
  }
  return sums;
}

void running_sums_backward(std::span<double> gradients, const HeadsView& numbers) {
  const std::int64_t width = numbers.heads * numbers.head_dim, row = numbers.tokens * width;
  require(std::ssize(gradients) == numbers.batch * row, "running_sums_backward: gradients must have ",
          numbers.batch * row, " values, got ", gradients.size());
  for (std::int64_t b = 0; b < numbers.batch; ++b) {
    for (std::int64_t i = (b + 1) * row - width - 1; i >= b * row; --i) {
      gradients[static_cast<std::size_t>(i)] += gradients[static_cast<std::size_t>(i + width)];
    }
  }
}

}  // namespace locus
