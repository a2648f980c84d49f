// SPDX-License-Identifier: Apache-2.0
#include "attention/double_head.h"

#include <algorithm>
#include <cmath>

namespace locus {
HeadInDouble::HeadInDouble(const Problem& problem, const Document& document, std::int64_t head)
    : problem_(problem),
      document_(document),
      head_(head),
      keys_(problem.relative()),
      numbers_(problem, document, head),
      turns_(problem, document, false) {
  if (keys_ == nullptr) return;
  key_rows_.emplace_back(problem, head, RowUse::key);
  if (keys_->meets_keys()) meeting_rows_.emplace_back(problem, head, RowUse::meeting);
  if (!keys_->value_table.data.empty()) value_rows_.emplace_back(problem, head, RowUse::value);
}

double HeadInDouble::probabilities(std::int64_t query, std::vector<double>& weights, std::vector<double>* slopes) {
  weights.assign(static_cast<std::size_t>(document_.keys), -HUGE_VAL);
  if (slopes != nullptr) slopes->assign(weights.size(), 0.0);
  const std::vector<double> q = vector(problem_.call().query, document_.first_query + query, head_);
  const std::span<const float> sinks = problem_.call().sink_logits;
  const double sink = sinks.empty() ? -HUGE_VAL : static_cast<double>(sinks[static_cast<std::size_t>(head_)]);
  double top = sink;
  for (std::int64_t key = 0; key < document_.keys; ++key) {
    if (!problem_.sees(document_, head_, query, key)) continue;
    const Score score = score_of(q, query, key);
    weights[static_cast<std::size_t>(key)] = score.value;
    if (slopes != nullptr) (*slopes)[static_cast<std::size_t>(key)] = score.slope;
  }
  if (keys_ != nullptr && keys_->counted) add_counted(q, query, weights);
  for (const double score : weights) top = score <= top ? top : score;
  if (top == -HUGE_VAL) {
    std::fill(weights.begin(), weights.end(), 0.0);
    return top;
  }
  double total = std::exp(sink - top);
  for (double& weight : weights) total += weight = std::exp(weight - top);
  for (double& weight : weights) weight /= total;
  return top + std::log(total);
}

// Scores hold scale q.k; the gates of keys are summed from the last to the first.
void HeadInDouble::add_counted(const std::vector<double>& q, std::int64_t query, std::vector<double>& scores) {
  double* shared = problem_.gate_count(document_.batch, head_, document_.first_query + query);
  double own = 0;
  double& count = shared == nullptr ? own : *shared;
  for (std::int64_t key = document_.keys - 1; key >= 0; --key) {
    double& score = scores[static_cast<std::size_t>(key)];
    if (score == -HUGE_VAL) continue;
    count += counted_gate(problem_, document_, {head_, query, key}, score);
    const CountedPlace place = counted_place(*keys_, count);
    const auto met = [&](std::int64_t row) {
      double sum = 0;
      for (std::size_t j = 0; j < q.size(); ++j) sum += q[j] * static_cast<double>(keys_->key_table.row(row)[j]);
      return sum * problem_.relative_scale();
    };
    score += met(place.below) * (1 - place.share) + (place.share > 0 ? met(place.above) * place.share : 0);
  }
}

std::vector<double> HeadInDouble::vector(const HeadsView& view, std::int64_t token, std::int64_t head) const {
  const std::byte* row = Problem::row(view, document_.batch, token, head);
  std::vector<double> values(static_cast<std::size_t>(view.head_dim));
  for (std::int64_t j = 0; j < view.head_dim; ++j) values[static_cast<std::size_t>(j)] = Problem::element(view, row, j);
  return values;
}

std::vector<double> HeadInDouble::key_vector(std::int64_t key) {
  const TypedRows stored = problem_.rows(RowSupply::Part::keys, document_, key_head(), key, 1, room_);
  HeadsView view = problem_.call().key;
  view.type = stored.type;
  std::vector<double> values(static_cast<std::size_t>(view.head_dim));
  const auto* row = static_cast<const std::byte*>(stored.rows.data);
  for (std::int64_t j = 0; j < view.head_dim; ++j) values[static_cast<std::size_t>(j)] = Problem::element(view, row, j);
  return values;
}

std::vector<double> HeadInDouble::as_query_sees(std::int64_t query, std::int64_t key, std::vector<double> k) const {
  if (!turns_.present()) return k;
  const std::size_t region = turns_.region_of(query, key);
  turns_.turn_key(region, key, k);
  turns_.turn_query(region, query, k, Direction::inverse);
  return k;
}

std::vector<double> HeadInDouble::as_key_sees(std::int64_t query, std::int64_t key, std::vector<double> q) const {
  if (!turns_.present()) return q;
  const std::size_t region = turns_.region_of(query, key);
  turns_.turn_query(region, query, q);
  turns_.turn_key(region, key, q, Direction::inverse);
  return q;
}

const double* HeadInDouble::relative_key(std::int64_t query, std::int64_t key) {
  if (key_rows_.empty()) return nullptr;
  return key_rows_[0].row(document_.query_ids[static_cast<std::size_t>(query)],
                          document_.key_ids[static_cast<std::size_t>(key)]);
}

const double* HeadInDouble::meeting_row(std::int64_t query, std::int64_t key) {
  if (meeting_rows_.empty()) return nullptr;
  return meeting_rows_[0].row(document_.query_ids[static_cast<std::size_t>(query)],
                              document_.key_ids[static_cast<std::size_t>(key)]);
}

const double* HeadInDouble::relative_value(std::int64_t query, std::int64_t key) {
  if (value_rows_.empty()) return nullptr;
  return value_rows_[0].row(document_.query_ids[static_cast<std::size_t>(query)],
                            document_.key_ids[static_cast<std::size_t>(key)]);
}

HeadInDouble::Score HeadInDouble::score_of(const std::vector<double>& q, std::int64_t query, std::int64_t key) {
  std::vector<double> k = key_vector(key);
  double content = 0;
  if (turns_.present()) {
    const std::size_t region = turns_.region_of(query, key);
    std::vector<double> turned = q;
    turns_.turn_query(region, query, turned);
    turns_.turn_key(region, key, k);
    for (std::size_t j = 0; j < q.size(); ++j) content += turned[j] * k[j];
  } else {
    for (std::size_t j = 0; j < q.size(); ++j) content += q[j] * k[j];
  }
  double score = content * problem_.scale();
  if (keys_ != nullptr && !keys_->counted) score += relative_term(q, k, query, key) * problem_.relative_scale();
  const double cap = problem_.call().soft_cap;
  double slope = 1;
  if (cap > 0) {
    const double part = std::tanh(score / cap);
    score = cap * part;
    slope = (1 - part) * (1 + part);
  }
  if (numbers_.present()) {
    score += numbers_.of(query, key);
  } else if (const ScoreBias* bias = problem_.bias()) {
    score += bias->value(head_, document_.query_ids[static_cast<std::size_t>(query)],
                         document_.key_ids[static_cast<std::size_t>(key)]) *
             problem_.bias_scale();
  }
  return {score, slope};
}

double HeadInDouble::relative_term(const std::vector<double>& q, const std::vector<double>& k, std::int64_t query,
                                   std::int64_t key) {
  const double* row = relative_key(query, key);
  const double* meeting = meeting_row(query, key);
  const bool biased = !keys_->u.data.empty();
  double sum = 0;
  for (std::size_t j = 0; j < q.size(); ++j) {
    const double v = biased ? static_cast<double>(keys_->v.row(head_)[j]) : 0;
    sum += (q[j] + v) * row[j];
    if (meeting != nullptr) sum += k[j] * meeting[j];
    if (biased) sum += static_cast<double>(keys_->u.row(head_)[j]) * k[j];
  }
  return sum;
}

}  // namespace locus
