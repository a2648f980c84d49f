import numpy as np


def interpolated(positions, trained, served):
    factor = max(served / trained, 1.0)
    return positions / factor
