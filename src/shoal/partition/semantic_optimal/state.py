"""The groups of distinct records while they are searched: who is where, how many of them, and what each group costs.

A portion is so many equal records in one group; a distinct record has one portion in each group that it is in. Portions
are in two linked lists, of their group and of their record. For each group the sums are kept from which its centre is
found (:mod:`shoal.kernels.mixed`), so that a portion can come or go in O(codes).

What a group costs is how far its records are from what is released for them: from its centre, or from the centre of the
whole table in a column that is suppressed: that not all of its records have where the search is ``alike``, and
otherwise one of which fewer than k values are observed. A record whose cells are d_j away costs
(sum r_j d_j)^2 + sum s_j d_j^2, where r are the parts of the columns in the loss of records, and s those in the
information loss; one of them is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import EQUAL, NUMBER, SLACK, Metric, add_weighted, cell_distance, centre_of


class Setting(NamedTuple):
    """What does not change: values (m, d), weights (m,) and columns of the records, centre (d,) of the table, k.

    Where it is ``alike``, a column is released only for groups of which all records have it. ``of_records`` (d,) and
    ``of_columns`` (d,) are what the distances of cells, and their squares, count for.
    """

    values: Floats
    weights: Floats
    metric: Metric
    middle: Floats
    k: int
    alike: bool
    of_records: Floats
    of_columns: Floats


class Room(NamedTuple):
    """Where the sums (codes,), the observed values (d,) and the centre (d,) of a group are found."""

    sums: Floats
    seen: Floats
    centre: Floats


class State(NamedTuple):
    """Groups that are being searched, all arrays.

    Attributes
    ----------
    record, amount, group : int64 (portions,)
        What each portion is; the amount of one that is not in use is 0.
    following, before : int64 (portions,)
        Neighbours of a portion in the list of its group; -1 at the ends.
    also : int64 (portions,)
        Next portion of the same record; -1 at the end.
    heads : int64 (groups,)
        First portion of each group; -1 where a group is empty.
    firsts : int64 (m,)
        First portion of each record.
    sizes : int64 (groups,)
        Records of each group.
    sums : float64 (groups, codes), seen : float64 (groups, d)
        What the centre of each group is found from.
    costs : float64 (groups,)
        What each group costs.
    spare, spare_groups : int64 (portions,), (groups,)
        Numbers not in use; ``free`` (2,) says how many.
    """

    record: Ints
    amount: Ints
    group: Ints
    following: Ints
    before: Ints
    also: Ints
    heads: Ints
    firsts: Ints
    sizes: Ints
    sums: Floats
    seen: Floats
    costs: Floats
    spare: Ints
    spare_groups: Ints
    free: Ints


def open_state(records: int, columns: int, codes: int, groups: int) -> State:
    """Return a state without any portion, with room for some groups more than there will be."""
    portions, rooms = 3 * records + 64, groups + 16

    def places(n: int) -> Ints:
        return np.full(n, -1, dtype=np.int64)

    return State(
        places(portions),
        np.zeros(portions, dtype=np.int64),
        places(portions),
        places(portions),
        places(portions),
        places(portions),
        places(rooms),
        places(records),
        np.zeros(rooms, dtype=np.int64),
        np.zeros((rooms, codes)),
        np.zeros((rooms, columns)),
        np.zeros(rooms),
        np.arange(portions - 1, -1, -1),
        np.arange(rooms - 1, -1, -1),
        np.array([portions, rooms], dtype=np.int64),
    )


@kernel
def room_for(metric: Metric) -> Room:
    """Room for one group."""
    d = len(metric.kinds)
    return Room(np.zeros(metric.start[d]), np.zeros(d), np.empty(d))


@kernel(inline=True, counted=False)
def portion_of(state: State, rec: int, g: int) -> int:
    """Portion of a record in a group; -1 where it has none."""
    p = state.firsts[rec]
    while p >= 0 and state.group[p] != g:
        p = state.also[p]
    return int(p)


@kernel(counted=False)
def put(state: State, rec: int, g: int, many: int) -> None:
    """Add so many of a record to a group, or take them out where the number is negative; lists only."""
    record, amount, group = state.record, state.amount, state.group
    following, before, also = state.following, state.before, state.also
    heads, firsts, spare, free = state.heads, state.firsts, state.spare, state.free
    p = portion_of(state, rec, g)
    if p < 0:
        free[0] -= 1
        p = spare[free[0]]
        record[p], amount[p], group[p] = rec, 0, g
        also[p] = firsts[rec]
        firsts[rec] = p
        before[p], following[p] = -1, heads[g]
        if heads[g] >= 0:
            before[heads[g]] = p
        heads[g] = p
    amount[p] += many
    if amount[p] == 0:
        if before[p] >= 0:
            following[before[p]] = following[p]
        else:
            heads[g] = following[p]
        if following[p] >= 0:
            before[following[p]] = before[p]
        if firsts[rec] == p:
            firsts[rec] = also[p]
        else:
            q = firsts[rec]
            while also[q] != p:
                q = also[q]
            also[q] = also[p]
        group[p] = -1
        spare[free[0]] = p
        free[0] += 1


@kernel(inline=True, counted=False)
def cost_of_record(setting: Setting, one: Floats, centre: Floats, numbers: bool = False) -> float:
    """What a record costs that is released as a centre, in its numbers alone or in all; missing cells lose nothing."""
    total, squares = 0.0, 0.0
    for j in range(len(one)):
        if not np.isnan(one[j]) and not (numbers and setting.metric.kinds[j] != NUMBER):
            off = cell_distance(one[j], setting.middle[j] if np.isnan(centre[j]) else centre[j], setting.metric, j)
            total += setting.of_records[j] * off
            squares += setting.of_columns[j] * off * off
    return total * total + squares


@kernel(inline=True, counted=False)
def find_released(setting: Setting, size: int, room: Room) -> None:
    """Write what is released for a group of so many records: its centre, and NaN in columns that are suppressed."""
    least = size if setting.alike else setting.k
    centre_of(setting.metric, room.sums, room.seen, room.centre)
    for j in range(len(room.centre)):
        if room.seen[j] < least - 0.5:
            room.centre[j] = np.nan


@kernel
def cost_of_portions(setting: Setting, record: Ints, group: Ints, amount: Ints, groups: int) -> Floats:
    """What each group (groups,) costs, from its portions alone."""
    values = setting.values
    costs = np.zeros(groups)
    by_group = np.argsort(group, kind="mergesort")
    room = room_for(setting.metric)
    first = 0
    while first < len(by_group):
        g = group[by_group[first]]
        last, size = first, 0
        room.sums[:] = 0.0
        room.seen[:] = 0.0
        while last < len(by_group) and group[by_group[last]] == g:
            p = by_group[last]
            add_weighted(values[record[p]], amount[p], setting.weights[record[p]], setting.metric, room.sums, room.seen)
            size += amount[p]
            last += 1
        find_released(setting, size, room)
        for b in range(first, last):
            p = by_group[b]
            costs[g] += amount[p] * cost_of_record(setting, values[record[p]], room.centre)
        first = last
    return costs


@kernel(inline=True, counted=False)
def cost_with(
    setting: Setting,
    state: State,
    room: Room,
    g: int,
    one: int,
    many: int,
    other: int,
    more: int,
    limit: float,
) -> float:
    """What a group would cost with so many of two records more, or fewer; -1 stands for no record.

    Where it is above the limit, some number above that: most changes cost too much by their numbers alone, and codes
    take longest.
    """
    centre, seen, kinds = room.centre, room.seen, setting.metric.kinds
    size = state.sizes[g] + (many if one >= 0 else 0) + (more if other >= 0 else 0)
    least = (size if setting.alike else setting.k) - 0.5
    for j in range(len(kinds)):
        seen[j] = state.seen[g, j]
        if one >= 0 and not np.isnan(setting.values[one, j]):
            seen[j] += many
        if other >= 0 and not np.isnan(setting.values[other, j]):
            seen[j] += more
        centre[j] = np.nan
        if seen[j] > least and kinds[j] == NUMBER:
            centre[j] = _mean_with(setting, state, g, one, many, other, more, j)
    bound = _lost_with(setting, state, room, g, one, many, other, more, True)
    if bound > limit:
        return bound
    for j in range(len(kinds)):
        if seen[j] > least and kinds[j] != NUMBER:
            centre[j] = _code_with(setting, state, room, g, one, many, other, more, j)
    return max(_lost_with(setting, state, room, g, one, many, other, more, False), 0.0)


@kernel(inline=True, counted=False)
def _mass_of(setting: Setting, one: int, many: int, j: int) -> float:
    """What so many of a record add to the weights of a column: nothing where there is no record or it is missing."""
    if one < 0 or np.isnan(setting.values[one, j]):
        return 0.0
    return float(many * setting.weights[one])


@kernel(inline=True, counted=False)
def _mean_with(setting: Setting, state: State, g: int, one: int, many: int, other: int, more: int, j: int) -> float:
    """Mean of a group in a column of numbers, with so many of two records more."""
    at = setting.metric.start[j]
    total, mass = state.sums[g, at], state.sums[g, at + 1]
    first, second = _mass_of(setting, one, many, j), _mass_of(setting, other, more, j)
    if first != 0.0:
        total += first * setting.values[one, j]
    if second != 0.0:
        total += second * setting.values[other, j]
    return float(total / (mass + first + second))


@kernel(inline=True, counted=False)
def _code_with(
    setting: Setting, state: State, room: Room, g: int, one: int, many: int, other: int, more: int, j: int
) -> int:
    """Centre of a group in a column of codes, with so many of two records more; ties go to the lowest code."""
    metric = setting.metric
    at, width, offset = metric.start[j], metric.width[j], metric.offset[j]
    first, second = _mass_of(setting, one, many, j), _mass_of(setting, other, more, j)
    code = int(setting.values[one, j]) if first != 0.0 else 0
    another = int(setting.values[other, j]) if second != 0.0 else 0
    own, sums = state.sums[g, at : at + width], room.sums[:width]
    if metric.kinds[j] == EQUAL:
        for c in range(width):
            sums[c] = -own[c]
        sums[code] -= first
        sums[another] -= second
    else:
        row = metric.centring[offset + code * width : offset + (code + 1) * width]
        other_row = metric.centring[offset + another * width : offset + (another + 1) * width]
        for c in range(width):
            sums[c] = own[c] + first * row[c] + second * other_row[c]
    return _lowest(sums, SLACK * room.seen[j])


@kernel(inline=True, counted=False)
def _lowest(sums: Floats, slack: float) -> int:
    """First place of the least sum, or of one that is as low up to a slack."""
    least, second, third, fourth = np.inf, np.inf, np.inf, np.inf  # four at a time do not wait for each other
    last = len(sums) - len(sums) % 4
    for c in range(0, last, 4):
        least, second = min(least, sums[c]), min(second, sums[c + 1])
        third, fourth = min(third, sums[c + 2]), min(fourth, sums[c + 3])
    for c in range(last, len(sums)):
        least = min(least, sums[c])
    least = min(least, second, third, fourth) + slack
    c = 0
    while sums[c] > least:
        c += 1
    return c


@kernel(inline=True, counted=False)
def _lost_with(
    setting: Setting,
    state: State,
    room: Room,
    g: int,
    one: int,
    many: int,
    other: int,
    more: int,
    numbers: bool,
) -> float:
    """What a group with so many of two records more loses, released as its centre, in numbers alone or in all."""
    values, centre = setting.values, room.centre
    total, p = 0.0, state.heads[g]
    while p >= 0:
        total += state.amount[p] * cost_of_record(setting, values[state.record[p]], centre, numbers)
        p = state.following[p]
    if one >= 0:
        total += many * cost_of_record(setting, values[one], centre, numbers)
    if other >= 0:
        total += more * cost_of_record(setting, values[other], centre, numbers)
    return total


@kernel(counted=False)
def transfer(setting: Setting, state: State, rec: int, a: int, b: int, many: int) -> None:
    """Take so many of a record from one group to another; an empty group is put aside with sums of exactly 0."""
    sizes, spare_groups, free = state.sizes, state.spare_groups, state.free
    if sizes[b] == 0:  # the group on top of those not in use, or one that was emptied a moment ago
        at = free[1] - 1
        while spare_groups[at] != b:
            at -= 1
        spare_groups[at] = spare_groups[free[1] - 1]
        free[1] -= 1
    put(state, rec, a, -many)
    put(state, rec, b, many)
    sizes[a] -= many
    sizes[b] += many
    add_weighted(setting.values[rec], many, setting.weights[rec], setting.metric, state.sums[b], state.seen[b])
    if sizes[a] == 0:
        state.sums[a] = 0.0
        state.seen[a] = 0.0
        spare_groups[free[1]] = a
        free[1] += 1
    else:
        add_weighted(setting.values[rec], -many, setting.weights[rec], setting.metric, state.sums[a], state.seen[a])


@kernel
def fill(setting: Setting, state: State, from_record: Ints, from_group: Ints, from_amount: Ints) -> None:
    """Put portions, their groups numbered from 0, into a state without any."""
    for t in range(len(from_record)):
        rec, g, many = from_record[t], from_group[t], from_amount[t]
        put(state, rec, g, many)
        state.sizes[g] += many
        add_weighted(setting.values[rec], many, setting.weights[rec], setting.metric, state.sums[g], state.seen[g])
    groups = from_group.max() + 1
    state.free[1] = len(state.heads) - groups
    room = room_for(setting.metric)
    for g in range(groups):
        state.costs[g] = cost_with(setting, state, room, g, -1, 0, -1, 0, np.inf)
