# SPDX-License-Identifier: Apache-2.0
"""The operations by definition, in NumPy's double, for the tests to compare with. Shares nothing with Locus."""
import numpy as np


def rotate(x, positions, pairing, base=10000.0, inv_freq=None):
    """x [..., tokens, heads, dim] in double; positions [tokens] or [batch, tokens]."""
    x = np.asarray(x, dtype=np.float64)
    half = x.shape[-1] // 2
    if inv_freq is None:
        inv_freq = base ** (-2.0 * np.arange(half) / x.shape[-1])
    angle = np.asarray(positions, dtype=np.float64)[..., None] * inv_freq
    cos, sin = np.cos(angle)[..., None, :], np.sin(angle)[..., None, :]
    result = np.empty_like(x)
    if pairing == "half":
        a, b = x[..., :half], x[..., half:]
        result[..., :half], result[..., half:] = a * cos - b * sin, a * sin + b * cos
    else:
        a, b = x[..., 0::2], x[..., 1::2]
        result[..., 0::2], result[..., 1::2] = a * cos - b * sin, a * sin + b * cos
    return result


def rotation_bound(x, epsilon=2.0**-24):
    """Of a rotation in float32: two products and a sum of at most |x| each, cos and sin rounded once, then one rounding
    of the element type (epsilon) of a result of at most 1.5 |x|."""
    largest = float(np.max(np.abs(np.asarray(x, dtype=np.float64))))
    return 6 * 2.0**-24 * largest + 1.5 * epsilon * largest


def attention(q, k, v, seen, scale, bias=0.0):
    """[tokens, heads, dim] each; seen [queries, keys]; bias [heads, queries, keys]."""
    q, k, v = (np.asarray(one, dtype=np.float64) for one in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    score = scale * np.einsum("qhd,khd->hqk", q, k) + bias
    score = np.where(seen, score, -np.inf)
    weight = np.exp(score - score.max(axis=-1, keepdims=True))
    weight /= weight.sum(axis=-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", weight, v)


def causal(queries, keys):
    return np.arange(keys)[None, :] <= np.arange(keys - queries, keys)[:, None]


def alibi_bias(heads, queries, keys):
    """For a power of two of heads: slopes 2^(-8 (h + 1) / heads). Keys after the query, which the paper masks, get 0."""
    slopes = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
    distance = np.arange(keys - queries, keys)[:, None] - np.arange(keys)[None, :]
    return -slopes[:, None, None] * np.maximum(distance, 0)
