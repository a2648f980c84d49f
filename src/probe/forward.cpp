// SPDX-License-Identifier: Apache-2.0
// One forward call: embeds, adds position rows for encodings of the site hidden, runs the blocks, and returns the
// wanted logits. Only attention distinguishes segments and uses the cache; everything else treats all tokens the
// same.
#include <algorithm>
#include <deque>
#include <numeric>

#include "locus/add.h"
#include "locus/error.h"
#include "locus/polar.h"
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
  view.data =
      static_cast<std::byte*>(view.data) + begin * view.token_stride * static_cast<std::int64_t>(size_of(view.type));
  view.tokens = count;
  view.batch_stride = count * view.token_stride;
  return view;
}

/// Copies the coordinates that both views have.
void copy_heads(const HeadsView& from, const HeadsView& to) {
  const auto row = [](const HeadsView& view, std::int64_t token, std::int64_t head) {
    return static_cast<float*>(view.data) + token * view.token_stride + head * view.head_stride;
  };
  for (std::int64_t t = 0; t < from.tokens; ++t) {
    for (std::int64_t h = 0; h < from.heads; ++h) {
      std::copy_n(row(from, t, h), std::min(from.head_dim, to.head_dim), row(to, t, h));
    }
  }
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
  Rows attend(std::int64_t layer, const AttentionInputs& inputs) override {
    if (call_.on_heads) call_.on_heads({layer, inputs.query, inputs.key});
    if (polar_of(cache_.encoding()) == nullptr) return attend_heads(layer, inputs);
    const std::int64_t width = attended_dim(config_, cache_.encoding());
    Rows query(inputs.query.tokens, config_.heads * width), key(inputs.key.tokens, config_.kv_heads * width);
    Rows value(key.count, key.width);
    const AttentionInputs polar{.query = heads_of(query, config_.heads, width),
                                .key = heads_of(key, config_.kv_heads, width),
                                .value = heads_of(value, config_.kv_heads, width)};
    to_polar(cache_.encoding(), {inputs.query, polar.query}, Role::query, call_.executor);
    to_polar(cache_.encoding(), {inputs.key, polar.key}, Role::key, call_.executor);
    copy_heads(inputs.value, polar.value);
    Rows wide = attend_heads(layer, polar), out(wide.count, config_.heads * config_.head_dim);
    copy_heads(heads_of(wide, config_.heads, width), heads_of(out, config_.heads, config_.head_dim));
    return out;
  }

 private:
  /// `inputs` are as wide as attention takes them.
  Rows attend_heads(std::int64_t layer, const AttentionInputs& inputs) {
    Rows out(inputs.query.tokens, config_.heads * inputs.query.head_dim);
    KvCache& cached = cache_.layers()[static_cast<std::size_t>(layer)];
    const HeadsView output = heads_of(out, config_.heads, inputs.query.head_dim);
    numbers_.clear();
    std::vector<CachedQueries> all;
    for (const Placed& segment : segments_) all.push_back(append(cached, segment, inputs, output));
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

  /// Returns the running sums of a segment's gates, zeros for its padding: [tokens, heads, gates], float64.
  HeadsView running_gates(const KvCache& cached, const Placed& segment, const Rows& gates) {
    const std::int64_t count = gates.width / config_.heads, real = segment.tokens - segment.padding;
    const float* first = gates.row(segment.begin + segment.padding);
    const HeadsView logarithms{.data = const_cast<float*>(first),
                               .tokens = real,
                               .heads = config_.heads,
                               .head_dim = count,
                               .batch_stride = real * gates.width,
                               .token_stride = gates.width,
                               .head_stride = count};
    std::vector<double>& sums = numbers_.emplace_back(static_cast<std::size_t>(segment.padding * gates.width));
    const std::vector<double> own = running_sums(logarithms, cached.last_numbers(segment.sequence));
    sums.insert(sums.end(), own.begin(), own.end());
    return heads_view(sums.data(), ElementType::float64, "thd", {{segment.tokens, config_.heads, count}});
  }

  CachedQueries append(KvCache& cached, const Placed& segment, const AttentionInputs& inputs, const HeadsView& output) {
    const Encoding& encoding = cache_.encoding();
    const std::int64_t first = segment.begin + segment.padding, real = segment.tokens - segment.padding;
    const std::span<const Position> ids = std::span(segment.ids).subspan(static_cast<std::size_t>(segment.padding));
    const HeadsView queries = tokens_of(inputs.query, segment.begin, segment.tokens);
    const HeadsView keys = tokens_of(inputs.key, first, real), values = tokens_of(inputs.value, first, real);
    if (encoding.site() == Site::query_key) {
      rotate(encoding, queries, plan_of(segment.query_ids), Role::query, Direction::forward, call_.executor);
      if (cache_.tables() == KeyTables::mixed) {
        rotate(encoding, keys, plan_of(ids), Role::key, Direction::forward, call_.executor);
      }
    }
    NewTokens tokens{.keys = keys, .values = values, .ids = ids};
    HeadsView numbers;
    if (encoding.site() == Site::score && encoding.score().token_numbers > 0) {
      numbers = running_gates(cached, segment, inputs.gates);
      tokens.numbers = tokens_of(numbers, segment.padding, real);
    }
    cached.append(segment.sequence, tokens, call_.executor);
    return {.sequence = segment.sequence,
            .query = queries,
            .output = tokens_of(output, segment.begin, segment.tokens),
            .ids = segment.query_ids,
            .query_numbers = numbers};
  }

  const ModelConfig& config_;
  const ForwardCall& call_;
  Cache& cache_;
  std::vector<Placed> segments_;
  std::deque<std::vector<double>> numbers_;  ///< per segment: the running sums of its gates
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

HiddenView hidden_view(float* rows, std::int64_t tokens, std::int64_t dim) {
  return {.data = rows, .tokens = tokens, .dim = dim, .batch_stride = tokens * dim, .token_stride = dim};
}

// Rows made from neighbours: the last cached tokens come before the new ones. Padding has no rows.
void add_neighbour_rows(const Cache& cache, const Placed& segment, Rows& x, Executor* executor) {
  const std::int64_t dim = x.width, most = cache.encoding().hidden().neighbours->kernel - 1;
  const std::span<const float> cached = cache.vectors(segment.sequence);
  const std::int64_t before = std::min(most, std::ssize(cached) / dim), real = segment.tokens - segment.padding;
  Rows joined(before + real, dim);
  std::copy(cached.end() - before * dim, cached.end(), joined.data.begin());
  float* const own = x.row(segment.begin + segment.padding);
  std::copy_n(own, real * dim, joined.row(before));
  std::vector<Position> ids;
  if (before > 0) ids = cache.positions(segment.sequence);
  ids.erase(ids.begin(), ids.end() - before);
  ids.insert(ids.end(), segment.ids.begin() + segment.padding, segment.ids.end());
  add(cache.encoding(), hidden_view(joined.data.data(), before + real, dim), plan_of(ids), executor);
  std::copy_n(joined.row(before), real * dim, own);
}

void add_position_rows(const Cache& cache, const std::vector<Placed>& segments, Rows& x, Executor* executor) {
  const Encoding& encoding = cache.encoding();
  if (encoding.site() != Site::hidden) return;
  for (const Placed& segment : segments) {
    if (encoding.hidden().neighbours) {
      add_neighbour_rows(cache, segment, x, executor);
    } else {
      add(encoding, hidden_view(x.row(segment.begin), segment.tokens, x.width), plan_of(segment.ids), executor);
    }
  }
}

// The vectors before their rows were added, for the next call.
void remember(const Rows& vectors, const std::vector<Placed>& segments, Cache& cache) {
  if (vectors.count == 0) return;
  for (const Placed& segment : segments) {
    const std::int64_t real = segment.tokens - segment.padding;
    cache.remember(segment.sequence,
                   {vectors.row(segment.begin + segment.padding), static_cast<std::size_t>(real * vectors.width)});
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
  const Encoding& encoding = cache.encoding();
  const bool by_neighbours = encoding.site() == Site::hidden && encoding.hidden().neighbours.has_value();
  const Rows vectors = by_neighbours ? x : Rows();
  add_position_rows(cache, segments, x, call.executor);
  try {
    CachedPass pass(config(), call, cache, segments);
    for (std::int64_t layer = 0; layer < config().layers; ++layer) network_->block(layer, x, pass);
    std::vector<float> logits;
    if (!wanted.empty()) logits = network_->logits(chosen(x, wanted), call.executor).data;
    remember(vectors, segments, cache);
    return logits;
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
