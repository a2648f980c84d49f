// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/token_paths.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "locus/cache.h"
#include "locus/turn_output.h"

namespace locus::doctor {
namespace {

void append_rows(PathResult& into, const std::vector<double>& output, std::span<const std::int64_t> tokens) {
  into.output.insert(into.output.end(), output.begin(), output.end());
  into.tokens.insert(into.tokens.end(), tokens.begin(), tokens.end());
}

// What follows attention at the site output.
void turn_back(const Encoding& encoding, const HeadsView& output, const Encoded& queries) {
  if (!turns_output(encoding)) return;
  turn_output(encoding, output,
              {.axes = std::ssize(queries.ids) / (output.batch * output.tokens),
               .batch = output.batch,
               .tokens = output.tokens,
               .ids = queries.ids});
}

void attend_whole(const AttentionCall& call, const Encoded& queries) {
  attend(call);
  turn_back(*call.encoding, call.output, queries);
}

// A sequence in a KvCache.
class KeyStore {
 public:
  KeyStore(const Sample& sample, ElementType type, std::int64_t page_size = 16)
      : sample_(sample),
        type_(type),
        cache_(sample.encoding(), {.capacity = 4 * sample.tokens() + 4 * page_size,
                                   .heads = sample.key_heads(),
                                   .head_dim = sample.head_dim(),
                                   .type = type,
                                   .page_size = page_size}),
        sequence_(cache_.create()) {}

  KvCache& cache() { return cache_; }
  void append(const Encoded& tokens) { append(tokens, tokens.ids); }
  void append(const Encoded& tokens, std::span<const Position> ids) {
    cache_.append(sequence_, {.keys = tokens.raw_key.view(), .values = tokens.value.view(), .ids = ids});
  }

  void attend(const Encoded& queries, PathResult& into, std::span<const std::int64_t> tokens) const {
    const HeadsArray output(type_, {1, queries.query.view().tokens, sample_.heads(), sample_.head_dim()});
    // A sequence holds the first tokens of the sample whenever it is asked.
    const HeadsArray numbers = sample_.numbers_of_first(cache_.length(sequence_));
    const CachedQueries one{.sequence = sequence_,
                            .query = queries.query.view(),
                            .output = output.view(),
                            .query_numbers = numbers_view(queries.numbers),
                            .key_numbers = numbers_view(numbers)};
    cache_.attend({.queries = std::span(&one, 1)});
    turn_back(sample_.encoding(), output.view(), queries);
    append_rows(into, output.values(), tokens);
  }

  /// Continues as a new sequence that shares the cached keys.
  void fork() { sequence_ = cache_.fork(sequence_); }
  SequenceId sequence() const { return sequence_; }
  void go_to(SequenceId sequence) { sequence_ = sequence; }

 private:
  const Sample& sample_;
  ElementType type_;
  KvCache cache_;
  SequenceId sequence_;
};

std::vector<std::int64_t> lengths_of(const Sample& sample) { return {sample.tokens(), sample.tokens() / 2 + 1, 1}; }

AttentionCall call_of(const Encoding& encoding, const Encoded& tokens, const HeadsArray& output) {
  AttentionCall call{
      .query = tokens.query.view(), .key = tokens.key.view(), .value = tokens.value.view(), .output = output.view()};
  call.encoding = &encoding;
  call.query_ids = call.key_ids = tokens.places;
  call.query_numbers = call.key_numbers = numbers_view(tokens.numbers);
  call.mask.causal = true;
  return call;
}

}  // namespace

std::vector<std::int64_t> range(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}

void attend_to(const Sample& sample, const Encoding& encoding, const Encoded& queries, const KeysAndValues& over,
               std::span<const std::int64_t> tokens, PathResult& into) {
  const HeadsArray output(over.keys.type, {1, queries.query.view().tokens, sample.heads(), sample.head_dim()});
  AttentionCall call = call_of(encoding, queries, output);
  call.key = over.keys;
  call.value = over.values;
  call.key_ids = over.places;
  call.key_numbers = over.numbers;
  attend_whole(call, queries);
  append_rows(into, output.values(), tokens);
}

PathResult whole(const Sample& sample, ElementType type, Position shift, bool causal) {
  const std::vector<std::int64_t> tokens = range(0, sample.tokens());
  const Encoded encoded = sample.encode(type, tokens, 1, shift);
  const HeadsArray output(type, {1, sample.tokens(), sample.heads(), sample.head_dim()});
  AttentionCall call = call_of(sample.encoding(), encoded, output);
  call.mask.causal = causal;
  attend_whole(call, encoded);
  return {tokens, output.values()};
}

PathResult chunked(const Sample& sample, ElementType type, std::int64_t first, std::int64_t size) {
  KeyStore store(sample, type);
  PathResult result;
  for (std::int64_t begin = 0, count = first; begin < sample.tokens(); begin += count, count = size) {
    // The tokens after a prefix have the ids of the planner.
    const PositionIds plan = positions::decode(begin, std::min(count, sample.tokens() - begin));
    const Encoded chunk = sample.encode(type, plan.ids);
    store.append(chunk);
    store.attend(chunk, result, plan.ids);
  }
  return result;
}

PathResult forked(const Sample& sample, ElementType type) {
  KeyStore store(sample, type);
  PathResult result;
  const std::int64_t prefix = (sample.tokens() + 1) / 2, rest = sample.tokens() - prefix;
  const Encoded shared = sample.encode(type, range(0, prefix));
  store.append(shared);
  store.attend(shared, result, range(0, prefix));
  if (rest == 0) return result;
  const SequenceId parent = store.sequence();
  store.fork();
  const SequenceId child = store.sequence();
  // The parent continues with another text, here the same tokens in reverse, alternating with its child.
  store.go_to(parent);
  std::vector<std::int64_t> backwards = range(0, rest);
  std::reverse(backwards.begin(), backwards.end());
  const Encoded other = sample.encode(type, backwards);
  store.append(other, sample.encode(type, range(prefix, rest)).ids);
  store.go_to(child);
  for (std::int64_t token = prefix; token < sample.tokens(); ++token) {
    const Encoded one = sample.encode(type, range(token, 1));
    store.append(one);
    store.attend(one, result, range(token, 1));
  }
  return result;
}

namespace {

// Operations that leave a sequence as it was: each of them changes pages, sharing or what is turned.
void change_and_undo(KeyStore& store, const Sample& sample, ElementType type, std::int64_t done,
                     RandomNumbers& random) {
  KvCache& cache = store.cache();
  const SequenceId own = store.sequence();
  const std::int64_t drafts = std::min<std::int64_t>(1 + random.up_to(20), sample.tokens() - done);
  switch (random.up_to(4)) {
    case 0:  // goes on from a fork, whose parent ends
      store.fork();
      cache.free(own);
      break;
    case 1:  // another sequence writes behind the shared tokens
      store.fork();
      store.append(sample.encode(type, range(done, drafts)));
      cache.free(store.sequence());
      store.go_to(own);
      break;
    case 2:  // drafts that are rejected
      store.append(sample.encode(type, range(done, drafts)));
      cache.truncate(own, done);
      break;
    case 3:  // there and back
      if (!keys_move(sample.encoding())) break;
      cache.shift(own, 1);
      cache.shift(own, -1);
      break;
    default:
      cache.slide(own, 0, std::max<std::int64_t>(done, 1), false);
  }
}

}  // namespace

PathResult with_history(const Sample& sample, ElementType type, RandomNumbers& random) {
  KeyStore store(sample, type, 16 + random.up_to(48));
  PathResult result;
  for (std::int64_t done = 0; done < sample.tokens();) {
    if (done > 0) change_and_undo(store, sample, type, done, random);
    const std::int64_t count = std::min<std::int64_t>(1 + random.up_to(24), sample.tokens() - done);
    const Encoded chunk = sample.encode(type, range(done, count));
    store.append(chunk);
    store.attend(chunk, result, range(done, count));
    done += count;
  }
  return result;
}

PathResult moved_back(const Sample& sample, ElementType type, Position by, RandomNumbers& random) {
  KeyStore store(sample, type, 16 + random.up_to(48));
  PathResult result;
  const std::int64_t last = sample.tokens() - 1;
  store.append(sample.encode(type, range(0, last), 1, by));
  store.cache().shift(store.sequence(), -by);
  const Encoded one = sample.encode(type, range(last, 1));
  store.append(one);
  store.attend(one, result, range(last, 1));
  return result;
}

bool keys_move(const Encoding& encoding) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  return rotation == nullptr || !(rotation->mix || rotation->turns_output);
}

PathResult drafted(const Sample& sample, ElementType type) {
  const std::int64_t prefix = (sample.tokens() + 1) / 2, drafts = sample.tokens() - prefix;
  // Node 2i is wrong and node 2i + 1 right; both follow the right node before them.
  std::vector<std::int64_t> parents, slots, places;
  for (std::int64_t i = 0; i < drafts; ++i) {
    parents.insert(parents.end(), 2, 2 * i - 1);
    slots.insert(slots.end(), {i % prefix, prefix + i});
    places.insert(places.end(), 2, prefix + i);
  }
  const std::int64_t nodes = 2 * drafts;
  const std::vector<std::uint8_t> tree = positions::ancestor_mask(parents);
  std::vector<std::uint8_t> visible;
  for (std::int64_t node = 0; node < nodes; ++node) {
    visible.insert(visible.end(), static_cast<std::size_t>(prefix), 1);
    visible.insert(visible.end(), tree.begin() + node * nodes, tree.begin() + (node + 1) * nodes);
  }
  std::vector<std::int64_t> all = range(0, prefix), all_places = all;
  all.insert(all.end(), slots.begin(), slots.end());
  all_places.insert(all_places.end(), places.begin(), places.end());
  const Encoded over = sample.encode(sample.encoding(), type, all, 1, 0, all_places);
  const Encoded queries = sample.encode(sample.encoding(), type, slots, 1, 0, places);
  const HeadsArray output(type, {1, nodes, sample.heads(), sample.head_dim()});
  AttentionCall call = call_of(sample.encoding(), queries, output);
  call.key = over.key.view();
  call.value = over.value.view();
  call.key_ids = over.places;
  call.key_numbers = numbers_view(over.numbers);
  call.mask = {.pairs = visible};
  attend_whole(call, queries);
  PathResult result;
  const std::vector<double> rows = output.values();
  const auto row = static_cast<std::ptrdiff_t>(sample.heads() * sample.head_dim());
  for (const std::int64_t node :
       drafts == 0 ? std::vector<std::int64_t>{} : positions::accepted_path(parents, nodes - 1)) {
    const std::int64_t token[] = {places[static_cast<std::size_t>(node)]};
    append_rows(result, {rows.begin() + node * row, rows.begin() + (node + 1) * row}, token);
  }
  return result;
}

PathResult padded(const Sample& sample, ElementType type, bool left) {
  const std::vector<std::int64_t> lengths = lengths_of(sample);
  const std::int64_t width = sample.tokens() + padding_slots, batch = static_cast<std::int64_t>(lengths.size());
  const positions::Padded plan =
      left ? positions::left_padded(lengths, width) : positions::right_padded(lengths, width);
  std::vector<std::int64_t> slots = plan.ids.ids;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (plan.mask[i] == 0) slots[i] = padding;
  }
  const Encoded encoded = sample.encode(type, slots, batch);
  const HeadsArray output(type, {batch, width, sample.heads(), sample.head_dim()});
  AttentionCall call = call_of(sample.encoding(), encoded, output);
  call.mask.keys = plan.mask;
  attend_whole(call, encoded);
  PathResult result;
  const std::vector<double> all = output.values();
  const auto row = static_cast<std::ptrdiff_t>(sample.heads() * sample.head_dim());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == padding) continue;
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(i) * row;
    append_rows(result, {from, from + row}, {&slots[i], 1});
  }
  return result;
}

PathResult packed(const Sample& sample, ElementType type) {
  const std::vector<std::int64_t> slots = positions::packed(lengths_of(sample)).ids;
  std::vector<std::int64_t> boundaries{0};
  for (const std::int64_t length : lengths_of(sample)) boundaries.push_back(boundaries.back() + length);
  const Encoded encoded = sample.encode(type, slots);
  const HeadsArray output(type, {1, boundaries.back(), sample.heads(), sample.head_dim()});
  AttentionCall call = call_of(sample.encoding(), encoded, output);
  call.query_boundaries = call.key_boundaries = boundaries;
  attend_whole(call, encoded);
  return {slots, output.values()};
}

std::int64_t ranks_for(const Sample& sample) {
  for (const std::int64_t ranks : {4, 2, 1}) {
    if (sample.tokens() % (2 * ranks) == 0) return ranks;
  }
  return 0;
}

PathResult sharded(const Sample& sample, ElementType type, positions::ShardKind kind) {
  const std::int64_t ranks = ranks_for(sample), tokens = sample.tokens();
  const Extents extents{1, tokens, sample.heads(), sample.head_dim()};
  const Encoded queries = sample.encode(type, range(0, tokens));
  std::vector<HeadsArray> outputs;
  std::vector<std::vector<float>> lses;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const Encoded keys = sample.encode(type, positions::shard(kind, tokens, ranks, rank).ids);
    outputs.emplace_back(type, extents);
    lses.emplace_back(static_cast<std::size_t>(tokens * sample.heads()));
    AttentionCall call = call_of(sample.encoding(), queries, outputs.back());
    call.key = keys.key.view();
    call.value = keys.value.view();
    call.key_ids = keys.places;
    call.key_numbers = numbers_view(keys.numbers);
    call.log_sum_exp = lses.back().data();
    attend(call);
  }
  std::vector<PartialAttention> parts;
  for (std::size_t i = 0; i < outputs.size(); ++i) parts.push_back({outputs[i].view(), lses[i].data()});
  const HeadsArray merged(type, extents);
  merge(parts, merged.view());
  turn_back(sample.encoding(), merged.view(), queries);
  return {range(0, tokens), merged.values()};
}

}  // namespace locus::doctor
