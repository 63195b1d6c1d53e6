"""MDAV and MDAV-single: fixed-size groups round the records farthest from the centroid.

MDAV makes two groups a round: round the record r farthest from the centroid of what remains, then round the
record farthest from r, both chosen before either group is taken. It goes on while at least 3k records remain,
makes one more group if at least 2k remain, and the rest is a group. MDAV-single, also known as CBFS, makes one
group a round, while at least 2k remain.

Sources: J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous k-anonymity through
microaggregation, Data Mining and Knowledge Discovery 11(2), 2005; M. Laszlo and S. Mukherjee, Minimum spanning
tree partitioning algorithm for microaggregation, IEEE TKDE 17(7), 2005 (CBFS).

Cost: n / k searches over what remains: O(d n^2 / k) when every search looks at every record.

Every group but the last has exactly k records. The last one has between k and 2k - 1: the loops leave m < 2k
records, and m >= k since a round that takes k (2k) records starts with at least 2k (3k).
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import (
    Pool,
    farthest,
    farthest_from_centroid,
    open_pool,
    take_group,
    take_rest,
)
from shoal.kernels.watch import DONE, STOP


def mdav(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records with MDAV."""
    labels = np.full(len(records), -1)
    _mdav(open_pool(records.values), k, watch, labels, np.empty(k, np.int64), np.empty(k))
    return labels


def mdav_single(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records with MDAV-single."""
    labels = np.full(len(records), -1)
    pool = open_pool(records.values)
    _mdav_single(pool, k, 0, watch, labels, np.empty(k, np.int64), np.empty(k))
    return labels


@kernel
def _mdav(pool: Pool, k: int, watch: Ints, labels: Ints, rows: Ints, distances: Floats) -> None:
    """Label the records of a pool; ``rows`` and ``distances`` are working space for k neighbours."""
    label = 0
    while pool.size[0] >= 3 * k and watch[STOP] == 0:
        r = farthest_from_centroid(pool)
        s = farthest(pool, r)
        take_group(pool, r, k, label, labels, rows, distances)
        take_group(pool, s, k, label + 1, labels, rows, distances)
        label += 2
        watch[DONE] = label * k
    _mdav_single(pool, k, label, watch, labels, rows, distances)


@kernel
def _mdav_single(pool: Pool, k: int, label: int, watch: Ints, labels: Ints, rows: Ints, distances: Floats) -> None:
    """Label the records of a pool from ``label`` on."""
    while pool.size[0] >= 2 * k and watch[STOP] == 0:
        take_group(pool, farthest_from_centroid(pool), k, label, labels, rows, distances)
        label += 1
        watch[DONE] = label * k
    take_rest(label, labels)
