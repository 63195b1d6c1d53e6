"""Least costs of partitions that need no prices: of one column, and of a few records."""

from __future__ import annotations

import itertools
import math

from numpy import ndarray


def squares(x: ndarray) -> float:
    """Return the sum of squares about the mean."""
    return math.fsum(((x - x.mean(axis=0)) ** 2).ravel())


def along_a_line(x: ndarray, k: int) -> float:
    """Return the least cost of a partition of sorted numbers: its groups are runs of k to 2k - 1."""
    least = [0.0] + [math.inf] * len(x)
    for end in range(k, len(x) + 1):
        least[end] = min(
            least[start] + squares(x[start:end, None]) for start in range(max(0, end - 2 * k + 1), end - k + 1)
        )
    return least[-1]


def of_a_few(values: ndarray, k: int, rows: tuple[int, ...], known: dict[tuple[int, ...], float]) -> float:
    """Return the least cost of a partition of a few records, by looking at all groups of k to 2k - 1 of the first."""
    if not rows:
        return 0.0
    if rows not in known:
        known[rows] = min(
            (
                squares(values[[rows[0], *others]])
                + of_a_few(values, k, tuple(row for row in rows[1:] if row not in others), known)
                for size in range(k - 1, 2 * k - 1)
                for others in itertools.combinations(rows[1:], size)
            ),
            default=math.inf,
        )
    return known[rows]
