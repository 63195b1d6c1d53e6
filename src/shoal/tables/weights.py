"""The column of sampling weights of a table."""

from __future__ import annotations

import numpy as np

from shoal.errors import DataError, counted
from shoal.kernels.arrays import Floats
from shoal.plan.roles import Kind
from shoal.tables.table import Table

_USUAL = 1e100  # weights up to this, and from one by it, are taken as they are: their sums and products fit
_SPAN = 1e200  # times that the largest weight may be the smallest


def sampling_weights(table: Table, name: str) -> Floats | None:
    """Return a column of weights, or None where all are equal: then they change nothing.

    Where they are so large or small that sums would not fit, all are divided by the same power of two, which changes no
    digit of what is released. Raises DataError where one is missing or not above 0, or so small beside another
    that it would vanish.
    """
    if table.kind(name) is not Kind.NUMERIC:
        raise DataError(f"weight '{name}' is {table.kind(name)}; a weight must be a number")
    column = table.column(name)
    if not column.observed.all():
        missing = counted(int((~column.observed).sum()), "record")
        raise DataError(f"weight '{name}' is missing in {missing}; fill it in")
    weights = column.values.astype(np.float64) + column.origin
    if (weights <= 0.0).any():
        raise DataError(
            f"weight '{name}' is not above 0 in {counted(int((weights <= 0.0).sum()), 'record')}; correct it"
        )
    least, most = (weights.min(), weights.max()) if len(weights) else (1.0, 1.0)
    if most / _SPAN > least:
        raise DataError(f"weight '{name}' is more than 1e200 times as large in a record as in another; correct it")
    weights = in_range(weights, least, most)
    return None if (weights == weights[:1]).all() else np.ascontiguousarray(weights)


def in_range(weights: Floats, least: float, most: float) -> Floats:
    """Return weights over a power of two, where sums of the least and the most of the table would not fit.

    >>> in_range(np.array([1.0, 2.0]), 1.0, 2.0)
    array([1., 2.])
    """
    if most > _USUAL or least < 1.0 / _USUAL:
        return np.asarray(np.ldexp(weights, -int(np.frexp(most)[1])))
    return weights
