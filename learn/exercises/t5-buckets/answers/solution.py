import numpy as np


def buckets(distances, count, max_distance):
    exact = count // 2
    r = np.maximum(distances, 0)
    part = np.log(np.maximum(r, 1) / exact) / np.log(max_distance / exact)
    far = exact + np.floor(part * (count - exact)).astype(int)
    return np.where(r < exact, r, np.minimum(far, count - 1))
