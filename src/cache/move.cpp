// SPDX-License-Identifier: Apache-2.0
// Moves: tokens get other positions; the pages do not change.
#include <algorithm>
#include <numeric>

#include "cache/renumber.h"
#include "cache/state.h"
#include "locus/error.h"

namespace locus {
namespace {

void move_to_begin_at(std::vector<Position>& ids, Position first) {
  if (ids.empty()) return;
  const Position delta = first - *std::min_element(ids.begin(), ids.end());
  for (Position& id : ids) id += delta;
}

Position rounded_down(Position position, std::int64_t group) {
  return position / group - (position % group < 0 ? 1 : 0);
}

void check_range(std::string_view what, std::int64_t begin, std::int64_t end, std::int64_t length) {
  require(begin >= 0 && begin <= end && end <= length, "cache: ", what, " tokens within 0 .. ", length, ", got ", begin,
          " .. ", end);
}

}  // namespace

SlidIds renumbered(std::vector<Position> sinks, std::vector<Position> window, std::int64_t axes) {
  if (axes == 1) {
    std::iota(sinks.begin(), sinks.end(), Position{0});
    std::iota(window.begin(), window.end(), std::ssize(sinks));
  } else {
    move_to_begin_at(sinks, 0);
    move_to_begin_at(window, sinks.empty() ? 0 : *std::max_element(sinks.begin(), sinks.end()) + 1);
  }
  return {std::move(sinks), std::move(window)};
}

std::vector<Position> KvCache::State::ids_of(const Sequence& sequence, std::int64_t begin, std::int64_t end) const {
  std::vector<Position> ids(static_cast<std::size_t>(axes * (end - begin)));
  std::int64_t run_end = sequence.length;
  for (auto run = sequence.runs.rbegin(); run != sequence.runs.rend() && run_end > begin; ++run) {
    const std::int64_t run_begin = run_end - run->count;
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      const bool listed = run->moved != nullptr && !run->moved->ids.empty();
      const Position* stored = listed ? run->moved->ids.data() + axis * shape.page_size : pages.ids(run->page, axis);
      const Position delta = run->moved == nullptr || listed ? 0 : run->moved->delta[static_cast<std::size_t>(axis)];
      for (std::int64_t t = std::max(begin, run_begin); t < std::min(end, run_end); ++t) {
        ids[static_cast<std::size_t>(axis * (end - begin) + t - begin)] = stored[run->first + t - run_begin] + delta;
      }
    }
    run_end = run_begin;
  }
  return ids;
}

std::shared_ptr<const Displacement> KvCache::State::displacement(
    const Run& run, std::span<const Position> ids, const std::shared_ptr<const Displacement>& last) const {
  Displacement fresh;
  bool stays = true, together = true;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const Position* stored = pages.ids(run.page, axis) + run.first;
    const auto to = ids.subspan(static_cast<std::size_t>(axis * run.count), static_cast<std::size_t>(run.count));
    const Position delta = to[0] - stored[0];
    fresh.delta[static_cast<std::size_t>(axis)] = delta;
    stays = stays && delta == 0;
    for (std::size_t t = 0; t < to.size(); ++t) together = together && to[t] - stored[t] == delta;
    const bool far = delta < -max_position || delta > max_position;
    together = together && !far;
  }
  if (stays && together) return nullptr;
  if (!together) {
    fresh.ids.resize(static_cast<std::size_t>(axes * shape.page_size));
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      std::copy_n(ids.begin() + axis * run.count, run.count, fresh.ids.begin() + axis * shape.page_size + run.first);
    }
  }
  const bool one = together && (!rotates() || turn().by_difference());
  if (one && last != nullptr && last->ids.empty() && last->delta == fresh.delta) return last;
  if (rotates()) fill_turns(fresh, run, ids, one);
  return std::make_shared<const Displacement>(std::move(fresh));
}

void KvCache::State::fill_turns(Displacement& fresh, const Run& run, std::span<const Position> ids, bool one) const {
  const KeyTurn& turns = turn();
  const Position* stored = pages.ids(run.page, 0) + run.first;
  const auto near = [&](std::int32_t t) {
    const Position delta = ids[static_cast<std::size_t>(t)] - stored[t];
    return delta >= -max_position && delta <= max_position;
  };
  std::int32_t t = 0;
  while (t < run.count && near(t)) ++t;
  if (!one && turns.by_steps() && t == run.count) {
    fresh.steps.resize(static_cast<std::size_t>(shape.page_size));
    std::vector<Position> anchors;
    for (t = 0; t < run.count; ++t) {
      const Position delta = ids[static_cast<std::size_t>(t)] - stored[t];
      const auto found = std::find(anchors.begin(), anchors.end(), anchor_of(delta)) - anchors.begin();
      if (found == std::ssize(anchors)) {
        anchors.push_back(anchor_of(delta));
        fresh.anchors.resize(anchors.size() * static_cast<std::size_t>(turns.size()));
        turns.fill_anchor(anchors.back(), fresh.anchors.data() + found * turns.size());
      }
      fresh.steps[static_cast<std::size_t>(run.first + t)] = {static_cast<std::int32_t>(found),
                                                              static_cast<std::int32_t>(step_of(delta))};
    }
    return;
  }
  fresh.turns.resize(static_cast<std::size_t>(turns.size() * (one ? 1 : shape.page_size)));
  std::vector<Position> to(static_cast<std::size_t>(axes));
  for (t = 0; t < (one ? 1 : run.count); ++t) {
    for (std::size_t axis = 0; axis < to.size(); ++axis)
      to[axis] = ids[axis * static_cast<std::size_t>(run.count) + static_cast<std::size_t>(t)];
    turns.fill(stored_ids(run.page, run.first + t), to,
               fresh.turns.data() + (one ? 0 : (run.first + t) * turns.size()));
  }
}

std::vector<Run> KvCache::State::moved_to(std::vector<Run> runs, std::span<const Position> ids) const {
  const std::int64_t count = std::ssize(ids) / axes;
  std::shared_ptr<const Displacement> last;
  std::int64_t begin = 0;
  for (Run& run : runs) {
    std::vector<Position> own;
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      const auto first = ids.begin() + axis * count + begin;
      own.insert(own.end(), first, first + run.count);
    }
    run.moved = displacement(run, own, last);
    if (run.moved != nullptr) last = run.moved;
    begin += run.count;
  }
  return runs;
}

void KvCache::State::move(Sequence& sequence, std::int64_t begin, std::span<const Position> ids) {
  const std::int64_t end = begin + std::ssize(ids) / axes;
  if (begin == end) return;
  encoding.check_positions(ids, shape.type);
  if (rotates() && (encoding.rotation().mix || encoding.rotation().turns_output)) {
    const auto present = ids_of(sequence, begin, end);
    require(
        std::equal(ids.begin(), ids.end(), present.begin(), present.end()), "cache: keys of ", encoding.scheme().name,
        encoding.rotation().mix ? ", which mixes frequencies," : " with turned_output, whose values are rotated too,",
        " cannot move");
  }
  std::vector<Run> runs = cut(sequence, 0, begin);
  for (const std::vector<Run>& more : {moved_to(cut(sequence, begin, end), ids), cut(sequence, end, sequence.length)}) {
    runs.insert(runs.end(), more.begin(), more.end());
  }
  replace(sequence, std::move(runs));
}

void KvCache::shift(SequenceId sequence, Position delta) {
  const std::vector<Position> deltas(static_cast<std::size_t>(state_->axes), delta);
  shift(sequence, 0, length(sequence), deltas);
}

void KvCache::shift(SequenceId sequence, std::int64_t begin, std::int64_t end, std::span<const Position> deltas) {
  Sequence& found = state_->find(sequence);
  check_range("shift", begin, end, found.length);
  require(std::ssize(deltas) == state_->axes, "cache: shift needs one delta per axis, ", state_->axes, ", got ",
          deltas.size());
  for (const Position delta : deltas) {
    require(delta >= -2 * max_position && delta <= 2 * max_position, "cache: shift by at most +-", 2 * max_position,
            ", got ", delta);
  }
  std::vector<Position> ids = state_->ids_of(found, begin, end);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] += deltas[i / static_cast<std::size_t>(end - begin)];
  state_->move(found, begin, ids);
}

void KvCache::relocate(SequenceId sequence, std::int64_t begin, std::int64_t end, Position position) {
  Sequence& found = state_->find(sequence);
  check_range("relocate", begin, end, found.length);
  require(position >= -max_position && position <= max_position, "cache: relocate to a position of at most +-",
          max_position, ", got ", position);
  std::vector<Position> ids(static_cast<std::size_t>(state_->axes * (end - begin)));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = position + static_cast<Position>(i % static_cast<std::size_t>(end - begin));
  }
  state_->move(found, begin, ids);
}

void KvCache::divide(SequenceId sequence, std::int64_t begin, std::int64_t end, std::int64_t group) {
  Sequence& found = state_->find(sequence);
  require(group >= 1, "cache: divide by a group of at least 1, got ", group);
  check_range("divide", begin, end, found.length);
  std::vector<Position> ids = state_->ids_of(found, begin, end);
  for (Position& id : ids) id = rounded_down(id, group);
  state_->move(found, begin, ids);
}

}  // namespace locus
