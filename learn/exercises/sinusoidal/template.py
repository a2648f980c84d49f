import numpy as np


def rows(positions, dim):
    raise NotImplementedError
