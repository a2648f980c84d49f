// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/score_map.h"

#include <cmath>
#include <numeric>

#include "locus/error.h"
#include "locus/polar.h"
#include "locus/reference_attention.h"
#include "locus/rotate.h"

namespace locus::probe {
namespace {

/// A copy of heads, [tokens, heads, head_dim] without gaps, and its view.
struct HeadsCopy {
  std::vector<float> numbers;
  HeadsView view;

  explicit HeadsCopy(const HeadsView& from) {
    for (std::int64_t token = 0; token < from.tokens; ++token) {
      for (std::int64_t head = 0; head < from.heads; ++head) {
        const float* const row =
            static_cast<const float*>(from.data) + token * from.token_stride + head * from.head_stride;
        numbers.insert(numbers.end(), row, row + from.head_dim);
      }
    }
    view = heads_view(numbers.data(), ElementType::float32, "thd", {{from.tokens, from.heads, from.head_dim}});
  }
};

/// The scores of one layer with `encoding`; null: without positions.
std::vector<double> scores_of(const BareHeads& heads, const Encoding* encoding, const std::vector<Position>& query_ids,
                              const std::vector<Position>& key_ids, std::int64_t window) {
  HeadsCopy query(heads.query), key(heads.key);
  if (encoding != nullptr && encoding->site() == Site::query_key) {
    const std::int64_t tokens = query.view.tokens;
    rotate(*encoding, query.view, {.tokens = tokens, .ids = query_ids}, Role::query);
    rotate(*encoding, key.view, {.tokens = tokens, .ids = key_ids}, Role::key);
  }
  AttentionCall call;
  call.query = query.view;
  call.key = call.value = key.view;
  if (encoding != nullptr && encoding->site() != Site::hidden) call.encoding = encoding;
  call.query_ids = query_ids;
  call.key_ids = key_ids;
  call.mask.causal = call.mask.by_index = true;
  call.mask.window = window;
  return reference::attend(call).scores;
}

void append(std::vector<float>& all, const std::vector<double>& scores) {
  for (const double score : scores) all.push_back(std::isfinite(score) ? static_cast<float>(score) : 0.0f);
}

}  // namespace

ScoreMap measure_scores(const Model& model, const Encoding& encoding, std::span<const Token> tokens,
                        const Placement& placement) {
  require(!tokens.empty(), "a map of scores needs at least 1 token");
  const std::int64_t count = std::ssize(tokens), window = model.config().window;
  const Encoding used = encoding.at_length(count);
  const bool gated = used.site() == Site::score && used.score().token_numbers > 0;
  Cache cache(model, count, used);
  cache.set_placement(placement);
  std::vector<Position> key_ids(tokens.size()), query_ids(tokens.size());
  std::iota(key_ids.begin(), key_ids.end(), placement.first);
  std::iota(query_ids.begin(), query_ids.end(), placement.first + placement.query_ahead);
  std::vector<std::int64_t> rows(tokens.size());
  std::iota(rows.begin(), rows.end(), 0);

  ScoreMap map{.layers = model.config().layers, .heads = model.config().heads, .tokens = count};
  const Segment segment{.sequence = cache.create(), .tokens = tokens};
  ForwardCall call;
  call.segments = std::span(&segment, 1);
  call.attention_wanted = rows;
  call.on_attention = [&](const AttentionRows& attention) {
    map.probabilities.insert(map.probabilities.end(), attention.probabilities.begin(), attention.probabilities.end());
  };
  if (polar_of(used) == nullptr && !gated) {
    call.on_heads = [&](const BareHeads& heads) {
      append(map.scores, scores_of(heads, &used, query_ids, key_ids, window));
      append(map.content, scores_of(heads, nullptr, query_ids, key_ids, window));
    };
  }
  (void)model.forward(call, cache);
  return map;
}

}  // namespace locus::probe
