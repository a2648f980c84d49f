import numpy as np


def decode_ids(prefix, tokens):
    raise NotImplementedError


def padded_ids(mask):
    raise NotImplementedError


def packed_ids(lengths):
    raise NotImplementedError
