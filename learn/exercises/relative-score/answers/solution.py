import numpy as np


def rotated(x, position):
    dim = len(x)
    angle = position * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    a, b = x[: dim // 2], x[dim // 2 :]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])


def relative_score(q, k, r):
    return rotated(q, r) @ k
