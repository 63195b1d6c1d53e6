"""Groups that undercut the prices of their members, found fast and not all of them.

For a centre, the k records with the least squared distance to it less their price; their mean is the next centre, and
so on, as in k-means. The reduced cost falls in every step, since the mean is the best centre of its records and these
are the best of theirs.

Cost: O(n d) for each centre and step, and some five steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

_STEPS = 30


@kernel
def squared_distances(values: Floats) -> Floats:
    """Squared distance of each pair (n, n) of ``values`` (n, d)."""
    n, d = values.shape
    distances = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = 0.0
            for column in range(d):
                total += (values[i, column] - values[j, column]) ** 2
            distances[i, j] = total
            distances[j, i] = total
    return distances


@dataclass(frozen=True)
class PairTable:
    """What pricing looks up: distances of pairs (n, n), and sums of those to the nearest 0, 1, ... 2k - 2 records."""

    distances: Floats
    near: Floats


def pair_table(values: Floats, k: int) -> PairTable:
    """Return the distances of all pairs of ``values`` (n, d), and of the nearest."""
    distances = squared_distances(values)
    most = min(2 * k - 1, len(values))
    # the nearest of all, at 0, is the record itself
    nearest = np.sort(np.partition(distances, most - 1, axis=1)[:, :most], axis=1)
    return PairTable(distances, np.ascontiguousarray(np.cumsum(nearest, axis=1)))


@kernel
def settle(values: Floats, prices: Floats, centres: Floats, k: int, found: Ints, reduced: Floats) -> None:
    """Write the group (m, k) that each of ``centres`` (m, d) settles in, and its reduced cost (m,)."""
    n, d = values.shape
    centre, terms, rows = np.empty(d), np.empty(k), np.empty(k, np.int64)
    for place in range(len(centres)):
        centre[:] = centres[place]
        reduced[place] = np.inf
        for _ in range(_STEPS):
            filled = 0
            for i in range(n):
                term = -prices[i]
                for column in range(d):
                    term += (values[i, column] - centre[column]) ** 2
                if filled < k or term < terms[k - 1]:
                    t = filled if filled < k else k - 1
                    filled = min(filled + 1, k)
                    while t > 0 and terms[t - 1] > term:
                        terms[t], rows[t] = terms[t - 1], rows[t - 1]
                        t -= 1
                    terms[t], rows[t] = term, i
            total = 0.0
            for column in range(d):
                centre[column] = 0.0
                for row in rows:
                    centre[column] += values[row, column] / k
                for row in rows:
                    total += (values[row, column] - centre[column]) ** 2
            for row in rows:
                total -= prices[row]
            if not total < reduced[place]:
                break
            reduced[place] = total
            found[place] = rows
