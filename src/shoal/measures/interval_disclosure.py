"""Interval disclosure: how often an original value lies close to what was released for it.

Domingo-Ferrer and Torra 2001. An interval is put round each released value; the share of original values that fall
into theirs is the disclosure. What "close" means is where definitions differ, so both are given:

    by rank       at most p % of the records lie between them in the order of the original: the rank distance, 0 for
                  equal values and else one more than the number of original values strictly between, is at most
                  n p / 100
    by deviation  they differ by at most p % of the standard deviation of the original

Both are averaged over p = 1, 2, ..., 10, and also given for each of these p. The width is to each side of the released
value. A suppressed cell is not disclosed; a cell that was missing before is not counted. O(n log n) a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.ordering import rank_distances
from shoal.measures.pairs import NumericPair

WIDTHS = 10  # p = 1 to 10 percent

Percentages = NDArray[np.uint8]  # of every cell of a table, so that a byte each is worth it


@dataclass(frozen=True)
class Intervals:
    """For each cell, the smallest whole percentage whose interval holds it; 101 where it is suppressed or missing."""

    by_rank: Percentages
    by_deviation: Percentages


_NEVER = 101


def intervals(pair: NumericPair) -> Intervals:
    """Return how wide the interval of each cell has to be, in whole percent.

    >>> there = np.array([True, True])
    >>> intervals(NumericPair("x", np.array([-1.0, 1.0]), np.array([-0.98, 1.0]), there, there)).by_deviation.tolist()
    [2, 0]
    """
    both = pair.both
    n = int(pair.there.sum())
    by_rank = np.full(len(both), _NEVER, dtype=np.uint8)
    ranks = _rank_distances(pair)[both]
    by_rank[both] = (100 * ranks + n - 1) // n if n else ranks
    return Intervals(by_rank, deviations_needed(pair))


def deviations_needed(pair: NumericPair) -> Percentages:
    """Return the smallest whole percentage of a deviation within which each cell is; 101 where it is not to be seen."""
    both = pair.both
    needed = np.full(len(both), _NEVER, dtype=np.uint8)
    gaps = np.abs(pair.original - pair.released)[both]
    # rounding must not push a difference of exactly p percent into the next interval
    needed[both] = np.ceil(np.minimum(100.0 * gaps * (1.0 - 1e-12), _NEVER))
    return needed


def _rank_distances(pair: NumericPair) -> Ints:
    """Rank distance of each cell; suppressed cells stand at the mean and are not used."""
    there = pair.there
    x, y = pair.original[there], pair.released[there]
    distances = np.zeros(len(there), dtype=np.int64)
    distances[there] = rank_distances(x, y, np.argsort(x), np.argsort(y))  # whichever of equal values is first
    return distances


def disclosed_by_width(needed: Percentages) -> Floats:
    """Return the share of cells inside their interval in percent for p = 1, 2, ..., 10 percent; NaN without cells.

    >>> disclosed_by_width(np.array([0, 10, 101, 101])).tolist()[8:]
    [25.0, 50.0]
    """
    return shares_by_width(widths_needed(needed))


def widths_needed(needed: Percentages) -> Ints:
    """Count cells by the width of the interval that holds them, from 1 to 10 percent, and 11 where none does."""
    return np.bincount(np.clip(needed, 1, WIDTHS + 1), minlength=WIDTHS + 2)


def shares_by_width(counts: Ints) -> Floats:
    """Return the share of cells inside their interval in percent, from counts by width; NaN without cells.

    >>> shares_by_width(np.array([0, 1, *[0] * 8, 1, 2])).tolist()[8:]
    [25.0, 50.0]
    """
    if not counts.sum():
        return np.full(WIDTHS, np.nan)
    return np.asarray(100.0 * np.cumsum(counts[1 : WIDTHS + 1]) / counts.sum())


def disclosed(needed: Percentages) -> float:
    """Return the share of cells inside their interval in percent, averaged over the widths of 1 to 10 percent.

    >>> disclosed(np.array([0, 10, 101, 101]))
    27.5
    """
    if not len(needed):
        return float("nan")
    widths = WIDTHS + 1 - np.clip(needed, 1, WIDTHS + 1)
    return float(100.0 * widths.mean() / WIDTHS)
