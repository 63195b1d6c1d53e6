"""p-sensitive microaggregation: every group has p different values of a confidential column, found near its seed.

A seed is the record farthest from the centroid of those that remain. Its group is the seed, then the nearest remaining
record with a value that the group lacks, until it has p different values, then the nearest remaining ones until it has
k records. That goes on while two groups' worth of records remain, and p different values among them. What is left is
a group where it may be one, and otherwise each record joins the group with the nearest centroid.

Sources: T. M. Truta and B. Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops 2006, for what
is asked; A. Solanas, F. Sebe and J. Domingo-Ferrer, Micro-aggregation-based heuristics for p-sensitive k-anonymity: one
step beyond, PAIS 2008, for taking it into the forming of groups. The paper's own steps were not at hand: these are
ours. Where several columns have conditions, p is the largest that is asked for, of its column; the others are met by
repairing the groups afterwards.

Cost: MDAV-single's; where a value is rare near a seed, up to O(d n) for its group.

Every group has at least k records: it is closed when it has, and the rest is a group only where it has.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits
from shoal.kernels.pool import Pool, farthest_from_centroid, nearest, open_pool, remove
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group


def p_sensitive(records: Records, k: int, watch: Ints, limits: Limits | None = None) -> Ints:
    """Partition records into groups of k with p different values of a confidential column; p is 1 without one."""
    column = 0 if limits is None else int(np.argmax(limits.distinct))
    codes = np.zeros(len(records), dtype=np.int64) if limits is None else limits.codes[column]
    p = 1 if limits is None else max(int(limits.distinct[column]), 1)
    labels = np.full(len(records), -1)
    made, rest_is_a_group = _p_sensitive(open_pool(records.values), k, codes, p, watch, labels)
    if rest_is_a_group:
        labels[labels < 0] = made
    return join_nearest_group(records, labels)


@kernel
def _p_sensitive(pool: Pool, k: int, codes: Ints, p: int, watch: Ints, labels: Ints) -> tuple[int, bool]:
    """Label records of a pool (n,), of which ``codes`` (n,) are the confidential values, from 0.

    Returns how many groups there are, and whether the records that have none, labelled -1, may be one.
    """
    n, size = len(labels), max(k, p)
    remaining = np.zeros(codes.max() + 1, np.int64)
    for code in codes:
        remaining[code] += 1
    different = (remaining > 0).sum()
    has = np.full(len(remaining), -1)  # the last group that has a record of each value
    rows, far = np.empty(n, np.int64), np.empty(n)
    members = np.empty(size, np.int64)
    label = 0
    while pool.size[0] >= 2 * size and different >= p and watch[STOP] == 0:
        seed = farthest_from_centroid(pool)
        looked, taken = 0, 0
        while taken < p:  # the nearest of each value
            looked = min(max(4 * looked, 2 * size), pool.size[0])
            nearest(pool, seed, looked, rows, far)
            taken = 0
            for i in range(looked):
                if taken < p and has[codes[rows[i]]] != label:
                    has[codes[rows[i]]] = label
                    members[taken] = rows[i]
                    taken += 1
            if taken < p:
                for i in range(taken):
                    has[codes[members[i]]] = -1
        chosen = taken
        for i in range(looked):
            if taken == size:
                break
            inside = False
            for j in range(chosen):
                inside |= members[j] == rows[i]
            if not inside:
                members[taken] = rows[i]
                taken += 1
        for row in members:
            labels[row] = label
            remove(pool, int(row))
            remaining[codes[row]] -= 1
            different -= remaining[codes[row]] == 0
        label += 1
        watch[DONE] = label * size
    return label, pool.size[0] >= k and different >= p
