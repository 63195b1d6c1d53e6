"""IL1s: the mean absolute change of a number in units of its standard deviation. O(n) a column."""

from __future__ import annotations

import numpy as np

from shoal.measures.pairs import NumericPair


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
    if pair.constant:
        return float("nan")
    return il1s_of(float(np.abs(original - pair.released[pair.there]).sum()), len(original))


def il1s_of(total: float, cells: int) -> float:
    """Return IL1s in percent from the sum of the absolute changes of so many z-scores; NaN where there are too few.

    >>> round(il1s_of(2.0, 2), 6)
    50.0
    """
    if cells < 2:
        return float("nan")
    deviation = np.sqrt(cells / (cells - 1.0))  # z-scores have a population variance of 1
    return float(100.0 * (total / cells) / (np.sqrt(2.0) * deviation))
