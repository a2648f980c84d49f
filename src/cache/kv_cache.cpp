// SPDX-License-Identifier: Apache-2.0
// Sequences: begin, append, truncate, end.
#include "locus/cache.h"

#include <algorithm>
#include <cstring>

#include "cache/renumber.h"
#include "cache/state.h"
#include "locus/error.h"

namespace locus {

KvCache::State::State(const Encoding& given, const CacheShape& wanted)
    : encoding(given),
      shape(wanted),
      axes(rotates() ? given.rotation().axes : 1),
      pages(wanted, axes, turn_size(), number_size()) {
  shape.capacity = pages.free() * shape.page_size;
  require(!rotates() || encoding.rotation().head_dim == shape.head_dim, "cache: the encoding has head_dim ",
          rotates() ? encoding.rotation().head_dim : 0, ", the cache ", shape.head_dim);
  require(!raw() || !encoding.rotation().mix,
          "cache: this encoding mixes frequencies by head: its keys must be stored rotated, not raw");
  make_turn();
}

KvCache::KvCache(const Encoding& encoding, const CacheShape& shape)
    : state_(std::make_unique<State>(encoding, shape)) {}
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache& KvCache::operator=(KvCache&&) noexcept = default;
KvCache::~KvCache() = default;

const Sequence& KvCache::State::find(SequenceId sequence) const {
  const bool known =
      sequence >= 0 && sequence < std::ssize(sequences) && sequences[static_cast<std::size_t>(sequence)].has_value();
  require(known, "cache: unknown sequence ", sequence);
  return *sequences[static_cast<std::size_t>(sequence)];
}

Sequence& KvCache::State::find(SequenceId sequence) {
  return const_cast<Sequence&>(static_cast<const State*>(this)->find(sequence));
}

SequenceId KvCache::create() {
  std::vector<std::optional<Sequence>>& all = state_->sequences;
  const auto vacant = std::find(all.begin(), all.end(), std::nullopt);
  const SequenceId id = vacant - all.begin();
  if (vacant == all.end()) {
    all.emplace_back(Sequence());
  } else {
    vacant->emplace();
  }
  return id;
}

SequenceId KvCache::fork(SequenceId sequence) {
  Sequence shared = state_->find(sequence);
  const SequenceId id = create();
  for (const Run& run : shared.runs) state_->pages.retain(run.page);
  state_->find(id) = std::move(shared);
  return id;
}

void KvCache::free(SequenceId sequence) {
  state_->replace(state_->find(sequence), {});
  state_->sequences[static_cast<std::size_t>(sequence)].reset();
}

std::int64_t KvCache::length(SequenceId sequence) const { return state_->find(sequence).length; }

std::vector<Position> KvCache::positions(SequenceId sequence) const {
  const Sequence& found = state_->find(sequence);
  return state_->ids_of(found, 0, found.length);
}

std::vector<Position> KvCache::last_position(SequenceId sequence) const {
  const Sequence& found = state_->find(sequence);
  return found.length == 0 ? std::vector<Position>() : state_->ids_of(found, found.length - 1, found.length);
}

std::vector<double> KvCache::last_numbers(SequenceId sequence) const {
  const Sequence& found = state_->find(sequence);
  return found.length == 0 ? std::vector<double>() : state_->numbers_of(found, found.length - 1, found.length);
}

std::int64_t KvCache::free_pages() const { return state_->pages.free(); }

std::int64_t KvCache::pages_for(SequenceId sequence, std::int64_t tokens) const {
  require(tokens >= 0, "cache: pages_for at least 0 tokens, got ", tokens);
  return state_->pages_for(state_->find(sequence), tokens);
}

const Encoding& KvCache::encoding() const { return state_->encoding; }
const CacheShape& KvCache::shape() const { return state_->shape; }

// ---- growing

void KvCache::append(SequenceId sequence, const HeadsView& keys, const HeadsView& values, std::span<const Position> ids,
                     Executor* executor) {
  append(sequence, {.keys = keys, .values = values, .ids = ids}, executor);
}

namespace {

void check_numbers_of(const NewTokens& tokens, const Encoding& encoding) {
  const HeadsView& given = tokens.numbers;
  if (given.data == nullptr) return;
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  const std::int64_t wanted = bias == nullptr ? 0 : bias->token_numbers, heads = bias == nullptr ? 0 : bias->heads;
  require(wanted > 0, "cache: numbers must be absent: ", encoding.scheme().name, " takes no numbers from tokens");
  require(given.batch == 1 && given.tokens == tokens.keys.tokens && given.heads == heads && given.head_dim == wanted &&
              (given.type == ElementType::float32 || given.type == ElementType::float64),
          "cache: numbers must be float32 or float64 [1, ", tokens.keys.tokens, ", ", heads, ", ", wanted, "], got ",
          name_of(given.type), " [", given.batch, ", ", given.tokens, ", ", given.heads, ", ", given.head_dim, "]");
}

void check_tokens(const NewTokens& tokens, const CacheShape& shape, std::int64_t axes) {
  for (const HeadsView* view : {&tokens.keys, &tokens.values}) {
    require(view->type == shape.type && view->heads == shape.heads && view->head_dim == shape.head_dim &&
                view->batch == 1 && view->tokens >= 0,
            "cache: tokens must be ", name_of(shape.type), " [1, tokens, ", shape.heads, ", ", shape.head_dim,
            "], got ", name_of(view->type), " [", view->batch, ", ", view->tokens, ", ", view->heads, ", ",
            view->head_dim, "]");
    require(view->tokens * axes == std::ssize(tokens.ids), "cache: got ", tokens.ids.size(), " positions for ",
            view->tokens, " tokens", axes == 1 ? "" : " of several axes");
    require(view->data != nullptr || view->tokens == 0, "cache: the views of tokens must have data");
  }
}

}  // namespace

void KvCache::append(SequenceId sequence, const NewTokens& tokens, Executor* executor) {
  Sequence& found = state_->find(sequence);
  check_tokens(tokens, state_->shape, state_->axes);
  check_numbers_of(tokens, state_->encoding);
  const std::int64_t count = tokens.keys.tokens;
  state_->encoding.check_positions(tokens.ids, state_->shape.type);
  if (state_->axes == 1 && !tokens.any_order) {
    const std::vector<Position> before = last_position(sequence);
    const Position* last = before.empty() ? nullptr : before.data();
    for (const Position& id : tokens.ids) {
      require(last == nullptr || id > *last, "cache: positions must rise; ", id, " comes after ",
              last == nullptr ? Position{0} : *last);
      last = &id;
    }
  }
  const std::int64_t needed = state_->pages_for(found, count);
  require(needed <= state_->pages.free(), "cache: no free page: ", count, " tokens need ", needed, ", ",
          state_->pages.free(), " of ", state_->shape.capacity / state_->shape.page_size, " are free");
  if (count == 0) return;
  state_->write(state_->extend(found, count), tokens, executor);
  if (state_->shape.share_equal_pages) state_->share_full_pages(found);
}

// ---- shrinking

void KvCache::truncate(SequenceId sequence, std::int64_t length) {
  Sequence& found = state_->find(sequence);
  require(length >= 0 && length <= found.length, "cache: truncate to 0 .. ", found.length, " tokens, got ", length);
  while (found.length > length) {
    Run& last = found.runs.back();
    const auto dropped = static_cast<std::int32_t>(std::min<std::int64_t>(last.count, found.length - length));
    last.count -= dropped;
    found.length -= dropped;
    if (last.count > 0) break;
    state_->pages.release(last.page);
    found.runs.pop_back();
  }
}

void KvCache::keep(SequenceId sequence, std::int64_t begin, std::span<const std::int64_t> indices) {
  State& state = *state_;
  Sequence& found = state.find(sequence);
  require(begin >= 0 && begin <= found.length, "cache: keep tokens before 0 .. ", found.length, ", got ", begin);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require(indices[i] >= (i == 0 ? begin : indices[i - 1] + 1) && indices[i] < found.length,
            "cache: the indices to keep must rise from ", begin, " to below ", found.length, ", got ", indices[i]);
  }
  const std::int64_t count = std::ssize(indices);
  const std::int64_t needed = state.pages_to_keep(found, begin, count), free = state.pages.free();
  require(needed <= free, "cache: no free page: keeping ", count, " tokens of shared pages takes ", needed, ", ", free,
          " are free");
  CacheShape room = state.shape;
  room.capacity = std::max<std::int64_t>(count, 1);
  Pages aside(room, state.axes, state.turn_size(), state.number_size());
  std::vector<Position> ids(static_cast<std::size_t>(state.axes * count));
  const auto slot_aside = [&](std::int64_t i) {
    return Pages::Slots{static_cast<PageId>(i / room.page_size), i % room.page_size};
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = indices[static_cast<std::size_t>(i)];
    const Run source = state.cut(found, from, from + 1).front();
    aside.copy(state.pages, {source.page, source.first}, slot_aside(i), 1);
    const std::vector<Position> place = state.ids_of(found, from, from + 1);
    for (std::int64_t axis = 0; axis < state.axes; ++axis) {
      ids[static_cast<std::size_t>(axis * count + i)] = place[static_cast<std::size_t>(axis)];
    }
  }
  truncate(sequence, begin);
  if (count == 0) return;
  std::int64_t done = 0;
  for (const Run& to : state.extend(found, count)) {
    for (std::int32_t slot = to.first; slot < to.end(); ++slot, ++done) {
      state.pages.copy(aside, slot_aside(done), {to.page, slot}, 1);
    }
  }
  state.move(found, begin, ids);
}

void KvCache::slide(SequenceId sequence, std::int64_t sinks, std::int64_t window, bool renumber) {
  State& state = *state_;
  Sequence& found = state.find(sequence);
  require(sinks >= 0 && window >= 1, "cache: slide needs sinks >= 0 and window >= 1, got ", sinks, " and ", window);
  const std::int64_t first = std::min(sinks, found.length);
  const std::int64_t begin = std::max(first, found.length - std::min(window, found.length));
  std::vector<Run> runs = state.cut(found, 0, first);
  const std::vector<Run> last = state.cut(found, begin, found.length);
  if (renumber) {
    const auto ids = renumbered(state.ids_of(found, 0, first), state.ids_of(found, begin, found.length), state.axes);
    state.encoding.check_positions(ids.sinks, state.shape.type);
    state.encoding.check_positions(ids.window, state.shape.type);
    runs = state.moved_to(std::move(runs), ids.sinks);
    const std::vector<Run> moved = state.moved_to(last, ids.window);
    runs.insert(runs.end(), moved.begin(), moved.end());
  } else {
    runs.insert(runs.end(), last.begin(), last.end());
  }
  state.replace(found, std::move(runs));
}

}  // namespace locus
