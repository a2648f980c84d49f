// SPDX-License-Identifier: Apache-2.0
// A KV cache that tracks positions: each key has a position, a sequence, and the table that rotated it.
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

/// rotated: keys are stored rotated, as attention uses them (fast). raw: keys are stored unrotated and rotated on
/// use, so that they stay right when the table or the positions change.
enum class KeyForm : std::uint8_t { rotated, raw };

struct CacheShape {
  std::int64_t capacity = 0;  ///< tokens over all sequences; shared prefixes count once
  std::int64_t heads = 1;     ///< key/value heads
  std::int64_t head_dim = 0;
  ElementType type = ElementType::float32;
  KeyForm form = KeyForm::rotated;
};

/// The keys and values of one sequence in order, ready for attention. The views point into the cache if the tokens
/// are contiguous and no key has moved, else into `storage`. Valid until the cache changes.
struct CachedSequence {
  HeadsView keys;
  HeadsView values;
  std::vector<Position> ids;
  std::vector<std::byte> storage;
};

/// Changes of position (shift, relocate, divide, slide) are lazy: a key keeps the position it was stored at, and
/// gather() or settle() rotates it once by the difference. So 10,000 shifts cost one rounding. A call that throws
/// leaves the cache unchanged. Concurrent changes need a lock.
///
/// Error: every call refuses an unknown sequence; the others are listed with the call.
/// Cost: n is the number of tokens of the sequence; "copied" and "rotated" count tokens of heads x head_dim elements.
class KvCache {
 public:
  /// `encoding` rotates keys as they are appended. Keys of encodings of other sites are stored unchanged.
  /// Error: sizes below 1 or above 2^40 values, float64, an encoding of another head_dim or of several axes.
  /// Cost: allocates all of `shape`.
  KvCache(const Encoding& encoding, const CacheShape& shape);

  /// Starts an empty sequence and returns its id; ids of freed sequences are reused.
  /// Cost: O(sequences).
  SequenceId create();
  /// Starts a sequence that shares all tokens of `sequence` so far.
  /// Cost: O(n); no token is copied.
  SequenceId fork(SequenceId sequence);
  /// Ends a sequence and releases the tokens that no other sequence shares.
  /// Cost: O(n).
  void free(SequenceId sequence);

  /// Returns the number of tokens.
  /// Cost: O(1).
  std::int64_t length(SequenceId sequence) const;
  /// Returns the position of every token.
  /// Cost: O(n).
  std::vector<Position> positions(SequenceId sequence) const;
  /// Returns how many more tokens fit.
  /// Cost: O(1).
  std::int64_t free_tokens() const { return static_cast<std::int64_t>(vacant_.size()); }
  /// Returns the encoding of keys appended from now on.
  /// Cost: O(1).
  const Encoding& encoding() const { return encoding_; }

  /// Appends tokens and rotates their keys. `keys` and `values` have one batch row.
  /// Error: shapes that do not match the cache, no space, positions that do not rise or are out of range.
  /// Range: positions rise strictly and start above the last one of the sequence.
  /// Cost: copies the new tokens, rotating their keys.
  void append(SequenceId sequence, const HeadsView& keys, const HeadsView& values, std::span<const Position> ids,
              Executor* executor = nullptr);
  /// Replaces the encoding: the same one at another length (dynamic NTK, LongRoPE), or a different one. Raw keys need
  /// no change. Rotated keys of another table are refused unless `rerotate` is set; then all of them are rotated
  /// exactly.
  /// Error: another site or head_dim, several axes, rotated keys of another table without `rerotate`.
  /// Cost: O(1) for raw keys, an empty cache or an equal table; else every cached token is rotated.
  void set_encoding(const Encoding& encoding, bool rerotate = false);

  /// Keeps the first `length` tokens and drops the rest, such as rejected drafts.
  /// Error: a length beyond n.
  /// Cost: O(dropped tokens).
  void truncate(SequenceId sequence, std::int64_t length);
  /// Keeps the first `sinks` and the last `window` tokens. `renumber` gives them the positions 0, 1, ...
  /// (StreamingLLM).
  /// Error: sinks below 0, window below 1.
  /// Cost: O(n); no token is copied or rotated.
  void slide(SequenceId sequence, std::int64_t sinks, std::int64_t window, bool renumber);
  /// Adds `delta` to every position.
  /// Error: positions out of range.
  /// Cost: O(n); no token is copied or rotated.
  void shift(SequenceId sequence, Position delta);
  /// Gives tokens [begin, end) the consecutive positions from `position` on.
  /// Error: a range beyond n, positions out of range.
  /// Cost: O(n); no token is copied or rotated.
  void relocate(SequenceId sequence, std::int64_t begin, std::int64_t end, Position position);
  /// Divides the positions of tokens [begin, end) by `group` and rounds down (SelfExtend).
  /// Error: a range beyond n, a group below 1.
  /// Cost: O(n); no token is copied or rotated.
  void divide(SequenceId sequence, std::int64_t begin, std::int64_t end, std::int64_t group);
  /// Rotates moved keys in place, which rounds each once more. Tokens shared with other sequences are copied first.
  /// Does nothing for raw keys.
  /// Error: no space for the copies.
  /// Cost: O(n), plus one rotation per moved token and one copy per moved token that is shared.
  void settle(SequenceId sequence);

  /// Returns keys, values and positions for attention. Moved and raw keys are rotated into the result, which adds one
  /// rounding.
  /// Cost: O(n) without a copy if the tokens are contiguous and none must be rotated; else n tokens are copied.
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
