"""Decisions of a branch: pairs of records that are in one group, and pairs that are not.

Every partition is in one branch or the other, so the lower of two bounds, one for each, is a bound for all. In a branch
only groups count that keep its decisions: those that hold both records of a pair that is together or none of them, and
not both of a pair that is apart.

Source: D. M. Ryan and B. A. Foster, An integer programming approach to scheduling, in: Computer scheduling of public
transport, 1981.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.partition.optimal.seen_groups import SeenGroups, matrix_of

Pair: TypeAlias = tuple[int, int]

_FAR = 1e30  # squared distance of a pair that is apart: no group that holds it can be cheap


@dataclass(frozen=True)
class Decisions:
    """Pairs of records that are together, and pairs that are apart."""

    together: tuple[Pair, ...] = ()
    apart: tuple[Pair, ...] = ()

    def both(self, pair: Pair) -> tuple[Decisions, Decisions]:
        """Return the branch in which a pair is together, and that in which it is apart."""
        return Decisions((*self.together, pair), self.apart), Decisions(self.together, (*self.apart, pair))


def mates_of(decisions: Decisions, n: int) -> Ints:
    """Return the next of the records (n,) that are together with each, in a circle; a record alone is its own.

    >>> mates_of(Decisions(together=((0, 2), (2, 3))), 5).tolist()
    [2, 1, 3, 0, 4]
    """
    home = np.arange(n)
    for a, b in decisions.together:
        home[home == home[b]] = home[a]
    mates = np.arange(n)
    for first in {int(home[a]) for a, _ in decisions.together}:
        circle = np.flatnonzero(home == first)
        mates[circle] = np.roll(circle, -1)
    return mates


def kept_apart(decisions: Decisions, distances: Floats) -> Floats:
    """Return the distances (n, n) with which no cheap group holds a pair that is apart."""
    if not decisions.apart:
        return distances
    far = distances.copy()
    for a, b in decisions.apart:
        far[a, b] = far[b, a] = _FAR
    return far


def allowed(decisions: Decisions, seen: SeenGroups, n: int) -> Flags:
    """Return which groups (m,) keep the decisions."""
    kept = np.ones(len(seen), dtype=np.bool_)
    if decisions.together or decisions.apart:
        by_row = matrix_of(seen, n).tocsr()
        for a, b in decisions.together:
            kept &= by_row[a].toarray().ravel() == by_row[b].toarray().ravel()
        for a, b in decisions.apart:
            kept &= by_row[a].toarray().ravel() + by_row[b].toarray().ravel() < 2.0
    return kept
