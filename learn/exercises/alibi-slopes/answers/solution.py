import numpy as np


def series(count):
    return 2.0 ** (-8 * np.arange(1, count + 1) / count)


def slopes(heads):
    power = 1
    while 2 * power <= heads:
        power *= 2
    more = series(2 * power)[0::2][: heads - power]
    return np.concatenate([series(power), more])
