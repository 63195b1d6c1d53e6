"""Boundary repair: near the faces of blocks, records swap or move between groups while that lowers the sum of squares.

Blocks are partitioned one by one, so a record near a face cannot join a neighbour on the other side. Afterwards every
group looks at the groups with the nearest centroids; a group with one of another block among them lies at a face. For
each record and each near group, where one of the two groups lies at a face, the record moves there if its own group
keeps at least k and the other stays below 2k, or changes places with a member, whichever lowers the sum of squares
most. Rounds go on until one gains less than a hundredth of the first.

The groups stay of at least k, and every step lowers the sum of squares: x leaving a group of size m with
centroid c saves m / (m - 1) |x - c|^2, joining costs m / (m + 1) |x - c|^2.

Cost: O(n k d) a round for the few nearest groups of each, over the index of the centroids.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Flags, Floats, Ints
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, nearest, open_pool
from shoal.kernels.representatives import group_rows

_NEAR = 16  # groups that each group looks at
_ROUNDS = 10
_WORTH = 1e-2  # part of the first round's gain that a round must reach for another one to follow


def repair_boundaries(values: Floats, groups: Ints, blocks: Ints, k: int, threads: int = 1) -> Ints:
    """Return better groups of the rows of ``values`` (n, d), given the block of each row.

    The nearest groups are looked up on several threads; no result depends on how many.

    >>> x = np.array([[0.0], [0.1], [1.0], [1.1], [0.2], [1.2]])
    >>> repair_boundaries(x, np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1]), 3)
    array([0, 0, 1, 1, 0, 1])
    """
    groups = groups.copy()
    count = int(groups.max()) + 1
    block_of = np.empty(count, dtype=np.int64)
    block_of[groups] = blocks
    sizes: Floats = np.bincount(groups).astype(np.float64)
    sums: Floats = np.column_stack([np.bincount(groups, values[:, j]) for j in range(values.shape[1])])
    centroids = np.ascontiguousarray(sums / sizes[:, None])
    near = np.empty((count, min(_NEAR + 1, count)), dtype=np.int64)
    search_in_chunks(
        open_pool(centroids, None), lambda pool, start, stop: _nearest_groups(pool, start, stop, near), count, threads
    )
    at_face = (block_of[near] != block_of[:, None]).any(axis=1)
    first_gain = 0.0
    for _ in range(_ROUNDS):
        order, starts = group_rows(groups)
        gain = _exchange(values, groups, order, starts, sums, sizes, at_face, near, k)
        first_gain = max(first_gain, gain)
        if gain <= _WORTH * first_gain:
            break
    return groups


@kernel
def _nearest_groups(pool: Pool, start: int, stop: int, near: Ints) -> None:
    """Fill ``near`` (groups, m) from start to stop with the groups of the nearest centroids."""
    distances = np.empty(near.shape[1])
    for g in range(start, stop):
        nearest(pool, g, near.shape[1], near[g], distances)


@kernel
def _exchange(
    values: Floats,
    groups: Ints,
    order: Ints,
    starts: Ints,
    sums: Floats,
    sizes: Floats,
    at_face: Flags,
    near: Ints,
    k: int,
) -> float:
    """Look at all records once; returns by how much the sum of squares fell. ``sums`` (groups, d) are kept up."""
    gained = 0.0
    d = values.shape[1]
    for row in range(len(groups)):
        a = groups[row]
        best, best_group, best_row = 1e-12, -1, -1
        for b in near[a]:
            if b == a or not (at_face[a] or at_face[b]):
                continue
            if sizes[a] > k and sizes[b] < 2 * k - 1:
                away, towards = 0.0, 0.0
                for j in range(d):
                    away += (values[row, j] - sums[a, j] / sizes[a]) ** 2
                    towards += (values[row, j] - sums[b, j] / sizes[b]) ** 2
                saved = away * sizes[a] / (sizes[a] - 1.0) - towards * sizes[b] / (sizes[b] + 1.0)
                if saved > best:
                    best, best_group, best_row = saved, b, -1
            for place in range(starts[b], starts[b + 1]):
                other = order[place]
                if groups[other] != b:
                    continue
                # the sums change by v and -v: the sum of squares by what |sum|^2 / size changes
                va, vb, vv = 0.0, 0.0, 0.0
                for j in range(d):
                    v = values[other, j] - values[row, j]
                    va += sums[a, j] * v
                    vb += sums[b, j] * v
                    vv += v * v
                saved = (2.0 * va + vv) / sizes[a] + (vv - 2.0 * vb) / sizes[b]
                if saved > best:
                    best, best_group, best_row = saved, b, other
        if best_group < 0:
            continue
        gained += best
        for j in range(d):
            v = values[row, j] - (values[best_row, j] if best_row >= 0 else 0.0)
            sums[a, j] -= v
            sums[best_group, j] += v
        groups[row] = best_group
        if best_row >= 0:
            groups[best_row] = a
        else:
            sizes[a] -= 1.0
            sizes[best_group] += 1.0
    return gained
