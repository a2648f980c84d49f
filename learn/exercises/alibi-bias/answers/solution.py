import numpy as np


def bias(slopes, query_ids, key_ids):
    distance = query_ids[:, None] - key_ids[None, :]
    return -slopes[:, None, None] * distance
