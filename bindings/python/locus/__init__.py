# SPDX-License-Identifier: Apache-2.0
"""Positional encodings for transformers, exact at any position.

One function per scheme and per RoPE frequency rule, made from the library's registry:

    rope = locus.rope(head_dim=128, pairing="half", base=5e5, rule=locus.yarn(factor=4, original_length=8192))
    rope.apply_(q, k, positions=locus.positions.decode(12, 1))
"""
import os as _os
import typing as _typing
from importlib import import_module as _import_module
from typing import Any as _Any

from . import _core, positions
from ._attention import attention
from ._cache import KvCache
from ._core import Error
from ._doctor import (
    BiasDiagnosis,
    Check,
    Diagnosis,
    Explanation,
    Slice,
    Verdict,
    Verification,
    diagnose,
    diagnose_bias,
    verify,
    verify_attention,
    verify_bias,
    verify_claims,
    verify_rows,
)
from ._encoding import Encoding, Reading, Rule
from ._figures import Figure, figure, figures, results, results_figures
from ._models import encoding, from_config, layers_from_config
from ._probe import LossBucket, LossCurve, LossRun, probe_loss
from ._schemes import *  # noqa: F403
from ._schemes import __all__ as _scheme_names

__version__: str = _core.__version__


def set_threads(count: int) -> None:
    """Sets how many threads kernels may use, including the calling one; 1 by default. Results do not depend on it."""
    _core.set_threads(count)


def threads() -> int:
    """Returns how many threads kernels may use."""
    return _core.threads()


def simd_target() -> str:
    """Returns the SIMD instructions that the kernels use on this machine, e.g. AVX2."""
    return _core.simd_target()


if not _typing.TYPE_CHECKING:  # type checkers would take any name for an attribute; they see `import locus.torch`

    def __getattr__(name: str) -> _Any:  # imports torch on first use, not with locus
        if name == "torch":
            return _import_module(".torch", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if hasattr(_os, "register_at_fork"):  # a forked child has none of its parent's threads
    _os.register_at_fork(after_in_child=_core._forget_threads)

__all__ = [
    "BiasDiagnosis",
    "Check",
    "Diagnosis",
    "Encoding",
    "Error",
    "Explanation",
    "Figure",
    "KvCache",
    "LossBucket",
    "LossCurve",
    "LossRun",
    "Reading",
    "Rule",
    "Slice",
    "Verdict",
    "Verification",
    "attention",
    "diagnose",
    "diagnose_bias",
    "encoding",
    "figure",
    "figures",
    "from_config",
    "layers_from_config",
    "positions",
    "probe_loss",
    "results",
    "results_figures",
    "set_threads",
    "simd_target",
    "threads",
    "verify",
    "verify_attention",
    "verify_bias",
    "verify_claims",
    "verify_rows",
    *_scheme_names,
]
