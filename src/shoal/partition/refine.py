"""Refinement: the groups of any method are taken apart and put together again while that lowers the sum of squares.

Each round has four steps.

1. Cut: a group of 2k records or more is partitioned by ``mdav-single``.
2. Dissolve: a group is dissolved where its records lose less in the near groups that have room for them, each joining
   the one where it costs least.
3. Distil: a record and the nearest ones that their groups can spare, k in all, become a group of their own where that
   loses less.
4. Exchange: records move to near groups or change places with their members (:mod:`shoal.kernels.exchange`).

Rounds go on until one gains less than a thousandth of all that was gained before it, or less than a millionth of the
sum of squares.

Source: M. Laszlo and S. Mukherjee, Iterated local search for microaggregation, Journal of Systems and Software 100,
2015. Their search shakes the groups at random between descents; this is one descent, without chance.

Cost: O(n k d) a step for the few near groups or records of each, over the neighbour index; some ten rounds.

No step takes a record from a group of k, unless the whole group is dissolved, and every step lowers the sum of squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.exchange import exchange_records, nearest_groups, open_cells
from shoal.kernels.group_sums import group_sums
from shoal.kernels.pool import Pool, nearest, open_still_pool
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import STOP
from shoal.partition.large_groups import cut_large_groups
from shoal.partition.mdav import mdav_single

_ROUNDS = 50  # never reached in practice: a guard against creeping
_SEARCHING = 150  # cells that could be looked at in the time of finding a near record
_MOVING = 4  # cells that could be looked at in the time of a record joining a group and leaving it, for each column
_ROUND = 60  # cells that could be looked at in the time of a round without exchanges, for each value
_CENTRES = 16  # of k records that are tried: groups around others would be nearly the same
_WIDEST = 4  # times k: nearest records of which a group is distilled
_PASSES = 10  # of exchanges in a round
_WORTH = 1e-3  # part of the gain so far that a round must add for another one to follow
_PART = 1e-6  # part of the sum of squares that it must add
_LEAST = 1e-12  # a gain that is more than rounding
_KEPT = 300_000  # records up to which those near a centre are kept: some 500 bytes for each record at most


class Surroundings(NamedTuple):
    """What is near each centre of which a group may be distilled: it is looked for once, whatever the groups are.

    Attributes
    ----------
    pool : Pool
        All records.
    centres : int64 (m,)
        Records around which groups may be distilled.
    near : int32 (m, most)
        The records nearest to each centre, nearest first, as many as were needed so far.
    counts : int64 (m,)
        How many these are.
    """

    pool: Pool
    centres: Ints
    near: NDArray[np.int32]
    counts: Ints


def open_surroundings(values: Floats, k: int) -> Surroundings:
    """Return what is near the centres of groups of k records, of which nothing is known yet."""
    n = len(values)
    centres = np.arange(0, n, max(1, k // _CENTRES))
    near = np.empty((len(centres), min(_WIDEST * k, n) if n <= _KEPT else 0), dtype=np.int32)
    return Surroundings(open_still_pool(values), centres, near, np.zeros(len(centres), dtype=np.int64))


def refine(
    records: Records,
    groups: Ints,
    k: int,
    watch: Ints,
    cells: Ints | None = None,
    surroundings: Surroundings | None = None,
) -> Ints:
    """Return better groups, numbered from 0; the sum of squares never rises.

    It ends early where none of the ``cells`` (1,) is left that may be looked at, some 10^9 in a second. Where the same
    records are refined more than once, the ``surroundings`` of an earlier time are known already.

    >>> from shoal.kernels.watch import new_watch
    >>> x = np.array([[0.0], [1.0], [9.0], [2.0], [10.0], [11.0]])
    >>> refine(Records(x), np.array([0, 0, 0, 1, 1, 1]), 3, new_watch())
    array([0, 0, 1, 0, 1, 1])
    """
    values = records.values
    cells = open_cells() if cells is None else cells
    surroundings = surroundings or open_surroundings(values, k)
    best, least = groups, _squares_within(values, groups)
    started = least
    for _ in range(_ROUNDS):
        cells[0] -= _ROUND * values.size
        groups = _dissolve_groups(records, cut_large_groups(records, best, k, mdav_single), k)
        groups = _exchange_records(records, _distil_groups(surroundings, groups, k, cells), k, cells)
        squares = _squares_within(values, groups)
        gain = least - squares
        if gain > 0.0:
            best, least = groups, squares
        if gain <= max(_WORTH * (started - least), _PART * started) or watch[STOP] != 0 or cells[0] <= 0:
            break
    return best


def _squares_within(values: Floats, groups: Ints) -> float:
    """Sum of squares within groups, from the differences to the centroids."""
    sums, sizes = group_sums(values, groups)
    return float(((values - (sums / sizes[:, None])[groups]) ** 2).sum())


def _dissolve_groups(records: Records, groups: Ints, k: int) -> Ints:
    """Dissolve the groups for which that lowers the sum of squares."""
    values = records.values
    sums, sizes = group_sums(values, groups)
    order, starts = group_rows(groups)
    _dissolve(values, groups, order, starts, sums, sizes, nearest_groups(sums, sizes, records.threads), k)
    return np.unique(groups, return_inverse=True)[1]


def _distil_groups(surroundings: Surroundings, groups: Ints, k: int, cells: Ints) -> Ints:
    """Form new groups of records that others can spare."""
    values = surroundings.pool.values
    room = len(values) // k  # as many groups as there can ever be
    sums, sizes = np.zeros((room, values.shape[1])), np.zeros(room)
    count = int(groups.max()) + 1
    sums[:count], sizes[:count] = group_sums(values, groups)
    _distil(*surroundings, groups, sums, sizes, count, k, cells)
    return groups


def _exchange_records(records: Records, groups: Ints, k: int, cells: Ints) -> Ints:
    """Let records move or change places until a pass gains little."""
    values = records.values
    sums, sizes = group_sums(values, groups)
    near, everywhere = nearest_groups(sums, sizes, records.threads), np.ones(len(sizes), dtype=np.bool_)
    exchange_records(
        values, groups, sums, sizes, k, near=near, at_face=everywhere, passes=_PASSES, worth=_WORTH, cells=cells
    )
    return groups


@kernel
def _move(values: Floats, row: int, a: int, b: int, sums: Floats, sizes: Floats) -> float:
    """Move a record from group a to group b; returns by how much the sum of squares falls."""
    away, towards = 0.0, 0.0
    for j in range(values.shape[1]):
        x = values[row, j]
        if sizes[a] > 1.0:
            away += (x - sums[a, j] / sizes[a]) ** 2
        if sizes[b] > 0.0:
            towards += (x - sums[b, j] / sizes[b]) ** 2
        sums[a, j] -= x
        sums[b, j] += x
    saved = away * sizes[a] / (sizes[a] - 1.0) if sizes[a] > 1.0 else 0.0
    cost = towards * sizes[b] / (sizes[b] + 1.0)
    sizes[a] -= 1.0
    sizes[b] += 1.0
    return saved - cost


@kernel
def _dissolve(
    values: Floats, groups: Ints, order: Ints, starts: Ints, sums: Floats, sizes: Floats, near: Ints, k: int
) -> None:
    """Dissolve groups into the ``near`` (groups, m) ones where that pays; others that were dissolved have no size.

    ``order`` and ``starts`` are the rows sorted by group. ``groups`` (n,), ``sums`` (groups, d) and ``sizes`` are
    kept up; a group that others have joined has records that are not in its list, and stays.
    """
    for g in range(len(starts) - 1):
        members = order[starts[g] : starts[g + 1]]
        if sizes[g] != len(members):
            continue
        saved, moved = 0.0, 0
        for row in members:
            best, least = -1, np.inf
            for b in near[g]:
                if b == g or sizes[b] == 0.0 or sizes[b] >= 2 * k - 1:
                    continue
                cost = 0.0
                for j in range(values.shape[1]):
                    cost += (values[row, j] - sums[b, j] / sizes[b]) ** 2
                cost *= sizes[b] / (sizes[b] + 1.0)
                if cost < least:
                    best, least = b, cost
            if best < 0:
                break
            saved += _move(values, row, g, best, sums, sizes)
            groups[row] = best
            moved += 1
        if moved < len(members) or saved <= _LEAST:
            for t in range(moved - 1, -1, -1):
                _move(values, members[t], groups[members[t]], g, sums, sizes)
                groups[members[t]] = g


@kernel
def _distil(
    pool: Pool,
    centres: Ints,
    near: NDArray[np.int32],
    counts: Ints,
    groups: Ints,
    sums: Floats,
    sizes: Floats,
    count: int,
    k: int,
    cells: Ints,
) -> None:
    """Form groups, numbered from ``count`` on, of records that their groups can spare, where that pays.

    A centre has its nearest records in the pool of all to choose from, more of them where too few can be spared.
    ``groups`` (n,), ``sums`` (room, d) and ``sizes`` are kept up, and so are ``near`` and ``counts`` of the
    :class:`Surroundings`.
    """
    values = pool.values
    widest = min(_WIDEST * k, len(groups))
    found, distances = np.empty(widest, np.int64), np.empty(widest)
    taken, homes = np.empty(k, np.int64), np.empty(k, np.int64)
    for number in range(len(counts)):
        if count == len(sizes) or cells[0] <= 0:
            return
        centre = centres[number]
        if sizes[groups[centre]] <= k:
            continue
        known = counts[number]
        for t in range(known):
            found[t] = near[number, t]
        saved, size, place, width = 0.0, 0, 0, known
        while size < k and place < widest:
            if place == width:  # what was found before are the first of these
                width = min(max(2 * width, k + k // 4 + 1), widest)
                nearest(pool, centre, width, found, distances)
                cells[0] -= _SEARCHING * width
            row = found[place]
            home = groups[row]
            place += 1
            if home == count or sizes[home] <= k:
                continue
            saved += _move(values, row, home, count, sums, sizes)
            taken[size], homes[size] = row, home
            groups[row] = count
            size += 1
        cells[0] -= _MOVING * size * values.shape[1]
        if known < width <= near.shape[1]:
            for t in range(known, width):
                near[number, t] = found[t]
            counts[number] = width
        if size == k and saved > _LEAST:
            count += 1
            continue
        for t in range(size - 1, -1, -1):
            _move(values, taken[t], count, homes[t], sums, sizes)
            groups[taken[t]] = homes[t]
        sums[count] = 0.0
