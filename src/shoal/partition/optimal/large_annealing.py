"""Annealing of a large table in place: the records of a region one after the other, several proposals for each.

The changes are those of :mod:`.annealing`. What differs:

- The temperature falls in levels, and at each level the records have their turns in an order in which neighbours
  follow each other: what a proposal needs is in the fast memory already, and a step costs the same at any size.
- A record has its turns at the temperatures that suit the distance to its neighbours, from ``hottest`` to ``coldest``
  times its square: outliers first, dense places last, each as long as the others.
- Regions are sets of groups of the whole table, whose arrays they share. They are annealed at the same time and cut
  anew every few levels, while the annealing goes on: no record stays at a border, and nothing has to be copied.
- Of several members of the other group, a record changes places with the one with which that saves most. The more a
  group has, the more are looked at.
- A proposal takes its chances from the bits of one random number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import Stream, next_bits, uniform
from shoal.kernels.watch import DONE, STOP
from shoal.partition.optimal.annealing import change_places, enter, exchange, go, join, leave, taken
from shoal.partition.optimal.objective import centroid_error

_RARE = 10  # of 1024 proposals: a group is founded; as many times one is dissolved


class Partition(NamedTuple):
    """Groups of a table, and where to find what.

    Attributes
    ----------
    groups : int64 (n,)
        The group of each row.
    members : int64 (groups, 2k)
        The rows of each group, in its first places.
    counts : int64 (groups,)
        How many; 0 where a group is free to be founded.
    place : int64 (n,)
        Place of each row among the members of its group.
    sums : float64 (groups, d)
        Sums of the rows of each group.
    """

    groups: Ints
    members: Ints
    counts: Ints
    place: Ints
    sums: Floats


class Levels(NamedTuple):
    """Temperatures, and how many proposals a record has at each; see the module for ``hottest`` and ``coldest``."""

    temperatures: Floats
    proposals: Ints
    hottest: float
    coldest: float


@kernel
def enter_all(values: Floats, partition: Partition) -> None:
    """Fill in members, counts, places and sums from the groups."""
    groups, members, counts, place, sums = partition
    counts[:] = 0
    sums[:] = 0.0
    for row in range(len(groups)):
        enter(values, members, counts, place, sums, groups, row, groups[row])


@kernel
def anneal_region(  # noqa: PLR0915 - a search loop in one piece
    values: Floats,
    partition: Partition,
    neighbours: NDArray[np.int32],
    scales: Floats,
    region_of: Ints,
    rows: Ints,
    free: Ints,
    k: int,
    tried: int,
    levels: Levels,
    stream: Stream,
    watch: Ints,
) -> None:
    """Anneal the groups of one region in place.

    ``rows`` are its records, in an order in which neighbours follow each other, ``region_of`` (n,) the region of each
    record, and ``free`` numbers of empty groups that are its own, then -1 for each that may become so. ``neighbours``
    (n, m) are rows near each row, and ``scales`` (n,) squared distances to some of them; ``tried`` members of a group
    are looked at.
    """
    groups, members, counts, place, sums = partition
    width = neighbours.shape[1]
    mine = region_of[rows[0]]
    spare, spares = free.copy(), 0
    while spares < len(spare) and spare[spares] >= 0:
        spares += 1
    moved, homes = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    for level in range(len(levels.temperatures)):
        temperature, turns = levels.temperatures[level], levels.proposals[level]
        done = 0
        for current in rows:
            scale = scales[current]
            if temperature > levels.hottest * scale or (temperature > 0.0 and temperature < levels.coldest * scale):
                continue
            done += turns
            if watch[STOP] != 0:
                return
            for _ in range(turns):
                bits = next_bits(stream)
                near = float(bits >> np.uint64(32)) * (1.0 / 4294967296.0)
                kind = int(bits & np.uint64(1023))
                row = current
                if kind >= 2 * _RARE:
                    target = int(neighbours[row, int(near * near * width)])
                    if region_of[target] != mine:
                        continue
                    if bits & np.uint64(1024):
                        row, target = target, row
                    a, b = groups[row], groups[target]
                    if a == b:
                        continue
                    if counts[a] > k and bits & np.uint64(2048):
                        if counts[b] == 2 * k - 1:
                            continue
                        change = join(values, sums, counts, row, b) - leave(values, sums, counts, row, a)
                        if taken(change, temperature, stream):
                            go(values, members, counts, place, sums, groups, row)
                            enter(values, members, counts, place, sums, groups, row, b)
                        continue
                    at = ((int(bits >> np.uint64(12)) & 0xFFFFF) * (counts[b] - 1)) >> 20
                    other, change = -1, np.inf
                    for _ in range(min(tried, counts[b] - 1)):
                        candidate = members[b, at if at < place[target] else at + 1]
                        cost = exchange(values, sums, counts, row, candidate, a, b)
                        if cost < change:
                            other, change = candidate, cost
                        at = at + 1 if at + 1 < counts[b] - 1 else 0
                    if not taken(change, temperature, stream):
                        continue
                    change_places(values, members, place, sums, groups, row, other)
                    continue
                a = groups[row]
                if kind < _RARE:
                    if counts[a] <= k or spares == 0:
                        continue
                    count, change = 0, 0.0
                    for t in range(-1, width):
                        candidate = row if t < 0 else int(neighbours[row, t])
                        if region_of[candidate] != mine:
                            continue
                        home = groups[candidate]
                        if home < 0 or counts[home] <= k or (t >= 0 and uniform(stream) < 0.1):
                            continue
                        change -= leave(values, sums, counts, candidate, home)
                        moved[count], homes[count] = candidate, home
                        go(values, members, counts, place, sums, groups, candidate)
                        count += 1
                        if count == k:
                            break
                    if count == k:
                        change += centroid_error(values, moved[:k])
                    if count == k and taken(change, temperature, stream):
                        spares -= 1
                        for t in range(k):
                            enter(values, members, counts, place, sums, groups, moved[t], spare[spares])
                    else:
                        for t in range(count):
                            enter(values, members, counts, place, sums, groups, moved[t], homes[t])
                    continue
                # where nothing can be founded, what is dissolved on the way would be gone for good
                if counts[a] > k + 1 or (k > width and temperature > 0.0):
                    continue
                count = counts[a]
                moved[:count] = members[a, :count]
                change, gone = -centroid_error(values, moved[:count]), 0
                for t in range(count):
                    home, least = -1, np.inf
                    for near_row in neighbours[moved[t]]:
                        if region_of[near_row] != mine:
                            continue
                        b = groups[near_row]
                        if b != a and counts[b] < 2 * k - 1:
                            joining = join(values, sums, counts, moved[t], b)
                            if joining < least:
                                least, home = joining, b
                    # the change only grows
                    if home < 0 or change + least > 36.0 * temperature:
                        break
                    change += least
                    go(values, members, counts, place, sums, groups, moved[t])
                    enter(values, members, counts, place, sums, groups, moved[t], home)
                    gone += 1
                if gone == count and taken(change, temperature, stream):
                    spare[spares] = a
                    spares += 1
                else:
                    for t in range(gone):
                        go(values, members, counts, place, sums, groups, moved[t])
                        enter(values, members, counts, place, sums, groups, moved[t], a)
        watch[DONE] += done
