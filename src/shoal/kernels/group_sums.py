"""Sums and sizes of groups."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints


def group_sums(values: Floats, groups: Ints, count: int = 0) -> tuple[Floats, Floats]:
    """Return the sums (groups, d) and the sizes (groups,) of groups numbered from 0, at least ``count`` of them.

    >>> group_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1]))
    (array([[1.],
           [6.]]), array([1., 2.]))
    """
    sums = np.column_stack([np.bincount(groups, values[:, j], minlength=count) for j in range(values.shape[1])])
    return np.ascontiguousarray(sums), np.bincount(groups, minlength=count).astype(np.float64)
