// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/small_attention.h"

namespace locus::doctor {
namespace {

std::vector<std::vector<double>> reordered(const std::vector<std::vector<double>>& rows,
                                           std::span<const std::size_t> order) {
  std::vector<std::vector<double>> result;
  for (const std::size_t from : order) result.push_back(rows[from]);
  return result;
}

void add_to(std::vector<double>& vector, const std::vector<double>& row) {
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] += row[i];
}

Tokens placed(const Subject& subject, Tokens tokens, std::span<const Position> ids) {
  if (subject.add_rows) {
    for (auto* vectors : {&tokens.query, &tokens.key, &tokens.value}) *vectors = subject.add_rows(*vectors, ids);
  }
  for (std::size_t t = 0; t < tokens.count(); ++t) {
    if (subject.row) {
      const std::vector<double> row = subject.row(ids[t]);
      for (auto* vectors : {&tokens.query, &tokens.key, &tokens.value}) add_to((*vectors)[t], row);
    }
    if (subject.rotate) {
      const std::vector<Position> place(static_cast<std::size_t>(subject.axes), ids[t]);
      tokens.query[t] = subject.rotate(Role::query, place, tokens.query[t]);
      tokens.key[t] = subject.rotate(Role::key, place, tokens.key[t]);
    }
  }
  return tokens;
}

std::vector<std::int64_t> some_heads(std::int64_t heads) {
  std::vector<std::int64_t> chosen;
  const std::int64_t count = std::min<std::int64_t>(heads, 4);
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? 0 : i * (heads - 1) / (count - 1));
  return chosen;
}

std::vector<double> softmax(std::vector<double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - top);
  for (double& score : scores) score /= total;
  return scores;
}

}  // namespace

Tokens Tokens::permuted(std::span<const std::size_t> order) const {
  return {reordered(query, order), reordered(key, order), reordered(value, order)};
}

Tokens random_tokens(Samples& samples, std::int64_t count, std::int64_t width) {
  Tokens tokens;
  for (std::int64_t t = 0; t < count; ++t) {
    tokens.query.push_back(samples.vector(width));
    tokens.key.push_back(samples.vector(width));
    tokens.value.push_back(samples.vector(width));
  }
  return tokens;
}

double SmallAttention::rounding() const {
  const double width = output.empty() ? 0 : static_cast<double>(output.front().size());
  return (2 * (width + 16) * score_size + 4 * static_cast<double>(tokens) + 16) * unit * value_size;
}

SmallAttention attend_small(const Subject& subject, const Tokens& given, std::span<const Position> ids) {
  const Tokens tokens = placed(subject, given, ids);
  SmallAttention result{.output = {}, .tokens = tokens.count()};
  for (const std::int64_t head : some_heads(subject.heads)) {
    for (std::size_t i = 0; i < tokens.count(); ++i) {
      const std::vector<double>& q = tokens.query[i];
      std::vector<double> scores;
      for (std::size_t j = 0; j < tokens.count(); ++j) {
        const std::vector<double>& k = tokens.key[j];
        const double bias = subject.bias ? subject.bias(head, ids[i], ids[j]) : 0;
        const double score = subject.relative_score ? subject.relative_score(head, q, k, ids[i], ids[j])
                                                    : subject.scale * dot(q, k) + bias;
        scores.push_back(score);
        const double position = subject.relative_score ? std::fabs(score) : std::fabs(bias);
        result.score_size = worse(subject.scale * norm(q) * norm(k) + position, result.score_size);
      }
      const std::vector<double> weights = softmax(scores);
      std::vector<double> output(q.size(), 0.0);
      for (std::size_t j = 0; j < tokens.count(); ++j) {
        std::vector<double> value = tokens.value[j];
        if (subject.relative_value) add_to(value, subject.relative_value(ids[i], ids[j]));
        for (std::size_t d = 0; d < output.size(); ++d) {
          output[d] += weights[j] * value[d];
          result.value_size = worse(std::fabs(value[d]), result.value_size);
        }
      }
      result.output.push_back(output);
    }
  }
  return result;
}

double difference_after(const SmallAttention& a, const SmallAttention& b, std::span<const std::size_t> order) {
  double largest = 0;
  for (std::size_t row = 0; row < b.output.size(); ++row) {
    const std::size_t head = row / b.tokens, token = row % b.tokens;
    largest = worse(largest_difference(a.output[head * a.tokens + order[token]], b.output[row]), largest);
  }
  return largest;
}

}  // namespace locus::doctor
