import numpy as np


def bias(slopes, query_ids, key_ids):
    raise NotImplementedError
