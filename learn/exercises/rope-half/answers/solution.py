import numpy as np


def rotate(x, positions):
    dim = x.shape[-1]
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., : dim // 2], x[..., dim // 2 :]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
