// SPDX-License-Identifier: Apache-2.0
// Attention over the cache: a batch becomes one problem per sequence. Few queries are computed page by page, many in
// tiles whose keys and values are packed from the pages.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "attention/attend.h"
#include "cache/state.h"
#include "locus/error.h"

namespace locus {
namespace {

/// Supplies the rows of a sequence to attention in tiles: in place if they are contiguous and need no turn.
class PagedSupply : public RowSupply {
 public:
  PagedSupply(std::vector<PageSpan> spans, const PageLayout& layout, std::int64_t dim)
      : spans_(std::move(spans)), layout_(layout), dim_(dim) {
    std::int64_t end = 0;
    for (const PageSpan& span : spans_) ends_.push_back(end += span.count);
  }

  TypedRows rows(Part part, std::int64_t head, std::int64_t first, std::int64_t count,
                 std::vector<std::byte>& room) const override {
    const std::int64_t size = layout_.integers ? static_cast<std::int64_t>(sizeof(float)) : layout_.element_size;
    const ElementType type = layout_.integers ? ElementType::float32 : layout_.type;
    auto at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    StoredKeys stored = rows_of(part, head, at, first, count);
    if (stored.count == count && !stored.turns.any() && !layout_.integers) {
      return {{.data = stored.keys, .stride = dim_, .rows = count, .dim = dim_}, type};
    }
    room.resize(static_cast<std::size_t>(count * dim_ * size));
    for (std::int64_t done = 0; done < count; done += stored.count, ++at) {
      stored = rows_of(part, head, at, first + done, count - done);
      turn_to_numbers(layout_, stored, room.data() + done * dim_ * size);
    }
    return {{.data = room.data(), .stride = dim_, .rows = count, .dim = dim_}, type};
  }

 private:
  /// Returns up to `most` rows from `first` on, which is in span `at`.
  StoredKeys rows_of(Part part, std::int64_t head, std::size_t at, std::int64_t first, std::int64_t most) const {
    const PageSpan& span = spans_[at];
    const bool keys = part == Part::keys;
    const std::int64_t skipped = first - (ends_[at] - span.count);
    const std::int64_t offset = (head * layout_.head_stride + skipped * dim_) * layout_.element_size;
    const float* scales = keys ? span.key_scales : span.value_scales;
    return {.keys = (keys ? span.keys : span.values) + offset,
            .scales = scales == nullptr ? nullptr : scales + head * layout_.scale_stride + skipped,
            .count = std::min(most, span.count - skipped),
            .dim = dim_,
            .turns = keys ? span.turns.from(skipped) : KeyTurns{}};
  }

  std::vector<PageSpan> spans_;
  std::vector<std::int64_t> ends_;
  const PageLayout& layout_;
  std::int64_t dim_;
};

void check_mask(const Mask& mask) {
  require(mask.keys.empty() && mask.pairs.empty() && mask.custom == nullptr,
          "cache: attend takes no mask.keys, mask.pairs or mask.custom; drafts of a tree have `tree`");
}

// Returns whether attention needs the encoding and the ids. A rotation was applied before.
bool acts_in_attention(const Encoding& encoding) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  if (rotation != nullptr) return rotation->offsets.has_value();
  return encoding.site() == Site::score || encoding.site() == Site::relative_key;
}

/// One sequence of a batch, with the data that its problem refers to.
struct Prepared {
  std::vector<Position> key_ids, query_ids;
  std::vector<std::uint8_t> pairs;
  std::vector<double> key_numbers, query_numbers;
  std::unique_ptr<PagedSupply> supply;
  AttentionCall call;
};

// The mask of a tree over all keys: everything before the drafts is visible.
std::vector<std::uint8_t> pairs_of(std::span<const std::uint8_t> tree, std::int64_t queries, std::int64_t keys) {
  std::vector<std::uint8_t> pairs(static_cast<std::size_t>(queries * keys), 1);
  for (std::int64_t i = 0; i < queries; ++i) {
    std::copy_n(tree.begin() + i * queries, queries, pairs.begin() + (i + 1) * keys - queries);
  }
  return pairs;
}

}  // namespace

std::vector<PageSpan> KvCache::State::spans_of(const Sequence& sequence) const {
  std::vector<PageSpan> spans;
  for (const Run& run : sequence.runs) {
    PageSpan span{.count = run.count,
                  .keys = pages.at(Part::keys, run.page, 0, run.first),
                  .values = pages.at(Part::values, run.page, 0, run.first)};
    if (pages.integers()) {
      span.key_scales = pages.scale(Part::keys, run.page, 0, run.first);
      span.value_scales = pages.scale(Part::values, run.page, 0, run.first);
    }
    span.turns = turns_of(run, run.first);
    spans.push_back(span);
  }
  return spans;
}

HeadsView KvCache::State::extents(const Sequence& sequence) const {
  return {.data = nullptr,
          .type = shape.type,
          .batch = 1,
          .tokens = sequence.length,
          .heads = shape.heads,
          .head_dim = shape.head_dim};
}

namespace {

// What tokens brought when they were appended, where the call brings nothing.
void give_numbers(Prepared& one, const Encoding& encoding, const CachedQueries& queries,
                  const std::function<std::vector<double>(std::int64_t begin, std::int64_t end)>& kept) {
  const ScoreBias& bias = encoding.score();
  const std::int64_t keys = one.call.key.tokens, count = queries.query.tokens;
  const auto give = [&](std::vector<double>& numbers, HeadsView& view, std::int64_t begin) {
    if (view.data != nullptr) return;
    numbers = kept(begin, keys);
    require(std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }),
            "cache: tokens of sequence ", queries.sequence, " were appended without numbers, which ",
            encoding.scheme().name, " needs: give key_numbers and query_numbers");
    const std::int64_t extents[] = {keys - begin, bias.heads, bias.token_numbers};
    view = heads_view(numbers.data(), ElementType::float64, "thd", extents);
  };
  give(one.key_numbers, one.call.key_numbers, 0);
  if (count <= keys) give(one.query_numbers, one.call.query_numbers, keys - count);
}

// Fills the ids of keys and queries, if attention needs them.
void give_ids(Prepared& one, const CachedQueries& queries, std::vector<Position> key_ids) {
  const std::int64_t count = queries.query.tokens, keys = std::ssize(key_ids);
  one.key_ids = std::move(key_ids);
  one.query_ids.assign(queries.ids.begin(), queries.ids.end());
  if (queries.ids.empty()) {
    require(count <= keys, "cache: ", count, " queries of sequence ", queries.sequence, " need ids: it has only ", keys,
            " tokens");
    one.query_ids.assign(one.key_ids.end() - count, one.key_ids.end());
  }
  one.call.key_ids = one.key_ids;
  one.call.query_ids = one.query_ids;
}

}  // namespace

// 0, 1, ... for the tokens of the longest sequence.
std::vector<Position> KvCache::State::indices_for(const CachedAttention& call) const {
  std::int64_t longest = 0;
  for (const CachedQueries& queries : call.queries) longest = std::max(longest, find(queries.sequence).length);
  std::vector<Position> indices(static_cast<std::size_t>(longest));
  std::iota(indices.begin(), indices.end(), Position{0});
  return indices;
}

void KvCache::attend(const CachedAttention& call) const {
  const State& state = *state_;
  check_mask(call.mask);
  const PageLayout layout = state.layout();
  std::vector<Prepared> prepared(call.queries.size());
  std::vector<PagedQueries> few;
  std::vector<std::unique_ptr<const Problem>> many, weighed;
  const std::vector<Position> indices = state.indices_for(call);
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    const CachedQueries& queries = call.queries[i];
    const Sequence& sequence = state.find(queries.sequence);
    const std::int64_t count = queries.query.tokens;
    require(queries.tree.empty() || (std::ssize(queries.tree) == count * count && count <= sequence.length),
            "cache: the tree of ", count, " queries over ", sequence.length, " tokens must have ", count * count,
            " values, got ", queries.tree.size());
    Prepared& one = prepared[i];
    one.call = {.query = queries.query,
                .key = state.extents(sequence),
                .value = state.extents(sequence),
                .output = queries.output};
    one.call.mask = call.mask;
    one.call.scale = call.scale;
    one.call.scale_factor = call.scale_factor;
    const bool acts = acts_in_attention(state.encoding);
    if (state.rotates() && !acts && !call.scale) {
      one.call.scale_factor *= state.encoding.rotation().softmax_scale_factor;
    }
    one.call.query_numbers = queries.query_numbers;
    one.call.key_numbers = queries.key_numbers;
    if (state.number_size() > 0)
      give_numbers(one, state.encoding, queries,
                   [&](std::int64_t begin, std::int64_t end) { return state.numbers_of(sequence, begin, end); });
    one.call.soft_cap = call.soft_cap;
    one.call.sink_logits = call.sink_logits;
    one.call.log_sum_exp = queries.log_sum_exp;
    one.call.executor = call.executor;
    if (acts) one.call.encoding = &state.encoding;
    if (one.call.encoding != nullptr || !call.mask.by_index) {
      std::vector<Position> ids = state.ids_of(sequence, 0, sequence.length);
      ids.resize(static_cast<std::size_t>(sequence.length));  // the first axis
      give_ids(one, queries, std::move(ids));
    }
    std::vector<PageSpan> spans = state.spans_of(sequence);
    one.supply = std::make_unique<PagedSupply>(spans, layout, state.shape.head_dim);
    auto problem = std::make_unique<const Problem>(one.call, one.supply.get(), indices);
    const bool by_pages = is_for_pages(*problem);
    if (!queries.tree.empty() && (!by_pages || !queries.rows_wanted.empty())) {
      one.pairs = pairs_of(queries.tree, count, sequence.length);
      one.call.mask.pairs = one.pairs;
    }
    if (count > 0 && by_pages) {
      few.push_back({std::move(problem), std::move(spans), queries.tree});
    } else if (count > 0) {
      many.push_back(std::make_unique<const Problem>(one.call, one.supply.get(), indices));
    }
    if (queries.rows_wanted.empty()) continue;
    AttentionCall weights = one.call;
    weights.rows_wanted = queries.rows_wanted;
    weights.probabilities = queries.probabilities;
    weighed.push_back(std::make_unique<const Problem>(weights, one.supply.get(), indices));
  }
  attend_paged(few, layout, call.executor);
  for (const auto& problem : many) attend_in_tiles(*problem);
  for (const auto& problem : weighed) store_probabilities(*problem);
}

CachedSequence KvCache::gather(SequenceId sequence) const {
  const State& state = *state_;
  const Sequence& found = state.find(sequence);
  const std::int64_t heads = state.shape.heads, dim = state.shape.head_dim, count = found.length;
  CachedSequence result;
  result.ids = state.ids_of(found, 0, count);
  result.numbers = state.numbers_of(found, 0, count);
  const auto size = static_cast<std::int64_t>(size_of(state.shape.type));
  const std::int64_t bytes = count * heads * dim * size;
  result.storage.resize(static_cast<std::size_t>(2 * bytes));
  result.keys = heads_view(result.storage.data(), state.shape.type, "thd", {{count, heads, dim}});
  result.values = heads_view(result.storage.data() + bytes, state.shape.type, "thd", {{count, heads, dim}});
  const PageLayout layout = state.layout();
  const PagedSupply supply(state.spans_of(found), layout, dim);
  std::vector<std::byte> room;
  for (const auto part : {Part::keys, Part::values}) {
    std::byte* to = result.storage.data() + (part == Part::keys ? 0 : bytes);
    for (std::int64_t head = 0; count > 0 && head < heads; ++head) {
      const TypedRows rows = supply.rows(part, head, 0, count, room);
      for (std::int64_t t = 0; t < count; ++t) {
        const std::byte* from =
            static_cast<const std::byte*>(rows.rows.data) + t * dim * static_cast<std::int64_t>(size_of(rows.type));
        std::byte* row = to + (t * heads + head) * dim * size;
        if (rows.type == state.shape.type) {
          std::memcpy(row, from, static_cast<std::size_t>(dim * size));
        } else {
          attend_kernels(state.shape.type).store_row(reinterpret_cast<const float*>(from), 1.0f, dim, row);
        }
      }
    }
  }
  return result;
}

}  // namespace locus
