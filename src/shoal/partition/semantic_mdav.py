"""MDAV by meaning: the centroid of a group is the node of a hierarchy that is nearest to all of its values.

Source: S. Martinez, D. Sanchez and A. Valls, Semantic adaptive microaggregation of categorical microdata, Computers &
Security 31, 2012; as told in A. Veltmann, Implementation and evaluation of microaggregation algorithms for categorical
data, UPC Barcelona, 2022.

``sa-mdav`` takes the distinct record that is farthest from the centroid of what remains and adds the nearest to its
group until that has k records, then the same from the record farthest from the first; the centroid of a group is found
again with each record that joins. ``sa-mdav-static`` measures from the first record of the group instead. Distances are
multiplied by the frequency of the record (the weighted semantic distance), so that the most frequent are taken first as
the farthest and last as the nearest. Equal records stay together. What remains at the end joins the nearest groups.

With ``rare`` it ends earlier, as the thesis proposes: when every record that remains occurs at most so often, those
join the nearest groups, instead of groups of their own that have nothing in common.

Cost: O(d m^2) for m distinct records with a hierarchy of O(m) nodes, less over the index of many
(:mod:`shoal.kernels.box_tree`), with the same groups. Every group has at least k records: it is closed
only when it has, and one is begun only where k remain.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.box_search import farthest_from_centre, farthest_in, nearest_in, open_ranking
from shoal.kernels.box_tree import BoxTree, leave, open_boxes, worth_boxes
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, add_sums, centre_of, distance
from shoal.kernels.watch import DONE, STOP
from shoal.partition.dissolving import dissolve_groups
from shoal.partition.near_centres import nearest_centres


def sa_mdav(records: Mixed, k: int, watch: Ints, rare: int = 0, dissolve: bool = False) -> Ints:
    """Partition records by SA-MDAV, equal records together; ``dissolve`` takes apart groups that do not pay."""
    return _adaptive(records, k, watch, True, rare, dissolve)


def sa_mdav_static(records: Mixed, k: int, watch: Ints, rare: int = 0, dissolve: bool = False) -> Ints:
    """Partition records by SA-MDAV with groups round their first record."""
    return _adaptive(records, k, watch, False, rare, dissolve)


def _adaptive(records: Mixed, k: int, watch: Ints, follow: bool, rare: int, dissolve: bool) -> Ints:
    tree = None
    if worth_boxes(len(records.counts)):
        tree = open_boxes(records.values, records.by_distance, records.keys, factor=records.counts)
    groups, centres = _grow_whole(records.values, records.counts, records.by_distance, k, follow, rare, tree, watch)
    rest = np.flatnonzero(groups < 0)
    groups[rest] = nearest_centres(records, records.by_distance, rest, centres)
    if dissolve:
        groups = dissolve_groups(records, groups, k, watch)
    return records.spread(groups)


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
def _grow_whole(  # noqa: PLR0915 - one loop, with an index and without
    values: Floats,
    counts: Ints,
    metric: Metric,
    k: int,
    follow: bool,
    rare: int,
    tree: BoxTree | None,
    watch: Ints,
) -> tuple[Ints, Floats]:
    """Group (m,) of each distinct record, -1 of those that are left, and the centres of groups.

    ``follow`` finds the centroid of a group again with each that joins. No group is begun, but the first, where all
    that remain occur at most ``rare`` times. The ``tree`` has the records; without one, all that remain are looked at.
    """
    m, d = values.shape
    rest, size, left = np.arange(m), m, counts.sum()
    total, seen = np.zeros(metric.start[d]), np.zeros(d)
    frequent = 0
    for i in range(m):
        add_sums(values[i], counts[i], metric, total, seen)
        frequent += counts[i] > rare
    groups, numbers = np.full(m, -1), np.arange(m)
    centres = np.empty((m, d))
    sums, has, point, first = np.zeros(metric.start[d]), np.zeros(d), np.empty(d), np.empty(d)
    found, off = np.empty(1, np.int64), np.empty(1)
    ranking = open_ranking(m if tree is not None else 1, d)
    made, second, a = 0, False, 0
    while left >= k and watch[STOP] == 0:
        if made > 0 and rare > 0 and frequent == 0:
            break
        if not second:
            centre_of(metric, total, seen, point)
        else:
            point[:] = first
        if tree is not None:
            i = farthest_in(tree, point, numbers) if second else farthest_from_centre(tree, ranking, point, numbers)
        else:
            a = _farthest(point, values, counts, rest, size, metric, 1.0)
            i = rest[a]
        first[:] = values[i]
        point[:] = first
        sums[:] = 0.0
        has[:] = 0.0
        in_group = 0
        while True:
            if tree is not None:
                leave(tree, i)
            else:
                size -= 1
                rest[a] = rest[size]
            groups[i] = made
            in_group += counts[i]
            left -= counts[i]
            frequent -= counts[i] > rare
            add_sums(values[i], -counts[i], metric, total, seen)
            add_sums(values[i], counts[i], metric, sums, has)
            if follow:
                centre_of(metric, sums, has, point)
            if in_group >= k:
                break
            if tree is not None:
                nearest_in(tree, point, numbers, -1, found, off)
                i = found[0]
            else:
                a = _farthest(point, values, counts, rest, size, metric, -1.0)
                i = rest[a]
        centre_of(metric, sums, has, centres[made])
        made += 1
        second = not second
        watch[DONE] += in_group
    watch[DONE] += left
    return groups, centres[:made].copy()
