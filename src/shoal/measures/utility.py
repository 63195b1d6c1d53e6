"""Utility: how much of the information is still there."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Flags, Numbers
from shoal.encode import Column, Scale


def squared_error(column: Column, scale: Scale, values: Numbers, observed: Flags) -> tuple[float, float]:
    """Return the sum of squared errors of a released column, and its total sum of squares.

    Both are over the observed cells of the original, in units of ``scale``. A suppressed cell has lost
    everything: it counts as if replaced by the mean of the column.

    >>> column = Column("x", np.array([0.0, 2.0]), np.array([True, True]))
    >>> squared_error(column, Scale(0.0, 1.0, 1.0, 1.0), np.array([1.0, 1.0]), column.observed)
    (2.0, 2.0)
    """
    original = scale.apply(column.values)[column.observed]
    released = np.where(observed, scale.apply(values), 0.0)[column.observed]
    return float(((original - released) ** 2).sum()), float((original**2).sum())


def information_loss(sse: float, sst: float) -> float:
    """Return the information loss in percent, 100 * SSE / SST; 0 where there was no variation to lose.

    >>> information_loss(2.0, 8.0)
    25.0
    """
    return 100.0 * sse / sst if sst > 0.0 else 0.0
