"""IV-MDAV: MDAV-single, with groups extended by neighbours that are isolated from the rest.

While at least 3k records remain, the record x farthest from the centroid of what remains and its 2k nearest are
looked up. The first k, x among them, form a group. Each further candidate y joins when its k-th nearest
remaining record (y itself counts) is more than gamma times as far from y as x is. When fewer than 3k remain,
one more group is made if there are 2k, and the rest is a group.

Source: G. S. Rawat and B. Borah, An improved variable-sized microaggregation algorithm for privacy preservation
(IV-MDAV). Both ideas of the paper's last section are here as options: more candidates (``candidates=3`` takes
the 3k nearest), and no extension round an outlier (``outlier``: the group stays at k when the distance from x
to its k-th nearest is more than this many times the mean of the same distance over the other members; the paper
names no test). With ``cap`` groups stop at 2k - 1 records, as the paper's text asks; its published EIA figures
come out only without, so that is the default and a group may reach 2k.

Cost: O(n) searches for neighbours: O(d n^2) when every search looks at every record.

The candidates are looked up while at least 3k records remain and at most 2k are taken (with the cap, or with 2k
candidates), so at least k remain for what follows; extension also stops when only k remain.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import (
    Pool,
    distance,
    farthest_from_centroid,
    nearest,
    open_pool,
    remove,
    take_group,
    take_rest,
)
from shoal.kernels.watch import DONE, STOP


def iv_mdav(
    records: Records,
    k: int,
    watch: Ints,
    *,
    gamma: float = 1.16,
    candidates: int = 2,
    outlier: float | None = None,
    cap: bool = False,
) -> Ints:
    """Partition records with IV-MDAV."""
    labels = np.full(len(records), -1)
    pool = open_pool(records.values)
    largest = 2 * k - 1 if cap else candidates * k
    limit = np.inf if outlier is None else outlier
    _iv_mdav(pool, k, gamma, candidates * k, limit, largest, watch, labels)
    return labels


@kernel
def _iv_mdav(
    pool: Pool, k: int, gamma: float, candidates: int, outlier: float, largest: int, watch: Ints, labels: Ints
) -> None:
    """Label the records of a pool."""
    near, near_distances = np.empty(candidates, np.int64), np.empty(candidates)
    rows, distances = np.empty(k, np.int64), np.empty(k)
    label = 0
    while pool.size[0] >= 3 * k and watch[STOP] == 0:
        x = farthest_from_centroid(pool)
        nearest(pool, x, candidates, near, near_distances)
        extend = outlier == np.inf or not _is_outlier(pool, near, near_distances, k, outlier, rows, distances)
        for t in range(k):
            labels[near[t]] = label
            remove(pool, near[t])
        size = k
        if extend:
            for t in range(k, candidates):
                if size == largest or pool.size[0] <= k:
                    break
                y = near[t]
                nearest(pool, y, k, rows, distances)
                if distances[k - 1] > gamma * gamma * distance(pool, y, x):
                    labels[y] = label
                    remove(pool, y)
                    size += 1
        label += 1
        watch[DONE] = labels.shape[0] - pool.size[0]
    if pool.size[0] >= 2 * k and watch[STOP] == 0:
        take_group(pool, farthest_from_centroid(pool), k, label, labels, rows, distances)
        label += 1
    take_rest(label, labels)


@kernel
def _is_outlier(
    pool: Pool, near: Ints, near_distances: Floats, k: int, outlier: float, rows: Ints, distances: Floats
) -> bool:
    """Whether near[0] has its k-th nearest more than ``outlier`` times as far away as the other members have."""
    others = 0.0
    for t in range(1, k):
        nearest(pool, near[t], k, rows, distances)
        others += np.sqrt(distances[k - 1])
    return np.sqrt(near_distances[k - 1]) > outlier * others / (k - 1)
