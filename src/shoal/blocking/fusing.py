"""Fusing of blocks with fewer than k records with the block of the nearest centroid, until none is left.

Each round looks up the nearest centroid of every small block in a neighbour index and joins the two; joined
blocks get a new centroid. Every small block joins something, so each round at least halves their number: O(c
log c) for c blocks.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.disjoint_sets import join, root_of
from shoal.kernels.group_sums import group_sums
from shoal.kernels.pool import Pool, nearest, open_pool


def fuse_small_blocks(values: Floats, blocks: Ints, k: int) -> Ints:
    """Return new block numbers such that every block has at least k records; ``values`` is (n, d).

    >>> fuse_small_blocks(np.array([[0.0], [0.1], [0.2], [5.0], [5.1]]), np.array([0, 0, 1, 2, 2]), 2)
    array([0, 0, 0, 1, 1])
    """
    fused: Ints = fuse_small_cells(group_sums(values, blocks)[0], np.bincount(blocks), k)[blocks]
    return fused


def fuse_small_cells(sums: Floats, sizes: Ints, k: int) -> Ints:
    """Return the block of each leaf, from a table of sums (leaves, d) and numbers of records (leaves,).

    >>> fuse_small_cells(np.array([[0.1], [0.2], [10.1]]), np.array([2, 1, 2]), 2)
    array([0, 0, 1])
    """
    blocks = np.arange(len(sizes))
    while True:
        small = np.flatnonzero(sizes < k)
        if len(small) == 0 or len(sizes) == 1:
            return blocks
        home = np.arange(len(sizes))
        _join_nearest(open_pool(np.ascontiguousarray(sums / sizes[:, None])), small, home)
        home = np.unique(home, return_inverse=True)[1]
        blocks = home[blocks]
        sums = group_sums(sums, home)[0]
        sizes = np.bincount(home, sizes).astype(np.int64)


@kernel
def _join_nearest(pool: Pool, small: Ints, home: Ints) -> None:
    """Join each small block to the nearest other one; ``home`` becomes the lowest block of each that was joined."""
    rows, distances = np.empty(2, np.int64), np.empty(2)
    for block in small:
        nearest(pool, block, 2, rows, distances)
        other = rows[1] if rows[0] == block else rows[0]
        join(home, block, other)
    for block in range(len(home)):
        home[block] = root_of(home, block)
