"""Information loss of records that mix kinds: squared distances between records and what is released for them.

Martinez, Sanchez and Valls 2012, for columns of any kind::

    SSE = sum over records of d(original, released)^2       SST = sum over records of d(original, centre)^2

d is the distance of :mod:`shoal.columns.mixed`, the weighted mean of the distances of the cells, and the centre has the
mean of each column of numbers, the mode of a nominal one, the median of an ordinal one and the node of a hierarchy that
is nearest to all values. The loss is 100 SSE / SST. By column, the squared distances of its cells alone are added up.

Over the observed cells of the original. A suppressed cell has lost everything: it counts as if it were replaced by the
centre. O(n) a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.scaling import Scale
from shoal.kernels.arrays import Flags, Floats, Numbers
from shoal.kernels.category_representatives import CENTROID, MODE, category_representatives


@dataclass(frozen=True)
class MixedLoss:
    """Squared distances of all records and of each column: ``(SSE, SST)``."""

    sse: float
    sst: float
    by_column: dict[str, tuple[float, float]]


def mixed_loss(
    columns: Sequence[AnyColumn],
    released: Sequence[tuple[Numbers, Flags]],
    scales: Sequence[Scale | None],
    shares: Sequence[float],
) -> MixedLoss:
    """Measure what was released for columns of any kind; ``shares`` are the weights of the columns.

    >>> from shoal.columns.categories import Factor, nominal
    >>> there = np.ones(3, dtype=bool)
    >>> sex = nominal("sex", Factor(np.array([0, 0, 1]), there, ["f", "m"]))
    >>> mixed_loss([sex], [(np.zeros(3, dtype=np.int64), there)], [None], [1.0])
    MixedLoss(sse=1.0, sst=1.0, by_column={'sex': (1.0, 1.0)})
    """
    total = sum(shares)
    lost, whole = np.zeros(len(columns[0].values)), np.zeros(len(columns[0].values))
    by_column = {}
    for column, (values, kept), scale, share in zip(columns, released, scales, shares, strict=True):
        error, spread = _cells(column, values, kept, scale)
        by_column[column.name] = (float((error**2).sum()), float((spread**2).sum()))
        lost += share / total * error
        whole += share / total * spread
    return MixedLoss(float((lost**2).sum()), float((whole**2).sum()), by_column)


def _cells(column: AnyColumn, values: Numbers, kept: Flags, scale: Scale | None) -> tuple[Floats, Floats]:
    """Return the distance of each cell from what is released for it, and from the centre of the column."""
    there = column.observed
    if not isinstance(column, Category):
        assert scale is not None
        original = scale.apply(column.values)
        centre = float(original[there].mean()) if there.any() else 0.0
        after = np.where(kept, scale.apply(values), centre)
        return np.where(there, np.abs(original - after), 0.0), np.where(there, np.abs(original - centre), 0.0)
    every, starts = np.arange(len(column.values)), np.array([0, len(column.values)])
    distances = np.zeros((1, 1)) if column.distances is None else column.distances
    how = MODE if column.distances is None else CENTROID
    middle = category_representatives(
        column.values, there, np.ones(1), every, starts, distances, len(column.names), how
    )[0][0]
    codes = np.where(kept, values, middle).astype(np.int64)
    if column.distances is None:
        return (there & (column.values != codes)).astype(float), (there & (column.values != middle)).astype(float)
    return (
        np.where(there, column.distances[column.values, codes], 0.0),
        np.where(there, column.distances[column.values, middle], 0.0),
    )
