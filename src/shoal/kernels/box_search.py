"""Searching the boxes of :mod:`shoal.kernels.box_tree`: the nearest records that remain, and the farthest.

What is found is what a look at every record finds. Ties go to the lowest number in ``ties``, which is the record's own
or the row that it stands for, and never below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.box_tree import BoxTree
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import NUMBER, TABLE, distance

_DEPTH = 64  # nodes of a way down that wait; twice as many levels as any tree has


@kernel(inline=True)
def _measured(tree: BoxTree, at: int, point: Floats) -> float:
    """Distance of a point from the record at a place, as it is compared."""
    if tree.centres:
        off = distance(point, tree.values[at], tree.metric)
    else:
        off = distance(tree.values[at], point, tree.metric)
    if tree.digits > 0.0:
        off = np.rint(off * tree.digits) / tree.digits
    return off * tree.factor[at]


@kernel(inline=True)
def _bound(tree: BoxTree, t: int, point: Floats, nearest: bool) -> float:
    """What no distance of a point from a record of a node is below, or above where the farthest is asked for."""
    metric = tree.metric
    total = 0.0
    for j in range(len(point)):
        x, low, high, gap = point[j], tree.low[t, j], tree.high[t, j], tree.gaps[t, j]
        cell = np.inf if nearest else 0.0
        if metric.kinds[j] == NUMBER:
            if np.isnan(x):
                off = 0.0
                if low <= high:
                    if nearest:
                        off = max(low - metric.mean[j], metric.mean[j] - high, 0.0)
                    else:
                        off = max(high - metric.mean[j], metric.mean[j] - low)
                    cell = np.sqrt(off * off + metric.deviation[j] * metric.deviation[j])
                if gap and nearest:
                    cell = 0.0
            else:
                if low <= high:
                    cell = max(low - x, x - high, 0.0) if nearest else max(high - x, x - low)
                if gap:
                    off = x - metric.mean[j]
                    there = np.sqrt(off * off + metric.deviation[j] * metric.deviation[j])
                    cell = min(cell, there) if nearest else max(cell, there)
        elif np.isnan(x):
            if low <= high:
                cell = 1.0
            if gap and nearest:
                cell = 0.0
        else:
            if metric.kinds[j] == TABLE and low <= high:
                code = tree.start[j] + int(x)
                cell = tree.least[t, code] / 256.0 if nearest else (tree.most[t, code] + 1.0) / 256.0
            elif low <= high and nearest:
                cell = 0.0 if low <= x <= high else 1.0
            elif low <= high:
                cell = 0.0 if low == x == high else 1.0
            if gap:
                cell = min(cell, 1.0) if nearest else max(cell, 1.0)
        total += metric.weights[j] * cell
    if tree.digits > 0.0:
        total = np.rint(total * tree.digits) / tree.digits
    return total * (tree.least_factor[t] if nearest else tree.most_factor[t])


@kernel
def nearest_in(tree: BoxTree, point: Floats, ties: Ints, skip: int, found: Ints, offs: Floats) -> int:
    """Write the nearest records that remain, nearest first, and how far they are; returns how many there were.

    As many as ``found`` has room for; ``skip`` is a record that is passed over, or -1.
    """
    most, count = len(found), 0
    waiting, bounds = np.empty(_DEPTH, np.int64), np.empty(_DEPTH)
    waiting[0], bounds[0], depth = 0, 0.0, 1
    if tree.left[0] == 0:
        return 0
    while depth > 0:
        depth -= 1
        t, bound = waiting[depth], bounds[depth]
        if count == most:
            worst = ties[found[most - 1]]
            if bound > offs[most - 1] or (bound == offs[most - 1] and tree.lowest[t] > worst):
                continue
        if 2 * t + 2 < len(tree.left):
            one, other = 2 * t + 1, 2 * t + 2
            near = _bound(tree, one, point, True) if tree.left[one] > 0 else np.inf
            far = _bound(tree, other, point, True) if tree.left[other] > 0 else np.inf
            if near > far:
                one, other, near, far = other, one, far, near
            if tree.left[other] > 0:
                waiting[depth], bounds[depth] = other, far
                depth += 1
            if tree.left[one] > 0:
                waiting[depth], bounds[depth] = one, near
                depth += 1
            continue
        for at in range(tree.first[t], tree.last[t]):
            row = tree.rows[at]
            if not tree.here[at] or row == skip:
                continue
            off = _measured(tree, at, point)
            if count == most:
                if off > offs[most - 1] or (off == offs[most - 1] and ties[row] > ties[found[most - 1]]):
                    continue
            else:
                count += 1
            q = count - 1
            while q > 0 and (off < offs[q - 1] or (off == offs[q - 1] and ties[row] < ties[found[q - 1]])):
                offs[q], found[q] = offs[q - 1], found[q - 1]
                q -= 1
            offs[q], found[q] = off, row
    return count


@kernel
def farthest_in(tree: BoxTree, point: Floats, ties: Ints) -> int:
    """Return the record that remains which is farthest from a point; -1 where none does."""
    best, most = -1, -np.inf
    waiting, bounds = np.empty(_DEPTH, np.int64), np.empty(_DEPTH)
    waiting[0], bounds[0], depth = 0, np.inf, 1
    if tree.left[0] == 0:
        return -1
    while depth > 0:
        depth -= 1
        t, bound = waiting[depth], bounds[depth]
        if best >= 0 and (bound < most or (bound == most and tree.lowest[t] > ties[best])):
            continue
        if 2 * t + 2 < len(tree.left):
            one, other = 2 * t + 1, 2 * t + 2
            far = _bound(tree, one, point, False) if tree.left[one] > 0 else -np.inf
            near = _bound(tree, other, point, False) if tree.left[other] > 0 else -np.inf
            if far < near:
                one, other, far, near = other, one, near, far
            if tree.left[other] > 0:
                waiting[depth], bounds[depth] = other, near
                depth += 1
            if tree.left[one] > 0:
                waiting[depth], bounds[depth] = one, far
                depth += 1
            continue
        for at in range(tree.first[t], tree.last[t]):
            if not tree.here[at]:
                continue
            row, off = tree.rows[at], _measured(tree, at, point)
            if best < 0 or off > most or (off == most and ties[row] < ties[best]):
                best, most = int(row), off
    return best


class Ranking(NamedTuple):
    """Records by their distance from a centre of some time ago, farthest first.

    The centre of what remains moves little when a group leaves, and no distance changes by more than it has moved: the
    farthest record is among the first. Boxes do not help there: as the outermost records leave, all that are left at
    the surface are about as far.

    Attributes
    ----------
    order : int64 (m,), off : float64 (m,)
        Records, and how far they were, multiplied by their factors.
    centre : float64 (d,)
        From where; NaN in ``off[0]`` says that nothing was measured yet.
    state : int64 (3,)
        How many there are, the first that may remain, and how many were looked at since they were measured.
    """

    order: Ints
    off: Floats
    centre: Floats
    state: Ints


@kernel
def open_ranking(m: int, d: int) -> Ranking:
    """Return a ranking for which nothing was measured yet."""
    return Ranking(np.arange(m), np.full(m, np.nan), np.zeros(d), np.zeros(3, np.int64))


@kernel
def farthest_from_centre(tree: BoxTree, ranking: Ranking, centre: Floats, ties: Ints) -> int:
    """Return the record that remains which is farthest from the centre of all that do."""
    order, off, state, metric = ranking.order, ranking.off, ranking.state, tree.metric
    moved = 0.0
    for j in range(len(centre)):
        now, then = centre[j], ranking.centre[j]
        if now == then or (np.isnan(now) and np.isnan(then)):
            continue
        moved += metric.weights[j] * abs(now - then) if metric.kinds[j] == NUMBER else np.inf
    if np.isnan(off[0]) or not moved < np.inf or state[2] > 4 * state[0] + 64:
        count = 0
        for at in range(len(tree.rows)):
            if tree.here[at]:
                order[count], off[count] = tree.rows[at], -_measured(tree, at, centre)
                count += 1
        by_off = np.argsort(off[:count], kind="mergesort")
        order[:count], off[:count] = order[:count][by_off], -off[:count][by_off]
        ranking.centre[:] = centre
        state[0], state[1], state[2], moved = count, 0, 0, 0.0
    while state[1] < state[0] and not tree.here[tree.places[order[state[1]]]]:
        state[1] += 1
    slack = (moved * tree.most_factor[0]) * (1.0 + 1e-9) + 1e-11  # and what rounding to digits adds
    best, most = -1, -np.inf
    for a in range(state[1], state[0]):
        if off[a] + slack + 1e-9 * abs(off[a]) < most:
            break
        state[2] += 1
        at = tree.places[order[a]]
        if tree.here[at]:
            here = _measured(tree, at, centre)
            if here > most or (here == most and ties[order[a]] < ties[best]):
                best, most = order[a], here
    return int(best)
