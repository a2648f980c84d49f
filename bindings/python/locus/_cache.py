# SPDX-License-Identifier: Apache-2.0
"""A KV cache of pages, and attention over it."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._core import Error
from ._attention import _bytes, _floats
from ._encoding import Encoding, empty_like
from ._ids import integers, position_ids
from ._types import Array


def _token_numbers(values: Any, name: str) -> Optional[Array]:
    """[tokens, heads, numbers] in double, from that or without the last axis."""
    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2:
        array = array[..., np.newaxis]
    if array.ndim != 3:
        raise Error(f"{name} must be [tokens, heads] or [tokens, heads, numbers], got shape {array.shape}")
    return np.ascontiguousarray(array)


class KvCache:
    """Keys and values of many sequences in pages that forks share. Keys are rotated as they are appended. Moves
    (slide, shift, relocate, divide) change positions only; moved keys are turned when attend() reads them, with the
    same bits as after settle(). An error leaves the cache as it was.

    `capacity` counts tokens over all sequences and is rounded up to whole pages of `page_size` (16 to 256). `int8`
    stores 8-bit integers with a scale per token and head. `raw_keys` stores keys unrotated, for encodings whose table
    changes. `share_equal_pages` stores equal full pages once, found by a hash of their contents."""

    def __init__(
        self,
        encoding: Encoding,
        *,
        capacity: int,
        heads: int,
        head_dim: int,
        dtype: str = "float32",
        page_size: int = 64,
        int8: bool = False,
        raw_keys: bool = False,
        share_equal_pages: bool = False,
    ) -> None:
        self._encoding = encoding
        self._core = _core.KvCache(
            encoding._core,
            capacity=capacity,
            heads=heads,
            head_dim=head_dim,
            dtype=dtype,
            page_size=page_size,
            int8=int8,
            raw_keys=raw_keys,
            share_equal_pages=share_equal_pages,
        )

    @property
    def encoding(self) -> Encoding:
        """The encoding of keys appended from now on."""
        return self._encoding

    @property
    def free_pages(self) -> int:
        """How many pages are free."""
        return self._core.free_pages()

    def pages_for(self, sequence: int, tokens: int) -> int:
        """How many free pages it takes to append `tokens` tokens."""
        return self._core.pages_for(sequence, tokens)

    def create(self) -> int:
        """Starts an empty sequence and returns its number."""
        return self._core.create()

    def fork(self, sequence: int) -> int:
        """Starts a sequence that shares all tokens of another so far; no token is copied."""
        return self._core.fork(sequence)

    def free(self, sequence: int) -> None:
        """Ends a sequence and releases the pages that no other shares."""
        self._core.free(sequence)

    def length(self, sequence: int) -> int:
        """The number of tokens."""
        return self._core.length(sequence)

    def positions(self, sequence: int) -> Array:
        """The positions of the tokens: [tokens], or [axes, tokens] for encodings of several axes."""
        ids = self._core.positions(sequence)
        return ids[0] if len(ids) == 1 else ids

    def append(
        self,
        sequence: int,
        k: Any,
        v: Any,
        positions: Any = None,
        *,
        any_order: bool = False,
        numbers: Any = None,
        axes: str = "",
    ) -> None:
        """Appends tokens [tokens, heads, dim] (axes="htd": heads first) of the cache's dtype; keys are not rotated yet.
        Without positions they follow the last token. Positions of one axis must rise, unless any_order is set (drafts
        in a tree). `numbers` are what the tokens bring, [tokens, query heads] or [tokens, query heads, numbers]
        (forget_gate: running sums of the log gates, going on from last_numbers()); attend() then uses them."""
        tokens = _core.extents(k, "k", axes)[1]
        if positions is None:
            held = self._core.positions(sequence)
            positions = int(held.max()) + 1 if held.size else 0
        ids = position_ids(positions, self._encoding.axes, tokens)
        self._core.append(
            sequence, (k, v), ids=ids, any_order=any_order, numbers=_token_numbers(numbers, "numbers"), axes=axes
        )

    def last_numbers(self, sequence: int) -> Optional[Array]:
        """The numbers that the last token brought, [query heads, numbers]; None if tokens bring none. Zeros if there is
        no token yet: the running sums of the next tokens are last_numbers() + numpy.cumsum(log_gates, 0)."""
        last = self._core.last_numbers(sequence)
        if last is None:
            return None
        return last[0] if len(last) else np.zeros(last.shape[1:])

    def numbers(self, sequence: int) -> Optional[Array]:
        """The numbers of all tokens, [tokens, query heads, numbers], NaN where none were appended; None if tokens bring
        none."""
        return self._core.numbers(sequence)

    def set_encoding(self, encoding: Encoding, *, rerotate: bool = False) -> None:
        """Replaces the encoding. Keys that another table rotated are refused, unless rerotate is set."""
        self._core.set_encoding(encoding._core, rerotate)
        self._encoding = encoding

    def truncate(self, sequence: int, length: int) -> None:
        """Keeps the first `length` tokens."""
        self._core.truncate(sequence, length)

    def keep(self, sequence: int, begin: int, indices: Sequence[int]) -> None:
        """Keeps the tokens before `begin` and those at `indices`: the accepted path of a tree of drafts."""
        self._core.keep(sequence, begin, integers(list(indices), "indices").tolist())

    def slide(self, sequence: int, sinks: int, window: int, *, renumber: bool = True) -> None:
        """Keeps the first `sinks` and the last `window` tokens; `renumber` gives them the positions 0, 1, ..."""
        self._core.slide(sequence, sinks, window, renumber)

    def shift(self, sequence: int, delta: Any, *, begin: int = 0, end: Optional[int] = None) -> None:
        """Adds `delta` (one integer, or one per axis) to the positions of tokens [begin, end)."""
        deltas = integers(delta, "delta")
        deltas = np.broadcast_to(deltas, (self._encoding.axes,)) if deltas.ndim == 0 else deltas
        self._core.shift(sequence, begin, self.length(sequence) if end is None else end, deltas.tolist())

    def relocate(self, sequence: int, begin: int, end: int, position: int) -> None:
        """Gives tokens [begin, end) the consecutive positions from `position` on."""
        self._core.relocate(sequence, begin, end, position)

    def divide(self, sequence: int, begin: int, end: int, group: int) -> None:
        """Divides the positions of tokens [begin, end) by `group`, rounded down (SelfExtend)."""
        self._core.divide(sequence, begin, end, group)

    def settle(self, sequence: int) -> None:
        """Turns moved keys in place now."""
        self._core.settle(sequence)

    def attend(
        self,
        sequences: Sequence[int],
        queries: Any,
        *,
        positions: Optional[Sequence[Any]] = None,
        trees: Optional[Sequence[Any]] = None,
        query_numbers: Optional[Sequence[Any]] = None,
        key_numbers: Optional[Sequence[Any]] = None,
        rotated: bool = False,
        window: int = 0,
        sinks: int = 0,
        scale: Optional[float] = None,
        soft_cap: float = 0.0,
        sink_logits: Any = None,
        axes: str = "",
    ) -> List[Any]:
        """Attention of several sequences in one call; returns one output per sequence. `queries` holds one array
        [tokens, heads, dim] per sequence: one token to decode, a chunk of a prompt, or a tree of drafts. They belong to
        the last tokens of their sequences (append first) and are rotated here, at `positions` or where those tokens
        are, unless `rotated` says that they are already. A query sees the tokens up to its own, within `window` if that
        is not 0; `trees` holds None or [tokens, tokens] per sequence: false where query i does not see the token of
        query j. `query_numbers` and `key_numbers` hold None or what the queries and all tokens of the sequence bring,
        in place of what was appended."""
        if len(queries) != len(sequences):
            raise Error(f"there are {len(sequences)} sequences and queries for {len(queries)}")
        per_sequence = {
            "positions": positions, "trees": trees, "query_numbers": query_numbers, "key_numbers": key_numbers
        }
        for name, given in per_sequence.items():
            if given is not None and len(given) != len(sequences):
                raise Error(f"there are {len(sequences)} sequences and {name} for {len(given)}")
        batch: List[Tuple[int, Any, Any, Optional[Array], Optional[Array], Optional[Array]]] = []
        outputs = []
        for i, (sequence, q) in enumerate(zip(sequences, queries)):
            if self._encoding.site == "query_key" and not rotated:
                tokens = _core.extents(q, "queries", axes)[1]
                held = self._core.positions(sequence)
                if positions is None and held.shape[1] < tokens:
                    raise Error(f"sequence {sequence} has {held.shape[1]} tokens, fewer than its {tokens} queries")
                ids = held[:, held.shape[1] - tokens :] if positions is None else positions[i]
                q = self._encoding.apply(q, positions=ids[:, None, :] if positions is None else ids, axes=axes)
            output = empty_like(q)
            outputs.append(output)
            tree = None if trees is None else _bytes(trees[i], "trees")
            of_queries = None if query_numbers is None else _token_numbers(query_numbers[i], "query_numbers")
            of_keys = None if key_numbers is None else _token_numbers(key_numbers[i], "key_numbers")
            batch.append((sequence, q, output, tree, of_queries, of_keys))
        self._core.attend(
            batch,
            window=window,
            sinks=sinks,
            scale=scale,
            soft_cap=soft_cap,
            sink_logits=_floats(sink_logits),
            axes=axes,
        )
        return outputs

    def gather(self, sequence: int) -> Tuple[Array, Array, Array]:
        """Copies of the keys and values, [tokens, heads, dim] in float32, at their current positions, and those."""
        k, v, ids = self._core.gather(sequence)
        return k, v, ids[0] if len(ids) == 1 else ids
