// SPDX-License-Identifier: Apache-2.0
// One forward call: embeds, adds position rows for encodings of the site hidden, runs the blocks, and returns the
// wanted logits. Only attention distinguishes segments and uses the cache; everything else treats all tokens the
// same.
#include <algorithm>
#include <numeric>

#include "locus/add.h"
#include "locus/error.h"
#include "probe/memory.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

/// A segment with its range of the call's tokens and its positions.
struct Placed {
  SequenceId sequence;
  std::int64_t begin, tokens, padding;
  std::vector<Position> ids, query_ids;
  std::int64_t length_before;
};

Placed place(const Segment& segment, std::int64_t begin, const Cache& cache) {
  const auto tokens = static_cast<std::int64_t>(segment.tokens.size());
  require(tokens >= 1 && segment.padding >= 0 && segment.padding < tokens, "a segment must have more tokens than ",
          "padding, got ", tokens, " and ", segment.padding);
  Placed placed{segment.sequence, begin, tokens, segment.padding, {}, {}, cache.length(segment.sequence)};
  if (!segment.positions.empty()) {
    require(static_cast<std::int64_t>(segment.positions.size()) == tokens, "got ", segment.positions.size(),
            " positions for ", tokens, " tokens");
    placed.ids.assign(segment.positions.begin(), segment.positions.end());
    return placed;
  }
  const std::vector<Position> last = cache.last_position(segment.sequence);
  const Position first = last.empty() ? cache.placement().first : last[0] + 1;
  placed.ids.assign(static_cast<std::size_t>(segment.padding), 0);
  for (std::int64_t t = 0; t < tokens - segment.padding; ++t) placed.ids.push_back(first + t);
  return placed;
}

void place_queries(Placed& segment, const Cache& cache) {
  segment.query_ids = segment.ids;
  for (Position& id : segment.query_ids) id += cache.placement().query_ahead;
  cache.encoding().check_positions(segment.query_ids);
}

void check_ids(const Placed& segment, const Cache& cache) {
  cache.encoding().check_positions(segment.ids);
  const std::vector<Position> before = cache.last_position(segment.sequence);
  std::optional<Position> last = before.empty() ? std::nullopt : std::optional(before[0]);
  for (std::size_t t = static_cast<std::size_t>(segment.padding); t < segment.ids.size(); ++t) {
    require(!last || segment.ids[t] > *last, "positions of a sequence must rise, got ", segment.ids[t], " after ",
            last.value_or(0));
    last = segment.ids[t];
  }
}

/// Returns tokens [begin, begin + count) of a view over all tokens of the call.
HeadsView tokens_of(HeadsView view, std::int64_t begin, std::int64_t count) {
  view.data = static_cast<float*>(view.data) + begin * view.token_stride;
  view.tokens = count;
  view.batch_stride = count * view.token_stride;
  return view;
}

PositionIds plan_of(std::span<const Position> ids) {
  return {.tokens = static_cast<std::int64_t>(ids.size()), .ids = {ids.begin(), ids.end()}};
}

class CachedPass : public Pass {
 public:
  CachedPass(const ModelConfig& config, const ForwardCall& call, Cache& cache, std::vector<Placed> segments)
      : config_(config), call_(call), cache_(cache), segments_(std::move(segments)) {}

  Executor* executor() const override { return call_.executor; }

  /// Appends the new keys and values of every segment, then attends for all of them in one call.
  Rows attend(std::int64_t layer, const HeadsView& query, const HeadsView& key, const HeadsView& value) override {
    if (call_.on_heads) call_.on_heads({layer, query, key});
    Rows out(query.tokens, config_.heads * config_.head_dim);
    KvCache& cached = cache_.layers()[static_cast<std::size_t>(layer)];
    const HeadsView output = heads_of(out, config_.heads, config_.head_dim);
    std::vector<CachedQueries> all;
    for (const Placed& segment : segments_) all.push_back(append(cached, segment, query, key, value, output));
    std::vector<std::vector<float>> probabilities;
    for (CachedQueries& one : all) {
      const auto rows = static_cast<std::size_t>(config_.heads) * call_.attention_wanted.size();
      if (!call_.on_attention || rows == 0) break;
      probabilities.emplace_back(rows * static_cast<std::size_t>(cached.length(one.sequence)));
      one.rows_wanted = call_.attention_wanted;
      one.probabilities = probabilities.back().data();
    }
    const Encoding& encoding = cache_.encoding();
    CachedAttention batch{.queries = all};
    // By index: padding precedes the first key and sees nothing, and ids may repeat (SelfExtend).
    batch.mask.window = config_.window;
    if (cache_.tables() == KeyTables::mixed && encoding.site() == Site::query_key) {
      batch.scale_factor = encoding.rotation().softmax_scale_factor;  // the cache does not know this encoding
    }
    batch.executor = call_.executor;
    cached.attend(batch);
    for (std::size_t s = 0; s < probabilities.size(); ++s) {
      const std::vector<Position> ids = cached.positions(all[s].sequence);
      call_.on_attention({.layer = layer,
                          .segment = static_cast<std::int64_t>(s),
                          .heads = config_.heads,
                          .rows = call_.attention_wanted,
                          .key_ids = ids,
                          .probabilities = probabilities[s]});
    }
    return out;
  }

 private:
  CachedQueries append(KvCache& cached, const Placed& segment, const HeadsView& query, const HeadsView& key,
                       const HeadsView& value, const HeadsView& output) {
    const Encoding& encoding = cache_.encoding();
    const std::int64_t first = segment.begin + segment.padding, real = segment.tokens - segment.padding;
    const std::span<const Position> ids = std::span(segment.ids).subspan(static_cast<std::size_t>(segment.padding));
    const HeadsView queries = tokens_of(query, segment.begin, segment.tokens);
    const HeadsView keys = tokens_of(key, first, real), values = tokens_of(value, first, real);
    if (encoding.site() == Site::query_key) {
      rotate(encoding, queries, plan_of(segment.query_ids), Role::query, Direction::forward, call_.executor);
      if (cache_.tables() == KeyTables::mixed) {
        rotate(encoding, keys, plan_of(ids), Role::key, Direction::forward, call_.executor);
      }
    }
    cached.append(segment.sequence, keys, values, ids, call_.executor);
    return {.sequence = segment.sequence,
            .query = queries,
            .output = tokens_of(output, segment.begin, segment.tokens),
            .ids = segment.query_ids};
  }

  const ModelConfig& config_;
  const ForwardCall& call_;
  Cache& cache_;
  std::vector<Placed> segments_;
};

std::vector<Token> checked_tokens(const ForwardCall& call, const ModelConfig& config) {
  std::vector<Token> tokens;
  for (const Segment& segment : call.segments) {
    tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
  }
  require(!tokens.empty(), "a forward call must have at least one token");
  for (const Token token : tokens) {
    require(token >= 0 && token < config.vocab, "token ", token, " is outside the model's vocabulary of ",
            config.vocab);
  }
  return tokens;
}

std::vector<Placed> checked_segments(const ForwardCall& call, const Cache& cache) {
  std::vector<Placed> placed;
  std::int64_t begin = 0, needed = 0;
  for (const Segment& segment : call.segments) {
    for (const Placed& other : placed) {
      require(other.sequence != segment.sequence, "sequence ", segment.sequence, " is given twice in one call");
    }
    placed.push_back(place(segment, begin, cache));
    check_ids(placed.back(), cache);
    place_queries(placed.back(), cache);
    begin += placed.back().tokens;
    needed += cache.layers().front().pages_for(segment.sequence, placed.back().tokens - placed.back().padding);
    for (const std::int64_t row : call.attention_wanted) {
      require(row >= 0 && row < placed.back().tokens, "attention is wanted for token ", row, " of a segment of ",
              placed.back().tokens);
    }
  }
  const std::int64_t room = cache.layers().front().free_pages();
  require(needed <= room, "the cache has ", room, " free pages, the new tokens need ", needed);
  return placed;
}

std::vector<std::int64_t> checked_wanted(const ForwardCall& call, const std::vector<Placed>& segments) {
  const std::int64_t tokens = segments.back().begin + segments.back().tokens;
  if (!call.logits_wanted) {
    std::vector<std::int64_t> last;
    for (const Placed& segment : segments) last.push_back(segment.begin + segment.tokens - 1);
    return last;
  }
  for (const std::int64_t row : *call.logits_wanted) {
    require(row >= 0 && row < tokens, "logits are wanted for token ", row, " of ", tokens);
  }
  return {call.logits_wanted->begin(), call.logits_wanted->end()};
}

void add_position_rows(const Encoding& encoding, const std::vector<Placed>& segments, Rows& x, Executor* executor) {
  if (encoding.site() != Site::hidden) return;
  for (const Placed& segment : segments) {
    const HiddenView view{.data = x.row(segment.begin),
                          .tokens = segment.tokens,
                          .dim = x.width,
                          .batch_stride = segment.tokens * x.width,
                          .token_stride = x.width};
    add(encoding, view, plan_of(segment.ids), executor);
  }
}

Rows chosen(const Rows& x, std::span<const std::int64_t> rows) {
  Rows out(static_cast<std::int64_t>(rows.size()), x.width);
  for (std::int64_t i = 0; i < out.count; ++i) {
    std::copy_n(x.row(rows[static_cast<std::size_t>(i)]), x.width, out.row(i));
  }
  return out;
}

}  // namespace

std::int64_t Model::working_bytes(std::int64_t tokens, std::int64_t logits) const {
  const ModelConfig& c = config();
  // The hidden state, its norm, queries, keys, values, the attention output and both inner rows; then a decoded tile.
  const std::int64_t per_token =
      4 * c.dim + 3 * c.heads * c.head_dim + 2 * c.kv_heads * c.head_dim + 2 * c.feed_forward;
  const std::int64_t tile = tile_rows * std::max(c.dim, c.feed_forward);
  return static_cast<std::int64_t>(sizeof(float)) * (tokens * per_token + logits * (c.vocab + 2 * c.dim) + 2 * tile);
}

std::vector<float> Model::forward(const ForwardCall& call, Cache& cache) const {
  const std::vector<Token> tokens = checked_tokens(call, config());
  require(std::ssize(cache.layers()) == config().layers, "the cache has ", cache.layers().size(), " layers, the model ",
          config().layers);
  std::vector<Placed> segments = checked_segments(call, cache);
  const std::vector<std::int64_t> wanted = checked_wanted(call, segments);
  const std::int64_t bytes = working_bytes(std::ssize(tokens), std::ssize(wanted));
  constexpr std::int64_t worth_asking = std::int64_t{256} << 20;
  if (bytes > worth_asking) {
    require_memory("a forward call over " + std::to_string(tokens.size()) + " tokens", static_cast<double>(bytes));
  }
  Rows x = network_->embed(tokens);
  add_position_rows(cache.encoding(), segments, x, call.executor);
  try {
    CachedPass pass(config(), call, cache, segments);
    for (std::int64_t layer = 0; layer < config().layers; ++layer) network_->block(layer, x, pass);
    if (wanted.empty()) return {};
    return network_->logits(chosen(x, wanted), call.executor).data;
  } catch (...) {
    for (KvCache& layer : cache.layers()) {
      for (const Placed& segment : segments) layer.truncate(segment.sequence, segment.length_before);
    }
    throw;
  }
}

std::vector<float> Model::forward(std::span<const Token> tokens, SequenceId sequence, Cache& cache,
                                  Executor* executor) const {
  const Segment segment{.sequence = sequence, .tokens = tokens};
  return forward({.segments = std::span(&segment, 1), .executor = executor}, cache);
}

}  // namespace locus::probe
