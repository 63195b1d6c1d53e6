"""How far one column tells another: what somebody knows of a quasi-identifier who sees a column that is kept.

For numbers and dates, by ranks. Records are put in the order of the known column, equal ones at random, and the ranks
of the other column are compared from each record to the next: with D the sum of these differences, E what is to be
expected in a random order, and M the least it can be, from the lowest rank to the highest, the score is
1 - (D - M) / (E - M). It is 1 for any increasing or decreasing function of the known column, near to 1 for any other
continuous one, and about 0 for a column that tells nothing; of two normal columns with a correlation of 0.9 it is about
0.5, of 0.999 about 0.95. That is the coefficient of S. Chatterjee, A new coefficient of correlation, Journal of the
American Statistical Association 116, 2021, but for M, which makes it 1 on small tables too.

For categories, and any other values that occur more than once, by pairs of records that are alike in the known column:
with p the part of them that are alike in the other one, too, and q that part of all pairs, it is (p - q) / (1 - q).

Cost: O(m log m) for each pair of columns on m records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints

FEWEST = 20
"""Records that both columns must have, and pairs that would differ by chance, for a score to mean anything."""
OTHERS = 10
"""Records that must not have the most common value of the hidden column: few could be told by chance."""


@dataclass(frozen=True)
class Seen:
    """A column on the records that are looked at, in random order.

    Attributes
    ----------
    name : str
        Name of the column.
    codes : int64 (m,)
        Number of each value; anything where missing.
    observed : bool (m,)
        Which values there are.
    numbers : float64 (m,) or None
        The values, where they are numbers, dates, or texts of numbers.
    """

    name: str
    codes: Ints
    observed: Flags
    numbers: Floats | None


def score(known: Seen, hidden: Seen) -> float:
    """Return how far one column tells another: 0 nothing, 1 all.

    >>> age = np.arange(20.0, 60.0)
    >>> codes, there = np.arange(40), np.ones(40, dtype=bool)
    >>> round(score(Seen("year", codes, there, 2020 - age), Seen("age", codes, there, age)), 12)
    1.0
    """
    both = known.observed & hidden.observed
    if both.sum() < FEWEST or both.sum() - np.bincount(hidden.codes[both]).max() < OTHERS:
        return 0.0
    by_rank = 0.0
    if known.numbers is not None and hidden.numbers is not None:
        by_rank = _by_rank(known.numbers[both], hidden.numbers[both])
    return max(by_rank, _by_pairs(known.codes[both], hidden.codes[both]))


def equal(known: Seen, hidden: Seen) -> bool:
    """Whether two columns have the same numbers, or the same values, wherever they have any."""
    if not np.array_equal(known.observed, hidden.observed) or known.observed.sum() < FEWEST:
        return False
    if known.numbers is None or hidden.numbers is None:
        return False
    return np.array_equal(known.numbers[known.observed], hidden.numbers[known.observed])


def _by_rank(known: Floats, hidden: Floats) -> float:
    """Compare ranks from each record to the next in the order of the known column."""
    records = len(hidden)
    ranks = _ranks(hidden)
    ordered = ranks[np.argsort(known, kind="stable")]  # the records come in random order, and so do equal ones
    steps = float(np.abs(np.diff(ordered)).sum())
    least = float(ranks.max() - ranks.min())
    places = 2.0 * np.arange(1, records + 1) - records - 1.0
    expected = 2.0 * float(places @ np.sort(ranks)) / records
    return 1.0 - (steps - least) / (expected - least) if expected > least else 0.0


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0, equal values at the mean of their places."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2.0)[codes]


def _by_pairs(known: Ints, hidden: Ints) -> float:
    """Compare how many pairs that are alike in the known column are alike in the other with how many of all are."""
    records = len(known)
    alike = _pairs(known)
    chance = _pairs(hidden) / (records * (records - 1) / 2.0)
    if alike * (1.0 - chance) < FEWEST:
        return 0.0
    both = _pairs(known * (int(hidden.max()) + 1) + hidden)
    return (both / alike - chance) / (1.0 - chance)


def _pairs(codes: Ints) -> float:
    """Count pairs of equal codes."""
    counts = np.unique(codes, return_counts=True)[1]
    return float((counts * (counts - 1) / 2.0).sum())
