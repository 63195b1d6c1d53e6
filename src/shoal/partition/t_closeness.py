"""t-closeness through microaggregation: merging, k-anonymity first, and t-closeness first.

``t-merge``: the groups of MDAV; while some group is farther from the table than t, the farthest of them is merged with
the group whose centroid is nearest to its own.

``k-first``: seeds are the record farthest from the centroid of those that remain, and the one farthest from that. A
group is the k nearest to its seed. While it is farther from the table than t, the next nearest record takes the place
of the member whose leaving brings the group nearest to the table, if that is nearer than before. Groups that are too
far even so are merged as in ``t-merge``.

``t-first``: records are sorted by the confidential column and cut into strata, as many as a group must have records so
that one of each makes it near enough. A group is the nearest remaining record of each stratum to a seed as above
(:mod:`shoal.partition.conditions.strata_first`).

Source: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-closeness through microaggregation: strict
privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27(11), 2015, algorithms
1, 2 and 3. The third rests on a bound that holds for strata of one size and different values only; what it misses
otherwise is repaired afterwards as the groups of any method are (:mod:`shoal.partition.conditions.repairing`). Where
several columns have conditions, a group is the farther off the more it misses of all of them, and strata are those of
the column with the least t.

Cost: MDAV's and O(d n / k) for each of at most n / k merges; O(d n^2 / k + k^2 n^2) in the worst case for ``k-first``,
where a group that cannot be brought near enough looks at every record; MDAV's in groups of the size of ``t-first``.

Every group has at least k records: the groups of MDAV have, exchanges keep sizes, merging makes larger ones, and there
are at least k strata.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits, Room, excess, room_of
from shoal.kernels.pool import Pool, farthest, farthest_from_centroid, nearest, open_pool, remove, take_rest
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import DONE, STOP
from shoal.partition.conditions.strata_first import group_size, strata_first
from shoal.partition.mdav import mdav

_TIE = 1e-9  # what rounding may make of equal distances, of which there are many among ranks


def t_merge(records: Records, k: int, watch: Ints, limits: Limits | None = None) -> Ints:
    """Partition records with MDAV and merge groups that give away too much; MDAV's where nothing is asked."""
    groups = mdav(records, k, watch)
    if limits is None or watch[STOP] != 0:
        return groups
    return _merge(records.values, groups, *group_rows(groups), limits, watch)


def k_first(records: Records, k: int, watch: Ints, limits: Limits | None = None) -> Ints:
    """Partition records with MDAV's seeds, exchanging members for farther ones while a group gives away too much."""
    groups = np.full(len(records), -1)
    asked = nothing_asked(len(records)) if limits is None else limits
    _k_first(open_pool(records.values), k, asked, _distance_alone(asked), watch, groups)
    if limits is None or watch[STOP] != 0:
        return groups
    return _merge(records.values, groups, *group_rows(groups), limits, watch)


def t_first(records: Records, k: int, watch: Ints, limits: Limits | None = None) -> Ints:
    """Partition records into groups of one record of each stratum of a confidential column; MDAV's without one."""
    if limits is None or not (limits.t >= 0.0).any():
        return mdav(records, k, watch)
    column = int(np.argmin(np.where(limits.t >= 0.0, limits.t, np.inf)))
    size = group_size(len(records), k, float(limits.t[column]))
    centre = records.values.mean(axis=0)
    return strata_first(records.values, None, centre, limits.codes[column], size, watch)


def nothing_asked(records: int) -> Limits:
    """Return limits that every group of so many records keeps."""
    none = np.zeros(1)
    whole = np.zeros(1, dtype=np.int64)
    codes = np.zeros((1, records), dtype=np.int64)
    start, ordered, ones = np.array([0, 1]), np.ones(1, dtype=bool), np.ones(1, dtype=np.int64)
    return Limits(codes, start, ones, ordered, none, none, whole, none, whole, none, none, whole, none - 1.0, 1)


def _distance_alone(limits: Limits) -> Limits:
    """Return limits by which a group is the farther off the farther it is from the table, within t as well."""
    return limits._replace(t=np.where(limits.t >= 0.0, 0.0, limits.t))


@kernel
def _k_first(pool: Pool, k: int, limits: Limits, distance: Limits, watch: Ints, labels: Ints) -> None:
    """Label the records of a pool (n,); ``distance`` are limits by which members are chosen."""
    n = len(labels)
    rows, far = np.empty(n, np.int64), np.empty(n)
    members = np.empty(k, np.int64)
    room = room_of(limits, k)
    label, seed = 0, -1
    while pool.size[0] >= 2 * k and watch[STOP] == 0:
        seed = farthest_from_centroid(pool) if label % 2 == 0 else farthest(pool, seed)
        looked = min(2 * k, pool.size[0])
        nearest(pool, seed, looked, rows, far)
        members[:] = rows[:k]
        now = excess(distance, members, room.ones, room)
        at = k
        while excess(limits, members, room.ones, room) > 0.0:
            if at == looked:
                if looked == pool.size[0]:
                    break
                looked = min(4 * looked, pool.size[0])
                nearest(pool, seed, looked, rows, far)
            best, least = _best_place(distance, members, rows[at], room)
            if least < now - _TIE:
                members[best] = rows[at]
                now = least
            at += 1
        for row in members:
            labels[row] = label
            remove(pool, int(row))
        label += 1
        watch[DONE] = label * k
    take_rest(label, labels)


@kernel
def _best_place(distance: Limits, members: Ints, row: int, room: Room) -> tuple[int, float]:
    """Place among the members that a row should take so that the group comes nearest to the table, and how near."""
    best, least = 0, np.inf
    for i in range(len(members)):
        was = members[i]
        members[i] = row
        then = excess(distance, members, room.ones, room)
        members[i] = was
        if then < least - _TIE:
            best, least = i, then
    return best, least


@kernel
def _merge(values: Floats, groups: Ints, order: Ints, starts: Ints, limits: Limits, watch: Ints) -> Ints:
    """Groups (n,) after the one that misses most has been merged with its nearest until none misses.

    ``order`` and ``starts`` are the rows sorted by group. A merged group stays at the place of the one that missed.
    """
    n, d = values.shape
    count = len(starts) - 1
    room = room_of(limits, n)
    after = np.full(n, -1)  # the next row of the same group
    first, last, sizes = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    centres, missed = np.zeros((count, d)), np.empty(count)
    for g in range(count):
        rows = order[starts[g] : starts[g + 1]]
        first[g], last[g], sizes[g] = rows[0], rows[-1], len(rows)
        for i in range(len(rows)):
            centres[g] += values[rows[i]]
            if i > 0:
                after[rows[i - 1]] = rows[i]
        centres[g] /= len(rows)
        missed[g] = excess(limits, rows, room.ones[: len(rows)], room)
    into = np.arange(count)
    buffer = np.empty(n, np.int64)
    left = count
    while left > 1 and watch[STOP] == 0:
        worst = 0
        for g in range(1, count):
            if missed[g] > missed[worst] + _TIE:
                worst = g
        if missed[worst] <= 0.0:
            break
        near, least = -1, np.inf
        for g in range(count):
            if g == worst or missed[g] < 0.0:
                continue
            away = 0.0
            for j in range(d):
                away += (centres[g, j] - centres[worst, j]) ** 2
            if away < least:
                near, least = g, away
        both = sizes[worst] + sizes[near]
        for j in range(d):
            centres[worst, j] = (sizes[worst] * centres[worst, j] + sizes[near] * centres[near, j]) / both
        after[last[worst]], last[worst], sizes[worst] = first[near], last[near], both
        missed[near], into[near] = -1.0, worst
        left -= 1
        at, row = 0, first[worst]
        while row >= 0:
            buffer[at] = row
            at += 1
            row = after[row]
        missed[worst] = excess(limits, buffer[:both], room.ones[:both], room)
    found = np.empty(n, np.int64)
    number = 0
    for g in range(count):
        if into[g] != g:
            continue
        row = first[g]
        while row >= 0:
            found[row] = number
            row = after[row]
        number += 1
    return found
