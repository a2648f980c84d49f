# SPDX-License-Identifier: Apache-2.0
"""Verifies and diagnoses the caller's own code: is its rotation right, and if not, what does it compute?"""
from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _core
from ._core import Error
from ._encoding import Encoding, _keywords
from ._ids import position_ids
from ._types import Array


@dataclass(frozen=True)
class Check:
    """One check of a verification: the measured value, its bound from theory, and whether it passed."""

    name: str
    scheme: str
    value: float
    bound: float
    passed: bool
    note: str

    def __repr__(self) -> str:
        note = f"  {self.note}" if self.note else ""
        return f"{'pass' if self.passed else 'FAIL'}  {self.name}: {self.value:.3g} against {self.bound:.3g}{note}"


@dataclass(frozen=True)
class Verification:
    """All checks of one function. True if all passed."""

    encoding: Encoding
    inferred: bool  #: the encoding was not given, but inferred from the function
    checks: Tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> Tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        found = "found to be " if self.inferred else ""
        good = len(self.checks) - len(self.failures)
        lines = [f"{good} of {len(self.checks)} checks passed, {found}{self.encoding!r}"]
        return "\n".join(lines + [f"  {check!r}" for check in self.checks])


@dataclass(frozen=True)
class Verdict:
    """A conclusion with its evidence. At a confidence of 0.9 or more, nothing else fits."""

    about: str  #: dump, slice, heads, magnitude, angles, coverage or precision
    name: str  #: e.g. position_offset; stable, for programs
    text: str
    evidence: str
    confidence: float

    def __repr__(self) -> str:
        evidence = f" ({self.evidence})" if self.evidence else ""
        return f"{self.confidence:.2f}  {self.name}: {self.text}{evidence}"


@dataclass(frozen=True)
class Explanation:
    """One explanation of the measured angles: an encoding at these positions."""

    scheme: str
    arguments: Mapping[str, Any]
    inverse: bool
    times: int  #: how often the rotation was applied
    position_divisor: float
    positions: Tuple[int, ...]
    misfit: float
    text: str
    free_frequencies: bool  #: fits any frequencies, so it comes last
    complexity: int  #: number of fitted parameters; small is simple

    def encoding(self) -> Encoding:
        """Returns the encoding of this explanation."""
        return Encoding(self.scheme, **self.arguments)

    def __repr__(self) -> str:
        return f"{self.text}, i.e. locus.{self.scheme}({_keywords(self.arguments)})"


@dataclass(frozen=True)
class Slice:
    """The coordinates of a head that turned."""

    pairing: str
    deinterleaved_output: bool
    rotary_offset: int
    rotary_dim: int


@dataclass(frozen=True)
class Diagnosis:
    """What happened to a dump. Verdicts come best first; the first is as_expected if nothing is wrong."""

    kind: str  #: rotation, unchanged, scaled or no_rotation
    storage: str
    residual: float
    noise: float
    slice: Optional[Slice]
    also_fitting: Tuple[Slice, ...]  #: slices that fit equally well
    head_map: Tuple[int, ...]
    magnitude: float
    magnitude_varies: bool
    frequencies: Tuple[float, ...]
    explanations: Tuple[Explanation, ...]
    verdicts: Tuple[Verdict, ...]
    decide: Tuple[str, ...]  #: which further dump would decide between the explanations
    not_judged: Tuple[str, ...]  #: what the verdicts do not cover, and why
    as_expected: bool  #: the most likely verdict finds no fault; meaningful only with an encoding
    pair_magnitudes: Tuple[float, ...]  #: the spectrum: mean |z| per pair
    pair_angles: Tuple[Tuple[float, ...], ...]  #: angle per pair of the first tokens

    def __repr__(self) -> str:
        lines = [f"{self.kind}, {self.storage}" + (f", {self.slice!r}" if self.slice else "")]
        lines += [f"  {verdict!r}" for verdict in self.verdicts]
        lines += [f"  explained by {one!r}" for one in self.explanations]
        lines += [f"  to decide: {text}" for text in self.decide]
        return "\n".join(lines + [f"  not judged: {text}" for text in self.not_judged])


@dataclass(frozen=True)
class BiasDiagnosis:
    """What a matrix of score biases is."""

    storage: str
    masked: int
    causal_mask: bool
    toeplitz: bool
    key_only: bool
    slopes: Tuple[float, ...]
    bucket_starts: Tuple[int, ...]
    verdicts: Tuple[Verdict, ...]
    as_expected: bool

    def __repr__(self) -> str:
        return "\n".join(["bias, " + self.storage] + [f"  {verdict!r}" for verdict in self.verdicts])


def _with_tuples(values: Dict[str, Any]) -> Dict[str, Any]:
    def tuples(value: Any) -> Any:
        return tuple(tuples(one) for one in value) if isinstance(value, list) else value

    return {name: tuples(value) for name, value in values.items()}


def _checks(found: List[Dict[str, Any]]) -> Tuple[Check, ...]:
    return tuple(Check(**one) for one in found)


_OF_CACHES = ("sequence", "cached", "forked_from")


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _result(result: Any, written: Any) -> Array:
    """Returns the result of a function or, if it returned nothing, its changed argument."""
    chosen = written if result is None else result
    if hasattr(chosen, "detach"):  # a tensor, possibly of a type that NumPy lacks
        chosen = chosen.detach().cpu().float().numpy()
    return np.asarray(chosen, dtype=np.float32)


def _argument_maker(library: str, dtype: Optional[str]) -> Callable[[Any], Any]:
    if library == "numpy":
        if dtype is None:
            return lambda array: array
        return lambda array: array.astype(dtype) if getattr(array, "dtype", None) == np.float32 else array
    if library != "torch":
        raise Error(f"library must be numpy or torch, got {library!r}")
    import torch

    def make(array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            return array
        tensor = torch.from_numpy(array)
        return tensor.to(getattr(torch, dtype)) if dtype is not None and tensor.is_floating_point() else tensor

    return make


def _rotate_function(function: Callable[..., Any], library: str, dtype: Optional[str]) -> Callable[..., Array]:
    make = _argument_maker(library, dtype)
    takes_role = _takes(function, "role")

    def call(x: Array, ids: Array, role: str) -> Array:
        argument = make(x)
        more = {"role": role} if takes_role else {}
        return _result(function(argument, make(ids), **more), argument)

    return call


def _inferred_encoding(call: Callable[..., Array], head_dim: int, seed: int) -> Encoding:
    x = np.random.default_rng(seed).standard_normal((64, 2, head_dim)).astype(np.float32)
    found = diagnose(x, call(x.copy(), np.arange(64), "query"))
    for one in found.explanations:
        if not one.inverse and one.times == 1 and one.position_divisor == 1:
            return one.encoding()
    raise Error(f"cannot infer the encoding from the function; give its encoding. Found:\n{found}")


def verify(
    function: Callable[..., Any],
    encoding: Optional[Encoding] = None,
    *,
    head_dim: int = 64,
    library: str = "numpy",
    dtype: Optional[str] = None,
    arithmetic: Optional[str] = None,
    max_length: Optional[int] = None,
    thorough: bool = False,
    seed: int = 1,
) -> Verification:
    """Verifies your rotation. function(x, positions) gets float32 x [tokens, heads, head_dim] and ids [tokens] (or
    [axes, tokens]), and returns the rotated array or changes x in place. It is called as prefill, in chunks, one token
    at a time, packed, padded, and with scattered, negative and large ids. A parameter named `role` receives query or
    key. library="torch" passes tensors, of `dtype` ("bfloat16") if given. The bound follows the type that the function
    computes in: `arithmetic`, or else the type of its results. A function with a table of max_length rows is called
    only below that; without max_length, the end is found where the function raises. thorough takes minutes. Without an
    encoding, verify infers the one that fits the function, with heads of head_dim; it then checks consistency only, not
    whether the encoding is the right one."""
    call = _rotate_function(function, library, dtype)
    expected = _inferred_encoding(call, head_dim, seed) if encoding is None else encoding
    options = {"seed": seed, "thorough": thorough, "arithmetic": arithmetic, "max_length": max_length}
    checks = _core.verify_rotate(expected._core, call, options)
    return Verification(expected, encoding is None, _checks(checks))


def verify_attention(
    function: Callable[..., Any],
    encoding: Encoding,
    *,
    library: str = "numpy",
    dtype: Optional[str] = None,
    arithmetic: Optional[str] = None,
    max_length: Optional[int] = None,
    causal: bool = True,
    window: int = 0,
    thorough: bool = False,
    seed: int = 1,
) -> Verification:
    """Verifies causal attention that includes the encoding. function(q, k, v, query_positions, key_positions) returns
    the output [queries, heads, head_dim]; k and v may have fewer heads. If it has these parameters, it also receives
    query_boundaries and key_boundaries (packed documents) and key_mask (0: padding), and causal=False or window if they
    are given here. A function with its own cache has the parameters sequence, cached and forked_from: calls with the
    same sequence continue each other, the first `cached` keys came with earlier calls, and a new sequence may be a fork
    of another (-1: of none). A function that returns (output, log_sum_exp [queries, heads]) is also checked for errors
    that all scores of a row share."""
    make = _argument_maker(library, dtype)
    caches = _takes(function, "sequence")

    def call(q: Any, k: Any, v: Any, query_ids: Any, key_ids: Any, more: Dict[str, Any]) -> Any:
        keywords = {name: make(value) for name, value in more.items() if caches or name not in _OF_CACHES}
        output = function(make(q), make(k), make(v), make(query_ids), make(key_ids), **keywords)
        if output is None:
            raise TypeError("the function under verification must return the output")
        return tuple(_result(one, None) for one in output) if isinstance(output, tuple) else _result(output, None)

    options = {
        "seed": seed,
        "thorough": thorough,
        "arithmetic": arithmetic,
        "max_length": max_length,
        "causal": causal,
        "window": window,
    }
    return Verification(encoding, False, _checks(_core.verify_attend(encoding._core, call, options)))


def verify_bias(
    function: Callable[..., Any],
    encoding: Encoding,
    *,
    arithmetic: Optional[str] = None,
    max_length: Optional[int] = None,
    thorough: bool = False,
    seed: int = 1,
) -> Verification:
    """Verifies the numbers added to the scores. Attention would hide an error that all keys of a row share.
    function(query_positions, key_positions) returns [heads, queries, keys]. Keys after the query are not checked if the
    encoding is for causal attention only."""
    options = {"seed": seed, "thorough": thorough, "arithmetic": arithmetic, "max_length": max_length}
    checks = _core.verify_bias(encoding._core, lambda *ids: _result(function(*ids), None), options)
    return Verification(encoding, False, _checks(checks))


def verify_rows(
    function: Callable[..., Any],
    encoding: Encoding,
    *,
    arithmetic: Optional[str] = None,
    max_length: Optional[int] = None,
    thorough: bool = False,
    seed: int = 1,
) -> Verification:
    """Verifies the rows added to tokens: function(positions) returns [tokens, dim]."""
    options = {"seed": seed, "thorough": thorough, "arithmetic": arithmetic, "max_length": max_length}
    checks = _core.verify_rows(encoding._core, lambda ids: _result(function(ids), None), options)
    return Verification(encoding, False, _checks(checks))


def verify_claims(encoding: Encoding) -> Verification:
    """Measures what an encoding claims (relative, norm preserving, ...)."""
    return Verification(encoding, False, _checks(_core.verify_properties(encoding._core)))


def _dump(array: Any, name: str, axes: str) -> Array:
    """Converts to double [batch, tokens, heads, dim]; the diagnosis infers the storage type from the values."""
    if hasattr(array, "detach"):
        array = array.detach().double()
    values = np.asarray(array, dtype=np.float64)
    axes = axes or {2: "td", 3: "thd", 4: "bthd"}.get(values.ndim, "")
    if axes not in ("td", "thd", "htd", "bthd", "bhtd") or len(axes) != values.ndim:
        raise Error(f"{name} has {values.ndim} dimensions; axes must be bthd, bhtd, thd, htd or td and name them")
    for place, axis in ((0, "b"), (2, "h")):
        if axis not in axes:
            values = np.expand_dims(values, min(place, values.ndim - 1))
            axes = axes[: min(place, len(axes) - 1)] + axis + axes[min(place, len(axes) - 1) :]
    return np.ascontiguousarray(np.transpose(values, [axes.index(axis) for axis in "bthd"]))


def diagnose(
    before: Any,
    after: Any,
    encoding: Optional[Encoding] = None,
    *,
    positions: Any = None,
    role: str = "query",
    both_rotated: bool = False,
    axes: str = "",
) -> Diagnosis:
    """Infers what turned `before` into `after`: pairing, width, magnitude, positions, frequency rule; and, given the
    expected encoding (and positions), the fault. With both_rotated, `before` is the result of another implementation.
    The role is query, key, value or output. Values must be unchanged, unless the encoding turns the output; outputs are
    those of attention before and after they are turned back.
    """
    source, result = _dump(before, "before", axes), _dump(after, "after", axes)
    if source.shape != result.shape:
        raise Error(f"before and after must have the same shape, got {source.shape} and {result.shape}")
    ids = None
    if positions is not None:
        ids = position_ids(positions, 1 if encoding is None else encoding.axes, source.shape[1])
    core = None if encoding is None else encoding._core
    found = _core.diagnose(source, result, core, ids, role, both_rotated)
    found["slice"] = Slice(**found["slice"]) if found["slice"] else None
    found["also_fitting"] = [Slice(**one) for one in found["also_fitting"]]
    found["explanations"] = [Explanation(**_with_tuples(one)) for one in found["explanations"]]
    found["verdicts"] = [Verdict(**one) for one in found["verdicts"]]
    return Diagnosis(**_with_tuples(found))


def diagnose_bias(bias: Any, encoding: Optional[Encoding] = None) -> BiasDiagnosis:
    """Infers what a matrix [heads, queries, keys] of score biases is. Masked entries are -infinity or very negative."""
    if hasattr(bias, "detach"):
        bias = bias.detach().double()
    values = np.ascontiguousarray(np.asarray(bias), dtype=np.float64)
    found = _core.diagnose_bias(values, None if encoding is None else encoding._core)
    found["verdicts"] = [Verdict(**one) for one in found["verdicts"]]
    return BiasDiagnosis(**_with_tuples(found))
