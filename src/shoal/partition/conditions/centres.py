"""Centres of groups and the nearest of them, in the distance of a set of quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.mixed import distances
from shoal.kernels.mixed_centres import centres_of_groups
from shoal.kernels.neighbours import nearest_of_some
from shoal.kernels.representatives import Grouping

_MANY = 1 << 20  # distances above which the nearest are looked up in an index


class Centres(Protocol):
    """What groups are compared by."""

    def of(self, groups: Grouping) -> Floats:
        """Return the centres (g, d) of some groups."""
        ...

    def distances(self, one: Floats, centres: Floats) -> Floats:
        """Return how far some centres (g, d) are from one of them (d,), in any monotone measure."""
        ...

    def partners(self, of: Ints, centres: Floats) -> Ints:
        """Return the nearest other of each of some of the centres (g, d), of which there are at least two."""
        ...


@dataclass(frozen=True)
class NumberCentres:
    """Means of scaled numbers (n, d), and Euclidean distances."""

    values: Floats
    threads: int = 1

    def of(self, groups: Grouping) -> Floats:
        """Return the means of some groups."""
        sums = np.add.reduceat(self.values[groups.order], groups.starts[:-1], axis=0)
        means: Floats = sums / np.diff(groups.starts)[:, None]
        return means

    def distances(self, one: Floats, centres: Floats) -> Floats:
        """Return squared distances."""
        squares: Floats = ((centres - one) ** 2).sum(axis=1)
        return squares

    def partners(self, of: Ints, centres: Floats) -> Ints:
        """Return the nearest other of each; from an index where there are many."""
        if len(of) * len(centres) <= _MANY:
            return _partners(self, of, centres)
        near = nearest_of_some(np.ascontiguousarray(centres), of, 2, self.threads)
        return np.where(near[:, 0] == of, near[:, 1], near[:, 0])


@dataclass(frozen=True)
class MixedCentres:
    """Centres of records of any kind: the mean, mode or central category of each column."""

    records: Mixed

    def of(self, groups: Grouping) -> Floats:
        """Return the centres of some groups."""
        mixed = self.records
        return centres_of_groups(mixed.values, mixed.by_distance, mixed.record, groups.order, groups.starts)

    def distances(self, one: Floats, centres: Floats) -> Floats:
        """Return distances of records that mix kinds."""
        return distances(centres, one, self.records.metric)

    def partners(self, of: Ints, centres: Floats) -> Ints:
        """Return the nearest other of each."""
        return _partners(self, of, centres)


def centres_of(quasi: QuasiIdentifiers, threads: int = 1) -> Centres:
    """Return what the groups of a set of quasi-identifiers are compared by."""
    return MixedCentres(quasi.counted()) if quasi.mixed else NumberCentres(quasi.points().values, threads)


def nearest_centres(space: Centres, one: int, centres: Floats, count: int) -> Ints:
    """Return so many nearest others of one of the centres (g, d), the nearest first; ties go to the lowest."""
    off = space.distances(centres[one], centres)
    off[one] = np.inf
    return np.argsort(off, kind="stable")[: min(count, len(centres) - 1)]


def near_centres(space: Centres, of: Ints, centres: Floats, count: int) -> Ints:
    """Return the nearest of some centres (of, count), the nearest first; each may be among its own."""
    count = min(count + 1, len(centres))
    if isinstance(space, NumberCentres):
        return nearest_of_some(np.ascontiguousarray(centres), of, count, space.threads)
    found = np.empty((len(of), count), dtype=np.int64)
    for i, one in enumerate(of.tolist()):
        off = space.distances(centres[one], centres)
        first = np.argpartition(off, count - 1)[:count]
        found[i] = first[np.lexsort((first, off[first]))]
    return found


def _partners(space: Centres, of: Ints, centres: Floats) -> Ints:
    found = np.empty(len(of), dtype=np.int64)
    for i, one in enumerate(of.tolist()):
        off = space.distances(centres[one], centres)
        off[one] = np.inf
        found[i] = np.argmin(off)
    return found
