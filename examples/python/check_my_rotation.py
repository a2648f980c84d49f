# SPDX-License-Identifier: Apache-2.0
"""Verifies one's own rotation, and finds out what a wrong one computes."""
from typing import Any

import numpy as np
from numpy.typing import NDArray

import locus

Array = NDArray[Any]


def my_rotate(x: Array, positions: Array) -> Array:  # [tokens, heads, dim], [tokens]
    """Interleaved pairs, though the model was trained with halves."""
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)[:, None]
    rotated: Array = np.stack([turned.real, turned.imag], -1).reshape(x.shape)
    return rotated


q = np.random.default_rng(0).standard_normal((16, 2, 64))
diagnosis = locus.diagnose(q, my_rotate(q, np.arange(16)), locus.rope(head_dim=64, pairing="half"))
print(diagnosis.verdicts[0].name)  # wrong_pairing
