import numpy as np


def encode(x):
    raise NotImplementedError
