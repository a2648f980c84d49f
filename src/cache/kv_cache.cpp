// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/transition.h"
#include "locus/cache.h"
#include "locus/error.h"
#include "locus/turn_output.h"

namespace locus {
namespace {

// Two encodings give the same keys if their rotations are equal.
bool same_table(const Encoding& a, const Encoding& b) {
  if (a.site() != b.site()) return false;
  if (a.site() != Site::query_key) return true;
  const Rotation& x = a.rotation();
  const Rotation& y = b.rotation();
  const bool same_scale = x.scale.has_value() == y.scale.has_value() &&
                          (!x.scale || (x.scale->zeta == y.scale->zeta && x.scale->scale_base == y.scale->scale_base &&
                                        x.scale->centre == y.scale->centre));
  const auto same_start = [](const Phase& a_phase, const Phase& b_phase) { return a_phase.turns == b_phase.turns; };
  const bool same_phases = std::equal(x.phases.begin(), x.phases.end(), y.phases.begin(), y.phases.end(), same_start);
  const bool same_mix = x.mix.has_value() == y.mix.has_value() &&
                        (!x.mix || (x.mix->cos.data == y.mix->cos.data && x.mix->sin.data == y.mix->sin.data));
  return same_scale && same_phases && same_mix && x.turns_output == y.turns_output && x.turns == y.turns &&
         x.magnitude == y.magnitude && x.pairing == y.pairing && x.rotary_dim == y.rotary_dim &&
         x.rotary_offset == y.rotary_offset && x.axis == y.axis && x.deinterleaved_output == y.deinterleaved_output &&
         x.profile == y.profile && x.table_type == y.table_type;
}

// Whether one turn takes a pair of coordinates from one table to the other.
bool same_pairs(const Rotation& x, const Rotation& y) {
  return x.pairing == y.pairing && x.rotary_dim == y.rotary_dim && x.rotary_offset == y.rotary_offset;
}

void check_rotation(const Rotation& rotation, const CacheShape& shape) {
  require(rotation.head_dim == shape.head_dim, "cache: the encoding has head_dim ", rotation.head_dim, ", the cache ",
          shape.head_dim);
  require(rotation.axes == 1 && rotation.map.kind == PositionMap::Kind::direct,
          "cache: the encoding must have one axis of plain positions");
  require(!rotation.mix || rotation.mix->heads == shape.heads, "cache: the encoding has ",
          rotation.mix ? rotation.mix->heads : 0, " key heads, the cache ", shape.heads);
  require(!rotation.mix || shape.form == KeyForm::rotated,
          "cache: this encoding mixes frequencies by head: its keys must be stored rotated, not raw");
}

}  // namespace

KvCache::KvCache(const Encoding& encoding, const CacheShape& shape) : encoding_(encoding), shape_(shape) {
  require(shape.capacity >= 1 && shape.heads >= 1 && shape.head_dim >= 1,
          "cache: capacity, heads and head_dim must be at least 1, got ", shape.capacity, ", ", shape.heads, " and ",
          shape.head_dim);
  require(shape.capacity <= (std::int64_t{1} << 40) / shape.heads / shape.head_dim, "cache: ", shape.capacity, " x ",
          shape.heads, " x ", shape.head_dim, " values are more than 2^40");
  require(shape.type != ElementType::float64, "cache: keys are stored as float32, bfloat16 or float16, not float64");
  if (rotates()) check_rotation(encoding.rotation(), shape);
  const std::size_t bytes =
      static_cast<std::size_t>(shape.capacity * shape.heads * shape.head_dim) * size_of(shape.type);
  keys_.resize(bytes);
  values_.resize(bytes);
  slots_.resize(static_cast<std::size_t>(shape.capacity));
  for (std::int64_t slot = shape.capacity; slot-- > 0;) vacant_.push_back(slot);
}

bool KvCache::rotates() const { return encoding_.site() == Site::query_key; }

HeadsView KvCache::slots_view(const std::vector<std::byte>& bytes) const {
  return {.data = const_cast<std::byte*>(bytes.data()),
          .type = shape_.type,
          .batch = 1,
          .tokens = shape_.capacity,
          .heads = shape_.heads,
          .head_dim = shape_.head_dim,
          .batch_stride = 0,
          .token_stride = shape_.heads * shape_.head_dim,
          .head_stride = shape_.head_dim};
}

const KvCache::Sequence& KvCache::find(SequenceId sequence) const {
  const bool known = sequence >= 0 && sequence < static_cast<SequenceId>(sequences_.size()) &&
                     sequences_[static_cast<std::size_t>(sequence)].has_value();
  require(known, "cache: unknown sequence ", sequence);
  return *sequences_[static_cast<std::size_t>(sequence)];
}

KvCache::Sequence& KvCache::find(SequenceId sequence) {
  return const_cast<Sequence&>(static_cast<const KvCache*>(this)->find(sequence));
}

SequenceId KvCache::create() {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    if (sequences_[i]) continue;
    sequences_[i].emplace();
    return static_cast<SequenceId>(i);
  }
  sequences_.emplace_back(Sequence());
  return static_cast<SequenceId>(sequences_.size()) - 1;
}

SequenceId KvCache::fork(SequenceId sequence) {
  const Sequence shared = find(sequence);
  const SequenceId id = create();
  find(id) = shared;
  for (const Entry& entry : shared) ++slots_[static_cast<std::size_t>(entry.slot)].users;
  return id;
}

void KvCache::release(const Entry& entry) {
  if (--slots_[static_cast<std::size_t>(entry.slot)].users == 0) vacant_.push_back(entry.slot);
}

void KvCache::free(SequenceId sequence) {
  Sequence& entries = find(sequence);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) release(*entry);
  sequences_[static_cast<std::size_t>(sequence)].reset();
}

std::int64_t KvCache::length(SequenceId sequence) const { return static_cast<std::int64_t>(find(sequence).size()); }

std::vector<Position> KvCache::positions(SequenceId sequence) const {
  std::vector<Position> ids;
  for (const Entry& entry : find(sequence)) ids.push_back(entry.position);
  return ids;
}

void KvCache::append(SequenceId sequence, const HeadsView& keys, const HeadsView& values, std::span<const Position> ids,
                     Executor* executor) {
  Sequence& entries = find(sequence);
  for (const HeadsView* view : {&keys, &values}) {
    require(view->type == shape_.type && view->heads == shape_.heads && view->head_dim == shape_.head_dim &&
                view->batch == 1,
            "cache: tokens must be ", name_of(shape_.type), " [1, tokens, ", shape_.heads, ", ", shape_.head_dim,
            "], got ", name_of(view->type), " [", view->batch, ", ", view->tokens, ", ", view->heads, ", ",
            view->head_dim, "]");
    require(view->tokens == static_cast<std::int64_t>(ids.size()), "cache: got ", ids.size(), " positions for ",
            view->tokens, " tokens");
  }
  require(ids.size() <= vacant_.size(), "cache: out of space: ", ids.size(), " tokens, ", vacant_.size(), " of ",
          shape_.capacity, " free");
  encoding_.check_positions(ids, shape_.type);
  const Position* last = entries.empty() ? nullptr : &entries.back().position;
  for (const Position& id : ids) {
    require(last == nullptr || id > *last, "cache: positions must rise; ", id, " comes after ",
            last == nullptr ? Position{0} : *last);
    last = &id;
  }

  std::vector<std::int64_t> slots(vacant_.end() - static_cast<std::ptrdiff_t>(ids.size()), vacant_.end());
  std::reverse(slots.begin(), slots.end());  // vacant slots are kept in descending order
  const HeadsView key_slots = slots_view(keys_);
  const HeadsView value_slots = slots_view(values_);
  const auto copy = [&](const HeadsView& from, const HeadsView& to) {
    const std::size_t head_bytes = static_cast<std::size_t>(shape_.head_dim) * size_of(shape_.type);
    for (std::size_t t = 0; t < slots.size(); ++t) {
      for (std::int64_t h = 0; h < shape_.heads; ++h) {
        const auto size = static_cast<std::int64_t>(size_of(shape_.type));
        const std::int64_t source = static_cast<std::int64_t>(t) * from.token_stride + h * from.head_stride;
        const std::int64_t target = slots[t] * to.token_stride + h * to.head_stride;
        std::memcpy(static_cast<std::byte*>(to.data) + target * size,
                    static_cast<const std::byte*>(from.data) + source * size, head_bytes);
      }
    }
  };
  if (rotates() && shape_.form == KeyForm::rotated) {
    const PositionIds plan{.tokens = static_cast<std::int64_t>(ids.size()), .ids = {ids.begin(), ids.end()}};
    rotate_into(encoding_, keys, {key_slots, slots}, plan, Role::key, executor);
    if (turns_output(encoding_)) {
      rotate_into(encoding_, values, {value_slots, slots}, plan, Role::key, executor);
    } else {
      copy(values, value_slots);
    }
  } else {
    copy(keys, key_slots);
    copy(values, value_slots);
  }
  vacant_.resize(vacant_.size() - ids.size());
  for (std::size_t t = 0; t < slots.size(); ++t) {
    slots_[static_cast<std::size_t>(slots[t])] = {1, ids[t]};
    entries.push_back({slots[t], ids[t]});
  }
}

void KvCache::set_encoding(const Encoding& encoding, bool rerotate) {
  const bool empty = vacant_.size() == slots_.size();
  const bool keys_follow = empty || shape_.form == KeyForm::raw || same_table(encoding_, encoding);
  require(encoding.site() == encoding_.site(), "cache: the new encoding acts at the site ", name_of(encoding.site()),
          ", the old one at ", name_of(encoding_.site()));
  if (rotates()) check_rotation(encoding.rotation(), shape_);
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    if (sequences_[i]) encoding.check_positions(positions(static_cast<SequenceId>(i)), shape_.type);
  }
  require(keys_follow || rerotate,
          "cache: its keys were rotated by another table, which must not be mixed with the new one; ",
          "rerotate them exactly (set_encoding(.., true)), or keep raw keys (KeyForm::raw)");
  if (!keys_follow) {
    std::vector<std::int64_t> used;
    std::vector<Position> ids;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].users == 0) continue;
      used.push_back(static_cast<std::int64_t>(slot));
      ids.push_back(slots_[slot].stored_at);
    }
    encoding.check_positions(ids, shape_.type);
    const Moves all{used, used, ids, ids};
    const auto rerotated = [&](const HeadsView& view) {
      if (same_pairs(encoding_.rotation(), encoding.rotation())) {
        transition({&encoding_, &encoding}, view, view, all);
      } else {
        transition({&encoding_, nullptr}, view, view, all);
        transition({nullptr, &encoding}, view, view, all);
      }
    };
    rerotated(slots_view(keys_));
    if (turns_output(encoding_)) rerotated(slots_view(values_));
  }
  encoding_ = encoding;
}

void KvCache::truncate(SequenceId sequence, std::int64_t length) {
  Sequence& entries = find(sequence);
  require(length >= 0 && length <= static_cast<std::int64_t>(entries.size()), "cache: truncate to 0 .. ",
          entries.size(), " tokens, got ", length);
  while (static_cast<std::int64_t>(entries.size()) > length) {
    release(entries.back());
    entries.pop_back();
  }
}

void KvCache::slide(SequenceId sequence, std::int64_t sinks, std::int64_t window, bool renumber) {
  Sequence& entries = find(sequence);
  require(sinks >= 0 && window >= 1, "cache: slide needs sinks >= 0 and window >= 1, got ", sinks, " and ", window);
  const auto count = static_cast<std::int64_t>(entries.size());
  Sequence kept;
  for (std::int64_t t = 0; t < count; ++t) {
    if (t < sinks || t >= count - window) kept.push_back(entries[static_cast<std::size_t>(t)]);
  }
  if (renumber) {
    std::vector<Position> ids(kept.size());
    std::iota(ids.begin(), ids.end(), Position{0});
    encoding_.check_positions(ids, shape_.type);
    for (std::size_t t = 0; t < kept.size(); ++t) kept[t].position = ids[t];
  }
  for (std::int64_t t = 0; t < count; ++t) {
    if (t >= sinks && t < count - window) release(entries[static_cast<std::size_t>(t)]);
  }
  entries = std::move(kept);
}

// Positions after a move must be in the encoding's range and must not decrease.
void KvCache::check_move(SequenceId sequence, std::span<const Position> positions) const {
  encoding_.check_positions(positions, shape_.type);
  const bool moves = !std::equal(positions.begin(), positions.end(), this->positions(sequence).begin());
  require(!moves || !rotates() || !encoding_.rotation().mix, "cache: ", encoding_.scheme().name,
          " mixes frequencies, so its cached keys cannot move");
  for (std::size_t t = 1; t < positions.size(); ++t) {
    require(positions[t] >= positions[t - 1], "cache: after this move of sequence ", sequence,
            " positions would decrease, from ", positions[t - 1], " to ", positions[t]);
  }
}

void KvCache::shift(SequenceId sequence, Position delta) {
  require(delta >= -2 * max_position && delta <= 2 * max_position, "cache: shift by at most +-", 2 * max_position,
          ", got ", delta);
  std::vector<Position> moved = positions(sequence);
  for (Position& position : moved) position += delta;
  check_move(sequence, moved);
  Sequence& entries = find(sequence);
  for (std::size_t t = 0; t < entries.size(); ++t) entries[t].position = moved[t];
}

void KvCache::relocate(SequenceId sequence, std::int64_t begin, std::int64_t end, Position position) {
  std::vector<Position> moved = positions(sequence);
  require(begin >= 0 && begin <= end && end <= static_cast<std::int64_t>(moved.size()),
          "cache: relocate tokens within 0 .. ", moved.size(), ", got ", begin, " .. ", end);
  require(position >= -max_position && position <= max_position, "cache: relocate to a position of at most +-",
          max_position, ", got ", position);
  for (std::int64_t t = begin; t < end; ++t) moved[static_cast<std::size_t>(t)] = position + (t - begin);
  encoding_.check_positions(moved, shape_.type);
  Sequence& entries = find(sequence);
  for (std::size_t t = 0; t < entries.size(); ++t) entries[t].position = moved[t];
}

void KvCache::divide(SequenceId sequence, std::int64_t begin, std::int64_t end, std::int64_t group) {
  std::vector<Position> moved = positions(sequence);
  require(group >= 1, "cache: divide by a group of at least 1, got ", group);
  require(begin >= 0 && begin <= end && end <= static_cast<std::int64_t>(moved.size()),
          "cache: divide tokens within 0 .. ", moved.size(), ", got ", begin, " .. ", end);
  for (std::int64_t t = begin; t < end; ++t) {
    Position& position = moved[static_cast<std::size_t>(t)];
    const Position rest = position % group;
    position = position / group - (rest < 0 ? 1 : 0);  // rounded down
  }
  encoding_.check_positions(moved, shape_.type);
  Sequence& entries = find(sequence);
  for (std::size_t t = 0; t < entries.size(); ++t) entries[t].position = moved[t];
}

void KvCache::copy_key(std::int64_t from, std::int64_t to) {
  const std::size_t bytes = static_cast<std::size_t>(shape_.heads * shape_.head_dim) * size_of(shape_.type);
  std::memcpy(keys_.data() + static_cast<std::size_t>(to) * bytes,
              keys_.data() + static_cast<std::size_t>(from) * bytes, bytes);
  std::memcpy(values_.data() + static_cast<std::size_t>(to) * bytes,
              values_.data() + static_cast<std::size_t>(from) * bytes, bytes);
}

void KvCache::settle(SequenceId sequence) {
  if (!rotates() || shape_.form == KeyForm::raw) return;  // raw keys are rotated on use
  Sequence& entries = find(sequence);
  std::size_t copies = 0;
  for (const Entry& entry : entries) {
    const Slot& slot = slots_[static_cast<std::size_t>(entry.slot)];
    if (slot.stored_at != entry.position && slot.users > 1) ++copies;
  }
  require(copies <= vacant_.size(), "cache: out of space: settling copies ", copies, " shared tokens, ", vacant_.size(),
          " are free");
  std::vector<std::int64_t> moved;
  std::vector<Position> from;
  std::vector<Position> to;
  for (Entry& entry : entries) {
    Slot& slot = slots_[static_cast<std::size_t>(entry.slot)];
    if (slot.stored_at == entry.position) continue;
    if (slot.users > 1) {
      const std::int64_t own = vacant_.back();
      vacant_.pop_back();
      copy_key(entry.slot, own);
      slots_[static_cast<std::size_t>(own)] = {1, slot.stored_at};
      --slot.users;
      entry.slot = own;
    }
    Slot& mine = slots_[static_cast<std::size_t>(entry.slot)];
    moved.push_back(entry.slot);
    from.push_back(mine.stored_at);
    to.push_back(entry.position);
    mine.stored_at = entry.position;
  }
  const HeadsView keys = slots_view(keys_), values = slots_view(values_);
  transition({&encoding_, &encoding_}, keys, keys, {moved, moved, from, to});
  if (turns_output(encoding_)) transition({&encoding_, &encoding_}, values, values, {moved, moved, from, to});
}

CachedSequence KvCache::gather(SequenceId sequence) const {
  const Sequence& entries = find(sequence);
  CachedSequence result;
  result.ids = positions(sequence);
  const bool raw = rotates() && shape_.form == KeyForm::raw;
  bool together = true;
  bool moved = raw;
  for (std::size_t t = 0; t < entries.size(); ++t) {
    together = together && entries[t].slot == entries[0].slot + static_cast<std::int64_t>(t);
    moved = moved || (rotates() && slots_[static_cast<std::size_t>(entries[t].slot)].stored_at != entries[t].position);
  }
  result.keys = slots_view(keys_);
  result.values = slots_view(values_);
  const auto count = static_cast<std::int64_t>(entries.size());
  result.keys.tokens = result.values.tokens = count;
  if (entries.empty()) return result;
  const std::size_t token_bytes = static_cast<std::size_t>(shape_.heads * shape_.head_dim) * size_of(shape_.type);
  if (together && !moved) {
    const std::size_t offset = static_cast<std::size_t>(entries[0].slot) * token_bytes;
    result.keys.data = const_cast<std::byte*>(keys_.data()) + offset;
    result.values.data = const_cast<std::byte*>(values_.data()) + offset;
    return result;
  }
  result.storage.resize(2 * token_bytes * entries.size());
  result.keys.data = result.storage.data();
  result.values.data = result.storage.data() + token_bytes * entries.size();
  std::vector<std::int64_t> slots;
  std::vector<Position> from;
  for (std::size_t t = 0; t < entries.size(); ++t) {
    const auto slot = static_cast<std::size_t>(entries[t].slot);
    slots.push_back(entries[t].slot);
    from.push_back(slots_[slot].stored_at);
    std::memcpy(result.storage.data() + t * token_bytes, keys_.data() + slot * token_bytes, token_bytes);
    std::memcpy(static_cast<std::byte*>(result.values.data) + t * token_bytes, values_.data() + slot * token_bytes,
                token_bytes);
  }
  if (!moved) return result;
  // Keys that have not moved keep their bits; raw keys are all rotated.
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> outputs;
  std::vector<Position> old_ids;
  std::vector<Position> new_ids;
  for (std::size_t t = 0; t < entries.size(); ++t) {
    if (!raw && from[t] == result.ids[t]) continue;
    inputs.push_back(slots[t]);
    outputs.push_back(static_cast<std::int64_t>(t));
    old_ids.push_back(from[t]);
    new_ids.push_back(result.ids[t]);
  }
  const Transition change{raw ? nullptr : &encoding_, &encoding_};
  transition(change, slots_view(keys_), result.keys, {inputs, outputs, old_ids, new_ids});
  if (turns_output(encoding_)) {
    transition(change, slots_view(values_), result.values, {inputs, outputs, old_ids, new_ids});
  }
  return result;
}

}  // namespace locus
