// SPDX-License-Identifier: Apache-2.0
// A KV cache that knows where its keys are: each key has a position, a sequence, and the table that rotated it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "locus/element.h"
#include "locus/encoding.h"
#include "locus/position_ids.h"
#include "locus/rotate.h"

namespace locus {

using SequenceId = std::int64_t;

/// rotated: keys are stored as attention meets them (fast). raw: keys are stored as they came and rotated when used, so
/// that no change of table or position can make them wrong.
enum class KeyForm : std::uint8_t { rotated, raw };

struct CacheShape {
  std::int64_t capacity = 0;  ///< tokens over all sequences; shared prefixes count once
  std::int64_t heads = 1;     ///< key/value heads
  std::int64_t head_dim = 0;
  ElementType type = ElementType::float32;
  KeyForm form = KeyForm::rotated;
};

/// Keys and values of one sequence in order, ready for attention. Points into the cache where the tokens lie together
/// and no key has moved, else into `storage`. Valid until the cache changes.
struct CachedSequence {
  HeadsView keys;
  HeadsView values;
  std::vector<Position> ids;
  std::vector<std::byte> storage;
};

/// Moves of positions (shift, relocate, divide, slide) are lazy: a key keeps the position it was stored at, and the
/// difference is turned once, when the key is used. So 10,000 shifts cost one rounding. Every error leaves the cache as
/// it was. Not for concurrent changes.
class KvCache {
 public:
  /// `encoding` rotates keys as they are appended; encodings of other sites, and none, store them as they come.
  KvCache(const Encoding& encoding, const CacheShape& shape);

  SequenceId create();
  /// A new sequence that shares all tokens so far.
  SequenceId fork(SequenceId sequence);
  void free(SequenceId sequence);

  std::int64_t length(SequenceId sequence) const;
  std::vector<Position> positions(SequenceId sequence) const;
  std::int64_t free_tokens() const { return static_cast<std::int64_t>(vacant_.size()); }
  const Encoding& encoding() const { return encoding_; }

  /// Appends tokens (one batch row each in `keys` and `values`), rotating keys on the way. Positions must go on from
  /// the last one upwards. Error where the encoding is not the one of the keys that are there: see rerotate.
  void append(SequenceId sequence, const HeadsView& keys, const HeadsView& values, std::span<const Position> ids,
              Executor* executor = nullptr);
  /// The encoding from now on: the same at another length (dynamic NTK, LongRoPE), or another altogether. Raw keys
  /// follow at once. Rotated keys refuse, for they would mix two tables, unless `rerotate` says to turn them all:
  /// one rounding each, two where the new one pairs other coordinates.
  void set_encoding(const Encoding& encoding, bool rerotate = false);

  void truncate(SequenceId sequence, std::int64_t length);  ///< drops the newest tokens (rejected speculation)
  /// Keeps `sinks` first and `window` last tokens. `renumber` gives them the positions 0, 1, ... (StreamingLLM).
  void slide(SequenceId sequence, std::int64_t sinks, std::int64_t window, bool renumber);
  void shift(SequenceId sequence, Position delta);
  /// Tokens [begin, end) of the sequence move to positions from `position` on, consecutive.
  void relocate(SequenceId sequence, std::int64_t begin, std::int64_t end, Position position);
  /// Positions of tokens [begin, end) are divided by `group`, rounded down (self-extend).
  void divide(SequenceId sequence, std::int64_t begin, std::int64_t end, std::int64_t group);
  /// Turns moved keys in place now, rounding each once more; tokens shared with other sequences are copied first.
  void settle(SequenceId sequence);

  CachedSequence gather(SequenceId sequence) const;

 private:
  struct Slot {
    std::int64_t users = 0;
    Position stored_at = 0;  ///< the position the stored key is rotated for
  };
  struct Entry {
    std::int64_t slot;
    Position position;
  };
  using Sequence = std::vector<Entry>;

  const Sequence& find(SequenceId sequence) const;
  Sequence& find(SequenceId sequence);
  void release(const Entry& entry);
  void check_move(SequenceId sequence, std::span<const Position> positions) const;
  HeadsView slots_view(const std::vector<std::byte>& bytes) const;
  void copy_key(std::int64_t from, std::int64_t to);
  bool rotates() const;

  Encoding encoding_;
  CacheShape shape_;
  std::vector<std::byte> keys_;
  std::vector<std::byte> values_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> vacant_;
  std::vector<std::optional<Sequence>> sequences_;
};

}  // namespace locus
