import numpy as np


def shift_matrix(k, dim):
    raise NotImplementedError
