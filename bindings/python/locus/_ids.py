# SPDX-License-Identifier: Apache-2.0
"""Converts position ids as callers write them to the array [axes, rows, tokens] of the library."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._core import Error
from ._types import Array


def integers(values: Any, name: str) -> Array:
    """Converts integers to int64. TypeError: anything else, so that no fraction is lost silently."""
    array = np.asarray(values)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise Error(f"{name} must fit 64 bits, got {array.max()}")
    return np.asarray(array, dtype=np.int64, order="C")


def position_ids(positions: Any, axes: int, tokens: Optional[int], name: str = "positions") -> Array:
    """None: 0, 1, ...; an integer: the position of the first token; otherwise [tokens], [rows, tokens] or, for
    encodings with several axes, [axes, tokens] or [axes, rows, tokens]. For text, one axis is enough."""
    if positions is None:
        positions = 0
    ids = integers(positions, name)
    if ids.ndim == 0:
        if tokens is None:
            raise Error(f"{name} must be given as a list")
        ids = ids + np.arange(tokens, dtype=np.int64)
    if ids.ndim == 1:
        ids = ids[None, None, :]
    elif ids.ndim == 2:
        ids = ids[None, :, :] if axes == 1 else ids[:, None, :]
    elif ids.ndim != 3:
        raise Error(f"{name} must have at most 3 dimensions, got {ids.ndim}")
    if axes > 1 and ids.shape[0] == 1:
        ids = np.repeat(ids, min(axes, 3), axis=0)
    if axes == 4 and ids.shape[0] == 3:  # ggml's fourth row is 0
        ids = np.concatenate([ids, np.zeros_like(ids[:1])])
    return np.ascontiguousarray(ids)
