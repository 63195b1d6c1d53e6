"""Boundary repair: near the faces of blocks, records swap or move between groups while that lowers the sum of squares.

Blocks are partitioned one by one, so a record near a face cannot join a neighbour on the other side. Afterwards every
group looks at the groups with the nearest centroids; a group with one of another block among them lies at a face. For
each record and each near group, where one of the two groups lies at a face, the record moves there if its own group
keeps at least k and the other stays below 2k, or changes places with a member, whichever lowers the sum of squares
most. Rounds go on until one gains less than a hundredth of the first.

The groups stay of at least k, and every step lowers the sum of squares: see :mod:`shoal.kernels.exchange`.

Cost: O(n k d) a round for the few nearest groups of each, over the index of the centroids.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.exchange import exchange_records, nearest_groups, open_cells
from shoal.kernels.group_sums import group_sums

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
    sums, sizes = group_sums(values, groups)
    near = nearest_groups(sums, sizes, threads)
    at_face = (block_of[near] != block_of[:, None]).any(axis=1)
    exchange_records(
        values, groups, sums, sizes, k, near=near, at_face=at_face, passes=_ROUNDS, worth=_WORTH, cells=open_cells()
    )
    return groups
