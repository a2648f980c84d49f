// SPDX-License-Identifier: Apache-2.0
// The state of a cache: its pages, and for each sequence the runs of slots that hold its tokens in order.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "attention/paged.h"
#include "cache/pages.h"
#include "kernels/transition.h"
#include "locus/cache.h"

namespace locus {

inline constexpr std::size_t most_axes = 8;

/// The current positions of tokens, if they differ from the stored ones: `delta` further on each axis, or `ids`. Slots
/// index both lists, so a run can be cut without changing them.
struct Displacement {
  std::array<Position, most_axes> delta{};
  std::vector<Position> ids = {};    ///< [axes][page_size], or empty
  std::vector<float> turns = {};     ///< one for all slots, one per slot, or none
  std::vector<StepTurn> steps = {};  ///< [page_size], in place of turns per slot where they can be computed
  std::vector<double> anchors = {};
};

/// Consecutive tokens of a sequence in consecutive slots of a page.
struct Run {
  PageId page = 0;
  std::int32_t first = 0, count = 0;
  std::shared_ptr<const Displacement> moved = {};  ///< null: at their stored positions

  std::int32_t end() const { return first + count; }
};

inline std::int64_t number_size_of(const Encoding& encoding) {
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  return bias == nullptr ? 0 : bias->heads * bias->token_numbers;
}

struct Sequence {
  std::vector<Run> runs;  ///< those of one page are neighbours
  std::int64_t length = 0;
};

class KvCache::State {
 public:
  State(const Encoding& encoding, const CacheShape& shape);

  bool rotates() const { return encoding.site() == Site::query_key; }
  bool raw() const { return rotates() && shape.form == KeyForm::raw; }
  /// Returns the number of floats of a raw key's turn.
  std::int64_t turn_size() const { return raw() ? 2 * encoding.rotation().pairs() : 0; }
  /// Returns the number of doubles that a token brings, for all query heads.
  std::int64_t number_size() const { return number_size_of(encoding); }
  /// Returns the numbers of tokens [begin, end), [end - begin][number_size].
  std::vector<double> numbers_of(const Sequence& sequence, std::int64_t begin, std::int64_t end) const;
  /// Returns the turn of a stored key to its current position.
  const KeyTurn& turn() const { return *key_turn; }
  void make_turn() {
    if (rotates()) key_turn = std::make_unique<const KeyTurn>(Transition{raw() ? nullptr : &encoding, &encoding});
  }

  const Sequence& find(SequenceId sequence) const;
  Sequence& find(SequenceId sequence);
  /// Returns the ids of tokens [begin, end), [axes][end - begin].
  std::vector<Position> ids_of(const Sequence& sequence, std::int64_t begin, std::int64_t end) const;

  // ---- runs
  /// Returns copies of the runs that hold tokens [begin, end), cut at both ends.
  std::vector<Run> cut(const Sequence& sequence, std::int64_t begin, std::int64_t end) const;
  /// Replaces a sequence's runs: joins neighbours that continue each other, and counts the users of pages.
  void replace(Sequence& sequence, std::vector<Run> runs);

  // ---- appending
  /// Where the next tokens go.
  struct Tail {
    std::int64_t room = 0;  ///< slots left in the last page
    bool copies = false;    ///< another sequence has written there, so the page must be copied first
  };
  Tail tail_of(const Sequence& sequence) const { return tail_of(sequence, sequence); }
  /// The same for a sequence whose pages are still counted as `counted`.
  Tail tail_of(const Sequence& sequence, const Sequence& counted) const;
  std::int64_t pages_for(const Sequence& sequence, std::int64_t tokens) const {
    return pages_for(tail_of(sequence), tokens);
  }
  std::int64_t pages_for(const Tail& tail, std::int64_t tokens) const;
  /// Returns how many free pages it takes to keep the tokens before `begin` and copies of `count` later ones.
  std::int64_t pages_to_keep(const Sequence& sequence, std::int64_t begin, std::int64_t count) const;
  /// Reserves slots for `count` more tokens and returns the runs that hold them. There must be enough free pages.
  std::vector<Run> extend(Sequence& sequence, std::int64_t count);
  void share_full_pages(Sequence& sequence);
  /// Writes tokens into the slots of `runs`.
  void write(const std::vector<Run>& runs, const NewTokens& tokens, Executor* executor);
  void write_run(const Run& run, const NewTokens& tokens, std::int64_t first);

  // ---- moving
  /// Returns the displacement that takes a run's tokens to `ids`, [axes][count]; null if they are stored there. Reuses
  /// `last` if it fits.
  std::shared_ptr<const Displacement> displacement(const Run& run, std::span<const Position> ids,
                                                   const std::shared_ptr<const Displacement>& last) const;
  void fill_turns(Displacement& fresh, const Run& run, std::span<const Position> ids, bool one) const;
  /// Returns `runs` with their tokens at `ids`, [axes][tokens of the runs].
  std::vector<Run> moved_to(std::vector<Run> runs, std::span<const Position> ids) const;
  /// Moves tokens [begin, begin + ids / axes).
  void move(Sequence& sequence, std::int64_t begin, std::span<const Position> ids);

  // ---- turning
  /// How pages are laid out; keys turn to their current positions, or by another turn.
  PageLayout layout() const { return layout(key_turn.get()); }
  PageLayout layout(const KeyTurn* turn) const;
  std::vector<PageSpan> spans_of(const Sequence& sequence) const;
  std::vector<Position> indices_for(const CachedAttention& call) const;
  /// Returns a view without data.
  HeadsView extents(const Sequence& sequence) const;
  /// Returns one head of slots [slot, slot + count) of a run, with their turns.
  StoredKeys stored_keys(const Run& run, std::int64_t head, std::int64_t slot, std::int64_t count) const;
  /// Stores turned keys.
  void store_turned(const PageLayout& how, const StoredKeys& from, PageId page, std::int64_t head, std::int64_t slot);
  /// Returns the turns of a run's slots from one on; none if they need none.
  KeyTurns turns_of(const Run& run, std::int64_t slot) const;
  /// Returns, for every page in use, which slots hold tokens: [pages in use] -> [page_size].
  std::map<PageId, std::vector<bool>> live_slots() const;
  /// Turns the stored key of a slot from one table to another.
  void rerotate(PageId page, std::int64_t slot, const Transition& change);
  std::vector<Position> stored_ids(PageId page, std::int64_t slot) const;

  Encoding encoding;
  std::unique_ptr<const KeyTurn> key_turn;  ///< null if the encoding does not rotate
  CacheShape shape;
  std::int64_t axes;
  Pages pages;
  std::vector<std::optional<Sequence>> sequences;
};

}  // namespace locus
