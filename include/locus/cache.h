// SPDX-License-Identifier: Apache-2.0
// A KV cache that tracks positions: tokens of many sequences in shared pages, which attention reads in place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "locus/attention.h"
#include "locus/element.h"
#include "locus/encoding.h"
#include "locus/position_ids.h"
#include "locus/rotate.h"

namespace locus {

using SequenceId = std::int64_t;

/// rotated: keys are stored rotated, as attention uses them (fast). raw: keys are stored unrotated and rotated on
/// use, so that they stay right when the table or the positions change; each token also stores its cos and sin.
enum class KeyForm : std::uint8_t { rotated, raw };

/// elements: in the cache's type. int8: as integers from -127 to 127 with a float32 scale per token and head, which
/// rounds each number by at most 1/254 of the largest one of its head.
enum class KvStorage : std::uint8_t { elements, int8 };

struct CacheShape {
  std::int64_t capacity = 0;  ///< tokens over all sequences, rounded up to whole pages; shared pages count once
  std::int64_t heads = 1;     ///< key/value heads
  std::int64_t head_dim = 0;
  ElementType type = ElementType::float32;  ///< of tokens, queries and outputs: float32, bfloat16 or float16
  KeyForm form = KeyForm::rotated;
  KvStorage storage = KvStorage::elements;
  std::int64_t page_size = 64;     ///< tokens per page, 16 to 256
  bool share_equal_pages = false;  ///< a page that becomes full is dropped for an equal one, found by content hash
};

/// Tokens to append. `keys` and `values` have one batch row and the cache's type; keys are not rotated yet.
struct NewTokens {
  HeadsView keys, values;
  std::span<const Position> ids;  ///< [axes, tokens]
  bool any_order = false;         ///< ids need not rise (drafts in a tree); those of several axes never need to
  /// What the tokens bring (AttentionCall::key_numbers), kept for attend(): [1, tokens, query heads, numbers] of
  /// float32 or float64. Absent: attend() must get the numbers of all tokens.
  HeadsView numbers = {};
};

/// The keys and values of one sequence in order, [tokens, heads, head_dim], copied.
struct CachedSequence {
  HeadsView keys;
  HeadsView values;
  std::vector<Position> ids;    ///< [axes, tokens]
  std::vector<double> numbers;  ///< [tokens, query heads, numbers] that were appended; NaN where none were
  std::vector<std::byte> storage;
};

/// The queries of one sequence in a call of KvCache::attend. They belong to its last tokens: append first.
struct CachedQueries {
  SequenceId sequence = 0;
  HeadsView query, output;  ///< [1, queries, query heads, head_dim], of the cache's type; rotated (rotate.h)
  /// One per query, for score biases and masks by id. Empty: those of the last cached tokens (of several axes, the
  /// first).
  std::span<const Position> ids = {};
  /// Drafts in a tree, [queries, queries]: 0 if query i does not see the token of query j. Parents come first.
  std::span<const std::uint8_t> tree = {};
  /// What the queries' tokens and all tokens of the sequence bring, as in AttentionCall. Absent: what was appended.
  HeadsView query_numbers = {}, key_numbers = {};
  float* log_sum_exp = nullptr;                    ///< [query heads, queries], as in AttentionCall
  std::span<const std::int64_t> rows_wanted = {};  ///< queries whose probabilities to store
  float* probabilities = nullptr;                  ///< [query heads, rows_wanted, tokens of the sequence]
};

/// Attention of a batch: decoded tokens, chunks of prompts and trees of drafts together.
struct CachedAttention {
  std::span<const CachedQueries> queries;
  Mask mask = {.causal = true, .by_index = true};  ///< for every sequence; without keys, pairs and custom
  std::optional<double> scale = {};                ///< as in AttentionCall, like the next three
  double scale_factor = 1;
  double soft_cap = 0;
  std::span<const float> sink_logits = {};
  Executor* executor = nullptr;
};

/// Tokens are stored in pages and never move. A fork shares pages; a sequence that writes into a page that others use
/// copies that page first. Changes of position (shift, relocate, divide, slide) are lazy: a key keeps the position it
/// was stored at, and is turned by the difference when it is used or settled. So 10,000 shifts cost one rounding.
/// A call that throws leaves the cache unchanged. Concurrent changes need a lock; attend(), gather() and the other
/// const calls may run at the same time.
///
/// Error: every call refuses an unknown or freed sequence; the others are listed with the call.
/// Cost: n is the number of tokens of the sequence and p of its pages (after a slide or a move of a part, up to two
/// more); "copied" and "rotated" count tokens of heads x head_dim elements.
class KvCache {
 public:
  /// `encoding` rotates keys as they are appended. Keys of encodings of other sites are stored unchanged.
  /// Error: sizes below 1 or above 2^40 values, a page_size outside 16 to 256, float64, another head_dim.
  /// Cost: allocates all of `shape`; memory is touched when it is first written.
  KvCache(const Encoding& encoding, const CacheShape& shape);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  /// Starts an empty sequence and returns its id; ids of freed sequences are reused.
  /// Cost: O(sequences).
  SequenceId create();
  /// Starts a sequence that shares all tokens of `sequence` so far.
  /// Cost: O(sequences + p); no token is copied.
  SequenceId fork(SequenceId sequence);
  /// Ends a sequence and releases the pages that no other sequence shares.
  /// Cost: O(p).
  void free(SequenceId sequence);

  /// Returns the number of tokens.
  /// Cost: O(1).
  std::int64_t length(SequenceId sequence) const;
  /// Returns the positions of every token, [axes, n].
  /// Cost: O(n).
  std::vector<Position> positions(SequenceId sequence) const;
  /// Returns the positions of the last token, one per axis; empty if there is none.
  /// Cost: O(1).
  std::vector<Position> last_position(SequenceId sequence) const;
  /// Returns the numbers that the last token brought, [query heads, numbers]: `before` of running_sums() for the next
  /// chunk. Empty if there is no token or the encoding takes no numbers.
  /// Cost: O(1).
  std::vector<double> last_numbers(SequenceId sequence) const;
  /// Returns how many pages are free.
  /// Cost: O(1).
  std::int64_t free_pages() const;
  /// Returns how many free pages it takes to append `tokens` tokens.
  /// Error: tokens below 0.
  /// Cost: O(1); O(p) if the last page is shared.
  std::int64_t pages_for(SequenceId sequence, std::int64_t tokens) const;
  /// Returns the encoding of keys appended from now on.
  /// Cost: O(1).
  const Encoding& encoding() const;
  /// Returns the shape, with the capacity rounded up.
  /// Cost: O(1).
  const CacheShape& shape() const;

  /// Appends tokens and rotates their keys.
  /// Error: shapes that do not match the cache, no free page, positions that do not rise or are out of range.
  /// Range: ids of one axis rise strictly and start above the last one of the sequence, unless any_order is set.
  /// Cost: copies the new tokens, rotating their keys; copies up to one page if the last one is shared. With
  /// share_equal_pages, hashes each page that becomes full.
  void append(SequenceId sequence, const NewTokens& tokens, Executor* executor = nullptr);
  void append(SequenceId sequence, const HeadsView& keys, const HeadsView& values, std::span<const Position> ids,
              Executor* executor = nullptr);
  /// Replaces the encoding: the same one at another length (dynamic NTK, LongRoPE), or a different one. Raw keys need
  /// no change. Rotated keys of another table are refused unless `rerotate` is set; then all of them are rotated: one
  /// rounding each, two where the new encoding pairs other coordinates.
  /// Error: another site, head_dim or number of axes, a position out of the new range, rotated keys of another table
  /// without `rerotate`.
  /// Cost: O(tokens) to check positions and to compute the turns of moved keys; where keys are rotated anew, every
  /// cached token.
  void set_encoding(const Encoding& encoding, bool rerotate = false);

  /// Keeps the first `length` tokens and drops the rest, such as rejected drafts.
  /// Error: a length beyond n.
  /// Cost: O(dropped pages).
  void truncate(SequenceId sequence, std::int64_t length);
  /// Keeps the tokens before `begin` and those at `indices`, which rise: the accepted path of a tree of drafts.
  /// Error: indices that do not rise or are outside begin to n, no free page for copies of tokens in shared pages.
  /// Cost: O(p); the tokens at `indices` are copied twice.
  void keep(SequenceId sequence, std::int64_t begin, std::span<const std::int64_t> indices);
  /// Keeps the first `sinks` and the last `window` tokens. `renumber` gives them the positions 0, 1, ...
  /// (StreamingLLM). With several axes, the sinks move to begin at 0 and the window to follow the sinks, each as a
  /// whole, so that images keep their shape.
  /// Error: sinks below 0, window below 1, new positions out of range.
  /// Cost: O(p); with `renumber` O(n), and one turn per distinct difference; no token is copied or rotated.
  void slide(SequenceId sequence, std::int64_t sinks, std::int64_t window, bool renumber);
  /// Adds `delta` to every position, on every axis; or `deltas`, one per axis, to those of tokens [begin, end).
  /// Error: a range beyond n, a wrong number of deltas, positions out of range.
  /// Cost: O(p + moved tokens); no token is copied or rotated. Tokens that were divided compute a turn each.
  void shift(SequenceId sequence, Position delta);
  void shift(SequenceId sequence, std::int64_t begin, std::int64_t end, std::span<const Position> deltas);
  /// Gives tokens [begin, end) the consecutive positions from `position` on, on every axis (text).
  /// Error: a range beyond n, positions out of range.
  /// Cost: O(p + end - begin); no token is copied or rotated.
  void relocate(SequenceId sequence, std::int64_t begin, std::int64_t end, Position position);
  /// Divides the positions of tokens [begin, end) by `group` and rounds down (SelfExtend).
  /// Error: a range beyond n, a group below 1, positions out of range.
  /// Cost: O(p + end - begin), with a turn computed per token; no token is copied or rotated.
  void divide(SequenceId sequence, std::int64_t begin, std::int64_t end, std::int64_t group);
  /// Rotates moved keys in place, which rounds each once more. Pages shared with other sequences are copied first.
  /// Does nothing for raw keys.
  /// Error: no free page for the copies.
  /// Cost: O(p), plus one rotation per moved token and one copy per page that holds moved tokens and is shared.
  void settle(SequenceId sequence);

  /// Computes attention of all queries over their sequences. Reads keys and values in their pages; keys that moved,
  /// and raw ones, are turned block by block in the L1 cache, with the same bits as if they had been settled.
  /// The result has the same bits for any page size, any sharing of pages and any number of threads.
  /// Error: as attend() of attention.h; masks with keys, pairs or custom; a tree that does not fit. Nothing is written
  /// then.
  /// Accuracy: as attend() of attention.h.
  /// Cost: O(queries x visible tokens x head_dim) time, split over threads by keys. Up to 16 queries of a sequence read
  /// every page once, and pages that several sequences share once for all of them; more queries, and encodings of the
  /// site relative_key, pack one head at a time. Memory: O(n + query heads x queries x head_dim x n / 256) per sequence.
  void attend(const CachedAttention& call) const;

  /// Returns a copy of keys, values and positions for other attention code. Moved and raw keys are rotated, which adds
  /// one rounding; 8-bit numbers become elements of the cache's type.
  /// Cost: n tokens are copied.
  CachedSequence gather(SequenceId sequence) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace locus
