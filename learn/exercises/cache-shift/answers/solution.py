import numpy as np


def shift_keys(keys, old, new):
    dim = keys.shape[-1]
    amount = new - old
    angle = amount[:, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = keys[..., : dim // 2], keys[..., dim // 2 :]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
