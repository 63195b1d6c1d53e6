"""The best groups of few records of any kind: what every subset costs as a group, and the cheapest partition.

O(2^u u d + 3^u) for u records, or distinct records where equal ones stay together. Every group has at least k records:
no other subset is taken for one.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits, excess, room_of
from shoal.kernels.mixed import add_weighted
from shoal.partition.search.few_records import FEW, cheapest_groups
from shoal.partition.semantic_optimal.state import Setting, cost_of_record, find_released, room_for


def small_enough(records: Mixed, split: bool) -> bool:
    """Whether the best groups can be found by looking at all."""
    return (len(records) if split else len(records.counts)) <= FEW


def exact_groups(records: Mixed, setting: Setting, limits: Limits | None, split: bool) -> tuple[Ints, Ints, Ints]:
    """Return the portions of the cheapest groups that meet limits: distinct record, group, how many."""
    which = np.repeat(np.arange(len(records.counts)), records.counts) if split else np.arange(len(records.counts))
    amounts = np.ones(len(which), dtype=np.int64) if split else records.counts
    groups = cheapest_groups(_costs_of_subsets(setting, limits, which, amounts))
    keys, inverse = np.unique(groups * len(records.counts) + which, return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), amounts).astype(np.int64)
    return keys % len(records.counts), keys // len(records.counts), amount


@kernel
def _costs_of_subsets(setting: Setting, limits: Limits | None, which: Ints, amounts: Ints) -> Floats:
    """Return what each subset (2^u,) of u units costs as a group; they are so many of a distinct record each."""
    u, values, room = len(which), setting.values, room_for(setting.metric)
    cost = np.full(1 << u, np.inf)
    units, many = np.empty(u, np.int64), np.empty(u, np.int64)
    if limits is not None:
        counting = room_of(limits, u)
    for subset in range(1, 1 << u):
        size = 0
        for i in range(u):
            if subset >> i & 1:
                size += amounts[i]
        if size < setting.k:
            continue
        if limits is not None:
            count = 0
            for i in range(u):
                if subset >> i & 1:
                    units[count], many[count] = which[i], amounts[i]
                    count += 1
            if excess(limits, units[:count], many[:count], counting) > 0.0:
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
                cost[subset] += amounts[i] * cost_of_record(setting, values[which[i]], room.centre)
    return cost
