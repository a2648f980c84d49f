# SPDX-License-Identifier: Apache-2.0
"""Locus inside torch models: functions on CPU tensors that autograd can go through.

Types are float32, float64 (in double throughout, unoptimised: for gradcheck), bfloat16 and float16.
"""
from __future__ import annotations

import functools
from typing import Any, Mapping, Optional, Tuple

import torch as _torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import _core
from . import alibi as _alibi  # type: ignore[attr-defined]
from ._attention import plan
from ._encoding import Encoding, _role
from ._ids import position_ids


def _plain(x: Tensor) -> Tensor:
    """The tensor as the kernels read it: apart from autograd, contiguous in its last dimension."""
    x = x.detach()
    return x if x.shape[-1] <= 1 or x.stride(-1) == 1 else x.contiguous()


class _Rotary(_torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, encoding: Encoding, ids: Any, axes: str, inverse: bool, role: str) -> Tensor:
        ctx.settings = (encoding, ids, axes, inverse, role)
        output = _torch.empty_like(x, memory_format=_torch.contiguous_format)
        _core.rotate_into(encoding._core, _plain(x), output, ids, axes, inverse, _role(role))
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Optional[Tensor], ...]:
        encoding, ids, axes, inverse, role = ctx.settings
        turned = _Rotary.apply(gradient, encoding, ids, axes, not inverse, role)  # differentiable again
        return (turned, None, None, None, None, None)


def rotary(x: Tensor, encoding: Encoding, positions: Any = None, *, axes: str = "", role: str = "query") -> Tensor:
    """x [batch, tokens, heads, dim] rotated into a new tensor (axes="bhtd": heads first). The gradient is rotated
    back. `positions` as in Encoding.apply_; `role` (query or key) matters to xPos only."""
    _, tokens = _core.extents(_plain(x), "x", axes)
    return _Rotary.apply(x, encoding, position_ids(positions, encoding.axes, tokens), axes, False, role)


class _Attend(_torch.autograd.Function):
    """Inputs: options, the names of learned weights, q, k, v, sink_logits or None, and those weights."""

    @staticmethod
    def forward(
        ctx: Any, options: Any, names: Tuple[str, ...], q: Tensor, k: Tensor, v: Tensor, *learned: Optional[Tensor]
    ) -> Tensor:
        q, k, v = _plain(q), _plain(k), _plain(v)
        output = _torch.empty_like(q, memory_format=_torch.contiguous_format)
        ctx.log_sum_exp = _core.attend(options, q, k, v, output)
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
        wanted = any(ctx.needs_input_grad[5:])
        found = _core.attend_backward(
            options, q, k, v, output.detach(), ctx.log_sum_exp, _plain(gradient), *gradients, wanted
        )
        learned = []
        for name, like in zip(names, ctx.learned):
            value = found.get(name)
            if like is None or value is None:
                learned.append(None)
            else:
                learned.append(_torch.from_numpy(value).to(like[0]).reshape(like[1]))
        return (None, None, *gradients, *learned)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
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
    sink_logits: Optional[Tensor] = None,
    weights: Optional[Mapping[str, Tensor]] = None,
    rotated: bool = False,
    axes: str = "",
) -> Tensor:
    """locus.attention with gradients for q, k, v, sink_logits and, by their parameter names, the learned `weights` of
    the encoding (t5's table, shaw's key_table, ...), which replace those that it holds. Memory is linear in the
    tokens: probabilities are computed again on the way back."""
    names = ("sink_logits", *(weights or {}))
    if weights:
        if encoding is None:
            raise ValueError("weights belong to an encoding, and none is given")
        encoding = Encoding(encoding.scheme, **{**encoding._given, **{n: w.detach() for n, w in weights.items()}})
    options, query_ids, key_ids = plan(
        encoding,
        _core.extents(_plain(q), "q", axes),
        _core.extents(_plain(k), "k", axes),
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
        sink_logits=None if sink_logits is None else sink_logits.detach().float(),
        axes=axes,
    )
    if encoding is not None and encoding.site == "query_key" and not rotated:
        q = rotary(q, encoding, query_ids, axes=axes, role="query")
        k = rotary(k, encoding, key_ids, axes=axes, role="key")
    return _Attend.apply(options, names, q, k, v, sink_logits, *(weights or {}).values())


@functools.lru_cache(maxsize=64)
def _alibi_for(heads: int) -> Encoding:
    return _alibi(heads=heads)


def alibi_attention(q: Tensor, k: Tensor, v: Tensor, *, axes: str = "", **options: Any) -> Tensor:
    """attention() with ALiBi's penalty for as many heads as q has, slopes as in the paper; the other keywords are
    those of attention()."""
    head_axis = (axes or {2: "td", 3: "thd", 4: "bthd"}.get(q.dim(), "")).find("h")
    heads = q.shape[head_axis] if head_axis >= 0 else 1
    return attention(q, k, v, _alibi_for(heads), axes=axes, **options)


__all__ = ["alibi_attention", "attention", "rotary"]
