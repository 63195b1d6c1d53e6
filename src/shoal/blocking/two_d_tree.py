"""The 2^d-tree: every axis is halved, again and again, until no cell holds more than L records.

The limits of the root are the smallest and largest value of each blocking column; a cell with more than L
records is split at the midpoint of every column into 2^d cells, of which only those that hold records exist.
Cells with fewer than k records are fused with the cell of the nearest centroid until none is left.

Halving an interval again and again is reading the bits of a scaled coordinate from the top, so a cell is a
prefix of bits: each level is one group-by over (cell, next bit of each column). Records that coincide in every
bit stay together, even if they are more than L.

Source: A. Solanas, A. Martinez-Balleste, J. Domingo-Ferrer, S. Bujalance and J. M. Mateo-Sanz, A 2^d-tree-based
blocking method for microaggregating very large data sets.

Cost: O(d n) a level, and O(c log c) for fusing c cells.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.blocking.fusing import fuse_small_blocks

_BITS = 30  # levels of halving before records count as coinciding
_PACK = 20  # bits of a level that are packed into a key at once


def two_d_tree(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record, a row of ``values`` (n, d): at least k and, unless fused, at most ``size``.

    >>> two_d_tree(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    cells = split_cells(values, size)
    return fuse_small_blocks(values, cells, k)


def split_cells(values: Floats, size: int) -> Ints:
    """Number the cell of each record before small cells are fused."""
    low, high = values.min(axis=0), values.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    place = np.minimum(((values - low) / width * 2**_BITS).astype(np.int64), 2**_BITS - 1)
    cells = np.zeros(len(values), dtype=np.int64)
    large = np.arange(len(values)) if len(values) > size else np.empty(0, dtype=np.int64)
    for level in range(_BITS - 1, -1, -1):
        if len(large) == 0:
            break
        keys = cells[large]
        for first in range(0, values.shape[1], _PACK):
            for j in range(first, min(first + _PACK, values.shape[1])):
                keys = keys * 2 + (place[large, j] >> level & 1)
            keys = np.unique(keys, return_inverse=True)[1]
        cells[large] = keys + cells.max() + 1
        counts = np.bincount(keys)
        large = large[counts[keys] > size]
    return np.unique(cells, return_inverse=True)[1]
