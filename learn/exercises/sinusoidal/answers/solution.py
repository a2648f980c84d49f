import numpy as np


def rows(positions, dim):
    frequencies = 10000.0 ** (-np.arange(0, dim, 2) / dim)
    angles = positions[:, None] * frequencies
    result = np.empty((len(positions), dim))
    result[:, 0::2] = np.sin(angles)
    result[:, 1::2] = np.cos(angles)
    return result
