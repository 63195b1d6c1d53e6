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
        Node above each node of a tree; -1 where there is none.
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
    """Where the values of a group are counted: int64 (nodes,), the counts 0 between two uses."""

    tally: Ints
    touched: Ints
    above: Ints
    ones: Ints


@kernel
def room_of(limits: Limits, records: int) -> Room:
    """Room for groups of at most so many records."""
    most = 1
    for c in range(len(limits.known)):
        most = max(most, limits.start[c + 1] - limits.start[c])
    return Room(
        np.zeros(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), np.ones(records, np.int64)
    )


@kernel
def excess(limits: Limits, units: Ints, amounts: Ints, room: Room) -> float:
    """By how much a group misses what is asked of it: 0 where it meets all, and otherwise more the farther it is off.

    ``units`` are the places of its records in the codes, ``amounts`` how many there are of each.
    """
    total = 0.0
    tally, touched = room.tally, room.touched
    for c in range(len(limits.known)):
        found, size = 0, 0
        for i in range(len(units)):
            code = limits.codes[c, units[i]]
            if tally[code] == 0:
                touched[found] = code
                found += 1
            tally[code] += amounts[i]
            size += amounts[i]
        if found < limits.distinct[c]:
            total += (limits.distinct[c] - found) / limits.distinct[c]
        if limits.entropy[c] > 0.0:
            held = 0.0
            for i in range(found):
                part = tally[touched[i]] / size
                held -= part * np.log(part)
            if held < limits.entropy[c] - SLACK:
                total += (limits.entropy[c] - held) / limits.entropy[c]
        if limits.place[c] > 0:
            total += _not_recursive(limits, c, room, found, size)
        if limits.t[c] >= 0.0:
            far = _in_order(limits, c, room, found) if limits.ordered[c] else _in_tree(limits, c, room, found, size)
            if far > limits.t[c] + SLACK:
                total += (far - limits.t[c]) / max(limits.t[c], 1e-3)
        for i in range(found):
            tally[touched[i]] = 0
    return total


@kernel
def _not_recursive(limits: Limits, c: int, room: Room, found: int, size: int) -> float:
    """By how much the most frequent value is too frequent, as a part of the group."""
    counts = np.empty(found, np.int64)
    for i in range(found):
        counts[i] = room.tally[room.touched[i]]
    counts.sort()
    rest = 0
    for i in range(found - limits.place[c] + 1):
        rest += counts[i]
    over = counts[found - 1] - limits.factor[c] * rest
    return (over + 1.0) / size if over >= 0.0 else 0.0


@kernel
def _in_order(limits: Limits, c: int, room: Room, found: int) -> float:
    """Earth mover's distance in an order; values that have no place in it are left out, and 0 where all are."""
    first, m = limits.start[c], limits.known[c]
    values = room.touched[:found]
    values.sort()
    while found > 0 and values[found - 1] >= m:
        found -= 1
    size = 0
    for i in range(found):
        size += room.tally[values[i]]
    if size == 0 or m < 2:
        return 0.0
    below, prefix = limits.share[first : first + m], limits.prefix[first : first + m + 1]
    total, code, passed = 0.0, 0, 0
    for i in range(found + 1):
        until = values[i] if i < found else m
        if until > code:
            level = passed / size
            cross = _first_above(below, code, until, level)
            total += level * (cross - code) - (prefix[cross] - prefix[code])
            total += (prefix[until] - prefix[cross]) - level * (until - cross)
            code = until
        if i < found:
            passed += room.tally[values[i]]
    return total / (m - 1)


@kernel
def _first_above(below: Floats, low: int, high: int, level: float) -> int:
    """First place from ``low`` on, before ``high``, at which a distribution function is not below a level; or high.

    Where values are about equally frequent it is where it should be, which saves looking for it.
    """
    guess = min(max(int(level * len(below)) - 1, low), high)
    for _ in range(2):
        if guess < high and below[guess] < level:
            guess += 1
    if (guess == high or below[guess] >= level) and (guess == low or below[guess - 1] < level):
        return guess
    return low + int(np.searchsorted(below[low:high], level))


@kernel
def _in_tree(limits: Limits, c: int, room: Room, found: int, size: int) -> float:
    """Earth mover's distance in a tree."""
    first = limits.start[c]
    total, reached = limits.base[c], 0
    for i in range(found):
        code, count = room.touched[i], room.tally[room.touched[i]]
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
