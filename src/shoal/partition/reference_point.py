"""Order of the records by their distance from a fixed point, farthest first.

Methods that always ask for the record farthest from the same point need one sort and no search.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints


def farthest_first(records: Records, point: Literal["centroid", "lowest", "highest"]) -> Ints:
    """Return all rows, farthest from the centroid or from the corner of lowest or highest values first.

    Ties go to the lowest row.

    >>> farthest_first(Records(np.array([[0.0], [4.0], [1.0]])), "highest")
    array([0, 2, 1])
    """
    values = records.values
    fixed = {"centroid": values.mean(axis=0), "lowest": values.min(axis=0), "highest": values.max(axis=0)}[point]
    squares = np.zeros(len(values))
    for j in range(values.shape[1]):  # column by column, as the kernels add up
        squares += (values[:, j] - fixed[j]) ** 2
    return np.argsort(-squares, kind="stable")
