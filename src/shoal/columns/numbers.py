"""Columns of numbers and dates: the values, exact for whole numbers, and which there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shoal.kernels.arrays import Flags, Ints, Numbers


@dataclass(frozen=True)
class Column:
    """The numbers of one column: ``origin + step * values``.

    Attributes
    ----------
    name : str
        Name of the column.
    values : float64 or int64 (n,)
        Floats as they are; whole numbers as differences from the first, exact. 0 where missing.
    observed : bool (n,)
        Which values there are.
    origin : int
        What the differences of whole numbers are taken from.
    step : int
        Unit of the differences: a day in the ticks of a column of times that are all at midnight, for example.
    decimals : int or None
        With how many decimals floats are released; None for all that they have.
    """

    name: str
    values: Numbers
    observed: Flags
    origin: int = 0
    step: int = 1
    decimals: int | None = None

    @property
    def whole(self) -> bool:
        """Whether released values are whole numbers."""
        return self.values.dtype.kind == "i"

    def take(self, rows: Ints) -> Column:
        """Return the column restricted to some rows."""
        return replace(self, values=self.values[rows], observed=self.observed[rows])
