# SPDX-License-Identifier: Apache-2.0
"""The position planner: the id of each token, however tokens are batched, split, packed or cached.

Ids are int64 arrays: [tokens] for one sequence, [batch, tokens] for a batch, [axes, tokens] for images.
"""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _core
from ._ids import integers
from ._types import Array


class Padded(NamedTuple):
    """Ids [batch, tokens] and a mask of the same shape, true for tokens and false for padding."""

    ids: Array
    mask: Array


class Streaming(NamedTuple):
    """The tokens of the text that are kept, and their ids: their slots in the cache."""

    kept: Array
    ids: Array


class Multimodal(NamedTuple):
    """Ids [3, tokens]: time, height, width. A token decoded later at index i has id i + decode_delta on each."""

    ids: Array
    decode_delta: int


class Vision(NamedTuple):
    """An image or a video in tokens, after spatial merging; a frame takes time_scale ids."""

    frames: int = 1
    rows: int = 1
    cols: int = 1
    time_scale: float = 1.0


class Audio(NamedTuple):
    """Sound in tokens; a token takes time_scale ids (1 in Qwen2.5-Omni)."""

    tokens: int
    time_scale: float = 1.0


class Compressed(NamedTuple):
    """The ids of keys that stand for several tokens, and the position from which each is visible."""

    ids: Array
    visible_from: Array


class DocumentShard(NamedTuple):
    """What one rank holds of packed documents: ids counted in each document, the tokens' indices in the packed row (-1
    for padding), those in the row where each document is followed by its padding, and a mask, true for tokens."""

    ids: Array
    tokens: Array
    slots: Array
    mask: Array


def _padded(plan: Any) -> Padded:
    ids, mask = plan
    return Padded(ids[0], mask.astype(bool))


def prefill(tokens: int, start: int = 0) -> Array:
    """Returns start, start + 1, ..., start + tokens - 1."""
    return _core.prefill(tokens, start)[0, 0]


def decode(prefix: int, tokens: int) -> Array:
    """Returns the ids of new tokens after `prefix` cached ones: decode(12, 3) is 12, 13, 14."""
    return _core.decode(prefix, tokens)[0, 0]


def left_padded(lengths: Sequence[int], width: Optional[int] = None, pad_id: int = 0) -> Padded:
    """Pads rows of `lengths` tokens to `width` (default: the longest), padding first."""
    return _padded(_core.left_padded(integers(lengths, "lengths"), width, pad_id))


def right_padded(lengths: Sequence[int], width: Optional[int] = None, pad_id: int = 0) -> Padded:
    """Pads rows of `lengths` tokens to `width` (default: the longest), padding last."""
    return _padded(_core.right_padded(integers(lengths, "lengths"), width, pad_id))


def from_mask(mask: Any, pad_id: int = 0) -> Padded:
    """Returns ids for any mask [batch, tokens], even with holes: cumsum(mask) - 1 in each row, pad_id where masked."""
    return _padded(_core.from_mask(np.ascontiguousarray(np.asarray(mask) != 0, dtype=np.uint8), pad_id))


def packed(lengths: Sequence[int]) -> Array:
    """Returns the ids of concatenated documents; they restart at 0 in each."""
    return _core.packed(integers(lengths, "lengths"))[0, 0]


def packed_from_cumulative(boundaries: Sequence[int]) -> Array:
    """The same, from document boundaries 0, l0, l0 + l1, ... (cu_seqlens)."""
    return _core.packed_from_cumulative(integers(boundaries, "boundaries"))[0, 0]


def shard(kind: str, tokens: int, ranks: int, rank: int) -> Array:
    """Returns the ids that `rank` holds of a sequence split over `ranks`; kind is contiguous, striped or zigzag."""
    return _core.shard(kind, tokens, ranks, rank)[0, 0]


def shards(kind: str, tokens: int, ranks: int) -> Array:
    """Returns the ids of all ranks, [ranks, tokens / ranks]."""
    return _core.shards(kind, tokens, ranks)[0]


def document_shard(
    kind: str, lengths: Sequence[int], ranks: int, rank: int, *, uneven: bool = False
) -> DocumentShard:
    """Returns what `rank` holds of packed documents, each cut by itself as shard() cuts a sequence. A document that
    cannot be cut evenly gets padding or, with `uneven`, first pieces that have one token more."""
    ids, tokens, slots, mask = _core.document_shard(kind, integers(lengths, "lengths"), ranks, rank, uneven)
    return DocumentShard(ids[0, 0], tokens, slots, mask.astype(bool))


def cut(ids: Any, shard: DocumentShard) -> Array:
    """Returns the columns of ids [..., tokens] of the packed row that the shard holds (M-RoPE: [3, tokens]); padding
    gets 0."""
    row = integers(ids, "ids")
    if shard.tokens.size and shard.tokens.max() >= row.shape[-1]:
        raise _core.Error(f"ids must have more than {shard.tokens.max()} tokens for this shard, got {row.shape[-1]}")
    return np.where(shard.mask, row[..., np.maximum(shard.tokens, 0)], 0)


def tree(parents: Sequence[int], prefix: int = 0) -> Array:
    """Returns the ids of a tree: the parent of node i is parents[i] (-1: a root); its id is prefix + depth."""
    return _core.tree(integers(parents, "parents"), prefix)[0, 0]


def ancestor_mask(parents: Sequence[int]) -> Array:
    """Returns [nodes, nodes]: true if the column's node is the row's node or one of its ancestors."""
    return _core.ancestor_mask(integers(parents, "parents")).astype(bool)


def streaming(seen: int, sinks: int, window: int) -> Streaming:
    """StreamingLLM: keeps the first `sinks` and the last `window` of `seen` tokens."""
    kept, ids = _core.streaming(seen, sinks, window)
    return Streaming(kept, ids[0, 0])


def accepted_path(parents: Sequence[int], last: int) -> Array:
    """Returns the nodes from the root to `last`: what stays of a tree when verification accepts that path."""
    return _core.accepted_path(integers(parents, "parents"), last)


def multimodal(segments: Sequence[Union[int, Vision, Audio]], *, prefix: int = 0, decode_delta: int = 0) -> Multimodal:
    """Returns Qwen2-VL's ids for M-RoPE. A segment is a number of text tokens, a Vision(frames, rows, cols) or an
    Audio(tokens). For a next turn, give the tokens so far as `prefix` and their `decode_delta`; the ids are those of the
    new tokens. Slice them for prefill in chunks: ids[:, a:b]."""
    given = [tuple(one) if isinstance(one, (Vision, Audio)) else one for one in segments]
    ids, delta = _core.multimodal(given, prefix, decode_delta)
    return Multimodal(ids[:, 0], delta)


def multimodal_decode(prefix: int, decode_delta: int, tokens: int = 1) -> Array:
    """Returns [3, tokens]: the ids of tokens decoded after `prefix` tokens with that delta."""
    return _core.multimodal_decode(prefix, decode_delta, tokens)[:, 0]


def multimodal_tree(parents: Sequence[int], prefix: int, decode_delta: int) -> Array:
    """Returns [3, nodes]: the ids of a tree of drafts after `prefix` tokens with that delta."""
    return _core.multimodal_tree(integers(parents, "parents"), prefix, decode_delta)[:, 0]


def compressed(entries: int, rate: int) -> Compressed:
    """Returns the ids i * rate of keys that stand for `rate` tokens each (DeepSeek V4), and when each is visible."""
    ids, visible_from = _core.compressed(entries, rate)
    return Compressed(ids[0, 0], visible_from)


def grid(rows: int, cols: int, merge: int = 1) -> Array:
    """Returns [2, rows x cols]: row and column of each patch, row-major, or in merge x merge blocks."""
    return _core.grid(rows, cols, merge)[:, 0]


def pixtral_ids(rows: int, cols: int, max_side: int) -> Array:
    """Returns row * max_side + column, row-major."""
    return _core.pixtral_ids(rows, cols, max_side)[0, 0]


def patch_coordinates(rows: int, cols: int) -> Array:
    """Returns the centres (y, x) of patches, [rows x cols, 2], with each side scaled to [-1, 1] (DINOv3)."""
    return _core.patch_coordinates(rows, cols)


__all__ = [
    "Audio",
    "Compressed",
    "DocumentShard",
    "Multimodal",
    "Padded",
    "Streaming",
    "Vision",
    "accepted_path",
    "ancestor_mask",
    "compressed",
    "cut",
    "decode",
    "document_shard",
    "from_mask",
    "grid",
    "left_padded",
    "multimodal",
    "multimodal_decode",
    "multimodal_tree",
    "packed",
    "packed_from_cumulative",
    "patch_coordinates",
    "pixtral_ids",
    "prefill",
    "right_padded",
    "shard",
    "shards",
    "streaming",
    "tree",
]
