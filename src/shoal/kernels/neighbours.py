"""The nearest records of every record, on several threads."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, nearest, open_pool


def nearest_of_all(values: Floats, count: int, threads: int) -> Ints:
    """Return the ``count`` nearest records of each, itself among them, as (n, count), or all where there are fewer.

    >>> nearest_of_all(np.array([[0.0], [5.0], [1.0]]), 2, threads=1)
    array([[0, 2],
           [1, 2],
           [2, 0]])
    """
    near = np.empty((len(values), min(count, len(values))), dtype=np.int64)
    pool = open_pool(values)
    search_in_chunks(pool, lambda pool, start, stop: _fill(pool, start, stop, near), len(values), threads)
    return near


@kernel
def _fill(pool: Pool, start: int, stop: int, near: Ints) -> None:
    """Fill ``near`` (n, m) from start to stop."""
    distances = np.empty(near.shape[1])
    for row in range(start, stop):
        nearest(pool, row, near.shape[1], near[row], distances)
