import numpy as np


def attention(q, k, v):
    raise NotImplementedError
