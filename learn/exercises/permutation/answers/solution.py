import numpy as np


def convict(attend, x):
    output = attend(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            order = np.arange(len(x))
            order[[i, j]] = order[[j, i]]
            if not np.allclose(attend(x[order]), output[order]):
                return order
    return []
