"""Groups that do not pay are dissolved: their records go to the nearest other groups where that lowers the loss.

SA-MDAV makes groups of rare values that have nothing in common, since a rare value is near to other rare ones in the
weighted distance. A group is dissolved where the squared distances of its records to the centres of their nearest other
groups add up to less than those to its own. The groups that lose most for each record are tried first.

Cost: O(d m g) for m distinct records in g groups, a pass. Every group has at least k records: groups only grow or go.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, add_sums, centre_of, distance
from shoal.kernels.watch import STOP


def dissolve_groups(records: Mixed, groups: Ints, k: int, watch: Ints) -> Ints:
    """Return the group (m,) of each distinct record, from 0, after those that do not pay are dissolved."""
    found = groups.copy()
    _dissolve(records.values, records.counts, records.by_distance, found, watch)
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)


@kernel
def _dissolve(
    values: Floats,
    counts: Ints,
    metric: Metric,
    groups: Ints,
    watch: Ints,
) -> None:
    m, d = values.shape
    made = groups.max() + 1
    sums, seen = np.zeros((made, metric.start[d])), np.zeros((made, d))
    for i in range(m):
        add_sums(values[i], counts[i], metric, sums[groups[i]], seen[groups[i]])
    centres, alive = np.empty((made, d)), np.ones(made, np.bool_)
    for g in range(made):
        centre_of(metric, sums[g], seen[g], centres[g])
    home = np.empty(m, np.int64)
    changed = True
    while changed and watch[STOP] == 0:
        changed = False
        errors, sizes = np.zeros(made), np.zeros(made)
        for i in range(m):
            g = groups[i]
            off = distance(values[i], centres[g], metric)
            errors[g] += counts[i] * off * off
            sizes[g] += counts[i]
        each = np.zeros(made)
        for g in range(made):
            each[g] = -errors[g] / max(sizes[g], 1.0)
        for g in np.argsort(each, kind="mergesort"):
            if not alive[g] or alive.sum() == 1 or watch[STOP] != 0:
                continue
            own, others = 0.0, 0.0
            for i in range(m):
                if groups[i] != g:
                    continue
                off = distance(values[i], centres[g], metric)
                own += counts[i] * off * off
                least = np.inf
                for h in range(made):
                    if alive[h] and h != g:
                        there = distance(values[i], centres[h], metric)
                        if there < least:
                            least, home[i] = there, h
                others += counts[i] * least * least
            if others >= own * (1.0 - 1e-9):
                continue
            changed = True
            alive[g] = False
            for i in range(m):
                if groups[i] == g:
                    h = home[i]
                    groups[i] = h
                    add_sums(values[i], counts[i], metric, sums[h], seen[h])
                    centre_of(metric, sums[h], seen[h], centres[h])
