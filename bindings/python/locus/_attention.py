# SPDX-License-Identifier: Apache-2.0
"""Fused attention."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

import numpy as np

from . import _core
from ._core import Error
from ._encoding import Encoding, empty_like
from ._ids import integers, position_ids
from ._types import Array


def _bytes(mask: Any, name: str) -> Optional[Array]:
    if mask is None:
        return None
    array = np.asarray(mask)
    if array.dtype.kind not in "biu":
        raise TypeError(f"{name} must be boolean (true: visible), got {array.dtype}")
    return np.ascontiguousarray(array != 0, dtype=np.uint8)


def _boundaries(values: Any, name: str) -> Optional[Array]:
    return None if values is None else integers(values, name)


def _floats(values: Any) -> Optional[Array]:
    if hasattr(values, "detach"):
        values = values.detach().float()
    return None if values is None else np.ascontiguousarray(np.asarray(values), dtype=np.float32)


def _numbers(values: Any, name: str) -> Optional[Array]:
    """[batch, tokens, heads, numbers] in double, from that or without the last axis."""
    if values is None:
        return None
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 3:
        array = array[..., np.newaxis]
    if array.ndim != 4:
        raise Error(f"{name} must be [batch, tokens, heads] or [batch, tokens, heads, numbers], got {array.shape}")
    return np.ascontiguousarray(array)


class Backend:
    """Computes attention on arrays; locus.torch has a version that supports autograd."""

    def extents(self, x: Any, name: str, axes: str) -> Tuple[int, int]:
        return _core.extents(x, name, axes)

    def rotate(self, x: Any, encoding: Encoding, ids: Array, axes: str, role: str) -> Any:
        return encoding.apply(x, positions=ids, axes=axes, role=role)

    def attend(self, options: Any, q: Any, k: Any, v: Any, learned: Mapping[str, Any]) -> Tuple[Any, Array]:
        """Returns the output and its log-sum-exp. `learned`: sink_logits and weights, which the options also have."""
        output = empty_like(q)
        return output, _core.attend(options, q, k, v, output)


def plan(
    encoding: Optional[Encoding],
    query_shape: Tuple[int, int],
    key_shape: Tuple[int, int],
    *,
    positions: Any,
    key_positions: Any,
    causal: bool,
    window: int,
    prefix: int,
    sinks: int,
    by_index: bool,
    key_mask: Any,
    mask: Any,
    boundaries: Any,
    key_boundaries: Any,
    scale: Optional[float],
    soft_cap: float,
    sink_logits: Any,
    query_numbers: Any,
    key_numbers: Any,
    axes: str,
) -> Tuple[Any, Array, Array]:
    """Returns the options of a call and the ids [axes, rows, tokens] of queries and keys, given (batch, tokens)."""
    id_axes = 1 if encoding is None else encoding.axes
    queries, keys = query_shape[1], key_shape[1]
    if key_positions is None:
        key_positions = positions if positions is not None and queries == keys else 0
    if positions is None:  # the last query has the position of the last key
        ids = position_ids(key_positions, id_axes, keys, "key_positions")
        if queries > keys:
            raise Error(f"there are more queries ({queries}) than keys ({keys}); give positions")
        positions = ids[:, :, keys - queries :]
    query_ids = position_ids(positions, id_axes, queries)
    key_ids = position_ids(key_positions, id_axes, keys, "key_positions")
    for name, ids, shape in (("positions", query_ids, query_shape), ("key_positions", key_ids, key_shape)):
        if ids.shape[1] not in (1, shape[0]) or ids.shape[2] != shape[1]:
            raise Error(f"{name} must be for {shape[0]} rows of {shape[1]} tokens, got shape {ids.shape[1:]}")
    # Ids of several axes have no order, so the mask compares indices. The rotation was applied before.
    plain = id_axes == 1
    options = _core.AttentionOptions(
        encoding=None if encoding is None else encoding._core,
        query_ids=query_ids if plain else None,
        key_ids=key_ids if plain else None,
        causal=causal,
        by_index=by_index or not plain,
        prefix=prefix,
        window=window,
        sinks=sinks,
        key_mask=_bytes(key_mask, "key_mask"),
        pair_mask=_bytes(mask, "mask"),
        query_boundaries=_boundaries(boundaries, "boundaries"),
        key_boundaries=_boundaries(boundaries if key_boundaries is None else key_boundaries, "key_boundaries"),
        scale=scale,
        soft_cap=soft_cap,
        sink_logits=_floats(sink_logits),
        query_numbers=_numbers(query_numbers, "query_numbers"),
        key_numbers=_numbers(key_numbers, "key_numbers"),
        axes=axes,
    )
    return options, query_ids, key_ids


class Attention:
    """Attention on one type of array. locus.attention takes NumPy arrays and CPU tensors; locus.torch.attention is the
    same with gradients."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __call__(
        self,
        q: Any,
        k: Any,
        v: Any,
        encoding: Optional[Encoding] = None,
        *,
        positions: Any = None,
        key_positions: Any = None,
        causal: bool = True,
        window: int = 0,
        prefix: int = 0,
        sinks: int = 0,
        by_index: bool = False,
        key_mask: Any = None,
        mask: Any = None,
        boundaries: Any = None,
        key_boundaries: Any = None,
        scale: Optional[float] = None,
        soft_cap: float = 0.0,
        sink_logits: Any = None,
        query_numbers: Any = None,
        key_numbers: Any = None,
        weights: Optional[Mapping[str, Any]] = None,
        rotated: bool = False,
        axes: str = "",
        return_lse: bool = False,
    ) -> Any:
        """Computes softmax(scale q.k + position term, over the visible keys) v into a new array like q, without a
        queries x keys matrix. Shapes are [batch, tokens, heads, dim] or [tokens, heads, dim] (axes="bhtd" or "htd":
        heads first); k and v may have fewer heads (grouped queries).

        The encoding is applied at its site: copies of q and k are rotated (rotated=True: they already are), or the bias
        or relative term is added. For encodings of the hidden site, use add_() before the projections. `weights`
        replace learned weights of the encoding, by parameter name (t5's table, shaw's key_table, ...).

        Without positions, keys are at 0, 1, ... and the last query is at the last key. `causal`: a query sees keys up
        to its own position. `window`, `prefix`, `sinks`, `key_mask` ([keys] or [batch, keys]) and `mask` ([queries,
        keys] or [batch, queries, keys]) restrict or extend that. by_index compares indices instead of positions.
        `boundaries` 0, l0, l0 + l1, ... separate packed documents. With return_lse, returns (output, ln of the sum of
        e^score [batch, heads, queries]).

        forget_gate takes numbers from the tokens: query_numbers and key_numbers are [batch, tokens, heads], the running
        sums of the log gates up to each query and key (numpy.cumsum along the tokens); bidirectional, [..., 2].

        In locus.torch, gradients reach q, k, v, sink_logits, numbers and weights. Memory is linear in the number of
        tokens: the backward pass recomputes the probabilities."""
        if weights:
            if encoding is None:
                raise Error("weights need an encoding, and none is given")
            encoding = encoding.with_weights(weights)
        options, query_ids, key_ids = plan(
            encoding,
            self._backend.extents(q, "q", axes),
            self._backend.extents(k, "k", axes),
            positions=positions,
            key_positions=key_positions,
            causal=causal,
            window=window,
            prefix=prefix,
            sinks=sinks,
            by_index=by_index,
            key_mask=key_mask,
            mask=mask,
            boundaries=boundaries,
            key_boundaries=key_boundaries,
            scale=scale,
            soft_cap=soft_cap,
            sink_logits=sink_logits,
            query_numbers=query_numbers,
            key_numbers=key_numbers,
            axes=axes,
        )
        if encoding is not None and encoding.site == "query_key" and not rotated:
            q = self._backend.rotate(q, encoding, query_ids, axes, "query")
            k = self._backend.rotate(k, encoding, key_ids, axes, "key")
        learned = {
            "sink_logits": sink_logits,
            "query_numbers": query_numbers,
            "key_numbers": key_numbers,
            **(weights or {}),
        }
        output, lse = self._backend.attend(options, q, k, v, learned)
        return (output, lse) if return_lse else output


attention = Attention(Backend())
