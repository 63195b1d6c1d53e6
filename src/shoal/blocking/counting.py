"""What blocks are cut from, where they are cut by counting: passes over the records, in parts that are added up.

The records may be in one array, or in batches on many machines: ``over(part)`` calls ``part(values, roots)`` on the
scaled values (n, d) of the blocking columns and the stratum (n,) of each record, as often as it likes, and adds up what
comes back. All of it is integers and extremes, so that no order and no cutting into batches changes a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np

from shoal.kernels.arrays import Floats, Ints


class Summable(Protocol):
    """What parts of a pass give."""

    def __add__(self, other: Self) -> Self: ...


Part = TypeVar("Part", bound=Summable)


class Over(Protocol):
    """One pass over all records."""

    def __call__(self, part: Callable[[Floats, Ints], Part]) -> Part:
        """Call ``part(values, roots)`` on all records, in batches, and add up."""
        ...


class Cut(Protocol):
    """Blocks that follow from a small table of counts."""

    @property
    def sizes(self) -> Ints:
        """How many records each block has."""
        ...

    def blocks(self, values: Floats, roots: Ints) -> Ints:
        """Return the block of each record of a batch."""
        ...


@dataclass(frozen=True)
class Reach:
    """How many records each stratum has, and how far they reach: counts (roots,), low and high (roots, d)."""

    counts: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, values: Floats, roots: Ints, count: int) -> Reach:
        """Measure a batch of records of so many strata.

        >>> Reach.of(np.array([[1.0], [3.0]]), np.array([0, 0]), 1) + Reach.of(np.array([[2.0]]), np.array([0]), 1)
        Reach(counts=array([3]), low=array([[1.]]), high=array([[3.]]))
        """
        low, high = np.full((count, values.shape[1]), np.inf), np.full((count, values.shape[1]), -np.inf)
        if count == 1 and len(values):  # far quicker than the general way
            low[0], high[0] = values.min(axis=0), values.max(axis=0)
        else:
            np.minimum.at(low, roots, values)
            np.maximum.at(high, roots, values)
        return cls(np.bincount(roots, minlength=count), low, high)

    def __add__(self, other: Reach) -> Reach:
        return Reach(self.counts + other.counts, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def width(self) -> Floats:
        """How far each column of each stratum reaches; 1 where it is constant."""
        with np.errstate(invalid="ignore"):  # a stratum without records
            width = self.high - self.low
        return np.where(width > 0.0, width, 1.0)


@dataclass(frozen=True)
class Counts:
    """How many records have each key: keys (m,) sorted, counts (m,)."""

    keys: Ints
    counts: Ints

    @classmethod
    def of(cls, keys: Ints) -> Counts:
        """Count the keys of a batch.

        >>> Counts.of(np.array([7, 2, 7])) + Counts.of(np.array([2]))
        Counts(keys=array([2, 7]), counts=array([2, 2]))
        """
        return cls(*np.unique(keys, return_counts=True))

    def __add__(self, other: Counts) -> Counts:
        keys, entry = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, entry, np.concatenate([self.counts, other.counts]))
        return Counts(keys, counts)
