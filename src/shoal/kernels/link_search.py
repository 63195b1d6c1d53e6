"""Record linkage: whether any released record is nearer to an original record than its own.

The distance to its own released record is known before the search begins, so that a search only has to find one
record that is nearer, or to show that there is none: it looks at what is within that distance and stops at the
first that is nearer. Released records are given once each, with the number of their copies.

Squared distances that differ by less than a part in 10^9 are ties: rounding does not decide who is nearer.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.tree import LEAF, LEVELS, Singles, TreePool
from shoal.kernels.tree_search import box_distances, doubt_of, exact_distance, leaf_distances, scale_point, within

DONE, STOP = 0, 1  # places in a watch
_LEVELS = 16
_TIE = 1e-9


@kernel
def link_in_tree(pool: TreePool, points: Floats, own: Ints, copies: Ints, watch: Ints) -> Floats:
    """Chance that an intruder who takes the nearest released record takes the right one, for each point (q, d).

    ``pool`` holds the distinct released records, ``own`` (q,) the right one of each point, ``copies`` how many
    released records each stands for. Ties share the link. The pool is only read, so that threads can share it.
    """
    q, d = points.shape
    chances = np.zeros(q)
    shape, values, slots, places = pool.shape, pool.values, pool.slots, pool.places
    columns, counts, low, high = pool.columns, pool.counts, pool.low, pool.high
    fans, boxes, unit, centre = pool.fans, pool.boxes, pool.unit[0], pool.centre
    radius = pool.radius[pool.nodes[1] : pool.nodes[1] + fans[1]]
    scaled, chunk = np.empty(d, np.float32), np.empty(LEAF, np.float32)
    bounds, path = np.empty((_LEVELS, LEAF), np.float32), np.zeros(_LEVELS, np.int64)
    for i in range(q):
        if watch[STOP]:
            break
        watch[DONE] += 1
        point, right = points[i], own[i]
        best = exact_distance(values, point, right)
        if best == 0.0:
            chances[i] = 1.0 / copies[right]
            continue
        square = scale_point(point, centre, unit, scaled)
        limit = within(best * (1.0 + _TIE), unit, doubt_of(radius, square), d)
        ties = _ties_in_tree(
            values, point, right, best, limit, copies, shape[LEVELS], slots, places, columns, counts, low, high, fans,
            boxes, scaled, chunk, bounds, path,
        )  # fmt: skip
        if ties > 0:
            chances[i] = 1.0 / ties
    return chances


@kernel
def _ties_in_tree(
    values: Floats,
    point: Floats,
    right: int,
    best: float,
    limit: np.float32,
    copies: Ints,
    levels: int,
    slots: Ints,
    places: Ints,
    columns: Singles,
    counts: Ints,
    low: Singles,
    high: Singles,
    fans: Ints,
    boxes: Ints,
    scaled: Singles,
    chunk: Singles,
    bounds: Singles,
    path: Ints,
) -> int:
    """How many released records are exactly as near as the right one; 0 where one is nearer."""
    d = point.shape[0]
    home = slots[right] // LEAF
    leaf, level, ties = home, 0, copies[right]
    while leaf >= 0:
        leaf_distances(columns, leaf, counts[leaf], scaled, chunk)
        for s in range(counts[leaf]):
            if chunk[s] <= limit:
                other = places[leaf * LEAF + s]
                if other != right:
                    away = exact_distance(values, point, other)
                    if away < best * (1.0 - _TIE):
                        return 0
                    if away <= best * (1.0 + _TIE):
                        ties += copies[other]
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
                start = boxes[level] + node * d * fans[level]
                box_distances(low, high, start, fans[level], scaled, bounds[level])
            elif node != home:
                leaf = node
    return ties


@kernel
def link_by_looking(
    points: Floats,
    points_seen: Flags,
    point_codes: Ints,
    values: Floats,
    values_seen: Flags,
    codes: Ints,
    own: Ints,
    copies: Ints,
    starts: Ints,
    blocks: Ints,
    watch: Ints,
) -> Floats:
    """The same chances for numbers and categories with missing values, by looking at every released record.

    ``points``, ``points_seen`` (q, a) and ``point_codes`` (q, b) are the original records, ``values``, ``values_seen``
    (m, a) and ``codes`` (m, b) the distinct released ones, sorted by block: those of block t are from ``starts[t]`` to
    ``starts[t + 1]``, and ``blocks`` (q,) says where to look for each point. Where the right record is in another
    block, the link fails.
    """
    q, a = points.shape
    d = a + point_codes.shape[1]
    chances = np.zeros(q)
    for i in range(q):
        if watch[STOP]:
            break
        watch[DONE] += 1
        block, right = blocks[i], own[i]
        if right < starts[block] or right >= starts[block + 1]:
            continue
        best = _mixed(
            points[i], points_seen[i], point_codes[i], values[right], values_seen[right], codes[right], d, np.inf
        )
        ties, farthest = copies[right], best * (1.0 + _TIE)
        for other in range(starts[block], starts[block + 1]):
            if other == right:
                continue
            away = _mixed(
                points[i], points_seen[i], point_codes[i], values[other], values_seen[other], codes[other], d, farthest
            )
            if away < best * (1.0 - _TIE):
                ties = 0
                break
            if away <= farthest:
                ties += copies[other]
        if ties > 0:
            chances[i] = 1.0 / ties
    return chances


@kernel
def _mixed(
    x: Floats, x_seen: Flags, x_codes: Ints, y: Floats, y_seen: Flags, y_codes: Ints, d: int, limit: float
) -> float:
    """Squared distance of two records of d columns: over those that both have, scaled up to all; categories 0 or 1.

    May stop as soon as it is above the limit. Nothing in common is 2 d, as for the partition methods.
    """
    total, common = 0.0, 0
    for j in range(len(x)):
        if x_seen[j] and y_seen[j]:
            t = x[j] - y[j]
            total += t * t
            common += 1
            if total > limit:  # scaling up only adds to it
                return total
    for j in range(len(x_codes)):
        if x_codes[j] >= 0 and y_codes[j] >= 0:
            total += 1.0 if x_codes[j] != y_codes[j] else 0.0
            common += 1
    if common == 0:
        return 2.0 * d
    return total if common == d else total * d / common
