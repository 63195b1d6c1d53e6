"""Information loss: the squared error of a release over what there was to lose.

Domingo-Ferrer and Mateo-Sanz 2002 for numbers: z-scores, Euclidean distance, the mean as the centroid. Martínez,
Sánchez and Valls 2012 for categories: the distance of their hierarchy and the node nearest to all values; without a
hierarchy 0 where equal, 1 where not, and the mode. O(n) a column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.measures.meaning import cell_distances
from shoal.measures.pairs import CategoryPair, NumericPair, Pair

if TYPE_CHECKING:
    from shoal.measures.comparison import Comparison


def squared_error(pair: Pair) -> tuple[float, float]:
    """Return the sum of squared errors of a released column, and its total sum of squares.

    Both are over the observed cells of the original. A suppressed cell has lost everything: it counts as if
    replaced by the mean of the column, or by its mode.

    >>> there = np.array([True, True])
    >>> squared_error(NumericPair("x", np.array([-1.0, 1.0]), np.zeros(2), there, there))
    (2.0, 2.0)
    >>> squared_error(CategoryPair("y", np.array([0, 0, 1]), np.array([0, 0, 0]), 2))
    (1.0, 1.0)
    """
    if isinstance(pair, CategoryPair):
        moved, spread = cell_distances(pair)
        return float((moved**2).sum()), float((spread**2).sum())
    if pair.constant:
        return 0.0, 0.0
    original = pair.original[pair.there]
    return float(((original - pair.released[pair.there]) ** 2).sum()), float((original**2).sum())


def information_loss(sse: float, sst: float) -> float:
    """Return the information loss in percent, 100 * SSE / SST; 0 where there was no variation to lose.

    >>> information_loss(2.0, 8.0)
    25.0
    """
    return 100.0 * sse / sst if sst > 0.0 else 0.0


def il1s(pair: NumericPair) -> float:
    """Return IL1s of a column in percent: the mean absolute error over the square root of 2 times the deviation.

    Yancey, Winkler and Creecy 2002; Mateo-Sanz, Sebé and Domingo-Ferrer 2004. The standard deviation of the original
    has n - 1 below, as in sdcMicro. Over the observed cells of the original; a suppressed cell counts as if
    replaced by the mean. NaN where the original is constant.

    >>> there = np.array([True, True])
    >>> round(il1s(NumericPair("x", np.array([-1.0, 1.0]), np.zeros(2), there, there)), 6)
    50.0
    """
    original = pair.original[pair.there]
    if pair.constant or len(original) < 2:
        return float("nan")
    # z-scores have a population variance of 1
    deviation = np.sqrt(len(original) / (len(original) - 1.0))
    return float(100.0 * np.abs(original - pair.released[pair.there]).mean() / (np.sqrt(2.0) * deviation))


def suppressed_cells(comparison: Comparison) -> int:
    """Return how many cells of the quasi-identifiers are missing in the release only."""
    return sum(pair.suppressed for pair in comparison.pairs)
