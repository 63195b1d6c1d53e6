"""MDAV on records of any kind, taken one by one: S-MDAV and MDAV-generic, with the equal ones counted.

Sources: S. Martinez, D. Sanchez and A. Valls, Semantic adaptive microaggregation of categorical microdata, Computers &
Security 31, 2012, as told in A. Veltmann, Implementation and evaluation of microaggregation algorithms for categorical
data, UPC Barcelona, 2022, for ``s-mdav``; J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous
k-anonymity through microaggregation, Data Mining and Knowledge Discovery 11, 2005, for ``mdav-generic``.

``s-mdav``, while k records remain: the record r farthest from the centroid of what remains begins a group, the nearest
to the centroid of the group joins, and that is found again, until it has k; then the same from the record farthest from
r, if k remain. The fewer than k at the end join the groups with the nearest centroids.

``mdav-generic``, while 3k records remain: r is farthest from the centroid, s farthest from r, and the k records nearest
to each are a group. Of 2k to 3k - 1 records one group is made in this way, and what remains is the last.

Equal records are rows of one distinct record, of which the first that remains is always the next to go. So it is enough
to look at the first of each: what is farthest and nearest, and, as ties go to the lowest row number, which of several
at one distance goes first. The groups are those of the records one by one.

Cost: O(d m) for m distinct records and each group of equal records, which are at most n / k; O(k d m) for each of the
others, which are at most m, since each uses up the record it began with; less over the index of many
(:mod:`shoal.kernels.box_tree`), with the same groups. Every group has at least k records: it is
closed only when it has, and one is begun only where k remain.
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

_DIGITS = 2.0**40  # of a distance; what differs only below is a tie, since sums are added up in different orders


def s_mdav(records: Mixed, k: int, watch: Ints, around: str = "centroid") -> Ints:
    """Partition records by S-MDAV; distances are measured from the centroid of a group, or from its first record."""
    rows, starts = records.rows
    follow = around == "centroid"
    metric = records.by_distance
    return _grow_by_meaning(records.values, rows, starts, metric, k, follow, _index(records, metric), watch)


def mdav_generic(records: Mixed, k: int, watch: Ints) -> Ints:
    """Partition records by MDAV-generic: means, medians and modes, categories with a hierarchy as equal or not."""
    plain = records.equal_or_not()
    rows, starts = records.rows
    metric = plain.by_distance
    return _grow_in_pairs(plain.values, rows, starts, metric, k, _index(records, metric), watch)


def _index(records: Mixed, metric: Metric) -> BoxTree | None:
    """Return the neighbour index of the distinct records, where they are so many that it pays."""
    if not worth_boxes(len(records.counts)):
        return None
    return open_boxes(records.values, metric, records.keys, digits=_DIGITS)


@kernel
def _measure(point: Floats, values: Floats, rest: Ints, metric: Metric, off: Floats) -> None:
    """Write the distances of the distinct records in ``rest`` from a point to ``off`` (m,), up to rounding errors."""
    for i in rest:
        off[i] = np.rint(distance(values[i], point, metric) * _DIGITS) / _DIGITS


@kernel
def _farthest(off: Floats, rest: Ints, rows: Ints, at: Ints) -> int:
    """Distinct record in ``rest`` with the largest ``off`` (m,), of several the one whose next row comes first.

    ``rows`` (n,) are sorted by distinct record, and ``at`` (m,) is the place in it of the next row of each.
    """
    best = rest[0]
    for i in rest:
        if off[i] > off[best] or (off[i] == off[best] and rows[at[i]] < rows[at[best]]):
            best = i
    return int(best)


@kernel
def _take_nearest(
    off: Floats,
    rest: Ints,
    rows: Ints,
    at: Ints,
    starts: Ints,
    amount: int,
    within: float,
    label: int,
    labels: Ints,
    taken: Ints,
) -> int:
    """Label up to ``amount`` rows, nearest first and no farther than ``within``; returns how many there were.

    ``taken`` (m,) counts the rows of each distinct record that were labelled.
    """
    need = amount
    while need > 0:
        best, tied = -1, -1  # the next to go, and the next of the others at the same distance
        for i in rest:
            if at[i] == starts[i + 1] or off[i] > within:
                continue
            if best < 0 or off[i] < off[best]:
                best, tied = i, -1
            elif off[i] == off[best]:
                if rows[at[i]] < rows[at[best]]:
                    best, tied = i, best
                elif tied < 0 or rows[at[i]] < rows[at[tied]]:
                    tied = i
        if best < 0:
            break
        while need > 0 and at[best] < starts[best + 1] and (tied < 0 or rows[at[best]] < rows[at[tied]]):
            labels[rows[at[best]]] = label
            at[best] += 1
            taken[best] += 1
            need -= 1
    return amount - need


@kernel
def _leave(
    values: Floats,
    metric: Metric,
    rest: Ints,
    at: Ints,
    starts: Ints,
    total: Floats,
    seen: Floats,
    taken: Ints,
) -> Ints:
    """Take the rows in ``taken`` (m,) out of the sums of what remains, clear it, and return what ``rest`` becomes."""
    left = np.empty(len(rest), np.int64)
    size = 0
    for i in rest:
        if taken[i] > 0:
            add_sums(values[i], -taken[i], metric, total, seen)
            taken[i] = 0
        if at[i] < starts[i + 1]:
            left[size] = i
            size += 1
    return left[:size]


@kernel
def _near_ones(tree: BoxTree, point: Floats, count: int, ties: Ints, off: Floats) -> Ints:
    """Return the distinct records, at most ``count``, nearest to a point, by number; how far they are goes to ``off``.

    The ``count`` nearest rows are all rows of these: each of them comes before any other record with at least one row.
    """
    found, offs = np.empty(count, np.int64), np.empty(count)
    there = nearest_in(tree, point, ties, -1, found, offs)
    for t in range(there):
        off[found[t]] = offs[t]
    return np.sort(found[:there])


@kernel
def _keep_up(tree: BoxTree, those: Ints, rows: Ints, at: Ints, starts: Ints, ties: Ints) -> None:
    """Write the next row of some distinct records to ``ties`` (m,); those without one leave the tree."""
    for i in those:
        if at[i] < starts[i + 1]:
            ties[i] = rows[at[i]]
        elif tree.here[tree.places[i]]:
            leave(tree, i)


@kernel
def _grow_by_meaning(  # noqa: PLR0915 - one loop, with an index and without
    values: Floats,
    rows: Ints,
    starts: Ints,
    metric: Metric,
    k: int,
    follow: bool,
    tree: BoxTree | None,
    watch: Ints,
) -> Ints:
    """Group (n,) of each row by S-MDAV; ``follow`` finds the centroid of a group again with each row that joins.

    The ``tree`` has the distinct records; without one, all that remain are looked at.
    """
    m, d = values.shape
    at, rest, left = starts[:-1].copy(), np.arange(m), len(rows)
    labels, taken, off = np.full(left, -1), np.zeros(m, np.int64), np.empty(m)
    total, seen = np.zeros(metric.start[d]), np.zeros(d)
    for i in rest:
        add_sums(values[i], starts[i + 1] - starts[i], metric, total, seen)
    sums, has = np.zeros(metric.start[d]), np.zeros(d)
    point, first, centre = np.empty(d), np.empty(d), np.empty(d)
    centres = np.empty((left // k, d))
    ranking, ties = open_ranking(m if tree is not None else 1, d), rows[at]
    made, second = 0, False
    while left >= k and watch[STOP] == 0:
        if second:
            point[:] = first
        else:
            centre_of(metric, total, seen, point)
        if tree is not None:
            r = farthest_in(tree, point, ties) if second else farthest_from_centre(tree, ranking, point, ties)
            first[:] = values[r]
            those = _near_ones(tree, first, k, ties, off)
        else:
            _measure(point, values, rest, metric, off)
            first[:] = values[_farthest(off, rest, rows, at)]
            those = rest
            _measure(first, values, rest, metric, off)
        point[:] = first
        # rows that are equal to the first leave the centroid where it is, and none can be nearer to it
        inside = _take_nearest(off, those, rows, at, starts, k, 0.0 if follow else np.inf, made, labels, taken)
        sums[:], has[:] = 0.0, 0.0
        for i in those:
            if taken[i] > 0:
                add_sums(values[i], taken[i], metric, sums, has)
        if tree is not None:
            _keep_up(tree, those, rows, at, starts, ties)
        while inside < k:
            centre_of(metric, sums, has, centre)
            if tree is not None:
                joins = _near_ones(tree, centre, 1, ties, off)[0]
                those = np.append(those, joins)
            else:
                if not _same(centre, point):
                    point[:] = centre
                    _measure(point, values, rest, metric, off)
                joins = _nearest(off, rest, rows, at, starts)
            inside += 1
            labels[rows[at[joins]]] = made
            at[joins] += 1
            taken[joins] += 1
            add_sums(values[joins], 1.0, metric, sums, has)
            if tree is not None:
                _keep_up(tree, those[-1:], rows, at, starts, ties)
        centre_of(metric, sums, has, centres[made])
        # in the order of their numbers, so that sums are rounded in the same way
        left_over = _leave(values, metric, np.sort(those), at, starts, total, seen, taken)
        rest = left_over if tree is None else rest
        made, second, left = made + 1, not second, left - k
        watch[DONE] += k
    for i in rest:
        best, least = 0, np.inf
        for g in range(made if at[i] < starts[i + 1] else 0):
            far = np.rint(distance(values[i], centres[g], metric) * _DIGITS) / _DIGITS
            if far < least:
                best, least = g, far
        labels[rows[at[i] : starts[i + 1]]] = best
    watch[DONE] += left
    return labels


@kernel
def _nearest(off: Floats, rest: Ints, rows: Ints, at: Ints, starts: Ints) -> int:
    """Distinct record with rows left that has the smallest ``off`` (m,), of several the one whose next row is first."""
    best = -1
    for i in rest:
        if at[i] == starts[i + 1]:
            continue
        if best < 0 or off[i] < off[best] or (off[i] == off[best] and rows[at[i]] < rows[at[best]]):
            best = i
    return int(best)


@kernel
def _same(one: Floats, other: Floats) -> bool:
    """Whether two centres (d,) are the same, missing cells included."""
    for j in range(len(one)):  # noqa: SIM110 - numba compiles no generators
        if one[j] != other[j] and not (np.isnan(one[j]) and np.isnan(other[j])):
            return False
    return True


@kernel
def _grow_in_pairs(
    values: Floats, rows: Ints, starts: Ints, metric: Metric, k: int, tree: BoxTree | None, watch: Ints
) -> Ints:
    """Group (n,) of each row by MDAV-generic; the ``tree`` has the distinct records, else all that remain are seen."""
    m, d = values.shape
    at, rest, left = starts[:-1].copy(), np.arange(m), len(rows)
    labels, taken, off = np.full(left, -1), np.zeros(m, np.int64), np.empty(m)
    total, seen, point = np.zeros(metric.start[d]), np.zeros(d), np.empty(d)
    for i in rest:
        add_sums(values[i], starts[i + 1] - starts[i], metric, total, seen)
    ranking, ties = open_ranking(m if tree is not None else 1, d), rows[at]
    made = 0
    while left >= 2 * k and watch[STOP] == 0:
        centre_of(metric, total, seen, point)
        s = -1
        # s before the group round r is taken: the paper finds both and then forms two clusters
        if tree is not None:
            r = farthest_from_centre(tree, ranking, point, ties)
            if left >= 3 * k:
                s = farthest_in(tree, values[r], ties)
            those = _near_ones(tree, values[r], k, ties, off)
        else:
            _measure(point, values, rest, metric, off)
            r = _farthest(off, rest, rows, at)
            _measure(values[r], values, rest, metric, off)
            if left >= 3 * k:
                s = _farthest(off, rest, rows, at)
            those = rest
        _take_nearest(off, those, rows, at, starts, k, np.inf, made, labels, taken)
        if tree is not None:
            _keep_up(tree, those, rows, at, starts, ties)
        left -= k
        made += 1
        if s >= 0:
            if tree is not None:
                others = _near_ones(tree, values[s], k, ties, off)
            else:
                _measure(values[s], values, rest, metric, off)
                others = rest
            _take_nearest(off, others, rows, at, starts, k, np.inf, made, labels, taken)
            if tree is not None:
                _keep_up(tree, others, rows, at, starts, ties)
                those = np.append(those, others)
            left -= k
            made += 1
        left_over = _leave(values, metric, np.sort(those), at, starts, total, seen, taken)
        rest = left_over if tree is None else rest
        watch[DONE] = len(rows) - left
    for i in rest:
        labels[rows[at[i] : starts[i + 1]]] = made
    watch[DONE] = len(rows)
    return labels
