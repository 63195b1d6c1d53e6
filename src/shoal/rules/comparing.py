"""Arrays of values compared one by one: numbers up to a tolerance, texts and dates exactly."""

from __future__ import annotations

import operator as operators
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Flags, Floats

_OPERATORS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def equal_numbers(a: Floats, b: Floats, tolerance: Floats | float) -> Flags:
    """Whether numbers are equal or differ by no more than a tolerance; infinities equal themselves, NaN nothing."""
    with np.errstate(invalid="ignore"):
        return cast("Flags", (a == b) | (np.abs(a - b) <= tolerance))


def compare_values(operator: str, left: NDArray[Any], right: NDArray[Any], there: Flags) -> Flags:
    """Compare texts or dates where both are there."""
    found = np.zeros(len(there), dtype=bool)
    a, b = left[there], right[there]
    found[there] = _OPERATORS[operator](a, b)
    return found
