import numpy as np


def shift_matrix(k, dim):
    matrix = np.zeros((dim, dim))
    for i in range(dim // 2):
        angle = k * 10000.0 ** (-2 * i / dim)
        a, b = 2 * i, 2 * i + 1
        matrix[a, a] = matrix[b, b] = np.cos(angle)
        matrix[a, b] = np.sin(angle)
        matrix[b, a] = -np.sin(angle)
    return matrix
