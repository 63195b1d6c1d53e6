"""Groups to start from: those of the method that loses least, of all that keep up with the number of records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.watch import STOP
from shoal.partition.mondrian import mondrian, mondrian_ordered, sa_mondrian
from shoal.partition.semantic_mdav import sa_mdav

_MANY = 10_000  # distinct records above which only Mondrian is tried
VAST = 1_000_000  # distinct records above which cuts at gaps, which are uneven, take longer than all else
Portions = tuple[Ints, Ints, Ints]


def best_start(records: Mixed, k: int, costs: Callable[[Portions], Floats], watch: Ints) -> Portions:
    """Return the portions of the best of several methods; equal records are together.

    Where the ``watch`` is told to stop, what they leave is no partition: all records are in one group.
    """
    few_enough = len(records.counts) <= VAST
    cuts = (sa_mondrian, mondrian_ordered, mondrian) if few_enough else (mondrian_ordered, mondrian)
    partitions = [cut(records, k, watch) for cut in cuts]
    if len(records.counts) <= _MANY:
        partitions.append(sa_mdav(records, k, watch, dissolve=True))
    if watch[STOP] != 0:
        return portions_of(records, np.zeros(len(records), dtype=np.int64))
    best, least = None, np.inf
    for groups in partitions:
        portions = portions_of(records, groups)
        cost = float(costs(portions).sum())
        if cost < least:
            best, least = portions, cost
    assert best is not None
    return best


def portions_of(records: Mixed, groups: Ints) -> Portions:
    """Return the portions of a partition of the rows."""
    keys, amount = np.unique(groups * len(records.counts) + records.record, return_counts=True)
    return keys % len(records.counts), keys // len(records.counts), amount.astype(np.int64)
