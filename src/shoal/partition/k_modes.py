"""k-modes: k-means with the mode as the centre of a group, and groups that are too small dissolved.

Source: V. Torra, Microaggregation for categorical variables: a median based approach, PSD 2004, after Z. Huang,
Extensions to the k-means algorithm for clustering large data sets with categorical values, 1998. Categories are equal
or not, also where they have a hierarchy; ordinal columns are compared by their steps and have a median, numbers a mean.

As many centres as there may be groups of k, at most the distinct records, are drawn from the distinct records. Each
record goes to the nearest centre and the centres are found again, until nothing changes. Then the smallest group with
fewer than k records is dissolved, its records going to the nearest other groups, until there is none.

Cost: O(d m c) a round for m distinct records and c centres. Every group has at least k records: smaller ones are
dissolved.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, add_sums, centre_of, distance
from shoal.kernels.watch import DONE, STOP


def k_modes(records: Mixed, k: int, watch: Ints, seed: int = 0, rounds: int = 10) -> Ints:
    """Partition records by k-modes, equal records together."""
    plain = records.equal_or_not()
    m = len(plain.counts)
    centres = min(m, len(records) // k)
    drawn = np.sort(np.random.default_rng(seed).permutation(m)[:centres])
    groups = np.empty(m, dtype=np.int64)
    _gather(plain.values, plain.counts, plain.by_distance, plain.values[drawn], rounds, k, groups, watch)
    watch[DONE] = len(records)
    return records.spread(np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64))


@kernel
def _gather(
    values: Floats,
    counts: Ints,
    metric: Metric,
    centres: Floats,
    rounds: int,
    k: int,
    groups: Ints,
    watch: Ints,
) -> None:
    """Write the group (m,) of each distinct record, from centres (c, d)."""
    m, d = values.shape
    alive = np.ones(len(centres), np.bool_)
    groups[:] = -1
    for _ in range(rounds):
        changed = False
        for i in range(m):
            g = _nearest(values[i], centres, alive, metric)
            changed |= g != groups[i]
            groups[i] = g
        if not changed or watch[STOP] != 0:
            break
        sums, seen = np.zeros((len(centres), metric.start[d])), np.zeros((len(centres), d))
        for i in range(m):
            add_sums(values[i], counts[i], metric, sums[groups[i]], seen[groups[i]])
        for g in range(len(centres)):
            if seen[g].max() > 0.0:
                centre_of(metric, sums[g], seen[g], centres[g])
    sizes = np.zeros(len(centres), np.int64)
    for i in range(m):
        sizes[groups[i]] += counts[i]
    for g in range(len(centres)):
        alive[g] = sizes[g] > 0
    while True:
        small = -1
        for g in range(len(centres)):
            if alive[g] and sizes[g] < k and (small < 0 or sizes[g] < sizes[small]):
                small = g
        if small < 0:
            return
        alive[small] = False
        for i in range(m):
            if groups[i] == small:
                g = _nearest(values[i], centres, alive, metric)
                groups[i] = g
                sizes[g] += counts[i]


@kernel
def _nearest(
    record: Floats,
    centres: Floats,
    alive: Flags,
    metric: Metric,
) -> int:
    """Return the nearest of the centres that are alive."""
    best, least = -1, np.inf
    for g in range(len(centres)):
        if alive[g]:
            off = distance(record, centres[g], metric)
            if off < least:
                best, least = g, off
    return best
