import numpy as np


def resized(table, length):
    raise NotImplementedError
