"""MDAV by meaning: the centroid of a group is the node of a hierarchy that is nearest to all of its values.

Source: S. Martinez, D. Sanchez and A. Valls, Semantic adaptive microaggregation of categorical microdata, Computers &
Security 31, 2012; as told in A. Veltmann, Implementation and evaluation of microaggregation algorithms for categorical
data, UPC Barcelona, 2022.

``sa-mdav`` takes the distinct record that is farthest from the centroid of what remains and adds the nearest to its
group until that has k records, then the same from the record farthest from the first; the centroid of a group is found
again with each record that joins. ``sa-mdav-static`` measures from the first record of the group instead. Distances are
multiplied by the frequency of the record (the weighted semantic distance), so that the most frequent are taken first as
the farthest and last as the nearest. Equal records stay together. What remains at the end joins the nearest groups.

``s-mdav`` makes groups of exactly k records, without the frequencies, and equal records may be separated. Groups of
equal records are made one after the other: each takes its records out of the centroid, and so changes which record is
farthest next.

Cost: O(d m^2) for m distinct records with a hierarchy of O(m) nodes, and O(d m n / k) for ``s-mdav``. Every group has
at least k records: it is closed only when it has, and one is begun only where k remain.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, add_sums, centre_of, distance
from shoal.kernels.watch import DONE, STOP
from shoal.partition.dissolving import dissolve_groups


def sa_mdav(records: Mixed, k: int, watch: Ints, dissolve: bool = False) -> Ints:
    """Partition records by SA-MDAV, equal records together; ``dissolve`` takes apart groups that do not pay."""
    return _adaptive(records, k, watch, True, dissolve)


def sa_mdav_static(records: Mixed, k: int, watch: Ints, dissolve: bool = False) -> Ints:
    """Partition records by SA-MDAV with groups round their first record."""
    return _adaptive(records, k, watch, False, dissolve)


def _adaptive(records: Mixed, k: int, watch: Ints, follow: bool, dissolve: bool) -> Ints:
    groups = _grow_whole(records.values, records.counts, records.by_distance, k, follow, watch)
    if dissolve:
        groups = dissolve_groups(records, groups, k, watch)
    return records.spread(groups)


def s_mdav(records: Mixed, k: int, watch: Ints) -> Ints:
    """Partition records by S-MDAV, into groups of k."""
    return records.hand_out(*_grow_exact(records.values, records.counts, records.by_distance, k, watch))


def mdav_generic(records: Mixed, k: int, watch: Ints) -> Ints:
    """Partition records by MDAV-generic: means, medians and modes, categories with a hierarchy as equal or not.

    Source: J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
    Data Mining and Knowledge Discovery 11, 2005.
    """
    return s_mdav(records.equal_or_not(), k, watch)


@kernel
def _farthest(
    point: Floats,
    values: Floats,
    factor: Ints,
    rest: Ints,
    size: int,
    metric: Metric,
    sign: float,
) -> int:
    """Place among the first ``size`` of ``rest`` of the record farthest from a point, or nearest with a sign of -1."""
    best, most = -1, -np.inf
    for a in range(size):
        i = rest[a]
        off = sign * distance(values[i], point, metric) * factor[i]
        if off > most or (off == most and i < rest[best]):
            best, most = a, off
    return best


@kernel
def _grow_whole(
    values: Floats,
    counts: Ints,
    metric: Metric,
    k: int,
    follow: bool,
    watch: Ints,
) -> Ints:
    """Group (m,) of each distinct record; ``follow`` finds the centroid of a group again with each that joins."""
    m, d = values.shape
    rest, size, left = np.arange(m), m, counts.sum()
    total, seen = np.zeros(metric.start[d]), np.zeros(d)
    for i in range(m):
        add_sums(values[i], counts[i], metric, total, seen)
    groups = np.full(m, -1)
    centres = np.empty((m, d))
    sums, has, point, first = np.zeros(metric.start[d]), np.zeros(d), np.empty(d), np.empty(d)
    made, second = 0, False
    while left >= k and watch[STOP] == 0:
        if not second:
            centre_of(metric, total, seen, point)
        else:
            point[:] = first
        a = _farthest(point, values, counts, rest, size, metric, 1.0)
        first[:] = values[rest[a]]
        point[:] = first
        sums[:] = 0.0
        has[:] = 0.0
        in_group = 0
        while True:
            i = rest[a]
            size -= 1
            rest[a] = rest[size]
            groups[i] = made
            in_group += counts[i]
            left -= counts[i]
            add_sums(values[i], -counts[i], metric, total, seen)
            add_sums(values[i], counts[i], metric, sums, has)
            if follow:
                centre_of(metric, sums, has, point)
            if in_group >= k:
                break
            a = _farthest(point, values, counts, rest, size, metric, -1.0)
        centre_of(metric, sums, has, centres[made])
        made += 1
        second = not second
        watch[DONE] += in_group
    for a in range(size):
        i = rest[a]
        least = np.inf
        for g in range(made):
            off = distance(values[i], centres[g], metric)
            if off < least:
                least, groups[i] = off, g
    watch[DONE] += left
    return groups


@kernel
def _grow_exact(  # noqa: PLR0915 - a search loop in one piece
    values: Floats,
    counts: Ints,
    metric: Metric,
    k: int,
    watch: Ints,
) -> tuple[Ints, Ints, Ints]:
    """Portions of the distinct records: which record, to which group, how many."""
    m, d = values.shape
    free, rest, size, left = counts.copy(), np.arange(m), m, counts.sum()
    ones = np.ones(m, np.int64)
    total, seen = np.zeros(metric.start[d]), np.zeros(d)
    for i in range(m):
        add_sums(values[i], counts[i], metric, total, seen)
    room = m + left // k + 1  # a portion exhausts its record, or is the last of its group
    record, group, amount = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    off, used = np.empty(m), 0
    point, first = np.empty(d), np.empty(d)
    made, second = 0, False
    while left >= 2 * k and watch[STOP] == 0:
        if second:
            point[:] = first
        else:
            centre_of(metric, total, seen, point)
        a = _farthest(point, values, ones, rest, size, metric, 1.0)
        seed = rest[a]
        first[:] = values[seed]
        if free[seed] >= k:
            record[used], group[used], amount[used] = seed, made, k
            used += 1
            free[seed] -= k
            add_sums(values[seed], -k, metric, total, seen)
        else:
            for b in range(size):
                off[rest[b]] = distance(values[rest[b]], first, metric)
            need = k
            while need > 0:
                best, least = -1, np.inf
                for b in range(size):
                    i = rest[b]
                    if free[i] > 0 and (off[i] < least or (off[i] == least and i < best)):
                        best, least = i, off[i]
                taken = min(need, free[best])
                record[used], group[used], amount[used] = best, made, taken
                used += 1
                free[best] -= taken
                need -= taken
                add_sums(values[best], -taken, metric, total, seen)
        left -= k
        watch[DONE] += k
        made += 1
        b = 0
        while b < size:
            if free[rest[b]] == 0:
                size -= 1
                rest[b] = rest[size]
            else:
                b += 1
        second = not second
    for b in range(size):
        record[used], group[used], amount[used] = rest[b], made, free[rest[b]]
        used += 1
    watch[DONE] += left
    return record[:used], group[:used], amount[:used]
