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

    Ties go to the lowest row. Missing values are left out of the point and of the distances, which are scaled
    to all columns.

    >>> farthest_first(Records(np.array([[0.0], [4.0], [1.0]])), "highest")
    array([0, 2, 1])
    """
    values = records.values
    n, d = values.shape
    seen = np.ones(values.shape, dtype=bool) if records.observed is None else records.observed
    if point == "centroid":
        fixed = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    elif point == "lowest":
        fixed = np.where(seen, values, np.inf).min(axis=0)
    else:
        fixed = np.where(seen, values, -np.inf).max(axis=0)
    squares, common = np.zeros(n), seen.sum(axis=1)
    for j in range(d):
        if seen[:, j].any():
            squares += np.where(seen[:, j], values[:, j] - fixed[j], 0.0) ** 2
    if records.observed is not None:
        squares = np.where(common > 0, squares * (d / np.maximum(common, 1)), 2.0 * d)
    return np.argsort(-squares, kind="stable")
