"""The neighbour index: a pool of complete records in a k-d tree whose boxes shrink as records leave.

Answers are those of the brute-force pool, ties included; searching is in :mod:`shoal.kernels.tree_search`.

The tree is wide: six binary levels of median cuts are one node of 64 children, and a leaf holds up to 64
places, column by column, so that bounds and distances are computed for many children or places at once in
vector registers. It holds single precision copies, centred and scaled to at most 1, which need half the memory
traffic; they only say where to look, and what they let through is measured exactly.

Equal records share one place, whose rows are a linked list, lowest first: a million copies of one record are a
single point to the search.

When half of the places have left, the tree is built anew: n log n in all. Memory O(d n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.equal_records import find_equal
from shoal.kernels.selection import select_rank

Singles = NDArray[np.float32]

LEAF = 64  # places in a leaf
FAN = 64  # children of a node
FAN_BITS = 6
_SAMPLE = 128  # places looked at to find the widest column of a node
_LEVELS = 8  # more than any table needs
LEVELS, LEAVES, PLACES, BUILT = range(4)  # what pool.shape holds


class TreePool(NamedTuple):
    """Complete records that have no group yet, in a tree.

    Level 0 is the root, level ``shape[LEVELS]`` the leaves. The children of a node are next to each other. The boxes of
    siblings are stored column by column: column j of the children of node p on level t - 1 starts at
    ``boxes[t] + (p * d + j) * fans[t]``.

    Attributes
    ----------
    values : float64 (n, d)
        The records by row number; never changed.
    size : int64 (1,)
        How many records remain.
    total : float64 (d,)
        Sum of the records that remain.
    shape : int64 (4,)
        Levels, leaves, places that remain, and how many there were when the tree was built.
    place_of : int64 (n,)
        Place of each row; equal records have the same.
    first, after, before : int64
        First remaining row of each place; next and previous row of each row at its place, or -1.
    slots : int64 (places,)
        Slot of each place in the leaves, ``leaf * LEAF + s``. That of a place that has left is the first of the leaf
        it was in, and -1 once the tree has been built anew without it.
    fans, nodes, boxes : int64 (levels,)
        Of each level: children per parent, and where its nodes and boxes start in the arrays below.
    low, high : float32
        Boxes of the nodes.
    radius : float32
        Largest squared length within each node; minus infinity where it is empty.
    counts : int64
        Places that remain in each leaf.
    columns : float32 (leaves * d * LEAF,)
        Scaled records of the leaves, column by column.
    squares : float32 (leaves * LEAF,)
        Squared length of each slot.
    places : int64 (leaves * LEAF,)
        Place in each slot.
    centre, unit : float64 (d,), (1,)
        Scaled records are ``(x - centre) / unit``.
    order, keys, path, bounds, linear, chunk, point, pole, centroid
        Working space of building and searching.
    """

    values: Floats
    size: Ints
    total: Floats
    shape: Ints
    place_of: Ints
    first: Ints
    after: Ints
    before: Ints
    slots: Ints
    fans: Ints
    nodes: Ints
    boxes: Ints
    low: Singles
    high: Singles
    radius: Singles
    counts: Ints
    columns: Singles
    squares: Singles
    places: Ints
    centre: Floats
    unit: Floats
    order: Ints
    keys: Floats
    path: Ints
    bounds: Singles
    linear: Singles
    chunk: Singles
    point: Singles
    pole: Singles
    centroid: Floats


def open_tree_pool(values: Floats) -> TreePool:
    """Put all records, a (n, d) array, into a pool."""
    n, d = values.shape
    place_of, first, after, before = find_equal(values)
    places = len(first)
    leaves = 1 << _depth(places)
    nodes = 2 * leaves + FAN
    pool = TreePool(
        values=values,
        size=np.array([n]),
        total=values.sum(axis=0),
        shape=np.array([0, 0, places, places]),
        place_of=place_of,
        first=first,
        after=after,
        before=before,
        slots=np.empty(places, np.int64),
        fans=np.ones(_LEVELS, np.int64),
        nodes=np.zeros(_LEVELS, np.int64),
        boxes=np.zeros(_LEVELS, np.int64),
        low=np.empty(nodes * d, np.float32),
        high=np.empty(nodes * d, np.float32),
        radius=np.empty(nodes, np.float32),
        counts=np.zeros(leaves, np.int64),
        columns=np.zeros(leaves * d * LEAF, np.float32),
        squares=np.zeros(leaves * LEAF, np.float32),
        places=np.zeros(leaves * LEAF, np.int64),
        centre=np.empty(d),
        unit=np.empty(1),
        order=np.arange(places),
        keys=np.empty(places),
        path=np.zeros(_LEVELS, np.int64),
        bounds=np.empty((_LEVELS, FAN), np.float32),
        linear=np.empty(FAN, np.float32),
        chunk=np.empty(LEAF, np.float32),
        point=np.empty(d, np.float32),
        pole=np.empty(d, np.float32),
        centroid=np.empty(d),
    )
    build(pool, places)
    return pool


@kernel
def _depth(places: int) -> int:
    """Binary levels of the tree: at least one, and leaves of at most LEAF places."""
    depth = 1
    while ((places - 1) >> depth) + 1 > LEAF:
        depth += 1
    return depth


@kernel
def build(pool: TreePool, places: int) -> None:
    """Build the tree over the places in ``order[:places]``."""
    d = pool.values.shape[1]
    depth = _depth(places)
    leaves = 1 << depth
    levels = (depth + FAN_BITS - 1) // FAN_BITS
    pool.shape[LEVELS], pool.shape[LEAVES], pool.shape[PLACES], pool.shape[BUILT] = levels, leaves, places, places
    nodes, width = 0, 1
    for level in range(1, levels + 1):
        fan = 1 << (depth - FAN_BITS * (levels - 1)) if level == 1 else FAN
        width *= fan
        pool.fans[level], pool.nodes[level], pool.boxes[level] = fan, nodes, nodes * d
        nodes += width
    pool.slots[:] = -1
    _centre(pool, places)
    reach = 0.0
    for a in range(places):
        row = pool.first[pool.order[a]]
        for j in range(d):
            reach = max(reach, abs(pool.values[row, j] - pool.centre[j]))
    pool.unit[0] = 2.0 ** np.ceil(np.log2(reach)) if reach > 0.0 else 1.0
    _cut(pool, places, depth)
    _fill_leaves(pool, places, leaves)
    for level in range(levels, 0, -1):
        for node in range(1 << (depth - FAN_BITS * (levels - level))):
            _measure(pool, level, node)


@kernel
def _centre(pool: TreePool, places: int) -> None:
    """Put the centre of the copies where the records of ``order[:places]`` are.

    It is their centroid; after records have left that were larger by many digits, the sum of the others is made of
    rounding, and the nearest place within their box is taken.
    """
    for j in range(pool.values.shape[1]):
        low, high = np.inf, -np.inf
        for a in range(places):
            x = pool.values[pool.first[pool.order[a]], j]
            low, high = min(low, x), max(high, x)
        pool.centre[j] = min(max(pool.total[j] / pool.size[0], low), high)


@kernel
def _cut(pool: TreePool, places: int, depth: int) -> None:
    """Sort ``order[:places]`` into leaves by cutting at the median of the widest column, level by level."""
    d = pool.values.shape[1]
    leaves = 1 << depth
    low, high = np.empty(d), np.empty(d)
    for level in range(depth):
        span = leaves >> level
        for node in range(1 << level):
            start, stop = places * (node * span) // leaves, places * ((node + 1) * span) // leaves
            middle = places * (node * span + span // 2) // leaves
            if stop - start < 2:
                continue
            low[:] = np.inf
            high[:] = -np.inf
            # every place would be as good, and slower: the cut only has to be sensible
            for a in range(start, stop, max(1, (stop - start) // _SAMPLE)):
                row = pool.first[pool.order[a]]
                for j in range(d):
                    x = pool.values[row, j]
                    low[j] = x if x < low[j] else low[j]
                    high[j] = x if x > high[j] else high[j]
            widest = np.argmax(high - low)
            for a in range(start, stop):
                pool.keys[a] = pool.values[pool.first[pool.order[a]], widest]
            select_rank(pool.keys, pool.order, start, stop - 1, middle)


@kernel
def _fill_leaves(pool: TreePool, places: int, leaves: int) -> None:
    """Copy the records of ``order[:places]`` into the leaves."""
    d = pool.values.shape[1]
    for leaf in range(leaves):
        start, stop = places * leaf // leaves, places * (leaf + 1) // leaves
        pool.counts[leaf] = stop - start
        for s in range(stop - start):
            place = pool.order[start + s]
            square = np.float32(0.0)
            for j in range(d):
                x = np.float32((pool.values[pool.first[place], j] - pool.centre[j]) / pool.unit[0])
                pool.columns[(leaf * d + j) * LEAF + s] = x
                square += x * x
            pool.places[leaf * LEAF + s] = place
            pool.squares[leaf * LEAF + s] = square
            pool.slots[place] = leaf * LEAF + s


@kernel
def box_at(start: int, fan: int, d: int, node: int) -> int:
    """Where the first column of a node's box is, on a level whose boxes begin at ``start``."""
    return start + (node // fan) * d * fan + node % fan


@kernel
def _measure(pool: TreePool, level: int, node: int) -> None:
    """Take box and radius of a node from what is in it: the slots of a leaf, or the children."""
    d, fan = pool.values.shape[1], pool.fans[level]
    at = box_at(pool.boxes[level], fan, d, node)
    for j in range(d):
        if level == pool.shape[LEVELS]:
            start = (node * d + j) * LEAF
            pool.low[at + j * fan] = least(pool.columns, start, start + pool.counts[node])
            pool.high[at + j * fan] = most(pool.columns, start, start + pool.counts[node])
        else:
            below = pool.fans[level + 1]
            start = pool.boxes[level + 1] + (node * d + j) * below
            pool.low[at + j * fan] = least(pool.low, start, start + below)
            pool.high[at + j * fan] = most(pool.high, start, start + below)
    pool.radius[pool.nodes[level] + node] = _largest_square(pool, level, node)


@kernel
def _largest_square(pool: TreePool, level: int, node: int) -> np.float32:
    """Largest squared length within a node, from what is in it."""
    if level == pool.shape[LEVELS]:
        return most(pool.squares, node * LEAF, node * LEAF + pool.counts[node])
    below = pool.fans[level + 1]
    child = pool.nodes[level + 1] + node * below
    return most(pool.radius, child, child + below)


@kernel
def least(x: Singles, start: int, stop: int) -> np.float32:
    """Smallest of some numbers; infinity where there are none."""
    best = np.float32(np.inf)
    for y in x[start:stop]:
        best = y if y < best else best
    return best


@kernel
def most(x: Singles, start: int, stop: int) -> np.float32:
    """Largest of some numbers; minus infinity where there are none."""
    best = np.float32(-np.inf)
    for y in x[start:stop]:
        best = y if y > best else best
    return best


@kernel
def remove(pool: TreePool, row: int) -> None:
    """Take a record out of the pool; when it was the last at its place, the boxes that rest on it shrink."""
    for j in range(pool.values.shape[1]):
        pool.total[j] -= pool.values[row, j]
    pool.size[0] -= 1
    place, after, before = pool.place_of[row], pool.after[row], pool.before[row]
    if after >= 0:
        pool.before[after] = before
    if before >= 0:
        pool.after[before] = after
    elif after >= 0:
        pool.first[place] = after
    else:
        _remove_place(pool, place)


@kernel
def _remove_place(pool: TreePool, place: int) -> None:
    """Take a place out of its leaf; the tree is built anew when half of its places have left."""
    d = pool.values.shape[1]
    slot = pool.slots[place]
    leaf = slot // LEAF
    last = pool.counts[leaf] - 1
    pool.counts[leaf] = last
    pool.shape[PLACES] -= 1
    moved = pool.places[leaf * LEAF + last]
    square = pool.squares[slot]
    pool.places[slot], pool.squares[slot] = moved, pool.squares[leaf * LEAF + last]
    pool.slots[moved] = slot
    pool.slots[place] = leaf * LEAF  # where to look first when it is asked about again
    rebuild = pool.shape[PLACES] <= pool.shape[BUILT] // 2 and pool.shape[BUILT] > 2 * LEAF
    fan = pool.fans[pool.shape[LEVELS]]
    at = box_at(pool.boxes[pool.shape[LEVELS]], fan, d, leaf)
    for j in range(d):
        start = (leaf * d + j) * LEAF
        x = pool.columns[start + slot % LEAF]
        pool.columns[start + slot % LEAF] = pool.columns[start + last]
        if rebuild:
            continue
        if x == pool.low[at + j * fan]:
            new = least(pool.columns, start, start + last)
            _shrink(pool.low, pool.fans, pool.boxes, pool.shape[LEVELS], d, leaf, j, x, new)
        if x == pool.high[at + j * fan]:
            new = most(pool.columns, start, start + last)
            _shrink(pool.high, pool.fans, pool.boxes, pool.shape[LEVELS], d, leaf, j, x, new)
    if rebuild:
        _rebuild(pool)
        return
    node = leaf
    for level in range(pool.shape[LEVELS], 0, -1):
        if pool.radius[pool.nodes[level] + node] != square:
            return
        pool.radius[pool.nodes[level] + node] = _largest_square(pool, level, node)
        node //= pool.fans[level]


@kernel
def _shrink(
    sides: Singles, fans: Ints, boxes: Ints, levels: int, d: int, leaf: int, j: int, old: np.float32, new: np.float32
) -> None:
    """Move one side of a leaf's box from old to new, and that of the nodes above as far as they rested on it."""
    node = leaf
    for level in range(levels, 0, -1):
        fan = fans[level]
        at = box_at(boxes[level], fan, d, node) + j * fan
        if sides[at] != old or new == old:
            return
        sides[at] = new
        node //= fan
        start = boxes[level] + (node * d + j) * fan
        new = least(sides, start, start + fan) if new > old else most(sides, start, start + fan)


@kernel
def _rebuild(pool: TreePool) -> None:
    """Build the tree anew over the places that remain."""
    places = 0
    for leaf in range(pool.shape[LEAVES]):
        for s in range(pool.counts[leaf]):
            pool.order[places] = pool.places[leaf * LEAF + s]
            places += 1
    build(pool, places)
