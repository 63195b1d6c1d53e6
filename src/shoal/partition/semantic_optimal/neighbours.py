"""Records near each distinct record: all are compared where they are few, and those of the same part where not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, distance
from shoal.kernels.watch import new_watch
from shoal.partition.mondrian import mondrian, mondrian_ordered, sa_mondrian
from shoal.partition.semantic_optimal.start import VAST

_NEAR = 30
_FEW = 6000  # distinct records that are all compared with each other
_PART = 300  # distinct records of a part, about, where they are not
_SMALL_PART = 100  # the same where they are so many that comparing takes long


def near_records(records: Mixed) -> Ints:
    """Return the numbers of records near each distinct record, int64 (m, l), nearest first.

    Of more than some thousands the nearest of two ways to cut them into parts are taken, by medians and by gaps, or of
    very many by medians and centroids.
    """
    m = len(records.counts)
    if m <= _FEW:
        return _nearest(records.values, records.by_distance, np.zeros(m, dtype=np.int64), min(_NEAR, m - 1))
    alone = replace(records, counts=np.ones(m, dtype=np.int64), record=np.arange(m), threads=1)
    cuts, size = ((mondrian, sa_mondrian), _PART) if m <= VAST else ((mondrian, mondrian_ordered), _SMALL_PART)
    both = [_nearest(records.values, records.by_distance, cut(alone, size, new_watch()), _NEAR // 2) for cut in cuts]
    return np.ascontiguousarray(np.stack(both, axis=2).reshape(m, -1))


@kernel
def _nearest(values: Floats, metric: Metric, part: Ints, near: int) -> Ints:
    """Nearest records (m, near) of the same part (m,); those of parts that have fewer are repeated."""
    m = len(values)
    by_part = np.argsort(part, kind="mergesort")
    found = np.empty((m, near), np.int64)
    nearest, least = np.empty(near, np.int64), np.empty(near)  # sorted; ties in the order of the part
    first = 0
    while first < m:
        last = first
        while last < m and part[by_part[last]] == part[by_part[first]]:
            last += 1
        for i in by_part[first:last]:
            count = 0
            for other in by_part[first:last]:
                if other == i:
                    continue
                off = distance(values[i], values[other], metric)
                if count == near and off >= least[near - 1]:
                    continue
                at = min(count, near - 1)
                while at > 0 and least[at - 1] > off:
                    least[at], nearest[at] = least[at - 1], nearest[at - 1]
                    at -= 1
                least[at], nearest[at] = off, other
                count = min(count + 1, near)
            for t in range(near):
                found[i, t] = nearest[t % count] if count > 0 else i
        first = last
    return found
