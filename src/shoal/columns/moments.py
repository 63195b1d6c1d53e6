"""What a scale is fitted to: how far a column reaches, and sums that depend on no order of its rows.

Both are taken in parts and put together by ``+``: of batches, files or machines, in any order, with the same bits.
The first pass finds the extent; the second, which needs it, adds up what values are above the lowest, in a power of two
that brings them below 2, and the squares of that. So an offset of 1e9, values of 1e-300 or of 1e300 cost no digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.kernels.exact_sums import ExactSum


@dataclass(frozen=True)
class Extent:
    """How many values there are, and the lowest and the highest."""

    count: int = 0
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, values: Floats) -> Extent:
        """Measure finite values.

        >>> Extent.of(np.array([2.0, 1.0])) + Extent.of(np.array([7.0]))
        Extent(count=3, low=1.0, high=7.0)
        """
        return cls(len(values), float(values.min()), float(values.max())) if len(values) else cls()

    def __add__(self, other: Extent) -> Extent:
        return Extent(self.count + other.count, min(self.low, other.low), max(self.high, other.high))

    @property
    def unit(self) -> float:
        """A power of two that brings what values are above the lowest below 2."""
        return power_of_two(self.high - self.low) if self.count else 1.0


@dataclass(frozen=True)
class Moments:
    """Sums of the values of a column.

    Attributes
    ----------
    total, squares : ExactSum
        Of ``(value - low) / unit`` of its extent, and of the squares.
    exact : bool
        Whether the lowest can be taken from all values without rounding.
    """

    total: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)
    exact: bool = True

    @classmethod
    def of(cls, values: Floats, extent: Extent) -> Moments:
        """Add up values of a column of some extent."""
        above = values - extent.low
        x = above / extent.unit
        return cls(ExactSum.of(x), ExactSum.of_squares(x), _is_exact(values, above, extent.low))

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.total + other.total, self.squares + other.squares, self.exact and other.exact)

    def mean(self, count: int) -> float:
        """Return the mean of so many values, above the lowest and in units."""
        return float(self.total.exact() / count)

    def deviation(self, count: int) -> float:
        """Return the population standard deviation, in units."""
        mean: Fraction = self.total.exact() / count
        return float(np.sqrt(float(self.squares.exact() / count - mean * mean)))


def power_of_two(x: float) -> float:
    """Return the power of two at or just below a positive number: dividing by it changes no digit."""
    return float(np.ldexp(1.0, int(np.frexp(x)[1]) - 1)) if x > 0.0 else 1.0


def _is_exact(x: Floats, above: Floats, base: float) -> bool:
    """Whether a number was taken from all others without rounding: the error of each difference is a number."""
    taken = x - above
    return bool(((x - (above + taken)) + (taken - base) == 0.0).all())
