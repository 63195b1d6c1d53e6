"""Records near each distinct record: all are compared where they are few, and those of the same part where not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, distance
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.mondrian import mondrian, sa_mondrian
from shoal.partition.semantic_optimal.regions import cut_records

_NEAR = 30
_FEW = 6000  # distinct records that are all compared with each other
_PART = 300  # least distinct records of a part where they are not
_VAST = 200_000  # distinct records above which cuts at gaps, which are uneven, take longer than all else
_TASKS = 64  # pieces that the threads share


def near_records(records: Mixed, threads: int) -> Ints:
    """Return the numbers of records near each distinct record, int64 (m, l), nearest first.

    Of more than some thousands the nearest of two ways to cut them into parts are taken, by medians and by gaps, or of
    very many twice by medians.
    """
    m = len(records.counts)
    if m <= _FEW:
        return _nearest_of_parts(records, np.zeros(m, dtype=np.int64), min(_NEAR, m - 1), 1)
    if m <= _VAST:
        alone = replace(records, counts=np.ones(m, dtype=np.int64), record=np.arange(m), threads=1)
        cuts = [cut(alone, _PART, new_watch()) for cut in (mondrian, sa_mondrian)]
    else:
        rng = np.random.default_rng(0)  # borders elsewhere the second time
        cuts = [cut_records(records, _PART, r) for r in (None, rng)]
    both = [_nearest_of_parts(records, cut, _NEAR // 2, threads) for cut in cuts]
    return np.ascontiguousarray(np.stack(both, axis=2).reshape(m, -1))


def _nearest_of_parts(records: Mixed, part: Ints, near: int, threads: int) -> Ints:
    """Return the nearest records (m, near) of the same part (m,)."""
    found = np.empty((len(part), near), dtype=np.int64)
    by_part = np.argsort(part, kind="stable")
    starts = np.flatnonzero(np.diff(part[by_part], prepend=-1))
    cuts = [by_part[piece[0] : piece[-1]] for piece in _pieces(np.append(starts, len(part)))]
    tasks = [partial(_nearest, records.values, records.by_distance, part, own, found) for own in cuts]
    run_watched(tasks, [], threads)
    return found


def _pieces(bounds: Ints) -> list[Ints]:
    """Return runs of bounds between which whole parts are, about as many as there are tasks."""
    step = max(1, -(-(len(bounds) - 1) // _TASKS))
    return [bounds[at : at + step + 1] for at in range(0, len(bounds) - 1, step)]


@kernel
def _nearest(values: Floats, metric: Metric, part: Ints, by_part: Ints, found: Ints) -> None:
    """Nearest records (m, near) of the same part (m,), of those in order; those of parts with fewer are repeated."""
    near = found.shape[1]
    nearest, least = np.empty(near, np.int64), np.empty(near)  # sorted; ties in the order of the part
    first = 0
    while first < len(by_part):
        last = first
        while last < len(by_part) and part[by_part[last]] == part[by_part[first]]:
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
