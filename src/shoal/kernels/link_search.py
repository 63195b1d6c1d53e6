"""Record linkage: whether any released record is nearer to an original record than its own.

The distance to its own released record is known before the search begins, so that a search only has to find one
record that is nearer, or to show that there is none: it looks at what is within that distance and stops at the
first that is nearer. Released records are given once each, with the number of their copies.

Squared distances that differ by less than a part in 10^9 are ties: rounding does not decide who is nearer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.tree import LEAF, LEVELS, Singles, TreePool
from shoal.kernels.tree_search import box_distances, doubt_of, exact_distance, leaf_distances, scale_point, within

DONE, STOP = 0, 1  # places in a watch
_LEVELS = 16
_TIE = 1e-9


class _Asked(NamedTuple):
    """A question: the numbers and categories of an original record, the right released record, and how far that is."""

    point: Floats
    codes: Ints
    right: int
    best: float
    limit: np.float32


class _Room(NamedTuple):
    """Where a search keeps the scaled point, the distances in a leaf, and the bounds and nodes on its way."""

    scaled: Singles
    chunk: Singles
    bounds: Singles
    path: Ints


@kernel
def link_in_tree(
    pool: TreePool,
    points: Floats,
    point_codes: Ints,
    codes: Ints,
    expected: Floats,
    own: Ints,
    copies: Ints,
    watch: Ints,
) -> Floats:
    """Chance that an intruder who takes the nearest released record takes the right one, for each original record.

    ``points`` (q, a) and ``point_codes`` (q, b) are the numbers and categories of the original records. ``pool`` holds
    the numbers of the released records and ``codes`` (m, b) their categories, each combination once; ``own`` (q,) is
    the row of the right one, ``copies`` (m,) how many released records each stands for, ``expected`` (b,) what a
    category adds that is missing in one record. Categories only add to a distance, so that the tree of the numbers
    bounds it. Ties share the link. The pool is only read, so that threads
    can share it.
    """
    ties = ties_in_tree(pool, points, point_codes, codes, expected, own, copies, watch)
    chances = np.zeros(len(ties))
    for i in range(len(ties)):
        if ties[i] > 0:
            chances[i] = 1.0 / ties[i]
    return chances


@kernel
def ties_in_tree(
    pool: TreePool,
    points: Floats,
    point_codes: Ints,
    codes: Ints,
    expected: Floats,
    own: Ints,
    copies: Ints,
    watch: Ints,
) -> Ints:
    """How many released records are as near to each original record as the right one; -1 where one is nearer.

    The arguments are those of :func:`link_in_tree`. A released record of no copies may make another lose, but is not
    counted: it is among those that are looked at elsewhere.
    """
    q, a = points.shape
    d = a + codes.shape[1]
    found = np.full(q, -1)
    radius = pool.radius[pool.nodes[1] : pool.nodes[1] + pool.fans[1]]
    room = _Room(
        np.empty(a, np.float32),
        np.empty(LEAF, np.float32),
        np.empty((_LEVELS, LEAF), np.float32),
        np.zeros(_LEVELS, np.int64),
    )
    for i in range(q):
        if watch[STOP]:
            break
        watch[DONE] += 1
        point, right = points[i], own[i]
        best = _with_categories(exact_distance(pool.values, point, right), point_codes[i], codes[right], expected)
        if best == 0.0 and d == a:
            found[i] = copies[right]
            continue
        square = scale_point(point, pool.centre, pool.unit[0], room.scaled)
        limit = within(best * (1.0 + _TIE), pool.unit[0], doubt_of(radius, square), a)
        asked = _Asked(point, point_codes[i], right, best, limit)
        found[i] = _ties_in_tree(pool, codes, expected, copies, asked, room)
    return found


@kernel(inline=True)  # from its only caller; so that the views it takes cost nothing
def _ties_in_tree(pool: TreePool, codes: Ints, expected: Floats, copies: Ints, asked: _Asked, room: _Room) -> int:
    """How many released records are as near as the right one; -1 where one is nearer."""
    point, right, best, limit = asked.point, asked.right, asked.best, asked.limit
    first, after, places, counts = pool.first, pool.after, pool.places, pool.counts
    low, high, fans, boxes = pool.low, pool.high, pool.fans, pool.boxes
    scaled, chunk, bounds, path = room.scaled, room.chunk, room.bounds, room.path
    a, levels, home = len(point), pool.shape[LEVELS], pool.slots[pool.place_of[right]] // LEAF
    leaf, level, ties = home, 0, copies[right]
    while leaf >= 0:
        leaf_distances(pool.columns, leaf, counts[leaf], scaled, chunk)
        for s in range(counts[leaf]):
            if chunk[s] <= limit:
                other = first[places[leaf * LEAF + s]]
                numbers = exact_distance(pool.values, point, other)
                while other >= 0:
                    away = _with_categories(numbers, asked.codes, codes[other], expected)
                    if away < best * (1.0 - _TIE):
                        return -1
                    if away <= best * (1.0 + _TIE) and other != right:
                        ties += copies[other]
                    other = after[other]
        if level == 0:
            level, path[1] = 1, 0
            box_distances(low, high, boxes[1], fans[1], scaled, bounds[1])
        leaf = -1
        while leaf < 0 and level > 0:
            fan = fans[level]
            child, least = 0, bounds[level, 0]
            for f in range(1, fan):
                if bounds[level, f] < least:
                    child, least = f, bounds[level, f]
            if least > limit or least == np.inf:
                level -= 1
                continue
            bounds[level, child] = np.inf
            node = path[level] * fan + child
            if level < levels:
                level += 1
                path[level] = node
                start = boxes[level] + node * a * fans[level]
                box_distances(low, high, start, fans[level], scaled, bounds[level])
            elif node != home:
                leaf = node
    return ties


@kernel
def _with_categories(numbers: float, x: Ints, y: Ints, expected: Floats) -> float:
    """Squared distance of two records whose numbers are ``numbers`` apart: each category that differs adds 1.

    One that is missing in one of them adds what is to be expected.
    """
    total = numbers
    for j in range(len(x)):
        if x[j] >= 0 and y[j] >= 0:
            total += 1.0 if x[j] != y[j] else 0.0
        elif x[j] >= 0 or y[j] >= 0:
            total += expected[j]
    return total


@kernel
def link_by_looking(
    points: Floats,
    point_codes: Ints,
    values: Floats,
    codes: Ints,
    expected: Floats,
    own: Ints,
    copies: Ints,
    starts: Ints,
    blocks: Ints,
    watch: Ints,
) -> Floats:
    """The same chances by looking at every released record, inside blocks.

    ``points`` (q, a) and ``point_codes`` (q, b) are the original records, ``values`` (m, a) and ``codes`` (m, b) the
    distinct released ones, sorted by block: those of block t are from ``starts[t]`` to ``starts[t + 1]``, and
    ``blocks`` (q,) says where to look for each point. Where the right record is in another block, the link fails.
    """
    q = len(points)
    chances = np.zeros(q)
    for i in range(q):
        if watch[STOP]:
            break
        watch[DONE] += 1
        block, right = blocks[i], own[i]
        if right < starts[block] or right >= starts[block + 1]:
            continue
        best = _distance(points[i], point_codes[i], values[right], codes[right], expected, np.inf)
        ties, farthest = copies[right], best * (1.0 + _TIE)
        for other in range(starts[block], starts[block + 1]):
            if other == right:
                continue
            away = _distance(points[i], point_codes[i], values[other], codes[other], expected, farthest)
            if away < best * (1.0 - _TIE):
                ties = 0
                break
            if away <= farthest:
                ties += copies[other]
        if ties > 0:
            chances[i] = 1.0 / ties
    return chances


@kernel
def _distance(x: Floats, x_codes: Ints, y: Floats, y_codes: Ints, expected: Floats, limit: float) -> float:
    """Squared distance of two records; may stop as soon as it is above the limit."""
    total = 0.0
    for j in range(len(x)):
        t = x[j] - y[j]
        total += t * t
        if total > limit:  # categories only add to it
            return total
    return _with_categories(total, x_codes, y_codes, expected)
