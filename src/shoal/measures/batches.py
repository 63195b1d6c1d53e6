"""Measures from sums: what batches of records, in any order and on any machine, add up to.

Counts are whole numbers and sums of floats are exact (:mod:`shoal.kernels.exact_sums`), so that no figure depends on
how the records were dealt out. One pass adds up losses, moments, changes and counts, and takes a random sample of the
records, which a second pass links to all released ones (:mod:`.batch_linkage`).

Cost: O(n d^2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.exact_sums import ExactSum
from shoal.measures.batch_linkage import Sampled, chosen_rows, side_of, taken
from shoal.measures.category_fates import fates
from shoal.measures.interval_disclosure import deviations_needed, widths_needed
from shoal.measures.loss import ColumnLoss, RecordDistances, SetLoss, Squares, cell_distances
from shoal.measures.moments import Moments
from shoal.measures.pairs import CategoryPair, NumericPair, Pair


@dataclass(frozen=True)
class ExactSquares:
    """What was lost, and what there was to lose, exactly."""

    sse: ExactSum
    sst: ExactSum

    @classmethod
    def of(cls, moved: Floats, spread: Floats) -> ExactSquares:
        """Add up the squares of distances."""
        return cls(ExactSum.of_squares(moved), ExactSum.of_squares(spread))

    def __add__(self, other: ExactSquares) -> ExactSquares:
        return ExactSquares(self.sse + other.sse, self.sst + other.sst)

    def rounded(self) -> Squares:
        """Return both sums, rounded once."""
        return Squares(self.sse.value(), self.sst.value())


@dataclass(frozen=True)
class LossSums:
    """What a set of columns has lost in some records.

    Attributes
    ----------
    columns : dict of ExactSquares
        By column.
    cells : dict of int
        How many there were in each.
    categories : frozenset of str
        Which columns are categories.
    records, category_records : ExactSquares
        Of whole records, and of their categories alone.
    """

    columns: dict[str, ExactSquares]
    cells: dict[str, int]
    categories: frozenset[str]
    records: ExactSquares
    category_records: ExactSquares

    @classmethod
    def of(cls, pairs: Sequence[Pair], column_weights: Mapping[str, float]) -> LossSums:
        """Add up what a set of columns has lost; centres and z-scores are those of the whole table."""
        whole, meant, columns = RecordDistances(pairs), RecordDistances(pairs), {}
        for pair in pairs:
            cells, weight = cell_distances(pair), column_weights.get(pair.name, 1.0)
            columns[pair.name] = ExactSquares.of(*cells)
            whole.add(cells, weight, pair.deviation if isinstance(pair, NumericPair) else 1.0)
            if isinstance(pair, CategoryPair):
                meant.add(cells, weight)
        return cls(
            columns,
            {pair.name: pair.cells for pair in pairs},
            frozenset(pair.name for pair in pairs if isinstance(pair, CategoryPair)),
            ExactSquares.of(*whole.distances()),
            ExactSquares.of(*meant.distances()),
        )

    def __add__(self, other: LossSums) -> LossSums:
        return LossSums(
            {name: own + other.columns[name] for name, own in self.columns.items()},
            {name: own + other.cells[name] for name, own in self.cells.items()},
            self.categories,
            self.records + other.records,
            self.category_records + other.category_records,
        )

    def loss(self) -> SetLoss:
        """Return what was lost, rounded once."""
        return SetLoss(
            {
                name: ColumnLoss(own.rounded(), self.cells[name], name in self.categories)
                for name, own in self.columns.items()
            },
            self.records.rounded(),
            self.category_records.rounded(),
        )


@dataclass(frozen=True)
class MomentSums:
    """Sums of every two columns of numbers, over the records that have both, by their places i <= j.

    Attributes
    ----------
    counts : int64 (d, d)
        How many records have both.
    first : dict of ExactSum
        Of column i over the records that also have j, by (i, j), for all i and j.
    second : dict of ExactSum
        Of the products of both, by (i, j) with i <= j.
    squares : dict of ExactSum
        Of the squares of column i over the records that also have j, by (i, j), for all i and j.
    """

    counts: Ints
    first: dict[tuple[int, int], ExactSum]
    second: dict[tuple[int, int], ExactSum]
    squares: dict[tuple[int, int], ExactSum]

    @classmethod
    def of(cls, values: Floats, seen: Flags) -> MomentSums:
        """Add up the z-scores (n, d) of some records."""
        d = values.shape[1]
        counts = seen.astype(np.int64).T @ seen.astype(np.int64)
        first, second, squares = {}, {}, {}
        columns = [np.where(seen[:, i], values[:, i], 0.0) for i in range(d)]
        whole = [bool(seen[:, j].all()) for j in range(d)]
        for i in range(d):
            own = ExactSum.of(columns[i]), ExactSum.of_squares(columns[i])
            for j in range(d):
                if whole[j] or i == j:
                    first[i, j], squares[i, j] = own
                else:
                    both = columns[i][seen[:, j]]
                    first[i, j], squares[i, j] = ExactSum.of(both), ExactSum.of_squares(both)
        for i, j in combinations_with_replacement(range(d), 2):
            second[i, j] = squares[i, i] if i == j else ExactSum.of(columns[i] * columns[j])
        return cls(counts, first, second, squares)

    def __add__(self, other: MomentSums) -> MomentSums:
        return MomentSums(
            self.counts + other.counts,
            {at: own + other.first[at] for at, own in self.first.items()},
            {at: own + other.second[at] for at, own in self.second.items()},
            {at: own + other.squares[at] for at, own in self.squares.items()},
        )

    def moments(self) -> Moments:
        """Return means, variances and covariances; those of the third and fourth order are not known."""
        d = len(self.counts)
        counts = self.counts.astype(np.float64)
        mean, m20, m11 = (np.full((d, d), np.nan) for _ in range(3))
        for i in range(d):
            for j in range(d):
                n = int(self.counts[i, j])
                if n:
                    a, b = self.first[i, j].exact() / n, self.first[j, i].exact() / n
                    mean[i, j] = float(a)
                    m20[i, j] = float(self.squares[i, j].exact() / n - a * a)
                    m11[i, j] = float(self.second[min(i, j), max(i, j)].exact() / n - a * b)
        unknown = np.full((d, d), np.nan)
        return Moments(counts, mean, m11, m20, unknown, unknown, unknown)


@dataclass(frozen=True)
class BatchSums:
    """What the first pass adds up.

    Attributes
    ----------
    records, changed : int
        Records, and those that are not as they were.
    losses : tuple of LossSums
        By set of columns.
    before, after : MomentSums or None
        Of the columns of numbers.
    absolute : dict of ExactSum
        Sums of the absolute changes of columns of numbers.
    suppressed, holes : dict of int
        By column: cells that are missing in the release only, and cells that are missing in either table.
    inside : dict of int64 (12,)
        By column of numbers: cells by the whole percentage of a deviation that holds them, 11 where none up to 10 does.
    counts : dict of int64 (categories,)
        How often each category occurs, by column.
    fates : dict of int64 (3,)
        By column of categories: cells that became a name above theirs, the root, and another value.
    sampled : Sampled
        A random sample.
    """

    records: int
    changed: int
    losses: tuple[LossSums, ...]
    before: MomentSums | None
    after: MomentSums | None
    absolute: dict[str, ExactSum]
    suppressed: dict[str, int]
    holes: dict[str, int]
    inside: dict[str, Ints]
    counts: dict[str, Ints]
    fates: dict[str, Ints]
    sampled: Sampled

    @classmethod
    def of(
        cls, sets: Sequence[Sequence[Pair]], column_weights: Mapping[str, float], rows: Ints, share: float
    ) -> BatchSums:
        """Add up some records, with their row numbers; ``share`` of them go into the sample."""
        pairs = [pair for part in sets for pair in part]
        numbers = [pair for pair in pairs if isinstance(pair, NumericPair)]
        categories = [pair for pair in pairs if isinstance(pair, CategoryPair)]
        changed = np.zeros(len(rows), dtype=bool)
        for pair in pairs:
            changed |= pair.original != pair.released
            if isinstance(pair, NumericPair):
                changed |= pair.there != pair.kept
        chosen = np.flatnonzero(chosen_rows(rows, share))
        before, after = (side_of(numbers, categories, released) for released in (False, True))
        return cls(
            records=len(rows),
            changed=int(changed.sum()),
            losses=tuple(LossSums.of(part, column_weights) for part in sets),
            before=MomentSums.of(*before[:2]) if numbers else None,
            after=MomentSums.of(*after[:2]) if numbers else None,
            absolute={pair.name: ExactSum.of(cell_distances(pair).moved) for pair in numbers},
            suppressed={pair.name: pair.suppressed for pair in pairs},
            holes={pair.name: int((~pair.both).sum()) for pair in numbers},
            inside={pair.name: widths_needed(deviations_needed(pair)[pair.there]) for pair in numbers},
            counts={
                pair.name: np.bincount(pair.original[pair.original >= 0], minlength=pair.categories)
                for pair in categories
            },
            fates={pair.name: _fates(pair) for pair in categories},
            sampled=Sampled(rows[chosen], taken(before, chosen), taken(after, chosen)),
        )

    def __add__(self, other: BatchSums) -> BatchSums:
        return BatchSums(
            self.records + other.records,
            self.changed + other.changed,
            tuple(own + more for own, more in zip(self.losses, other.losses, strict=True)),
            self.before + other.before if self.before and other.before else None,
            self.after + other.after if self.after and other.after else None,
            {name: own + other.absolute[name] for name, own in self.absolute.items()},
            {name: own + other.suppressed[name] for name, own in self.suppressed.items()},
            {name: own + other.holes[name] for name, own in self.holes.items()},
            {name: own + other.inside[name] for name, own in self.inside.items()},
            {name: own + other.counts[name] for name, own in self.counts.items()},
            {name: own + other.fates[name] for name, own in self.fates.items()},
            self.sampled + other.sampled,
        )


def _fates(pair: CategoryPair) -> Ints:
    found = fates(pair)
    return np.array([found.generalised, found.to_root, found.replaced])
