import numpy as np


def encode(x):
    positions = np.arange(len(x))
    encoded = x.copy()
    encoded[:, 0] += 0.1 * positions
    return encoded
