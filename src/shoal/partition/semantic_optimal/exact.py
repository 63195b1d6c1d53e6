"""The best groups of few records: every way to put them together, by dynamic programming over subsets.

The cost of a set of records is the least, over its subsets that contain its first record, of what the subset costs as a
group and what the rest costs. O(3^u d) for u records, or distinct records where equal ones stay together. Every group
has at least k records: no other subset is taken for one.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import add_weighted
from shoal.partition.semantic_optimal.state import Setting, find_released, off_squared, room_for

_FEW = 12


def small_enough(records: Mixed, split: bool) -> bool:
    """Whether the best groups can be found by looking at all."""
    return (len(records) if split else len(records.counts)) <= _FEW


def exact_groups(records: Mixed, setting: Setting, split: bool) -> tuple[Ints, Ints, Ints]:
    """Return the portions of the groups that cost least: distinct record, group, how many."""
    which = np.repeat(np.arange(len(records.counts)), records.counts) if split else np.arange(len(records.counts))
    amounts = np.ones(len(which), dtype=np.int64) if split else records.counts
    groups = _best_groups(setting, which, amounts)
    keys, inverse = np.unique(groups * len(records.counts) + which, return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), amounts).astype(np.int64)
    return keys % len(records.counts), keys // len(records.counts), amount


@kernel
def _best_groups(setting: Setting, which: Ints, amounts: Ints) -> Ints:
    """Group (u,) of each of u units, which are so many of a distinct record each."""
    u, values, room = len(which), setting.values, room_for(setting.metric)
    cost = np.full(1 << u, np.inf)
    for subset in range(1, 1 << u):
        size = 0
        for i in range(u):
            if subset >> i & 1:
                size += amounts[i]
        if size < setting.k:
            continue
        room.sums[:] = 0.0
        room.seen[:] = 0.0
        for i in range(u):
            if subset >> i & 1:
                add_weighted(
                    values[which[i]], amounts[i], setting.weights[which[i]], setting.metric, room.sums, room.seen
                )
        find_released(setting, size, room)
        cost[subset] = 0.0
        for i in range(u):
            if subset >> i & 1:
                off = off_squared(values[which[i]], room.centre, setting.middle, setting.metric)
                cost[subset] += amounts[i] * off
    best, taken = np.full(1 << u, np.inf), np.zeros(1 << u, np.int64)
    best[0] = 0.0
    for subset in range(1, 1 << u):
        lowest = subset & -subset
        part = subset
        while part > 0:
            if part & lowest and cost[part] + best[subset ^ part] < best[subset]:
                best[subset], taken[subset] = cost[part] + best[subset ^ part], part
            part = (part - 1) & subset
    groups, made, left = np.empty(u, np.int64), 0, (1 << u) - 1
    while left > 0:
        part = taken[left]
        for i in range(u):
            if part >> i & 1:
                groups[i] = made
        made += 1
        left ^= part
    return groups
