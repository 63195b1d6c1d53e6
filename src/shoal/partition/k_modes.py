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

from dataclasses import replace

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import EQUAL, add_sums, centre_of, distance, sums_start
from shoal.kernels.watch import DONE, STOP


def k_modes(records: Mixed, k: int, watch: Ints, seed: int = 0, rounds: int = 10) -> Ints:
    """Partition records by k-modes, equal records together."""
    plain = replace(records, kinds=np.where(records.semantic, EQUAL, records.kinds))
    m = len(plain.counts)
    centres = min(m, len(records) // k)
    drawn = np.sort(np.random.default_rng(seed).permutation(m)[:centres])
    groups = np.empty(m, dtype=np.int64)
    _gather(plain.cells, plain.counts, *plain.columns, plain.cells[drawn], rounds, k, groups, watch)
    watch[DONE] = len(records)
    return records.spread(np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64))


@kernel
def _gather(
    cells: Floats,
    counts: Ints,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
    centres: Floats,
    rounds: int,
    k: int,
    groups: Ints,
    watch: Ints,
) -> None:
    """Write the group (m,) of each distinct record, from centres (c, d)."""
    m, d = cells.shape
    start = sums_start(width)
    alive = np.ones(len(centres), np.bool_)
    groups[:] = -1
    for _ in range(rounds):
        changed = False
        for i in range(m):
            g = _nearest(cells[i], centres, alive, kinds, tables, offset, width, weights)
            changed |= g != groups[i]
            groups[i] = g
        if not changed or watch[STOP] != 0:
            break
        sums, seen = np.zeros((len(centres), start[d])), np.zeros((len(centres), d))
        for i in range(m):
            add_sums(cells[i], counts[i], kinds, tables, offset, width, start, sums[groups[i]], seen[groups[i]])
        for g in range(len(centres)):
            if seen[g].max() > 0.0:
                centre_of(kinds, width, start, sums[g], seen[g], centres[g])
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
                g = _nearest(cells[i], centres, alive, kinds, tables, offset, width, weights)
                groups[i] = g
                sizes[g] += counts[i]


@kernel
def _nearest(
    record: Floats,
    centres: Floats,
    alive: Flags,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
) -> int:
    """Return the nearest of the centres that are alive."""
    best, least = -1, np.inf
    for g in range(len(centres)):
        if alive[g]:
            off = distance(record, centres[g], kinds, tables, offset, width, weights)
            if off < least:
                best, least = g, off
    return best
