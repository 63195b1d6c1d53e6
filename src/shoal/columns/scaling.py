"""Columns of numbers to a matrix of comparable ones: scaling, and the mask of missing values.

Distances and information loss are taken on scaled columns. The z-score uses the population standard deviation
(ddof 0), as the published results do. Columns are taken from their lowest value on, in a power of two, and sums are
exact (:mod:`.moments`), so that an offset of 1e9, values of 1e-300 or of 1e300 cost no digits and the order of the rows
plays no part. Without scaling, the methods see the values as they are: differences of whole numbers are exact, and ties
are ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from shoal.columns.moments import Extent, Moments, power_of_two
from shoal.columns.numbers import Column
from shoal.errors import DataError
from shoal.kernels.arrays import Flags, Floats, Numbers
from shoal.kernels.missing_cells import filled_in

ScalingName = Literal["z-score", "range", "robust", "none"]
_SMALL, _LARGE = 1e-100, 1e100  # between these, squares of numbers and of their 16 first digits fit
DEFAULT_SCALING: ScalingName = "z-score"  # a range would give a skewed column almost no part beside categories
SCALINGS: tuple[str, ...] = get_args(ScalingName)


@dataclass(frozen=True)
class Scale:
    """How one column is scaled: ``((value - base) / unit - location) / spread``, which neither over- nor underflows.

    Whatever the scaling, the mean becomes 0.

    ``base`` is the lowest value of the column, ``unit`` a power of two; ``location`` and ``spread`` are in that unit.
    A constant column has a spread of 0 and becomes 0 everywhere: it plays no part in distances.

    ``kept`` is what may be taken from the values of a column that is not scaled without changing a digit of their
    differences: ``base``, or 0 where that would round. None where the column is scaled. ``deviation`` is the
    standard deviation of the scaled values, which a missing one is expected to have.
    """

    base: float
    unit: float
    location: float
    spread: float
    kept: float | None = None
    deviation: float = 1.0

    def apply(self, values: Numbers) -> Floats:
        """Scale an array of values."""
        if self.spread == 0.0:
            return np.zeros(len(values))
        return ((values.astype(np.float64) - self.base) / self.unit - self.location) / self.spread

    def compare(self, values: Numbers) -> Floats:
        """Scale an array of values, for differences: where there is no scaling, they are those of the values."""
        if self.kept is None or self.spread == 0.0:
            return self.apply(values)
        return values.astype(np.float64) - self.kept

    def middle(self, centred: bool) -> float:
        """Return what the mean becomes: 0, but where there is no scaling and values are not ``centred``."""
        if centred or self.kept is None or self.spread == 0.0:
            return 0.0
        return self.base - self.kept + self.location * self.unit


@dataclass(frozen=True)
class Records:
    """Scaled records, as the partition methods see them.

    Attributes
    ----------
    values : float64 (n, d), C order
        Scaled values; the mean of the column where missing.
    observed : bool (n, d) or None
        Which values there are; None where none is missing.
    threads : int
        How many threads a method may use for these records; no result depends on it.
    """

    values: Floats
    observed: Flags | None = None
    threads: int = 1

    def __len__(self) -> int:
        return len(self.values)


def fit_scale(column: Column, scaling: ScalingName) -> Scale:
    """Measure location and spread of a column.

    >>> fit_scale(Column("x", np.array([0.0, 4.0]), np.array([True, True])), "z-score")
    Scale(base=0.0, unit=4.0, location=0.5, spread=0.5, kept=None, deviation=1.0)
    """
    seen = column.values[column.observed].astype(np.float64)
    extent = Extent.of(seen)
    quartiles = (0.0, 0.0)
    if scaling == "robust" and len(seen):
        low, high = np.quantile((seen - extent.low) / extent.unit, [0.25, 0.75])
        quartiles = (float(low), float(high))
    return scale_of(extent, Moments.of(seen, extent), scaling, column.name, quartiles)


def scale_of(
    extent: Extent, moments: Moments, scaling: ScalingName, name: str, quartiles: tuple[float, float] = (0.0, 0.0)
) -> Scale:
    """Return the scale of a column of this extent, these moments and, for robust scaling, these quartiles.

    None of them depends on the order of the rows, and so the scale does not.
    """
    if not extent.count:
        return Scale(0.0, 1.0, 0.0, 1.0)
    base, unit = extent.low, extent.unit
    if extent.low == extent.high:
        return Scale(base, unit, 0.0, 0.0, deviation=0.0)
    location, deviation = moments.mean(extent.count), moments.deviation(extent.count)
    if scaling == "z-score":
        return Scale(base, unit, location, deviation)
    if scaling == "none":
        return Scale(base, unit, location, 1.0 / unit, base if moments.exact else 0.0, deviation * unit)
    spread = (extent.high - base) / unit if scaling == "range" else quartiles[1] - quartiles[0]
    if spread == 0.0:
        raise DataError(
            f"column '{name}': robust scaling needs quartiles that differ, and at least half of its "
            "values are equal; use scaling 'z-score' or 'range'"
        )
    return Scale(base, unit, location, spread, None, deviation / spread)


def encode(columns: list[Column], scales: list[Scale], centred: bool = True) -> Records:
    """Scale columns and put them side by side.

    Columns that are not scaled are ``centred`` on their means or taken as they are. Where they are so large or small
    that their squares would not fit, all are divided by the same power of two.
    """
    values, observed, _ = _side_by_side(columns, scales, centred)
    return Records(values, None if observed.all() else observed)


def encode_points(columns: list[Column], scales: list[Scale]) -> Records:
    """Scale columns and put them side by side as points between which distances are Euclidean.

    Columns that are not scaled are taken as they are. A missing cell is at the distance that is to be expected: it is
    filled in, and marked in a column of its own, see :mod:`shoal.kernels.missing_cells`.
    """
    values, observed, unit = _side_by_side(columns, scales, centred=False)
    if observed.all():
        return Records(values)
    means = np.array([scale.middle(False) / unit for scale in scales])
    return Records(filled_in(values, observed, means, np.array([scale.deviation / unit for scale in scales])))


def _side_by_side(columns: list[Column], scales: list[Scale], centred: bool) -> tuple[Floats, Flags, float]:
    """Return scaled values, the mean of the column where missing, which there are, and what they were divided by."""
    values = np.column_stack(
        [
            np.where(c.observed, scale.apply(c.values) if centred else scale.compare(c.values), scale.middle(centred))
            for c, scale in zip(columns, scales, strict=True)
        ]
    )
    largest = float(np.abs(values).max(initial=0.0))
    unit = 1.0 if largest == 0.0 or _SMALL < largest < _LARGE else power_of_two(largest)
    observed = np.column_stack([c.observed for c in columns])
    return np.ascontiguousarray(values / unit), np.ascontiguousarray(observed), unit
