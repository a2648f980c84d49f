// SPDX-License-Identifier: Apache-2.0
#include "locus/reference_attention.h"

#include <cmath>

#include "locus/reference.h"

namespace locus::reference {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::vector<double> vector_of(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head) {
  const std::int64_t first = batch * view.batch_stride + token * view.token_stride + head * view.head_stride;
  std::vector<double> values;
  for (std::int64_t i = first; i < first + view.head_dim; ++i) {
    if (view.type == ElementType::float32) values.push_back(static_cast<double>(static_cast<float*>(view.data)[i]));
    if (view.type == ElementType::float64) values.push_back(static_cast<double*>(view.data)[i]);
    if (view.type == ElementType::bfloat16) {
      values.push_back(static_cast<double>(to_float(static_cast<BFloat16*>(view.data)[i])));
    }
    if (view.type == ElementType::float16) {
      values.push_back(static_cast<double>(to_float(static_cast<Float16*>(view.data)[i])));
    }
  }
  return values;
}

// The document of a token, its index within the document, and the document's size.
struct Place {
  std::int64_t document = 0;
  std::int64_t index = 0;
  std::int64_t size = 0;
};

Place place_of(std::span<const std::int64_t> boundaries, std::int64_t token, std::int64_t tokens) {
  if (boundaries.empty()) return {0, token, tokens};
  std::int64_t document = 0;
  while (boundaries[at(document + 1)] <= token) ++document;
  const std::int64_t first = boundaries[at(document)];
  return {document, token - first, boundaries[at(document + 1)] - first};
}

std::int64_t size_of_document(std::span<const std::int64_t> boundaries, std::int64_t document, std::int64_t tokens) {
  return boundaries.empty() ? tokens : boundaries[at(document + 1)] - boundaries[at(document)];
}

Position id_of(std::span<const Position> ids, std::int64_t batch, std::int64_t token, std::int64_t tokens) {
  return ids[at(static_cast<std::int64_t>(ids.size()) == tokens ? token : batch * tokens + token)];
}

class Materialised {
 public:
  explicit Materialised(const AttentionCall& call) : call_(call) {
    if (call.encoding == nullptr) return;
    bias_ = std::get_if<ScoreBias>(&call.encoding->term());
    relative_ = std::get_if<RelativeKeys>(&call.encoding->term());
    rotation_ = std::get_if<Rotation>(&call.encoding->term());
  }

  double scale() const {
    double own = 1 / std::sqrt(static_cast<double>(call_.query.head_dim));
    if (rotation_ != nullptr) own *= rotation_->softmax_scale_factor;
    if (bias_ != nullptr && bias_->softmax_scale) own = *bias_->softmax_scale;
    if (relative_ != nullptr && relative_->softmax_scale) own = *relative_->softmax_scale;
    return call_.scale.value_or(own) * call_.scale_factor;
  }

  Position query_index(std::int64_t query) const {
    const Place place = place_of(call_.query_boundaries, query, call_.query.tokens);
    return place.index + size_of_document(call_.key_boundaries, place.document, call_.key.tokens) - place.size;
  }
  Position key_index(std::int64_t key) const { return place_of(call_.key_boundaries, key, call_.key.tokens).index; }
  Position query_id(std::int64_t batch, std::int64_t query) const {
    return call_.query_ids.empty() ? query_index(query) : id_of(call_.query_ids, batch, query, call_.query.tokens);
  }
  Position key_id(std::int64_t batch, std::int64_t key) const {
    return call_.key_ids.empty() ? key_index(key) : id_of(call_.key_ids, batch, key, call_.key.tokens);
  }

  bool seen(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    const Mask& mask = call_.mask;
    const Place q = place_of(call_.query_boundaries, query, call_.query.tokens);
    const Place k = place_of(call_.key_boundaries, key, call_.key.tokens);
    if (q.document != k.document) return false;
    const Position here = mask.by_index ? query_index(query) : query_id(batch, query);
    const Position there = mask.by_index ? key_index(key) : key_id(batch, key);
    const bool in_prefix = 0 <= there && there < mask.prefix, is_sink = 0 <= there && there < mask.sinks;
    if (mask.causal && !(there <= here || in_prefix)) return false;
    if (mask.window > 0 && !(std::abs(here - there) < mask.window || is_sink)) return false;
    const std::int64_t keys = call_.key.tokens, queries = call_.query.tokens;
    if (!mask.keys.empty()) {
      const bool one_row = static_cast<std::int64_t>(mask.keys.size()) == keys;
      if (mask.keys[at((one_row ? 0 : batch * keys) + key)] == 0) return false;
    }
    if (!mask.pairs.empty()) {
      const bool one_row = static_cast<std::int64_t>(mask.pairs.size()) == queries * keys;
      if (mask.pairs[at((one_row ? 0 : batch * queries * keys) + query * keys + key)] == 0) return false;
    }
    return !mask.custom || mask.custom(batch, head, query, key);
  }

  struct Score {
    double value;
    double magnitude;
  };
  Score score(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    const std::vector<double> q = vector_of(call_.query, batch, query, head);
    const std::vector<double> k = vector_of(call_.key, batch, key, key_head(head));
    const Position i = query_id(batch, query), j = key_id(batch, key);
    Score result = content(head, q, k, i, j);
    if (call_.soft_cap > 0) result.value = call_.soft_cap * std::tanh(result.value / call_.soft_cap);
    if (bias_ != nullptr) {
      const double bias = bias_->token_numbers > 0 ? brought(batch, head, query, key, j > i)
                                                   : bias_->value(head, i, j) * (bias_->before_scale ? scale() : 1.0);
      result.value += bias;
      result.magnitude += std::fabs(bias);
    }
    return result;
  }

  // CoPE: adds to a row of scores what the gates of later keys count, from the last key to the first.
  void count(std::int64_t batch, std::int64_t head, std::int64_t query, std::vector<double>& scores,
             double& magnitude) const {
    if (relative_ == nullptr || !relative_->counted) return;
    const std::vector<double> q = vector_of(call_.query, batch, query, head);
    const auto last = static_cast<double>(relative_->key_table.dim(0) - 1);
    double counted = 0, most = 0;
    for (auto key = static_cast<std::int64_t>(scores.size()) - 1; key >= 0; --key) {
      if (scores[at(key)] == -HUGE_VAL) continue;
      double mixed = relative_->gate_mix.data.empty() ? scores[at(key)] : 0;
      for (std::int64_t other = 0; !relative_->gate_mix.data.empty() && other < call_.query.heads; ++other) {
        const std::vector<double> a = vector_of(call_.query, batch, query, other);
        const std::vector<double> b = vector_of(call_.key, batch, key, key_head(other));
        double product = 0;
        for (std::size_t d = 0; d < a.size(); ++d) product += a[d] * b[d];
        mixed += static_cast<double>(relative_->gate_mix.row(head)[at(other)]) * product * scale();
      }
      counted += 1 / (1 + std::exp(-mixed));
      const double place = std::min(counted, last);
      double term = 0, size = 0;
      for (std::size_t d = 0; d < q.size(); ++d) {
        const double low =
            static_cast<double>(relative_->key_table.row(static_cast<std::int64_t>(std::floor(place)))[d]);
        const double high =
            static_cast<double>(relative_->key_table.row(static_cast<std::int64_t>(std::ceil(place)))[d]);
        const double between = low + (high - low) * (place - std::floor(place));
        term += q[d] * between;
        size += std::fabs(q[d]) * (std::fabs(low) + std::fabs(high));
      }
      scores[at(key)] += term;
      most = std::max(most, size);
    }
    magnitude += most;
  }

  std::vector<double> value(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    std::vector<double> v = vector_of(call_.value, batch, key, key_head(head));
    if (relative_ != nullptr && !relative_->value_table.data.empty()) {
      const auto row = relative_->value_table.row(relative_->index(query_id(batch, query), key_id(batch, key)));
      for (std::size_t d = 0; d < v.size(); ++d) v[d] += static_cast<double>(row[d]);
    }
    return v;
  }

 private:
  std::int64_t key_head(std::int64_t head) const { return head / (call_.query.heads / call_.key.heads); }

  // What the numbers of the two tokens add: q0 - k0 or, for a key after the query where there are two, k1 - q1.
  double brought(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key, bool after) const {
    const std::vector<double> of_query = vector_of(call_.query_numbers, batch, query, head);
    const std::vector<double> of_key = vector_of(call_.key_numbers, batch, key, head);
    return after && of_query.size() > 1 ? of_key[1] - of_query[1] : of_query[0] - of_key[0];
  }

  Score content(std::int64_t head, const std::vector<double>& q, const std::vector<double>& k, Position i,
                Position j) const {
    double sum = 0, size = 0;
    if (rotation_ != nullptr && rotation_->offsets) return remapped(q, k, i, j);
    for (std::size_t d = 0; d < q.size(); ++d) {
      sum += q[d] * k[d];
      size += std::fabs(q[d] * k[d]);
    }
    if (relative_ == nullptr || relative_->counted) return {sum * scale(), size * std::fabs(scale())};
    const double whole = relative_score(*relative_, head, {q, k, i, j}, scale());
    return {whole, size * std::fabs(scale()) + relative_magnitude(head, q, k, i, j)};
  }

  // Query and key are rotated at i and j. With an offset map they stand at a and b instead: a pair of coordinates then
  // has the angle (a - b) - (i - j) more between query and key, so that its part of the score is |q||k| cos of that.
  Score remapped(const std::vector<double>& q, const std::vector<double>& k, Position i, Position j) const {
    const OffsetMap& map = *rotation_->offsets;
    std::size_t region = 0;
    while (region + 1 < map.regions.size() && j < map.regions[region].first_key(i)) ++region;
    const Position units = map.regions[region].query_at(i) - map.regions[region].key_at(j) - (i - j) * map.denominator;
    const double change = static_cast<double>(units) / static_cast<double>(map.denominator);
    const auto first = at(rotation_->rotary_offset), pairs = at(rotation_->pairs());
    const bool apart = rotation_->pairing == Pairing::half || rotation_->deinterleaved_output;
    double sum = 0, size = 0;
    const auto add = [&](double product) {
      sum += product;
      size += std::fabs(product);
    };
    for (std::size_t d = 0; d < q.size(); ++d) {
      if (d < first || d >= first + 2 * pairs) add(q[d] * k[d]);
    }
    for (std::size_t p = 0; p < pairs; ++p) {
      const std::size_t x = first + (apart ? p : 2 * p), y = apart ? x + pairs : x + 1;
      const double angle = change * rotation_->inv_freq[p] + change * rotation_->inv_freq_low[p];
      const double turned_x = q[x] * std::cos(angle) - q[y] * std::sin(angle);
      const double turned_y = q[x] * std::sin(angle) + q[y] * std::cos(angle);
      add(turned_x * k[x]);
      add(turned_y * k[y]);
    }
    return {sum * scale(), size * std::fabs(scale())};
  }

  // The sum of absolute products in the position term.
  double relative_magnitude(std::int64_t head, const std::vector<double>& q, const std::vector<double>& k, Position i,
                            Position j) const {
    const RelativeKeys& keys = *relative_;
    double size = 0;
    if (keys.index) {
      const auto add = [&](const Tensor& table, std::int64_t index, const std::vector<double>& vector) {
        const std::size_t first =
            at(keys.per_head ? (index * keys.heads + head) * keys.head_dim : index * keys.head_dim);
        for (std::size_t d = 0; d < vector.size(); ++d) {
          size += std::fabs(static_cast<double>(table.data[first + d]) * vector[d]);
        }
      };
      add(keys.key_table, keys.index(i, j), q);
      if (keys.column_index) add(keys.column_table, keys.column_index(i, j), q);
      if (keys.meets_key) add(keys.key_table, keys.index(i, j), k);
      if (!keys.query_table.data.empty()) add(keys.query_table, keys.index(i, j), k);
    } else {
      const std::vector<double> wave = hidden_row(keys.sinusoid, i - j);
      for (std::size_t d = 0; d < q.size(); ++d) {
        const auto weights = keys.w_r.row(head * keys.head_dim + static_cast<std::int64_t>(d));
        double row = 0;
        for (std::size_t m = 0; m < wave.size(); ++m) row += std::fabs(static_cast<double>(weights[m]) * wave[m]);
        size += (std::fabs(q[d]) + std::fabs(static_cast<double>(keys.v.row(head)[d]))) * row;
        size += std::fabs(static_cast<double>(keys.u.row(head)[d]) * k[d]);
      }
    }
    return size * (keys.scaled ? std::fabs(scale()) : 1.0);
  }

  const AttentionCall& call_;
  const ScoreBias* bias_ = nullptr;
  const RelativeKeys* relative_ = nullptr;
  const Rotation* rotation_ = nullptr;
};

}  // namespace

Attention attend(const AttentionCall& call) {
  const Materialised all(call);
  Attention result;
  for (std::int64_t batch = 0; batch < call.query.batch; ++batch) {
    for (std::int64_t head = 0; head < call.query.heads; ++head) {
      for (std::int64_t query = 0; query < call.query.tokens; ++query) {
        std::vector<double> scores;
        double magnitude = 0;
        for (std::int64_t key = 0; key < call.key.tokens; ++key) {
          scores.push_back(-HUGE_VAL);
          if (!all.seen(batch, head, query, key)) continue;
          const auto score = all.score(batch, head, query, key);
          scores.back() = score.value;
          magnitude = std::max(magnitude, score.magnitude);
        }
        all.count(batch, head, query, scores, magnitude);
        const double sink = call.sink_logits.empty() ? -HUGE_VAL : static_cast<double>(call.sink_logits[at(head)]);
        double top = sink;
        for (const double score : scores) top = std::max(top, score);
        double total = top == -HUGE_VAL ? 0 : std::exp(sink - top);
        for (const double score : scores) total += top == -HUGE_VAL ? 0 : std::exp(score - top);
        std::vector<double> output(at(call.query.head_dim), 0.0);
        for (std::int64_t key = 0; key < call.key.tokens; ++key) {
          const bool seen = scores[at(key)] > -HUGE_VAL;
          const double probability = seen ? std::exp(scores[at(key)] - top) / total : 0.0;
          result.probabilities.push_back(probability);
          if (!seen) continue;
          const std::vector<double> value = all.value(batch, head, query, key);
          for (std::size_t d = 0; d < output.size(); ++d) output[d] += probability * value[d];
        }
        result.scores.insert(result.scores.end(), scores.begin(), scores.end());
        result.output.insert(result.output.end(), output.begin(), output.end());
        result.log_sum_exp.push_back(total == 0 ? -HUGE_VAL : top + std::log(total));
        result.magnitude.push_back(magnitude);
      }
    }
  }
  return result;
}

}  // namespace locus::reference
