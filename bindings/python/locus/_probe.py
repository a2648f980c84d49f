# SPDX-License-Identifier: Apache-2.0
"""Measures real models with the library's rotation, attention and cache."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from . import _core

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class LossBucket:
    """Mean next-token loss in nats over positions [begin, end)."""

    begin: int
    end: int
    count: int
    mean: Optional[float]  #: None if it is not finite
    standard_error: Optional[float]


@dataclass(frozen=True)
class LossCurve:
    """The losses of one encoding, or of a baseline."""

    name: str
    baseline: bool
    buckets: Tuple[LossBucket, ...]
    breaks_at: Optional[int] = None  #: None: no break in the measured range, or a baseline
    excess: Optional[float] = None  #: mean nats above the sliding window from there on
    words: str = ""

    def __repr__(self) -> str:
        means = " ".join("?" if one.mean is None else f"{one.mean:.3f}" for one in self.buckets)
        return f"{self.name}: {means}" + (f"; {self.words}" if self.words else "")


@dataclass(frozen=True)
class LossRun:
    """What `locus probe loss --json` prints, under the same names."""

    model: str
    trained_length: int
    tokens: int
    text: str
    bos_added: bool
    caveat: str
    window_stride: int
    break_rule: str
    curves: Tuple[LossCurve, ...]
    notes: Tuple[str, ...]
    interrupted: bool

    def curve(self, name: str) -> LossCurve:
        """Returns the curve with this name."""
        for one in self.curves:
            if one.name == name:
                return one
        raise KeyError(f"no curve {name!r}; known: {', '.join(one.name for one in self.curves)}")

    def __repr__(self) -> str:
        return "\n".join([f"{self.model}, trained length {self.trained_length}"] + [f"  {one!r}" for one in self.curves])


def _curve(found: Dict[str, Any]) -> LossCurve:
    return LossCurve(**{**found, "buckets": tuple(LossBucket(**one) for one in found["buckets"])})


def probe_loss(
    model: PathLike,
    *,
    text: Optional[str] = None,
    ids: Optional[Sequence[int]] = None,
    tokenizer: Optional[PathLike] = None,
    special: bool = False,
    seed: int = 0,
    rules: Union[str, Sequence[str], None] = None,
    buckets: Optional[Sequence[int]] = None,
    window_stride: Optional[int] = None,
) -> LossRun:
    """Measures next-token loss by position under several encodings, and with a sliding window of the trained length.

    `model` is a GGUF file, a llama2.c checkpoint or the folder of a Hugging Face model. It reads `text`, or `ids`, or
    text that it generates. `rules` are spellings such as "none", "yarn:2" or
    "rope:rule=yarn,factor=2,truncate=false"; `buckets` are edges of positions. Threads: locus.set_threads.
    """
    chosen = [rules] if isinstance(rules, str) else list(rules or [])
    found = json.loads(
        _core.probe_loss(
            {
                "model": model,
                "text": text,
                "ids": None if ids is None else [int(one) for one in ids],
                "tokenizer": tokenizer,
                "special": special,
                "seed": seed,
                "rules": chosen,
                "buckets": [int(one) for one in buckets or []],
                "window_stride": window_stride,
            }
        )
    )
    found["curves"] = tuple(_curve(one) for one in found["curves"])
    found["notes"] = tuple(found["notes"])
    return LossRun(**found)
