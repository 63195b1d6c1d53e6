"""A column before and after: what every measure starts from.

Rows are matched by position. Numbers are z-scores in the mean and population standard deviation of the original, for
both tables, so that a measure needs no units; of a constant column only the mean is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.columns.hierarchy import NodeDistances
from shoal.columns.numbers import Column
from shoal.columns.scaling import Scale
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers

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
    """

    name: str
    original: Floats
    released: Floats
    there: Flags
    kept: Flags
    constant: bool = False

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
    """

    name: str
    original: Ints
    released: Ints
    categories: int

    @property
    def suppressed(self) -> int:
        """Cells that are missing in the release only."""
        return int(((self.original != MISSING) & (self.released == MISSING)).sum())


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


def numeric_pair(column: Column, scale: Scale, values: Numbers, kept: Flags) -> NumericPair:
    """Scale a column and what was released for it; ``values`` are in the units of ``column.values``.

    >>> column = Column("x", np.array([0.0, 2.0]), np.array([True, True]))
    >>> numeric_pair(column, Scale(0.0, 1.0, 1.0, 1.0), np.array([1.0, 1.0]), column.observed).original
    array([-1.,  1.])
    """
    constant = scale.spread == 0.0
    scale = replace(scale, spread=1.0) if constant else scale
    original = np.where(column.observed, scale.apply(column.values), 0.0)
    released = np.where(kept, scale.apply(values), 0.0)
    return NumericPair(column.name, original, released, column.observed, kept, constant)
