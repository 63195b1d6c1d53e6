"""Searching the neighbour index: nearest, farthest from a record, farthest from the moving centroid.

All bounds and first distances are in the scaled single precision of the tree. For scaled copies y of a record x
and q of a point p,

    | |y - q| - |x - p| / unit |  <=  e (|y| + |q|)      with e = 2^-24 for rounding the copies,

and a sum of d squares is off by at most d + 2 roundings. Thresholds are widened by that, so that nothing within
the exact threshold is passed over; what gets through is measured exactly. Roundings are no longer relative where
numbers are so small that digits are lost: thresholds are widened by that too. A point so far away that squares do
not fit has no useful copy, and every record is measured.

Nearest: the squared distance from q to a box sums the same terms in the same order as that to a record in it,
and rounding is monotone, so it is never larger.

Farthest: with R the largest length in a node, for every m > 0 and pole = -q / m

    |y - q|^2 <= (1 + m) R^2 + (1 + 1/m) |q|^2 - m |y - pole|^2 <= ... - m (distance from the pole to the box)^2

since |y - q|^2 + m |y - pole|^2 = (1 + m) |y|^2 + (1 + 1/m) |q|^2. In words: what is far from q is near to its
antipode. Box corners that stick out of the ball of the records cost nothing. m = 0 is the linear bound R^2 +
|q|^2 - 2 min q.y, better on skewed data; it is tried where the first does not settle the matter.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.selection import insert_nearest, sort_nearest
from shoal.kernels.tree import LEAF, LEVELS, Singles, TreePool

POLE = np.float32(0.75)  # m of the farthest bound; from 0.5 to 1 do about as well on normal data
VECTOR = 32  # single-precision numbers that the compiled loops take at a time; divides LEAF
_ROUNDING = 2.0**-23  # twice the rounding of a single-precision number
_LOST = 2.0**-120  # more than single precision loses of a square in few terms where numbers are too small for it
_LOST_EXACTLY = 2.0**-1070  # the same for double precision
_FAR = 1e30  # squared length of a point beyond which squared distances to records might not fit


# A pool passed to a function costs hundreds of nanoseconds: inner functions take the arrays that they need.


@kernel
def distance(pool: TreePool, a: int, b: int) -> float:
    """Squared distance of two records."""
    return exact_distance(pool.values, pool.values[a], b)


@kernel
def exact_distance(values: Floats, point: Floats, row: int) -> float:
    """Squared distance of a record to a point, summed in the order of the columns."""
    total = 0.0
    for j in range(point.shape[0]):
        t = values[row, j] - point[j]
        total += t * t
    return total


@kernel
def scale_point(point: Floats, centre: Floats, unit: float, out: Singles) -> float:
    """Scale a point as the records of the tree are; returns the squared length.

    That of a point which is too far away is infinite, and its copy in the centre: no bound leaves anything out then.
    """
    square = 0.0
    for j in range(point.shape[0]):
        out[j] = (point[j] - centre[j]) / unit
        square += np.float64(out[j]) ** 2
    if square > _FAR:
        out[:] = np.float32(0.0)
        return np.inf
    return square


@kernel
def doubt_of(radius: Singles, square: float) -> float:
    """By how much distances of scaled copies can be off, for nodes of these radii and a point of this length."""
    largest = np.float32(0.0)
    for r in radius:
        largest = r if r > largest else largest
    return _ROUNDING * (np.sqrt(np.float64(largest)) + np.sqrt(square))


@kernel
def within(distance: float, unit: float, doubt: float, d: int) -> np.float32:
    """Squared scaled distance that no record within a squared distance exceeds."""
    reach = np.sqrt(distance + d * _LOST_EXACTLY) / unit + doubt
    return np.float32(reach * reach * (1.0 + _ROUNDING * (d + 4)) + d * _LOST)


@kernel
def _beyond(distance: float, unit: float, doubt: float, d: int) -> np.float32:
    """Squared scaled distance that every record beyond a squared distance reaches."""
    reach = max(np.sqrt(max(distance - d * _LOST_EXACTLY, 0.0)) / unit - doubt, 0.0)
    return np.float32(reach * reach * (1.0 - _ROUNDING * (d + 4)) - d * _LOST)


@kernel
def leaf_distances(columns: Singles, leaf: int, count: int, point: Singles, out: Singles) -> None:
    """Squared distances of the slots of a leaf to a point; whole vectors, so more than ``count`` are written."""
    d = point.shape[0]
    width = (count + VECTOR - 1) // VECTOR * VECTOR
    for s in range(width):
        out[s] = np.float32(0.0)
    for j in range(d):
        start = (leaf * d + j) * LEAF
        column = columns[start : start + width]
        p = point[j]
        for s in range(width):
            t = column[s] - p
            out[s] += t * t


@kernel
def box_distances(low: Singles, high: Singles, start: int, fan: int, point: Singles, out: Singles) -> None:
    """Squared distances from a point to the boxes of siblings."""
    for f in range(fan):
        out[f] = np.float32(0.0)
    for j in range(point.shape[0]):
        lows = low[start + j * fan : start + (j + 1) * fan]
        highs = high[start + j * fan : start + (j + 1) * fan]
        p = point[j]
        for f in range(fan):
            below, above = lows[f] - p, p - highs[f]
            t = below if below > above else above
            t = t if t > np.float32(0.0) else np.float32(0.0)
            out[f] += t * t


@kernel
def nearest(pool: TreePool, row: int, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the ``count`` remaining records nearest to a record, nearest first."""
    nearly_nearest(pool, row, count, np.float32(1.0), rows, distances)


@kernel
def nearly_nearest(pool: TreePool, row: int, count: int, slack: np.float32, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` as :func:`nearest` does, but pass over boxes that are nearly as far.

    No record left out is nearer than the last one by more than the factor ``slack`` of squared distances, 1 or more.
    """
    home = pool.slots[pool.place_of[row]] // LEAF
    _nearest_from_leaf(pool, pool.values[row], home, count, slack, rows, distances)


@kernel
def nearest_to_point(pool: TreePool, point: Floats, count: int, rows: Ints, distances: Floats) -> None:
    """Fill ``rows`` and ``distances`` with the ``count`` remaining records nearest to a point, nearest first."""
    _nearest_from_leaf(pool, point, -1, count, np.float32(1.0), rows, distances)


@kernel
def _nearest_from_leaf(
    pool: TreePool, point: Floats, home: int, count: int, slack: np.float32, rows: Ints, distances: Floats
) -> None:
    """Search for the nearest, first in the leaf ``home`` where it is not -1, then from the root."""
    values, first, after, places = pool.values, pool.first, pool.after, pool.places
    scaled, chunk, columns, counts = pool.point, pool.chunk, pool.columns, pool.counts
    low, high, fans, boxes, path = pool.low, pool.high, pool.fans, pool.boxes, pool.path
    d, levels, unit = point.shape[0], pool.shape[LEVELS], pool.unit[0]
    for t in range(count):
        distances[t] = np.inf
        rows[t] = np.iinfo(np.int64).max
    square = scale_point(point, pool.centre, unit, scaled)
    doubt = doubt_of(pool.radius[pool.nodes[1] : pool.nodes[1] + fans[1]], square)
    limit = np.float32(np.inf)
    leaf, level = home, 0
    while True:
        width = counts[leaf] if leaf >= 0 else 0
        leaf_distances(columns, leaf, width, scaled, chunk)
        for s in range(width):
            if chunk[s] <= limit:
                other = first[places[leaf * LEAF + s]]
                exact = exact_distance(values, point, other)
                while other >= 0 and (
                    exact < distances[count - 1] or (exact == distances[count - 1] and other < rows[count - 1])
                ):
                    insert_nearest(exact, other, count, rows, distances)
                    other = after[other]
                    limit = within(distances[count - 1], unit, doubt, d)
        if level == 0:  # the home leaf has been looked at: now from the root
            level, path[1] = 1, 0
            box_distances(low, high, boxes[1], fans[1], scaled, pool.bounds[1])
        leaf = -1
        while leaf < 0 and level > 0:
            bounds, fan = pool.bounds[level], fans[level]
            child, least = 0, bounds[0]
            for f in range(1, fan):
                if bounds[f] < least:
                    child, least = f, bounds[f]
            if least * slack > limit or least == np.inf:
                level -= 1
                continue
            bounds[child] = np.inf
            node = path[level] * fan + child
            if level < levels:
                level += 1
                path[level] = node
                box_distances(low, high, boxes[level] + node * d * fans[level], fans[level], scaled, pool.bounds[level])
            elif node != home:
                leaf = node
        if leaf < 0:
            break
    sort_nearest(count, rows, distances)


@kernel
def _far_bounds(
    low: Singles,
    high: Singles,
    start: int,
    radius: Singles,
    point: Singles,
    pole: Singles,
    square: np.float32,
    limit: np.float32,
    linear: Singles,
    bounds: Singles,
) -> None:
    """Upper bounds of the squared distances to the places in siblings; rough where below the limit."""
    d, fan = point.shape[0], radius.shape[0]
    slack = np.float32(1.0 + _ROUNDING * (d + 8))
    box_distances(low, high, start, fan, pole, bounds)
    rest = (np.float32(1.0) + np.float32(1.0) / POLE) * square
    most = np.float32(-np.inf)
    for f in range(fan):
        bounds[f] = ((np.float32(1.0) + POLE) * radius[f] + rest) * slack - POLE * bounds[f]
        most = bounds[f] if bounds[f] > most else most
    if most < limit:
        return
    for f in range(fan):
        linear[f] = np.float32(0.0)
    for j in range(d):
        q, column = point[j], start + j * fan
        side = low[column : column + fan] if q > np.float32(0.0) else high[column : column + fan]
        for f in range(fan):
            linear[f] += q * side[f]
    # each product is at most half of the squares of its factors, and a side at most the radius: d^2 roundings in all
    slack += np.float32(_ROUNDING * d * d)
    for f in range(fan):
        flat = (radius[f] + square) * slack - np.float32(2.0) * linear[f]
        bounds[f] = flat if flat < bounds[f] else bounds[f]


@kernel
def _farthest_from_point(pool: TreePool, point: Floats) -> int:
    """Row of the remaining record farthest from a point; ties go to the lowest row."""
    values, first, places, columns, counts = pool.values, pool.first, pool.places, pool.columns, pool.counts
    scaled, pole, chunk, linear = pool.point, pool.pole, pool.chunk, pool.linear
    low, high, fans, boxes, path, nodes = pool.low, pool.high, pool.fans, pool.boxes, pool.path, pool.nodes
    d, levels, unit = point.shape[0], pool.shape[LEVELS], pool.unit[0]
    length = scale_point(point, pool.centre, unit, scaled)
    square = np.float32(length * (1.0 + _ROUNDING))
    for j in range(d):
        pole[j] = -scaled[j] / POLE
    best, best_row, limit = -1.0, -1, np.float32(-1.0)
    level, node = 1, 0
    path[1] = 0
    radius = pool.radius[nodes[1] : nodes[1] + fans[1]]
    doubt = doubt_of(radius, length)
    _far_bounds(low, high, boxes[1], radius, scaled, pole, square, limit, linear, pool.bounds[1])
    while level > 0:
        bounds, fan = pool.bounds[level], fans[level]
        child, most = 0, bounds[0]
        for f in range(1, fan):
            if bounds[f] > most:
                child, most = f, bounds[f]
        if most < limit or most == -np.inf:
            level -= 1
            continue
        bounds[child] = -np.inf
        node = path[level] * fan + child
        if level < levels:
            level += 1
            path[level], fan = node, fans[level]
            radius = pool.radius[nodes[level] + node * fan : nodes[level] + (node + 1) * fan]
            start = boxes[level] + node * d * fan
            _far_bounds(low, high, start, radius, scaled, pole, square, limit, linear, pool.bounds[level])
            continue
        leaf_distances(columns, node, counts[node], scaled, chunk)
        for s in range(counts[node]):
            if chunk[s] >= limit:
                row = first[places[node * LEAF + s]]
                exact = exact_distance(values, point, row)
                if exact > best or (exact == best and row < best_row):
                    best, best_row = exact, row
                    limit = _beyond(best, unit, doubt, d)
    return best_row


@kernel
def farthest(pool: TreePool, row: int) -> int:
    """Row of the remaining record farthest from a record."""
    return _farthest_from_point(pool, pool.values[row])


@kernel
def farthest_from_centroid(pool: TreePool) -> int:
    """Row of the remaining record farthest from the centroid of those that remain."""
    for j in range(pool.total.shape[0]):
        pool.centroid[j] = pool.total[j] / pool.size[0]
    return _farthest_from_point(pool, pool.centroid)
