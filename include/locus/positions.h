// SPDX-License-Identifier: Apache-2.0
// The position planner: the id of each token, however tokens are batched, cut, packed or cached.
//
// Every function returns a plan; each comment says what the plan holds.
// Error (all functions): negative counts, ids beyond 64 bits, more than `max_ids` ids in one plan.
// Range (all functions): zero tokens are allowed unless stated. The encoding, not the planner, checks that it accepts
// an id.
// Cost (all functions): linear in the ids returned.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "locus/position_ids.h"

namespace locus::positions {

/// The largest plan. A larger one is refused as a mistake.
inline constexpr std::int64_t max_ids = std::int64_t{1} << 33;

// ---- one sequence

/// start, start + 1, ..., start + tokens - 1.
PositionIds prefill(std::int64_t tokens, Position start = 0);

/// `tokens` new tokens after `prefix` cached ones: prefix + t. decode(12, 3) is 12, 13, 14.
PositionIds decode(std::int64_t prefix, std::int64_t tokens);

// ---- padded batches

/// Ids [batch][tokens] and, in the same order, 1 for a token and 0 for padding.
struct Padded {
  PositionIds ids;
  std::vector<std::uint8_t> mask;
};

/// Rows of `lengths` tokens in `width` slots (default: the longest row), padded on the left or right. Tokens count
/// from 0 in each row; every padding slot gets `pad_id` (transformers uses 1 in some models and 0 in others).
/// Error: no rows, a width below the longest row.
/// Range: rows of length 0 are all padding.
Padded left_padded(std::span<const std::int64_t> lengths, std::optional<std::int64_t> width = {}, Position pad_id = 0);
Padded right_padded(std::span<const std::int64_t> lengths, std::optional<std::int64_t> width = {}, Position pad_id = 0);

/// From any mask [batch][tokens] of 0 and 1, with or without gaps: ids = cumsum(mask) - 1 in each row, `pad_id` where
/// masked.
/// Error: an entry other than 0 and 1, a size other than batch x tokens.
Padded from_mask(std::span<const std::uint8_t> mask, std::int64_t batch, std::int64_t tokens, Position pad_id = 0);

// ---- packed documents

/// Documents one after another in one row; ids restart at 0 in each. Empty documents add nothing.
PositionIds packed(std::span<const std::int64_t> lengths);

/// The same from document boundaries 0, l0, l0 + l1, ... (cu_seqlens).
/// Error: boundaries that do not start at 0 or that decrease.
PositionIds packed_from_cumulative(std::span<const std::int64_t> boundaries);

// ---- one sequence over several ranks

/// contiguous: rank r holds the r-th of `ranks` equal pieces.
/// striped: rank r holds r, r + ranks, r + 2 ranks, ...
/// zigzag: of 2 x ranks equal pieces, rank r holds piece r and then piece 2 ranks - 1 - r; this balances causal work.
enum class ShardKind : std::uint8_t { contiguous, striped, zigzag };

/// The ids that `rank` holds of a sequence of `tokens`. Every rank holds the same number, as collectives require.
/// Error: a rank out of range, `tokens` that is 0 or no multiple of `ranks` (zigzag: of 2 ranks). Pad the sequence
/// then.
PositionIds shard(ShardKind kind, std::int64_t tokens, std::int64_t ranks, std::int64_t rank);

/// All ranks, one per batch row.
PositionIds shards(ShardKind kind, std::int64_t tokens, std::int64_t ranks);

// ---- speculative trees

/// The parent of node i is parents[i], -1 for a root; its id is prefix + depth, and roots have depth 0. Siblings
/// share an id. Nodes may come in any order.
/// Error: a parent that is no node, a cycle.
PositionIds tree(std::span<const std::int64_t> parents, std::int64_t prefix = 0);

/// [nodes][nodes]: 1 where the column's node is the row's node or one of its ancestors, i.e. what the row may attend
/// to.
/// Error: as tree().
std::vector<std::uint8_t> ancestor_mask(std::span<const std::int64_t> parents);

/// The nodes from the root to `last`, in order: what stays of a tree when verification accepts that path. Their ids are
/// consecutive, so the next token has the id after that of `last`.
/// Error: as tree(), and a `last` that is no node.
std::vector<std::int64_t> accepted_path(std::span<const std::int64_t> parents, std::int64_t last);

// ---- a cache of attention sinks and a window

/// `kept` holds the tokens' indices in the text, `ids` their slots in the cache, 0 ... kept - 1.
struct Streaming {
  std::vector<std::int64_t> kept;
  PositionIds ids;
};

/// StreamingLLM (arXiv 2309.17453, 3.2): of `seen` tokens the first `sinks` and the last `window` stay (all, while
/// they fit).
/// Error: a window below 1; the newest token attends to itself.
Streaming streaming(std::int64_t seen, std::int64_t sinks, std::int64_t window);

// ---- keys that stand for several tokens

/// `ids` are those that the keys are rotated by; key i is visible from position visible_from[i] on.
struct Compressed {
  PositionIds ids;
  std::vector<Position> visible_from;
};

/// `entries` keys, each made of `rate` tokens (DeepSeek V4): key i is at i * rate and is visible once its last
/// token is, so at position p there are (p + 1) / rate of them.
/// Error: a rate below 1.
Compressed compressed(std::int64_t entries, std::int64_t rate);

/// [queries][entries]: 1 where the query at that position sees the key.
std::vector<std::uint8_t> compressed_visible(const Compressed& plan, std::span<const Position> queries);

// ---- text with images (M-RoPE)

struct Text {
  std::int64_t tokens = 0;
};

/// An image or a video in tokens, i.e. after spatial merging. A frame lasts `time_scale` ids: 1 in Qwen2-VL,
/// second_per_grid_t x tokens_per_second for videos in Qwen2.5-VL; fractions are dropped.
/// Range: each count at least 1, time_scale finite and at least 0.
struct Vision {
  std::int64_t frames = 1;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  double time_scale = 1.0;
};

/// Sound in tokens, with time = height = width as in text. A token lasts `time_scale` ids: 1 in Qwen2.5-Omni, whose
/// tokens last 40 ms; fractions are dropped.
/// Range: time_scale finite and at least 0.
struct Audio {
  std::int64_t tokens = 0;
  double time_scale = 1.0;
};

/// A video with its sound, both counted from one id (Qwen2.5-Omni, use_audio_in_video): frames and sound alternate in
/// pieces of `ids_per_chunk` ids (25 ids per second x 2 seconds), frames first. Two tokens with one id come before them
/// and two after them; those stand after the last piece, even if earlier ids are larger.
/// Range: at least one token of sound, ids_per_chunk at least 1.
struct VideoWithSound {
  Vision video;
  Audio audio;
  std::int64_t ids_per_chunk = 50;
};

using Segment = std::variant<Text, Vision, Audio, VideoWithSound>;

/// Three axes (time, height, width). The token at index i of the whole sequence, decoded later, has id
/// i + decode_delta on each axis.
struct Multimodal {
  PositionIds ids;
  std::int64_t decode_delta = 0;
};

/// Qwen2-VL (arXiv 2409.12191, 2.1): text has time = height = width; an image at position p has p + frame, p + row, p
/// + column; the next segment starts at the largest id so far + 1 (after VideoWithSound: after its last tokens), decoded
/// tokens at the largest id of all + 1.
Multimodal multimodal(std::span<const Segment> segments);

/// What was planned so far: `tokens` tokens, and the delta of their plan.
struct MultimodalPrefix {
  std::int64_t tokens = 0;
  std::int64_t decode_delta = 0;
};

/// More segments after a prefix, such as the next turn of a conversation: the ids of the new tokens only, and the delta
/// of the whole.
Multimodal multimodal_after(const MultimodalPrefix& prefix, std::span<const Segment> segments);

/// Tokens [first, first + tokens) of a plan, for prefill in chunks; a chunk may end inside a picture.
/// Error: a range beyond the plan.
PositionIds chunk(const PositionIds& plan, std::int64_t first, std::int64_t tokens);

/// `tokens` decoded tokens after the prefix, the same id on all three axes.
PositionIds multimodal_decode(const MultimodalPrefix& prefix, std::int64_t tokens);

/// A tree of drafted tokens after the prefix (see tree()), the same id on all three axes.
PositionIds multimodal_tree(std::span<const std::int64_t> parents, const MultimodalPrefix& prefix);

// ---- patches of an image (at least one row and one column)

/// Two axes (row, column), in row-major order. With `merge` m, patches come in m x m blocks, row-major within and
/// among blocks, as in Qwen2-VL's vision tower.
/// Error: a merge that does not divide both sides.
PositionIds grid(std::int64_t rows, std::int64_t cols, std::int64_t merge = 1);

/// One axis, row-major: row * max_side + column, for a table of max_side x max_side entries (Pixtral).
/// Error: a max_side below either side.
PositionIds pixtral_ids(std::int64_t rows, std::int64_t cols, std::int64_t max_side);

/// The centres (y, x) of the patches, row-major, each side mapped to [-1, 1]: (i + 0.5) / n * 2 - 1 (DINOv3).
std::vector<std::array<double, 2>> patch_coordinates(std::int64_t rows, std::int64_t cols);

}  // namespace locus::positions
