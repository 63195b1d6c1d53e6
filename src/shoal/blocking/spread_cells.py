"""The spread tree of a table that no place holds: grown on the cells of a 2^d-tree instead of its records.

Cells of some hundredth of a block are cut and counted as those of a 2^d-tree are (:mod:`.two_d_tree`), in passes whose
parts add up; each is then a point, its centroid, that counts as often as it has records. On this small table the spread
tree is grown as on records (:mod:`.spread_tree`): along the first principal axis or the most spread column, where the
sum of squares between the parts is largest, and between clusters also where a block is small enough. A cell stays
whole, so that blocks are those of the spread tree up to the width of a cell.

Cost: that of the 2^d-tree for the passes, O(c d^2 log c) for c cells.
"""

from __future__ import annotations

import numpy as np

from shoal.blocking.counting import Over
from shoal.blocking.spread_tree import BETWEEN_CLUSTERS
from shoal.blocking.two_d_tree import BITS, FusedTree, leaves_and_places
from shoal.kernels.arrays import Floats, Ints

_CELLS = 64  # in a block, at least


def grow_spread_tree(over: Over, roots: int, k: int, size: int) -> FusedTree:
    """Return the blocks of records of so many strata: at least k and, unless they coincide, at most ``size``."""
    tree, places = leaves_and_places(over, roots, max(size // _CELLS, 1))
    home = np.empty(len(tree.alive), dtype=np.int64)
    first = 0
    for root in np.unique(places.roots).tolist():
        own = np.flatnonzero(places.roots == root)
        points = places.sums[own] / places.counts[own, None] * (tree.reach.width[root] / 2.0**BITS)
        home[own] = first + cut_cells(points, places.counts[own], k, max(size, 2 * k - 1))
        first = int(home[own].max()) + 1
    return FusedTree(tree, home, np.bincount(home, places.counts).astype(np.int64))


def cut_cells(points: Floats, counts: Ints, k: int, size: int) -> Ints:
    """Return the block of each cell, a point (cells, d) that counts so often.

    >>> cut_cells(np.array([[0.0], [0.1], [0.9], [1.0]]), np.array([2, 2, 2, 2]), 2, 4)
    array([0, 0, 1, 1])
    """
    blocks = np.empty(len(points), dtype=np.int64)
    d = points.shape[1]
    stack, block = [np.arange(len(points))], 0
    while stack:
        part = stack.pop()
        records = int(counts[part].sum())
        best, order, cut = -1.0, part, 0
        total = 0.0
        if records >= 2 * k and len(part) > 1:
            axis, widest, total = _principal_axis(points[part], counts[part].astype(np.float64))
            for keys in (points[part, widest], (points[part] * axis).sum(axis=1)):
                by_key = np.argsort(keys, kind="stable")
                at, between = _best_cut(keys[by_key], counts[part][by_key], k)
                if between > best:
                    best, order, cut = between, part[by_key], at
        if best < 0.0 or (records <= size and best * d < BETWEEN_CLUSTERS * total):
            blocks[part] = block
            block += 1
        else:
            stack += [order[cut:], order[:cut]]
    return blocks


def _principal_axis(points: Floats, counts: Floats) -> tuple[Floats, int, float]:
    """Return the direction of largest spread of points that count so often, the widest column, and all squares."""
    mean = (points * counts[:, None]).sum(axis=0) / counts.sum()
    away = points - mean
    spread = np.einsum("ni,nj,n->ij", away, away, counts)
    axis: Floats = np.linalg.eigh(spread)[1][:, -1]
    if axis[np.argmax(np.abs(axis))] < 0.0:  # of two signs always the same
        axis = -axis
    return axis, int(np.argmax(np.diag(spread))), float(np.trace(spread))


def _best_cut(keys: Floats, counts: Ints, k: int) -> tuple[int, float]:
    """Where to cut sorted numbers that count so often into two parts of at least k, and the squares between them."""
    below = np.cumsum(counts)[:-1]
    records = int(counts.sum())
    head = np.cumsum((keys - keys[len(keys) // 2]) * counts)
    gap = head[:-1] / below - (head[-1] - head[:-1]) / (records - below)
    between = np.where((below >= k) & (records - below >= k), gap * gap * below * (records - below) / records, -1.0)
    at = int(np.argmax(between))
    return at + 1, float(between[at])
