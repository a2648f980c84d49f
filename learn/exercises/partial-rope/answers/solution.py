import numpy as np


def rotate(x, positions, rotary_dim):
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b, rest = x[..., : rotary_dim // 2], x[..., rotary_dim // 2 : rotary_dim], x[..., rotary_dim:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=-1)
