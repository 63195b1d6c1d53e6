"""The groups of distinct records while they are searched: who is where, how many of them, and what each group costs.

A portion is so many equal records in one group; a distinct record has one portion in each group that it is in. Portions
are in two linked lists, of their group and of their record. For each group the sums are kept from which its centre is
found (:mod:`shoal.kernels.mixed`), so that a portion can come or go in O(codes).

Centres are found from ``centring``, distances laid out as ``tables``: these, or their squares in columns for which the
name with the least squared distance is released.

What a group costs is the squared distance of its records from what is released for them: from its centre, or from the
centre of the whole table in a column that is suppressed: that not all of its records have where the search is
``alike``, and otherwise one of which fewer than k values are observed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import add_sums, cell_distance, centre_of, sums_start


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
def portion_of(firsts: Ints, also: Ints, group: Ints, rec: int, g: int) -> int:
    """Portion of a record in a group; -1 where it has none."""
    p = firsts[rec]
    while p >= 0 and group[p] != g:
        p = also[p]
    return int(p)


@kernel
def put(
    record: Ints,
    amount: Ints,
    group: Ints,
    following: Ints,
    before: Ints,
    also: Ints,
    heads: Ints,
    firsts: Ints,
    spare: Ints,
    free: Ints,
    rec: int,
    g: int,
    many: int,
) -> None:
    """Add so many of a record to a group, or take them out where the number is negative; lists only."""
    p = portion_of(firsts, also, group, rec, g)
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


@kernel
def off_squared(
    one: Floats,
    centre: Floats,
    middle: Floats,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
) -> float:
    """Squared distance of a record from what is released for it; a missing cell loses nothing."""
    total = 0.0
    for j in range(len(kinds)):
        if not np.isnan(one[j]):
            at = middle[j] if np.isnan(centre[j]) else centre[j]
            total += weights[j] * cell_distance(one[j], at, kinds[j], tables, offset[j], width[j])
    return total * total


@kernel
def released(kinds: Ints, width: Ints, start: Ints, sums: Floats, seen: Floats, least: int, centre: Floats) -> None:
    """Write what is released for a group: its centre, and NaN in columns with fewer values than ``least``."""
    centre_of(kinds, width, start, sums, seen, centre)
    for j in range(len(kinds)):
        if seen[j] < least - 0.5:
            centre[j] = np.nan


@kernel
def cost_of_portions(
    cells: Floats,
    centring: Floats,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
    middle: Floats,
    k: int,
    alike: bool,
    record: Ints,
    group: Ints,
    amount: Ints,
    groups: int,
) -> Floats:
    """What each group (groups,) costs, from its portions alone."""
    d = cells.shape[1]
    start = sums_start(width)
    costs = np.zeros(groups)
    by_group = np.argsort(group, kind="mergesort")
    sums, seen, centre = np.zeros(start[d]), np.zeros(d), np.empty(d)
    first = 0
    while first < len(by_group):
        g = group[by_group[first]]
        last, size = first, 0
        sums[:] = 0.0
        seen[:] = 0.0
        while last < len(by_group) and group[by_group[last]] == g:
            p = by_group[last]
            add_sums(cells[record[p]], amount[p], kinds, centring, offset, width, start, sums, seen)
            size += amount[p]
            last += 1
        released(kinds, width, start, sums, seen, size if alike else k, centre)
        for b in range(first, last):
            p = by_group[b]
            off = off_squared(cells[record[p]], centre, middle, kinds, tables, offset, width, weights)
            costs[g] += amount[p] * off
        first = last
    return costs


@kernel
def cost_with(
    cells: Floats,
    centring: Floats,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
    middle: Floats,
    start: Ints,
    k: int,
    alike: bool,
    record: Ints,
    amount: Ints,
    following: Ints,
    heads: Ints,
    sizes: Ints,
    sums: Floats,
    seen: Floats,
    work: Floats,
    has: Floats,
    centre: Floats,
    g: int,
    one: int,
    many: int,
    other: int,
    more: int,
) -> float:
    """What a group would cost with so many of two records more, or fewer; -1 stands for no record."""
    work[:] = sums[g]
    has[:] = seen[g]
    size = sizes[g]
    if one >= 0:
        add_sums(cells[one], many, kinds, centring, offset, width, start, work, has)
        size += many
    if other >= 0:
        add_sums(cells[other], more, kinds, centring, offset, width, start, work, has)
        size += more
    released(kinds, width, start, work, has, size if alike else k, centre)
    total = 0.0
    p = heads[g]
    while p >= 0:
        off = off_squared(cells[record[p]], centre, middle, kinds, tables, offset, width, weights)
        total += amount[p] * off
        p = following[p]
    if one >= 0:
        total += many * off_squared(cells[one], centre, middle, kinds, tables, offset, width, weights)
    if other >= 0:
        total += more * off_squared(cells[other], centre, middle, kinds, tables, offset, width, weights)
    return max(total, 0.0)


@kernel
def transfer(
    cells: Floats,
    centring: Floats,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
    start: Ints,
    record: Ints,
    amount: Ints,
    group: Ints,
    following: Ints,
    before: Ints,
    also: Ints,
    heads: Ints,
    firsts: Ints,
    sizes: Ints,
    sums: Floats,
    seen: Floats,
    spare: Ints,
    spare_groups: Ints,
    free: Ints,
    rec: int,
    a: int,
    b: int,
    many: int,
) -> None:
    """Take so many of a record from one group to another; an empty group is put aside with sums of exactly 0."""
    if sizes[b] == 0:  # the group on top of those not in use, or one that was emptied a moment ago
        at = free[1] - 1
        while spare_groups[at] != b:
            at -= 1
        spare_groups[at] = spare_groups[free[1] - 1]
        free[1] -= 1
    put(record, amount, group, following, before, also, heads, firsts, spare, free, rec, a, -many)
    put(record, amount, group, following, before, also, heads, firsts, spare, free, rec, b, many)
    sizes[a] -= many
    sizes[b] += many
    add_sums(cells[rec], many, kinds, centring, offset, width, start, sums[b], seen[b])
    if sizes[a] == 0:
        sums[a] = 0.0
        seen[a] = 0.0
        spare_groups[free[1]] = a
        free[1] += 1
    else:
        add_sums(cells[rec], -many, kinds, centring, offset, width, start, sums[a], seen[a])


_cost_with: Any = cost_with  # its arrays are passed as a tuple, whose types mypy cannot put together


@kernel
def fill(
    cells: Floats,
    centring: Floats,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    weights: Floats,
    middle: Floats,
    k: int,
    alike: bool,
    state: State,
    from_record: Ints,
    from_group: Ints,
    from_amount: Ints,
) -> None:
    """Put portions, their groups numbered from 0, into a state without any."""
    record, amount, group = state.record, state.amount, state.group
    following, before, also = state.following, state.before, state.also
    heads, firsts, sizes = state.heads, state.firsts, state.sizes
    sums, seen, costs, spare, free = state.sums, state.seen, state.costs, state.spare, state.free
    start = sums_start(width)
    for t in range(len(from_record)):
        rec, g, many = from_record[t], from_group[t], from_amount[t]
        put(record, amount, group, following, before, also, heads, firsts, spare, free, rec, g, many)
        sizes[g] += many
        add_sums(cells[rec], many, kinds, centring, offset, width, start, sums[g], seen[g])
    free[1] = len(heads) - (from_group.max() + 1)
    d = cells.shape[1]
    work, has, centre = np.zeros(start[d]), np.zeros(d), np.zeros(d)
    columns = (kinds, tables, offset, width, weights)
    here: Any = (
        cells,
        centring,
        *columns,
        middle,
        start,
        k,
        alike,
        record,
        amount,
        following,
        heads,
        sizes,
        sums,
        seen,
        work,
        has,
        centre,
    )
    for g in range(from_group.max() + 1):
        costs[g] = _cost_with(*here, g, -1, 0, -1, 0)
