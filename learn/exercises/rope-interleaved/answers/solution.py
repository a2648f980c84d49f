import numpy as np


def rotate(x, positions):
    dim = x.shape[-1]
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., 0::2], x[..., 1::2]
    result = np.empty_like(x)
    result[..., 0::2] = a * cos - b * sin
    result[..., 1::2] = b * cos + a * sin
    return result
