"""Record linkage in batches: a random sample of the original records, linked to all released ones wherever these are.

The sample is taken by a hash of the row numbers, so that it has the same records however the table is dealt out. How
far each of its records is from its own released one is known before the search, so that a batch of released records
only has to say how many of them are as near, or that one is nearer. Both add up in any order.

Distances and ties are those of :mod:`.linkage`. Cost: the sample times a search of the neighbour index of each batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.hashing import mixed_rows
from shoal.kernels.link_search import ties_in_tree
from shoal.kernels.missing_cells import filled_in
from shoal.kernels.tree import open_tree_pool
from shoal.kernels.watch import new_watch
from shoal.measures.keys import number_keys
from shoal.measures.linkage import Linked, linked, mismatch
from shoal.measures.pairs import CategoryPair, NumericPair

Side = tuple[Floats, Flags, Ints]  # numbers (n, a) of some records, which there are, and categories (n, b)


@dataclass(frozen=True)
class Sampled:
    """Records of a random sample: row numbers, and numbers, which there are and categories, before and after."""

    rows: Ints
    before: Side
    after: Side

    def __add__(self, other: Sampled) -> Sampled:
        return Sampled(
            np.concatenate([self.rows, other.rows]),
            _stacked(self.before, other.before),
            _stacked(self.after, other.after),
        )

    def in_order(self) -> Sampled:
        """Return the same by row number."""
        order = np.argsort(self.rows)
        return Sampled(self.rows[order], taken(self.before, order), taken(self.after, order))


def _stacked(one: Side, other: Side) -> Side:
    a, b, c = (np.concatenate(parts) for parts in zip(one, other, strict=True))
    return a, b, c


def side_of(numbers: Sequence[NumericPair], categories: Sequence[CategoryPair], released: bool) -> Side:
    """Return the numbers (n, a) of one table, which there are, and its categories (n, b)."""
    n = len((numbers or categories)[0].original)
    values, seen = np.zeros((n, len(numbers))), np.ones((n, len(numbers)), dtype=np.bool_)
    codes = np.empty((n, len(categories)), dtype=np.int64)
    for j, number in enumerate(numbers):
        values[:, j] = number.released if released else number.original
        seen[:, j] = number.kept if released else number.there
    for j, category in enumerate(categories):
        codes[:, j] = category.released if released else category.original
    return values, seen, codes


def taken(side: Side, rows: Ints) -> Side:
    """Return some records of one table."""
    return side[0][rows], side[1][rows], side[2][rows]


def chosen_rows(rows: Ints, share: float) -> Flags:
    """Return which rows are in a random sample: the same ones whatever batch they come in.

    >>> int(chosen_rows(np.arange(100_000), 0.1).sum()), bool(chosen_rows(np.arange(5), 1.0).all())
    (9828, True)
    """
    return np.asarray(mixed_rows(rows) < share)


@dataclass(frozen=True)
class Linking:
    """Links a sample to batches of released records: the part of the second pass.

    Attributes
    ----------
    points, point_codes : float64 (q, a), int64 (q, b)
        The original records of the sample.
    own, own_codes : float64 (q, a), int64 (q, b)
        What was released for them.
    expected : float64 (b,)
        What a category adds that is missing in one of two records.
    holes : tuple of bool
        Which columns of numbers have missing cells in either table.
    spread : float64 (a,)
        Deviation of each column of numbers: 1, or 0 where it is constant.
    """

    points: Floats
    point_codes: Ints
    own: Floats
    own_codes: Ints
    expected: Floats
    holes: tuple[bool, ...]
    spread: Floats

    @classmethod
    def of(cls, sampled: Sampled, counts: Sequence[Ints], holes: Sequence[bool], constant: Sequence[bool]) -> Linking:
        """Prepare to link a sample.

        ``counts`` is how often each category occurs, by column of categories; ``holes`` and ``constant`` say which
        columns of numbers have missing cells in either table, and which have a single value.
        """
        sampled = sampled.in_order()
        one = cls(
            sampled.before[0],
            sampled.before[2],
            sampled.after[0],
            sampled.after[2],
            np.array([mismatch(own) for own in counts]),
            tuple(holes),
            np.where(constant, 0.0, 1.0),
        )
        return replace(one, points=one.filled(*sampled.before[:2]), own=one.filled(*sampled.after[:2]))

    def filled(self, values: Floats, seen: Flags) -> Floats:
        """Return records as points, missing cells at the distance that is to be expected."""
        if not values.shape[1]:
            return np.zeros((len(values), 1))  # the index needs a column; categories tell all
        return filled_in(values, seen, np.zeros(values.shape[1]), self.spread, self.holes)

    def link(self, released: Side) -> Ties:
        """Count the released records of a batch that are as near as the right one to each of the sample."""
        values, codes = np.vstack([self.filled(*released[:2]), self.own]), np.vstack([released[2], self.own_codes])
        keys = number_keys([*values.T, *codes.T.astype(np.float64)])
        n = len(released[0])
        copies = np.bincount(keys.of[:n], minlength=len(keys.first)).astype(np.int64)
        pool = open_tree_pool(np.ascontiguousarray(values[keys.first]))
        distinct = np.ascontiguousarray(codes[keys.first])
        asked = self.points, self.point_codes, distinct, self.expected
        return Ties(ties_in_tree(pool, *asked, keys.of[n:], copies, new_watch()))


@dataclass(frozen=True)
class Ties:
    """How many released records are as near as the right one to each of the sample (q,); -1 where one is nearer."""

    counts: Ints

    def __add__(self, other: Ties) -> Ties:
        nearer = (self.counts < 0) | (other.counts < 0)
        return Ties(np.where(nearer, -1, self.counts + other.counts))

    def linked(self, records: int) -> Linked:
        """Return the share of right links, and its standard error where not all records were linked.

        >>> (Ties(np.array([1, -1])) + Ties(np.array([1, 3]))).linked(2)
        Linked(percent=25.0, error=0.0, records=2)
        """
        chances = np.where(self.counts > 0, 1.0 / np.maximum(self.counts, 1), 0.0)
        return linked([chances], records)
