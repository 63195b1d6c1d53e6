"""A column before and after: what every measure starts from.

Rows are matched by position. Numbers are z-scores in the mean and population standard deviation of the original, for
both tables, so that a measure needs no units; of a constant column only the mean is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.hierarchy import NodeDistances
from shoal.columns.numbers import Column
from shoal.columns.scaling import Scale, fit_scale
from shoal.kernels.arrays import Flags, Floats, Ints, Masked
from shoal.plan.roles import Kind

MISSING = -1  # the code of a missing category


@dataclass(frozen=True)
class NumericPair:
    """One column of numbers or dates in both tables.

    Attributes
    ----------
    name : str
        Name of the column.
    original, released : float64 (n,)
        Scaled values; 0, the mean of the original, where missing.
    there, kept : bool (n,)
        Which values there are in the original, and in the release.
    constant : bool
        The original has at most one value.
    deviation : float
        Standard deviation of the original in units of the distance between records, which goes by the range where
        nothing else is asked for; 0 where it is constant.
    mean, unit : float
        A scaled value is this many units above the mean: ``mean + unit * original`` is the column itself.
    dated : bool
        Whether its values are dates or times.
    """

    name: str
    original: Floats
    released: Floats
    there: Flags
    kept: Flags
    constant: bool = False
    deviation: float = 1.0
    mean: float = 0.0
    unit: float = 1.0
    dated: bool = False

    @property
    def cells(self) -> int:
        """Number of values in the original."""
        return int(self.there.sum())

    @property
    def both(self) -> Flags:
        """Which records have a value in both tables."""
        return self.there & self.kept

    @property
    def suppressed(self) -> int:
        """Cells that are missing in the release only."""
        return int((self.there & ~self.kept).sum())


@dataclass(frozen=True)
class CategoryPair:
    """One column of categories in both tables.

    Attributes
    ----------
    name : str
        Name of the column.
    original, released : int64 (n,)
        Codes of the categories, the same in both tables; -1 where missing.
    categories : int
        How many codes there are.
    centre : int or None
        The category nearest to all values of the table, where these are but some of its records.
    """

    name: str
    original: Ints
    released: Ints
    categories: int
    centre: int | None = field(default=None, kw_only=True)

    @property
    def cells(self) -> int:
        """Number of values in the original."""
        return int((self.original != MISSING).sum())

    @property
    def suppressed(self) -> int:
        """Cells that are missing in the release only."""
        return int(((self.original != MISSING) & (self.released == MISSING)).sum())


@dataclass(frozen=True)
class OrdinalPair(CategoryPair):
    """One column of categories with an order; the codes are their places in it, from the lowest."""


@dataclass(frozen=True)
class SemanticPair(CategoryPair):
    """One column of categories with a hierarchy; the codes are those of its nodes.

    Attributes
    ----------
    measured : NodeDistances
        Hierarchy and distances.
    """

    measured: NodeDistances


Pair = NumericPair | CategoryPair


def numeric_pair(column: Column, released: Masked, scale: Scale, scores: Scale | None = None) -> NumericPair:
    """Put a column beside what was released for it, in the units of ``column.values``.

    ``scale`` is that of distances between records, ``scores`` that of z-scores, where it is not of these records alone.

    >>> column = Column("x", np.array([0.0, 2.0]), np.array([True, True]))
    >>> pair = numeric_pair(column, Masked(np.array([1.0, 1.0]), column.observed), fit_scale(column, "range"))
    >>> pair.original.tolist(), pair.released.tolist(), pair.deviation
    ([-1.0, 1.0], [0.0, 0.0], 0.5)
    """
    scores = fit_scale(column, "z-score") if scores is None else scores
    constant = scores.spread == 0.0
    deviation = 0.0 if constant else scores.spread / scale.spread
    scores = replace(scores, spread=1.0) if constant else scores
    before = np.where(column.observed, scores.apply(column.values), 0.0)
    after = np.where(released.observed, scores.apply(released.values), 0.0)
    return NumericPair(
        column.name,
        before,
        after,
        column.observed,
        released.observed,
        constant,
        deviation,
        mean=float(column.origin) + column.step * (scores.base + scores.unit * scores.location),
        unit=column.step * scores.unit * scores.spread,
    )


@dataclass(frozen=True)
class WholeColumn:
    """What a block must know of its column in the whole table: the z-scores of numbers, the centre of categories."""

    scores: Scale | None = None
    centre: int | None = None


def pair_of(column: AnyColumn, released: Masked, scale: Scale | None, whole: WholeColumn | None = None) -> Pair:
    """Put a column of any kind beside what was released for it, in the values or codes of the column."""
    if not isinstance(column, Category):
        assert scale is not None
        return numeric_pair(column, released, scale, whole.scores if whole else None)
    centre = whole.centre if whole else None
    codes = (column.values, column.observed), (released.values.astype(np.int64), released.observed)
    if column.measured is None:
        before, after = (np.where(there, values, MISSING) for values, there in codes)
        kind = OrdinalPair if column.kind is Kind.ORDINAL else CategoryPair
        return kind(column.name, before, after, len(column.names), centre=centre)
    before, after = (np.where(there, column.nodes[values], MISSING) for values, there in codes)
    count = len(column.measured.hierarchy)
    return SemanticPair(column.name, before, after, count, column.measured, centre=centre)
