import numpy as np


def rotate(x, positions, rotary_dim):
    raise NotImplementedError
