# SPDX-License-Identifier: Apache-2.0
"""An encoding: a scheme bound to its parameters."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple

import numpy as np

from . import _core
from ._core import Error
from ._ids import position_ids
from ._types import Array, Role

if TYPE_CHECKING:
    from ._figures import Figure
    from ._schemes import SchemeName


@dataclass(frozen=True, eq=False)
class Rule:
    """A RoPE frequency rule with its arguments, as locus.yarn(factor=4) makes it, for locus.rope(rule=...)."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"locus.{self.name}({_keywords(self.arguments)})"

    def _key(self) -> Tuple[Any, ...]:
        return self.name, tuple((name, _frozen(value)) for name, value in sorted(self.arguments.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class Reading:
    """How a model's file was understood: keys that were read, defaulted, or not understood."""

    layer_type: str
    used: Tuple[str, ...]
    defaulted: Tuple[str, ...]
    unknown: Tuple[str, ...]
    trained_length: Optional[int]
    #: what the model does in addition and Locus does not apply, one sentence each
    not_applied: Tuple[str, ...] = ()
    #: readings of the same file by other versions and engines: (reader, what)
    alternatives: Tuple[Tuple[str, str], ...] = ()
    #: replaces 1 / sqrt(head_dim), if the model has a different one
    softmax_scale: Optional[float] = None

    @property
    def training_length(self) -> Optional[int]:
        """The old name of trained_length."""
        return self.trained_length


def _keywords(arguments: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        return f"<{'x'.join(map(str, value.shape))} array>" if isinstance(value, np.ndarray) else repr(value)

    return ", ".join(f"{name}={text(value)}" for name, value in arguments.items())


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return tuple(value) if isinstance(value, list) else value


def empty_like(array: Any, width: Optional[int] = None) -> Any:
    """Returns a new contiguous array of the same library (NumPy or torch) and type; `width` replaces its last extent."""
    shape = tuple(array.shape) if width is None else (*array.shape[:-1], width)
    if isinstance(array, np.ndarray):
        return np.empty(shape, array.dtype)
    if not hasattr(array, "new_empty"):
        raise TypeError(f"results are NumPy arrays or torch tensors, got {type(array).__name__}")
    return array.new_empty(shape)


class Encoding:
    """A scheme bound to its parameters: validated once, immutable. Made by locus.rope(...), locus.alibi(...), ...

    Arrays are NumPy arrays (float32, float64, float16) or CPU tensors that support DLPack (torch: bfloat16 too). They
    are read and written in place, including strided views, if the last dimension is contiguous. Shapes are
    [batch, tokens, heads, dim] or [tokens, heads, dim]; for heads before tokens, use axes="bhtd" or "htd".
    """

    __slots__ = ("_core", "_given", "reading")

    reading: Optional[Reading]

    def __init__(self, scheme: "SchemeName", **arguments: Any) -> None:
        self._given = {name: value for name, value in arguments.items() if value is not None}
        self._core = _core.Encoding(scheme, self._given)
        self.reading = None

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return self._core.scheme

    @property
    def site(self) -> str:
        """Where position enters the transformer: none, hidden, query_key, score or relative_key."""
        return self._core.site

    @property
    def claims(self) -> Tuple[str, ...]:
        """The properties it promises, e.g. relative or norm_preserving."""
        return tuple(self._core.claims)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """All arguments, with defaults filled in."""
        return self._core.arguments

    @property
    def axes(self) -> int:
        """The number of ids per token: 1 for text, 3 for M-RoPE, 2 for grids."""
        return self._core.axes

    @property
    def position_range(self) -> Tuple[int, int]:
        """The valid ids, including both ends."""
        return self._core.position_range

    @property
    def length_dependent(self) -> bool:
        """True if its numbers depend on the length of the sequence (dynamic NTK, LongRoPE); see at_length()."""
        return self._core.length_dependent

    def with_weights(self, weights: Mapping[str, Any]) -> "Encoding":
        """Returns the same encoding with other learned weights, by parameter name."""
        plain = {name: one.detach() if hasattr(one, "detach") else one for name, one in weights.items()}
        return Encoding(self.scheme, **{**self._given, **plain})  # type: ignore[arg-type]

    def at_length(self, length: int) -> "Encoding":
        """Returns the encoding for a sequence of `length` tokens; itself if the length has no effect."""
        if not self.length_dependent:
            return self
        moved = Encoding.__new__(Encoding)
        moved._core = self._core.at_length(length)
        moved._given = {**moved._core.arguments}
        moved.reading = self.reading
        return moved

    # ---- query_key: rotation

    @property
    def inv_freq(self) -> Array:
        """Radians per position of each pair, in double."""
        return self._core.inv_freq

    @property
    def magnitude(self) -> float:
        """The factor on cos and sin (attention factor)."""
        return self._core.magnitude

    @property
    def softmax_scale_factor(self) -> float:
        """The factor on the softmax scale, in addition to the magnitude."""
        return self._core.softmax_scale_factor

    def apply_(
        self,
        q: Any,
        k: Any = None,
        *,
        positions: Any = None,
        axes: str = "",
        inverse: bool = False,
        role: Role = "query",
    ) -> None:
        """Rotates q and k in place. `positions`: None for 0, 1, ...; an integer for the position of the first token; or
        ids [tokens], [batch, tokens], [axes, tokens] or [axes, batch, tokens]. `inverse` rotates back. `role` (query or
        key) is that of q if k is absent; only xPos uses it. On an error, nothing is written."""
        ids = self._ids(q, positions, axes, "x" if k is None else "q")
        _core.rotate(self._core, q, k, ids, axes, (inverse, _role(role)))

    def apply(
        self, x: Any, *, positions: Any = None, axes: str = "", inverse: bool = False, role: Role = "query"
    ) -> Any:
        """Rotates one array of queries or keys into a new one. PoPE's heads become polar, so the new one is wider."""
        ids = self._ids(x, positions, axes, "x")
        polar = self.scheme == "pope" and x.shape[-1] == self.arguments["head_dim"]
        output = empty_like(x, self._core.head_dim if polar else None)
        _core.rotate_into(self._core, x, output, ids, axes, (inverse, _role(role)))
        return output

    def to_polar(self, x: Any, *, axes: str = "", role: Role = "query") -> Any:
        """Makes PoPE's heads polar and returns them, not rotated yet and wider, as KvCache takes keys; apply() does both
        steps. Values in the cache are padded with zeros to that width."""
        output = empty_like(x, self._core.head_dim)
        _core.to_polar(self._core, x, output, _role(role), axes)
        return output

    def turn_output_(self, output: Any, *, positions: Any = None, axes: str = "") -> None:
        """Rotates the output of attention back by the positions of its queries, in place (turned_output)."""
        _core.turn_output(self._core, output, self._ids(output, positions, axes, "output"), axes)

    def shift_(self, k: Any, deltas: Any, *, axes: str = "") -> None:
        """Shifts rotated keys by `deltas` positions, in place: one integer for all tokens, or one per token."""
        _, tokens = _core.extents(k, "k", axes)
        if np.ndim(deltas) == 0:
            deltas = np.full(tokens, deltas)
        _core.shift(self._core, k, position_ids(deltas, self.axes, tokens, "deltas"), axes)

    # ---- hidden: one row per token

    def add_(self, x: Any, *, positions: Any = None) -> None:
        """Adds each token's row to hidden states [batch, tokens, dim] or [tokens, dim], in place. For autograd, add
        torch.from_numpy(encoding.rows(positions)) instead."""
        tokens = x.shape[-2] if len(getattr(x, "shape", ())) >= 2 else None
        _core.add(self._core, x, position_ids(positions, 1, tokens))

    # ---- numbers

    def rows(self, positions: Any, *, dtype: Any = np.float32, role: Role = "query") -> Any:
        """Returns the numbers of these positions in float32 or float64: for a rotation (cos, sin), both [tokens, pairs]
        and with the magnitude; otherwise the rows [tokens, dim] that are added to hidden states."""
        double = np.dtype(dtype) == np.float64
        if not double and np.dtype(dtype) != np.float32:
            raise TypeError(f"dtype must be float32 or float64, got {np.dtype(dtype)}")
        ids = position_ids(positions, self.axes, None)
        if self.site == "query_key":
            rows = self._core.rotation_rows_double if double else self._core.rotation_rows
            return rows(ids, _role(role))
        return (self._core.hidden_rows_double if double else self._core.hidden_rows)(ids)

    def table(self, length: int, *, dtype: Any = np.float32, role: Role = "query") -> Any:
        """Returns rows() for the positions 0 ... length - 1."""
        return self.rows(_core.prefill(length, 0), dtype=dtype, role=role)

    def bias(self, queries: Any, keys: Any) -> Array:
        """Returns the numbers added to the scores, [heads, queries, keys] in double. An integer n means 0 ... n - 1 for
        keys, and the last n positions of the keys for queries."""
        return self._core.bias(*_query_key_ids(queries, keys))

    def buckets(self, queries: Any, keys: Any) -> Array:
        """Returns the table row of each query and key, [queries, keys], for schemes with a table of biases."""
        return self._core.buckets(*_query_key_ids(queries, keys))

    @property
    def slopes(self) -> Array:
        """The slope of each head if the bias is slope times distance; otherwise empty."""
        return self._core.slopes

    def plot(self, name: str, **options: Any) -> "Figure":
        """Draws locus.figure(name, self, ...)."""
        from ._figures import figure

        return figure(name, self, **options)

    # ---- Python

    def _ids(self, x: Any, positions: Any, axes: str, name: str) -> Array:
        _, tokens = _core.extents(x, name, axes)
        return position_ids(positions, self.axes, tokens)

    def __repr__(self) -> str:
        return f"locus.{self.scheme}({_keywords(self._given)})"

    def _key(self) -> Tuple[Any, ...]:
        """What determines its numbers: the scheme and all arguments, arrays by value."""
        return self.scheme, tuple((name, _frozen(value)) for name, value in sorted(self.arguments.items()))

    def __eq__(self, other: object) -> bool:
        """Equal if scheme and arguments are, with defaults filled in. How a file was read does not matter."""
        if not isinstance(other, Encoding):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> Any:
        return _restore, (self.scheme, self._given, self.reading)


def _restore(scheme: str, given: Mapping[str, Any], reading: Optional[Reading]) -> Encoding:
    encoding = Encoding(scheme, **given)  # type: ignore[arg-type]
    encoding.reading = reading
    return encoding


def _role(role: str) -> Any:
    if role not in ("query", "key"):
        raise Error(f"role must be query or key, got {role!r}")
    return getattr(_core.Role, role)


def _query_key_ids(queries: Any, keys: Any) -> Tuple[Array, Array]:
    if np.ndim(keys) == 0:
        keys = _core.prefill(keys, 0)[0, 0]
    if np.ndim(queries) == 0:
        if queries > len(keys):
            raise Error(f"there are more queries ({queries}) than keys ({len(keys)}); give their positions")
        queries = np.asarray(keys)[len(keys) - queries :]
    return position_ids(queries, 1, None, "queries"), position_ids(keys, 1, None, "keys")
