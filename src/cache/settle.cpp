// SPDX-License-Identifier: Apache-2.0
// Changes stored keys: rotates moved ones in place, or all of them to another table.
#include <algorithm>
#include <cstring>

#include "cache/state.h"
#include "locus/error.h"

namespace locus {
namespace {

// Returns whether two encodings give the same keys: their rotations are equal.
bool same_table(const Encoding& a, const Encoding& b) {
  if (a.site() != b.site()) return false;
  if (a.site() != Site::query_key) return true;
  const Rotation& x = a.rotation();
  const Rotation& y = b.rotation();
  const bool same_scale = x.scale.has_value() == y.scale.has_value() &&
                          (!x.scale || (x.scale->zeta == y.scale->zeta && x.scale->scale_base == y.scale->scale_base &&
                                        x.scale->centre == y.scale->centre));
  const bool same_map = x.map.kind == y.map.kind && x.map.prefix == y.map.prefix && x.map.height == y.map.height &&
                        x.map.width == y.map.width;
  return same_scale && same_map && x.turns == y.turns && x.magnitude == y.magnitude && x.pairing == y.pairing &&
         x.rotary_dim == y.rotary_dim && x.rotary_offset == y.rotary_offset && x.axis == y.axis &&
         x.deinterleaved_output == y.deinterleaved_output && x.profile == y.profile && x.table_type == y.table_type;
}

// Returns whether one turn takes a pair of coordinates from one table to the other.
bool same_pairs(const Rotation& x, const Rotation& y) {
  return x.pairing == y.pairing && x.rotary_dim == y.rotary_dim && x.rotary_offset == y.rotary_offset;
}

}  // namespace

KeyTurns KvCache::State::turns_of(const Run& run, std::int64_t slot) const {
  const std::int64_t size = rotates() ? turn().size() : 0;
  if (run.moved == nullptr) return raw() ? KeyTurns{.rows = pages.turn(run.page, slot), .stride = size} : KeyTurns{};
  const Displacement& moved = *run.moved;
  if (!moved.steps.empty()) return {.steps = moved.steps.data() + slot, .anchors = moved.anchors.data()};
  if (moved.turns.empty()) return {};
  if (std::ssize(moved.turns) > size) return {.rows = moved.turns.data() + slot * size, .stride = size};
  return {.rows = moved.turns.data(), .stride = 0};
}

std::vector<Position> KvCache::State::stored_ids(PageId page, std::int64_t slot) const {
  std::vector<Position> ids;
  for (std::int64_t axis = 0; axis < axes; ++axis) ids.push_back(pages.ids(page, axis)[slot]);
  return ids;
}

PageLayout KvCache::State::layout(const KeyTurn* turn) const {
  return {.type = shape.type,
          .integers = pages.integers(),
          .element_size = pages.element_size(),
          .head_stride = pages.head_stride(),
          .scale_stride = shape.page_size,
          .turn = turn};
}

StoredKeys KvCache::State::stored_keys(const Run& run, std::int64_t head, std::int64_t slot, std::int64_t count) const {
  StoredKeys keys{.keys = pages.at(Part::keys, run.page, head, slot),
                  .scales = pages.integers() ? pages.scale(Part::keys, run.page, head, slot) : nullptr,
                  .count = count,
                  .dim = shape.head_dim};
  keys.turns = turns_of(run, slot);
  return keys;
}

void KvCache::State::store_turned(const PageLayout& how, const StoredKeys& from, PageId page, std::int64_t head,
                                  std::int64_t slot) {
  std::vector<std::byte> keys(static_cast<std::size_t>(from.count * from.dim * pages.element_size()));
  std::vector<float> scales(static_cast<std::size_t>(from.count));
  turn_stored(how, from, keys.data(), scales.data());  // not in place: layouts may differ
  std::memcpy(pages.at(Part::keys, page, head, slot), keys.data(), keys.size());
  if (pages.integers()) std::copy(scales.begin(), scales.end(), pages.scale(Part::keys, page, head, slot));
}

void KvCache::settle(SequenceId sequence) {
  State& state = *state_;
  Sequence& found = state.find(sequence);
  if (!state.rotates() || state.raw()) return;  // raw keys are rotated on use
  const auto in_page = [](PageId page) { return [page](const Run& run) { return run.page == page; }; };
  std::vector<Run> runs = found.runs;
  std::vector<std::span<Run>> moved;  // the runs of each page with keys that moved
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end = std::find_if_not(begin, runs.end(), in_page(begin->page));
    if (std::any_of(begin, end, [](const Run& run) { return run.moved != nullptr; })) {
      moved.emplace_back(&*begin, static_cast<std::size_t>(end - begin));
    }
    begin = end;
  }
  const auto shared = [&](std::span<Run> some) { return state.pages.users(some[0].page) > std::ssize(some); };
  const auto copies = std::count_if(moved.begin(), moved.end(), shared);
  require(copies <= state.pages.free(), "cache: no free page: settling copies ", copies, " shared pages, ",
          state.pages.free(), " are free");
  const PageLayout how = state.layout();
  std::vector<PageId> taken;
  for (const std::span<Run> some : moved) {
    PageId page = some[0].page;
    if (shared(some)) {
      taken.push_back(page = state.pages.take());
      state.pages.set_filled(page, some.back().end());
    }
    state.pages.forget(page);
    for (Run& run : some) {
      if (page != run.page) state.pages.copy(state.pages, {run.page, run.first}, {page, run.first}, run.count);
      if (run.moved != nullptr) {
        const std::vector<Position> ids = state.ids_of({{run}, run.count}, 0, run.count);
        for (std::int64_t head = 0; head < state.shape.heads; ++head) {
          state.store_turned(how, state.stored_keys(run, head, run.first, run.count), page, head, run.first);
        }
        for (std::int64_t axis = 0; axis < state.axes; ++axis) {
          std::copy_n(ids.begin() + axis * run.count, run.count, state.pages.ids(page, axis) + run.first);
        }
      }
      run.page = page;
      run.moved = nullptr;
    }
  }
  state.replace(found, std::move(runs));
  for (const PageId page : taken) state.pages.release(page);  // take() had counted one user, replace() counts the runs
}

// ---- another encoding

std::map<PageId, std::vector<bool>> KvCache::State::live_slots() const {
  std::map<PageId, std::vector<bool>> live;
  for (const std::optional<Sequence>& sequence : sequences) {
    if (!sequence) continue;
    for (const Run& run : sequence->runs) {
      std::vector<bool>& slots = live[run.page];
      slots.resize(static_cast<std::size_t>(shape.page_size));
      std::fill_n(slots.begin() + run.first, run.count, true);
    }
  }
  return live;
}

void KvCache::State::rerotate(PageId page, std::int64_t slot, const Transition& change) {
  const KeyTurn turns(change);
  std::vector<float> row(static_cast<std::size_t>(turns.size()));
  const std::vector<Position> ids = stored_ids(page, slot);
  turns.fill(ids, ids, row.data());
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    StoredKeys keys = stored_keys({page, static_cast<std::int32_t>(slot), 1, nullptr}, head, slot, 1);
    keys.turns = {.rows = row.data()};
    store_turned(layout(&turns), keys, page, head, slot);
  }
}

void KvCache::set_encoding(const Encoding& encoding, bool rerotate) {
  State& state = *state_;
  require(encoding.site() == state.encoding.site(), "cache: the new encoding acts at the site ",
          name_of(encoding.site()), ", the old one at ", name_of(state.encoding.site()));
  const std::int64_t numbers = number_size_of(encoding);
  require(numbers == state.number_size(), "cache: tokens of the new encoding bring ", numbers,
          " numbers each, those of the old one ", state.number_size());
  const auto live = state.live_slots();
  const bool keys_follow = live.empty() || state.shape.form == KeyForm::raw || same_table(state.encoding, encoding);
  if (state.rotates()) {
    const Rotation& fresh = encoding.rotation();
    require(fresh.head_dim == state.shape.head_dim, "cache: the encoding has head_dim ", fresh.head_dim, ", the cache ",
            state.shape.head_dim);
    require(fresh.axes == state.axes, "cache: the encoding has ids of ", fresh.axes, " axes, the cache of ",
            state.axes);
  }
  std::vector<std::vector<Position>> current;
  for (const std::optional<Sequence>& sequence : state.sequences) {
    current.push_back(sequence ? state.ids_of(*sequence, 0, sequence->length) : std::vector<Position>());
    encoding.check_positions(current.back(), state.shape.type);
  }
  require(keys_follow || rerotate,
          "cache: its keys were rotated by another table, which must not be mixed with the new one; ",
          "rerotate them exactly (set_encoding(.., true)), or keep raw keys (KeyForm::raw)");
  const auto for_slots = [&](const auto& use) {
    for (const auto& [page, slots] : live) {
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        if (slots[slot]) use(page, static_cast<std::int64_t>(slot));
      }
    }
  };
  for_slots([&](PageId page, std::int64_t slot) {
    if (!keys_follow) encoding.check_positions(state.stored_ids(page, slot), state.shape.type);
  });
  if (!keys_follow) {
    const bool one_turn = same_pairs(state.encoding.rotation(), encoding.rotation());
    for_slots([&](PageId page, std::int64_t slot) {
      state.pages.forget(page);
      if (one_turn) return state.rerotate(page, slot, {&state.encoding, &encoding});
      state.rerotate(page, slot, {&state.encoding, nullptr});
      state.rerotate(page, slot, {nullptr, &encoding});
    });
  }
  state.encoding = encoding;
  state.make_turn();
  if (!state.rotates()) return;
  if (state.raw()) {
    const KeyTurn& turns = state.turn();
    state.pages.resize_turns(turns.size());
    for_slots([&](PageId page, std::int64_t slot) {
      const std::vector<Position> ids = state.stored_ids(page, slot);
      turns.fill(ids, ids, state.pages.turn(page, slot));
    });
  }
  for (std::size_t i = 0; i < current.size(); ++i) {
    if (state.sequences[i]) state.replace(*state.sequences[i], state.moved_to(state.sequences[i]->runs, current[i]));
  }
}

}  // namespace locus
