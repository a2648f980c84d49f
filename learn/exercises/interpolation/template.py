import numpy as np


def interpolated(positions, trained, served):
    raise NotImplementedError
