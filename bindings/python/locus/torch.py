# SPDX-License-Identifier: Apache-2.0
"""Locus in torch models: functions on CPU tensors that support autograd.

Types are float32, float64 (double arithmetic, not optimised, for gradcheck), bfloat16 and float16.
"""
from __future__ import annotations

import functools
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
import torch as _torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import _core
from . import alibi as _alibi  # type: ignore[attr-defined]
from ._attention import Attention, Backend
from ._core import Error
from ._encoding import Encoding, _role
from ._ids import position_ids
from ._types import Role


def _plain(x: Tensor) -> Tensor:
    """Returns the tensor as kernels read it: detached, contiguous in its last dimension."""
    x = x.detach()
    return x if x.shape[-1] <= 1 or x.stride(-1) == 1 else x.contiguous()


class _Rotary(_torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, encoding: Encoding, ids: Any, axes: str, inverse: bool, role: str) -> Tensor:
        ctx.settings = (encoding, ids, axes, inverse, role)
        output = _torch.empty_like(x, memory_format=_torch.contiguous_format)
        _core.rotate_into(encoding._core, _plain(x), output, ids, axes, (inverse, _role(role)))
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Optional[Tensor], ...]:
        encoding, ids, axes, inverse, role = ctx.settings
        turned = _Rotary.apply(gradient, encoding, ids, axes, not inverse, role)  # differentiable twice
        return (turned, None, None, None, None, None)


def _traced_rotary(x: Tensor, encoding: Encoding, ids: Any, axes: str, role: Role) -> Tensor:
    """The rotation in torch's own operations, so that a traced model can be saved and loaded without Locus."""
    if encoding.scheme not in ("rope", "xpos"):
        raise Error(f"torch.jit.trace takes rotations by rope and xpos, got {encoding.scheme}")
    rows = [encoding.rows(ids[:, row] if encoding.axes > 1 else ids[0, row], role=role) for row in range(ids.shape[1])]
    axes = axes or {2: "td", 3: "thd", 4: "bthd"}[x.dim()]
    shape = [{"b": len(rows), "t": ids.shape[2], "d": -1}.get(axis, 1) for axis in axes]
    cos, sin = (_torch.from_numpy(np.stack([row[i] for row in rows])).reshape(shape) for i in (0, 1))
    pairs, offset = cos.shape[-1], encoding.arguments.get("rotary_offset") or 0
    part = x[..., offset : offset + 2 * pairs].to(_torch.float64 if x.dtype == _torch.float64 else _torch.float32)
    if encoding.arguments["pairing"] == "half":
        a, b = part[..., :pairs], part[..., pairs:]
        turned = _torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    else:
        a, b = part[..., 0::2], part[..., 1::2]
        turned = _torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    return _torch.cat([x[..., :offset], turned.to(x.dtype), x[..., offset + 2 * pairs :]], -1)


def rotary(x: Tensor, encoding: Encoding, positions: Any = None, *, axes: str = "", role: Role = "query") -> Tensor:
    """Rotates x [batch, tokens, heads, dim] into a new tensor (axes="bhtd": heads first). The gradient is rotated
    back. `positions` as in Encoding.apply_; `role` (query or key) matters to xPos only. torch.jit.trace keeps the
    shape and the positions of the traced call as constants."""
    _, tokens = _core.extents(_plain(x), "x", axes)
    ids = position_ids(positions, encoding.axes, tokens)
    if _torch.jit.is_tracing():
        return _traced_rotary(x, encoding, ids, axes, role)
    return _Rotary.apply(x, encoding, ids, axes, False, role)


class _Attend(_torch.autograd.Function):
    """Inputs: options, names of learned weights, storage for the log-sum-exp, q, k, v, and the weights or None."""

    @staticmethod
    def forward(
        ctx: Any,
        options: Any,
        names: Tuple[str, ...],
        kept: Dict[str, Any],
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *learned: Optional[Tensor],
    ) -> Tensor:
        q, k, v = _plain(q), _plain(k), _plain(v)
        output = _torch.empty_like(q, memory_format=_torch.contiguous_format)
        ctx.log_sum_exp = kept["log_sum_exp"] = _core.attend(options, q, k, v, output)
        ctx.settings = (options, names)
        ctx.save_for_backward(q, k, v, output)
        ctx.learned = [(None if one is None else (one.dtype, one.shape)) for one in learned]
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Optional[Tensor], ...]:
        options, names = ctx.settings
        q, k, v, output = ctx.saved_tensors
        gradients = [_torch.empty_like(one, memory_format=_torch.contiguous_format) for one in (q, k, v)]
        tensors = {"q": q, "k": k, "v": v, "output": output.detach(), "output_gradient": _plain(gradient)}
        tensors.update(zip(("q_gradient", "k_gradient", "v_gradient"), gradients))
        found = _core.attend_backward(options, tensors, ctx.log_sum_exp, any(ctx.needs_input_grad[6:]))
        learned = []
        for name, like in zip(names, ctx.learned):
            value = found.get(name)
            if like is None or value is None:
                learned.append(None)
            else:
                learned.append(_torch.from_numpy(value).to(like[0]).reshape(like[1]))
        return (None, None, None, *gradients, *learned)


class _Backend(Backend):
    def extents(self, x: Tensor, name: str, axes: str) -> Tuple[int, int]:
        return _core.extents(_plain(x), name, axes)

    def rotate(self, x: Tensor, encoding: Encoding, ids: Any, axes: str, role: str) -> Tensor:
        return rotary(x, encoding, ids, axes=axes, role=role)

    def attend(self, options: Any, q: Tensor, k: Tensor, v: Tensor, learned: Mapping[str, Any]) -> Tuple[Any, Any]:
        kept: Dict[str, Any] = {}
        output = _Attend.apply(options, tuple(learned), kept, q, k, v, *learned.values())
        return output, kept["log_sum_exp"]


attention = Attention(_Backend())


@functools.lru_cache(maxsize=64)
def _alibi_for(heads: int) -> Encoding:
    return _alibi(heads=heads)


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, *, axes: str = "", **options: Any) -> Tensor:
    """attention() with ALiBi for the heads of q, with the slopes of the paper. The other keywords are those of
    attention()."""
    head_axis = (axes or {2: "td", 3: "thd", 4: "bthd"}.get(q.dim(), "")).find("h")
    heads = q.shape[head_axis] if head_axis >= 0 else 1
    return attention(q, k, v, _alibi_for(heads), axes=axes, **options)


__all__ = ["alibi_attention", "attention", "rotary"]
