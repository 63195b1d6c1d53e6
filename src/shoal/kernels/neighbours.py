"""The nearest records of every record, or of some, on several threads."""

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
    return nearest_of_some(values, np.arange(len(values)), count, threads)


def nearest_of_some(values: Floats, of: Ints, count: int, threads: int) -> Ints:
    """Return the ``count`` nearest records of some rows, each itself among them, as (rows, count).

    >>> nearest_of_some(np.array([[0.0], [5.0], [1.0]]), np.array([2]), 2, threads=1)
    array([[2, 0]])
    """
    near = np.empty((len(of), min(count, len(values))), dtype=np.int64)
    pool = open_pool(values)
    search_in_chunks(pool, lambda pool, start, stop: _fill(pool, of, start, stop, near), len(of), threads)
    return near


@kernel
def _fill(pool: Pool, of: Ints, start: int, stop: int, near: Ints) -> None:
    """Fill ``near`` (rows, m) for the rows ``of`` (rows,) from start to stop."""
    distances = np.empty(near.shape[1])
    for place in range(start, stop):
        nearest(pool, of[place], near.shape[1], near[place], distances)
