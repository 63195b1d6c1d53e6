"""What a group gives away of confidential columns: by how much it misses what is asked of it.

A group is seen as the values of its records. From how often each occurs come the number of different values, their
entropy and recursive diversity; the earth mover's distance to the values of the table comes from the same counts:

- in an order, from the distribution functions. Between two values of a group its function is constant and that of the
  table grows, so that the sum of differences there comes from prefix sums, cut where the two cross;
- in a tree, as the sum over its nodes of the length of the way up times how far the shares below differ. Only nodes
  above a value of the group are looked at; equal or not is a tree of one level.

Cost: O(g + v log m) for a group of g records with v different values, of m in the table, times the height of a tree;
what is asked of the size n of the table plays no part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel

SLACK = 1e-9
"""What rounding may add to a distance, or take from an entropy."""

_SMALL = 32  # records of a group whose values are sorted rather than tallied


class Limits(NamedTuple):
    """What is asked of groups, column by column.

    Attributes
    ----------
    codes : int64 (columns, n)
        Number of each record's value, by column: in order, where there is one, those that are missing last.
    start : int64 (columns + 1,)
        Where the nodes of each column start.
    known : int64 (columns,)
        Values that have a place in the order; those that have none are left out of distances.
    ordered : bool (columns,)
        Whether values have an order; a tree otherwise.
    share : float64 (nodes,)
        Share of the table up to each value of an order, or below each node of a tree, of which the first are values.
    prefix : float64 (nodes,)
        Sums of these before each value of an order; the length of the way up from each node of a tree.
    parent : int64 (nodes,)
        Node above each node of a tree; -1 where there is none. Of an order of m values, the first at which the share is
        at least 0, 1, ..., m of m parts.
    base : float64 (columns,)
        Distance of an empty group in a tree.
    distinct, entropy, factor, place, t : (columns,)
        Fewest values, least entropy, c and l of recursive diversity, and the largest distance; 0, 0, 0, 0 and -1 where
        nothing is asked.
    least : int
        Records that no group is below.
    """

    codes: Ints
    start: Ints
    known: Ints
    ordered: Flags
    share: Floats
    prefix: Floats
    parent: Ints
    base: Floats
    distinct: Ints
    entropy: Floats
    factor: Floats
    place: Ints
    t: Floats
    least: int


class Room(NamedTuple):
    """Where the values of a group are counted.

    Attributes
    ----------
    tally : int64 (nodes,)
        How often each value, or node of a tree, occurs; 0 between two uses.
    values, counts : int64 (nodes,)
        The different values of a group in their order, and how often each occurs.
    above : int64 (nodes,)
        Nodes of a tree above them; before that, how often each value occurs, sorted.
    ones : int64 (records,)
        For groups in which every record counts once.
    """

    tally: Ints
    values: Ints
    counts: Ints
    above: Ints
    ones: Ints


@kernel
def room_of(limits: Limits, records: int) -> Room:
    """Room for groups of at most so many records."""
    most = _SMALL
    for c in range(len(limits.known)):
        most = max(most, limits.start[c + 1] - limits.start[c])
    return Room(
        np.zeros(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.ones(records, np.int64),
    )


@kernel
def excess(limits: Limits, units: Ints, amounts: Ints, room: Room) -> float:
    """By how much a group misses what is asked of it: 0 where it meets all, and otherwise more the farther it is off.

    ``units`` are the places of its records in the codes, ``amounts`` how many there are of each.
    """
    total = 0.0
    size = 0
    for i in range(len(units)):
        size += amounts[i]
    for c in range(len(limits.known)):
        found = _count_few(limits, c, units, amounts, room) if len(units) <= _SMALL else 0
        if len(units) > _SMALL:
            found = _count_many(limits, c, units, amounts, room)
        if found < limits.distinct[c]:
            total += (limits.distinct[c] - found) / limits.distinct[c]
        if limits.entropy[c] > 0.0:
            held = 0.0
            for i in range(found):
                part = room.counts[i] / size
                held -= part * np.log(part)
            if held < limits.entropy[c] - SLACK:
                total += (limits.entropy[c] - held) / limits.entropy[c]
        if limits.place[c] > 0:
            total += _not_recursive(limits, c, room, found, size)
        if limits.t[c] >= 0.0:
            far = _in_order(limits, c, room, found) if limits.ordered[c] else _in_tree(limits, c, room, found, size)
            if far > limits.t[c] + SLACK:
                total += (far - limits.t[c]) / max(limits.t[c], 1e-3)
    return total


@kernel
def meets(limits: Limits, units: Ints, amounts: Ints, room: Room) -> bool:
    """Whether a group meets what is asked of it: whether its excess is 0.

    The distance of two distributions in an order is at least that of their means, which shows most groups that miss.
    """
    for c in range(len(limits.known)):
        m = limits.known[c]
        if limits.t[c] < 0.0 or not limits.ordered[c] or m < 2:
            continue
        size, total = 0, 0
        for i in range(len(units)):
            code = limits.codes[c, units[i]]
            if code < m:
                size += amounts[i]
                total += amounts[i] * code
        # the shares before the last value add up to as much as the mean is below the last
        middle = m - 1 - limits.prefix[limits.start[c] + m - 1]
        if size > 0 and abs(total / size - middle) > (limits.t[c] + SLACK) * (m - 1):
            return False
    return excess(limits, units, amounts, room) == 0.0


@kernel(inline=True)
def _count_few(limits: Limits, c: int, units: Ints, amounts: Ints, room: Room) -> int:
    """Count the values of a small group into its room, sorted as they come; how many differ.

    A tally has a place for every value of the table, most of which are not in the fast memory.
    """
    values, counts = room.values, room.counts
    found = 0
    for i in range(len(units)):
        code = limits.codes[c, units[i]]
        at = found
        while at > 0 and values[at - 1] > code:
            at -= 1
        if at > 0 and values[at - 1] == code:
            counts[at - 1] += amounts[i]
            continue
        for later in range(found, at, -1):
            values[later], counts[later] = values[later - 1], counts[later - 1]
        values[at], counts[at] = code, amounts[i]
        found += 1
    return found


@kernel
def _count_many(limits: Limits, c: int, units: Ints, amounts: Ints, room: Room) -> int:
    """Count the values of a group into its room; how many differ."""
    found = 0
    for i in range(len(units)):
        code = limits.codes[c, units[i]]
        if room.tally[code] == 0:
            room.values[found] = code
            found += 1
        room.tally[code] += amounts[i]
    _sort(room.values, found)
    for i in range(found):
        room.counts[i] = room.tally[room.values[i]]
        room.tally[room.values[i]] = 0
    return found


@kernel
def _not_recursive(limits: Limits, c: int, room: Room, found: int, size: int) -> float:
    """By how much the most frequent value is too frequent, as a part of the group."""
    counts = room.above
    for i in range(found):
        counts[i] = room.counts[i]
    _sort(counts, found)
    rest = 0
    for i in range(found - limits.place[c] + 1):
        rest += counts[i]
    over = counts[found - 1] - limits.factor[c] * rest
    return (over + 1.0) / size if over >= 0.0 else 0.0


@kernel
def _sort(values: Ints, count: int) -> None:
    """Sort the first values in their place, by Shell's method: numba's own way makes an array."""
    gap = count // 2
    while gap > 0:
        for i in range(gap, count):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 2


@kernel
def _in_order(limits: Limits, c: int, room: Room, found: int) -> float:
    """Earth mover's distance in an order; values that have no place in it are left out, and 0 where all are."""
    first, m = limits.start[c], limits.known[c]
    values, counts = room.values, room.counts
    while found > 0 and values[found - 1] >= m:
        found -= 1
    size = 0
    for i in range(found):
        size += counts[i]
    if size == 0 or m < 2:
        return 0.0
    below, prefix = limits.share[first : first + m], limits.prefix[first : first + m + 1]
    parts = limits.parent[first : first + m + 1]
    total, code, passed = 0.0, 0, 0
    for i in range(found + 1):
        until = values[i] if i < found else m
        if until > code:
            level = passed / size
            cross = _first_above(below, parts, code, until, level)
            total += level * (cross - code) - (prefix[cross] - prefix[code])
            total += (prefix[until] - prefix[cross]) - level * (until - cross)
            code = until
        if i < found:
            passed += counts[i]
    return total / (m - 1)


@kernel(inline=True)
def _first_above(below: Floats, parts: Ints, low: int, high: int, level: float) -> int:
    """First place from ``low`` on, before ``high``, at which a distribution function is not below a level; or high.

    ``parts`` (m + 1,) says where each of m parts of the way up is reached, so that little is left to look through.
    """
    m = len(below)
    part = min(int(level * m), m - 1)
    # a part may be rounded up to, so that the one before it is looked at as well
    first, last = max(parts[max(part - 1, 0)], low), min(parts[min(part + 2, m)], high)
    if last - first > 16:
        return first + int(np.searchsorted(below[first:last], level))
    while first < last and below[first] < level:
        first += 1
    return min(first, high)


@kernel
def _in_tree(limits: Limits, c: int, room: Room, found: int, size: int) -> float:
    """Earth mover's distance in a tree."""
    first = limits.start[c]
    total, reached = limits.base[c], 0
    for i in range(found):
        code, count = room.values[i], room.counts[i]
        part = limits.share[first + code]
        total += limits.prefix[first + code] * (abs(count / size - part) - part)
        node = limits.parent[first + code]
        while node >= 0:
            if room.tally[node] == 0:
                room.above[reached] = node
                reached += 1
            room.tally[node] += count
            node = limits.parent[first + node]
    for i in range(reached):
        node = room.above[i]
        part = limits.share[first + node]
        total += limits.prefix[first + node] * (abs(room.tally[node] / size - part) - part)
        room.tally[node] = 0
    return total


@kernel
def excesses(limits: Limits, order: Ints, starts: Ints) -> Floats:
    """By how much each group misses what is asked of it; rows by group as in ``group_rows``."""
    most = 0
    for g in range(len(starts) - 1):
        most = max(most, starts[g + 1] - starts[g])
    room = room_of(limits, most)
    found = np.empty(len(starts) - 1)
    for g in range(len(found)):
        rows = order[starts[g] : starts[g + 1]]
        found[g] = excess(limits, rows, room.ones[: len(rows)], room)
    return found
