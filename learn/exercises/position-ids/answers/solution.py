import numpy as np


def decode_ids(prefix, tokens):
    return prefix + np.arange(tokens)


def padded_ids(mask):
    return np.maximum(np.cumsum(mask) - 1, 0)


def packed_ids(lengths):
    return np.concatenate([np.arange(length) for length in lengths])
