"""The column of sampling weights of a table."""

from __future__ import annotations

import numpy as np

from shoal.errors import DataError, counted
from shoal.kernels.arrays import Floats
from shoal.plan.roles import Kind
from shoal.tables.table import Table


def sampling_weights(table: Table, name: str) -> Floats | None:
    """Return a column of weights, or None where all are equal: then they change nothing.

    Raises DataError where one is missing or not above 0.
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
    return None if (weights == weights[:1]).all() else np.ascontiguousarray(weights)
