"""Information loss: what a release has lost of what there was to lose; one definition for columns of any kind.

Of a column j, over the n_j cells that are observed in the original::

    SSE_j = sum of d_j(original, released)^2      SST_j = sum of d_j(original, centre)^2      L_j = 100 SSE_j / SST_j

d_j is the difference of numbers and dates, 0 or 1 for nominal categories, the steps over all steps for ordinal ones,
and the distance of the hierarchy for semantic ones. The centre is the mean, the mode, the lower median, and the node of
the hierarchy whose distances from all values add up to the least. A suppressed cell has lost everything: it counts as
if it were replaced by the centre.

The loss of a table is the mean of those of its columns that vary, each weighted by its own weight w_j and its cells::

    L = sum w_j n_j L_j / sum w_j n_j

So every column counts alike, whatever its kind, unit or spread. On numbers this is SSE over SST on z-scores, where
SST_j is n_j (Domingo-Ferrer and Mateo-Sanz 2002).

The loss of records is another: squared distances of whole records, where the distance of two is the weighted mean of
those of their cells (Martinez, Sanchez and Valls 2012; Gower 1971), with numbers over their deviation or what else
they are scaled by::

    SSE = sum over records of (sum w_j d_j(original, released) / sum w_j)^2     SST the same from the centres

Sets of columns that are microaggregated separately add theirs up. O(n) a column; for categories by a hierarchy the
pairs of values that occur, and the distinct values times these and their ancestors for the centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.columns.hierarchy import NodeDistances
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.numbering import number_keys
from shoal.measures.pairs import MISSING, CategoryPair, NumericPair, OrdinalPair, Pair, SemanticPair

_PIECE = 256  # candidates for a centre whose distances from all values are held at a time


class CellDistances(NamedTuple):
    """How far each cell of a column was moved, and how far it is from the centre; 0 where it was not there before."""

    moved: Floats
    spread: Floats


@dataclass(frozen=True)
class Squares:
    """What was lost, and what there was to lose."""

    sse: float
    sst: float

    @property
    def percent(self) -> float:
        """The loss in percent, 100 SSE / SST; 0 where there was nothing to lose."""
        return 100.0 * self.sse / self.sst if self.sst > 0.0 else 0.0


@dataclass(frozen=True)
class Losses:
    """Losses of a release.

    Attributes
    ----------
    table : Squares
        The information loss: sum of w_j n_j SSE_j / SST_j, and of w_j n_j, over the columns that vary.
    by_column : dict of Squares
        SSE_j and SST_j of each column.
    numbers, categories : Squares or None
        The information loss of the columns of numbers and dates alone, and of the categories; None without any.
    records : Squares or None
        The loss of whole records; None where there are no categories.
    category_records : Squares or None
        The same with the categories of the records alone.
    """

    table: Squares
    by_column: dict[str, Squares]
    numbers: Squares | None
    categories: Squares | None
    records: Squares | None
    category_records: Squares | None


@dataclass(frozen=True)
class ColumnLoss:
    """What a column has lost, how many cells it had, and whether it is one of categories."""

    squares: Squares
    cells: int
    category: bool


@dataclass(frozen=True)
class SetLoss:
    """What a set of columns has lost: each column, whole records, and the categories of the records alone."""

    columns: dict[str, ColumnLoss]
    records: Squares
    category_records: Squares


def measure_losses(sets: Sequence[Sequence[Pair]], column_weights: Mapping[str, float]) -> Losses:
    """Measure what was lost in sets of columns; a column that has no weight has a weight of 1.

    >>> sex = CategoryPair("sex", np.array([0, 0, 1, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 1]), 3)
    >>> age = NumericPair("age", np.array([-1.0, 1.0] * 3), np.zeros(6), np.ones(6, bool), np.ones(6, bool))
    >>> found = measure_losses([[sex, age]], {"age": 2.0})
    >>> {name: round(own.percent, 1) for name, own in found.by_column.items()}, round(found.table.percent, 1)
    ({'sex': 33.3, 'age': 100.0}, 77.8)
    """
    mixed = any(isinstance(pair, CategoryPair) for part in sets for pair in part)
    return put_together([set_loss(part, column_weights, mixed) for part in sets], column_weights)


def set_loss(part: Sequence[Pair], column_weights: Mapping[str, float], mixed: bool) -> SetLoss:
    """Measure what was lost in a set of columns; that of records only where the table has categories."""
    whole, meant = RecordDistances(part), RecordDistances(part)
    columns: dict[str, ColumnLoss] = {}
    for pair in part:
        cells, weight = cell_distances(pair), column_weights.get(pair.name, 1.0)
        category = isinstance(pair, CategoryPair)
        columns[pair.name] = ColumnLoss(_squares(*cells), pair.cells, category)
        if category:
            meant.add(cells, weight)
        if mixed:
            whole.add(cells, weight, pair.deviation if isinstance(pair, NumericPair) else 1.0)
    return SetLoss(columns, whole.squares(), meant.squares())


def add_blocks(parts: Sequence[SetLoss]) -> SetLoss:
    """Put together what blocks of a set have lost; sums are rounded once, so that the order plays no part."""
    return SetLoss(
        {
            name: ColumnLoss(
                _exact_sum([part.columns[name].squares for part in parts]),
                sum(part.columns[name].cells for part in parts),
                own.category,
            )
            for name, own in parts[0].columns.items()
        },
        _exact_sum([part.records for part in parts]),
        _exact_sum([part.category_records for part in parts]),
    )


def put_together(sets: Sequence[SetLoss], column_weights: Mapping[str, float]) -> Losses:
    """Return the losses of a table from those of its sets of columns."""
    every = {name: own for part in sets for name, own in part.columns.items()}
    shares = {name: _share(own.squares, column_weights.get(name, 1.0) * own.cells) for name, own in every.items()}
    numbers = [share for name, share in shares.items() if not every[name].category]
    categories = [share for name, share in shares.items() if every[name].category]
    return Losses(
        table=_sum(shares.values()),
        by_column={name: own.squares for name, own in every.items()},
        numbers=_sum(numbers) if numbers else None,
        categories=_sum(categories) if categories else None,
        records=_sum(part.records for part in sets) if categories else None,
        category_records=_sum(part.category_records for part in sets) if categories else None,
    )


class RecordDistances:
    """Distances of whole records: the weighted means of those of their cells."""

    def __init__(self, columns: Sequence[Pair]) -> None:
        self._moved = self._spread = np.zeros(len(columns[0].original))
        self._weight = 0.0

    def add(self, cells: CellDistances, weight: float, unit: float = 1.0) -> None:
        """Add the cells of a column, whose distances are times a unit."""
        self._moved = self._moved + weight * unit * cells.moved
        self._spread = self._spread + weight * unit * cells.spread
        self._weight += weight

    def distances(self) -> CellDistances:
        """Return how far each record was moved, and how far it is from the centre; 0 where no column was added."""
        weight = self._weight or 1.0
        return CellDistances(self._moved / weight, self._spread / weight)

    def squares(self) -> Squares:
        """Return the sums of squared distances."""
        return _squares(*self.distances())


def _squares(moved: Floats, spread: Floats) -> Squares:
    return Squares(float((moved**2).sum()), float((spread**2).sum()))


def _share(own: Squares, weight: float) -> Squares:
    """Return the part of a column in the loss of its table; nothing where it does not vary."""
    return Squares(weight * own.sse / own.sst, weight) if own.sst > 0.0 else Squares(0.0, 0.0)


def _sum(parts: Iterable[Squares]) -> Squares:
    parts = list(parts)
    return Squares(sum((part.sse for part in parts), 0.0), sum((part.sst for part in parts), 0.0))


def _exact_sum(parts: Sequence[Squares]) -> Squares:
    return Squares(math.fsum(part.sse for part in parts), math.fsum(part.sst for part in parts))


def cell_distances(pair: Pair) -> CellDistances:
    """Return how far each cell of a column was moved, and how far it is from the centre.

    >>> moved, spread = cell_distances(CategoryPair("y", np.array([0, 0, 1]), np.array([0, 0, 0]), 2))
    >>> moved.tolist(), spread.tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    """
    moved, spread = np.zeros(len(pair.original)), np.zeros(len(pair.original))
    if isinstance(pair, NumericPair):
        if not pair.constant:
            there = pair.there
            # what is missing in the release is 0 there, which is the mean
            moved[there] = np.abs(pair.original[there] - pair.released[there])
            spread[there] = np.abs(pair.original[there])
        return CellDistances(moved, spread)
    there = pair.original != MISSING
    if there.any():
        original, centre = pair.original[there], centre_of(pair)
        released = np.where(pair.released[there] == MISSING, centre, pair.released[there])
        moved[there] = _between(pair, original, released)
        spread[there] = _between(pair, original, np.full_like(original, centre))
    return CellDistances(moved, spread)


def centre_of(pair: CategoryPair) -> int:
    """Return the category that is nearest to all values of the original, of which there is at least one.

    Of several that are equally near it is the mode that appears first, the lower median, or the first of the hierarchy.

    >>> centre_of(CategoryPair("y", np.array([2, 1, 1, 2]), np.array([0, 0, 0, 0]), 3))
    2
    """
    if pair.centre is not None:
        return pair.centre
    seen = pair.original[pair.original != MISSING]
    counts = np.bincount(seen)
    if isinstance(pair, SemanticPair):
        return nearest_node(pair.measured, counts)
    if isinstance(pair, OrdinalPair):
        return lower_median(counts)
    return int(seen[np.argmax(counts[seen])])


def lower_median(counts: Ints) -> int:
    """Return the lower median of codes that occur so often.

    >>> lower_median(np.array([1, 0, 2, 1]))
    2
    """
    return int(np.searchsorted(np.cumsum(counts), (int(counts.sum()) - 1) // 2, side="right"))


def nearest_node(measured: NodeDistances, counts: Ints) -> int:
    """Return the node whose distances from all values add up to the least, of nodes that occur so often.

    Only values and their ancestors can be it, see :meth:`shoal.columns.hierarchy.Hierarchy.pruned`.
    """
    values = np.flatnonzero(counts)
    candidates = measured.hierarchy.closure(values)
    sums = np.concatenate(
        [
            measured.matrix(candidates[start : start + _PIECE], values) @ counts[values]
            for start in range(0, len(candidates), _PIECE)
        ]
    )
    # sums that differ by rounding alone are equal, so that the order of the values does not matter
    best = sums <= sums.min() * (1.0 + 1e-12)
    return int(candidates[np.argmax(best)])


def _between(pair: CategoryPair, a: Ints, b: Ints) -> Floats:
    """Return distances of categories, one by one; those of a hierarchy are looked up once for each different two."""
    if isinstance(pair, SemanticPair):
        numbers, first, _ = number_keys(a * pair.categories + b)
        return np.asarray(pair.measured.between(a[first], b[first])[numbers])
    if isinstance(pair, OrdinalPair):
        return np.asarray(np.abs(a - b) / max(pair.categories - 1.0, 1.0))
    return np.asarray(a != b, dtype=np.float64)
