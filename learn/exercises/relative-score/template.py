import numpy as np


def relative_score(q, k, r):
    raise NotImplementedError
