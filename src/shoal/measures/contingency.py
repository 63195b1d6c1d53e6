"""How far tables of counts have moved: one column at a time, and every two columns together.

The distance of two tables of shares p and q is the total variation, half the sum of |p - q|: the share of the
records that would have to move; and that of Hellinger, the root of half the sum of (sqrt p - sqrt q)^2, which
weighs small cells more. A missing value is a category of its own. O(n) for each table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.measures.keys import number_keys
from shoal.measures.pairs import CategoryPair


class TableDistance(NamedTuple):
    """Distance of two tables of counts in percent."""

    total_variation: float
    hellinger: float


def table_distance(original: Sequence[Ints], released: Sequence[Ints]) -> TableDistance:
    """Return the distance of the tables of some columns of codes, before and after.

    >>> table_distance([np.array([0, 0, 1, 1])], [np.array([0, 0, 0, 1])]).total_variation
    25.0
    """
    rows = len(original[0])
    together = [np.concatenate(columns).astype(np.float64) for columns in zip(original, released, strict=True)]
    of = number_keys(together).of
    cells = int(of.max()) + 1
    p, q = (np.bincount(part, minlength=cells) / rows for part in (of[:rows], of[rows:]))
    variation = 0.5 * float(np.abs(p - q).sum())
    hellinger = float(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))
    return TableDistance(100.0 * variation, 100.0 * hellinger)


def pairwise_distances(pairs: Sequence[CategoryPair]) -> list[TableDistance]:
    """Return the distances of the tables of every two columns."""
    return [table_distance([a.original, b.original], [a.released, b.released]) for a, b in combinations(list(pairs), 2)]
