"""Columns about their means and over their spreads, as certificates name them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy import ndarray

# of a column about its mean
SPREADS: dict[str, Callable[[ndarray], float]] = {
    "z-score": lambda x: math.sqrt(math.fsum(x**2) / len(x)),
    "range": lambda x: float(x.max() - x.min()),
    "robust": lambda x: float(np.subtract(*np.quantile(x, [0.75, 0.25]))),
    "none": lambda _: 1.0,
}


def scaled(columns: ndarray, scaling: str) -> ndarray:
    """Return the columns about their means, over their standard deviation or their range."""
    out = np.zeros_like(columns)
    for j in range(columns.shape[1]):
        x = columns[:, j] - columns[0, j]
        x = x - math.fsum(x) / len(x)
        if x.max() > x.min():
            out[:, j] = x / SPREADS[scaling](x)
    return out
