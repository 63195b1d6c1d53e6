"""The neighbour index of records of any kind: boxes in a binary tree, exact for every distance of columns.

A box has the range of each column of numbers, the least and the largest distance of its categories from each code, and
whether any of its cells is missing. So the distance of a point from a box is known column by column. No triangle
inequality is used, which the distance of Wu and Palmer does not keep. Bounds are added up as distances are, column by
column, and rounding is monotone: a bound is never above a distance by rounding, so that what is found is what a look at
every record finds, to the last bit.

The tree is cut at medians, each time along the column in which pairs of records are farthest apart; boxes shrink as
records leave. Cost: O(d m log m + c m) to build for c codes, O(d + c) a level for a record that leaves, O(m (d + c) /
leaf) memory; a search costs what it cannot rule out. Searching is in :mod:`shoal.kernels.box_search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import TABLE, Metric, cell_distance

Steps = NDArray[np.uint8]

_LEAF = 16  # records of a leaf, about
_CELLS = 1 << 28  # distances from codes that all boxes may hold; leaves are larger where there would be more
_WORTH = 2500  # records from which a search of the tree is faster than a look at all


class BoxTree(NamedTuple):
    """Records in boxes.

    Node 0 is the root, and the children of node t are 2 t + 1 and 2 t + 2; the records of a node are a run of places.

    Attributes
    ----------
    values : float64 (m, d)
        The records by place.
    rows, places : int64 (m,)
        Number of the record at each place, and place of each record.
    low, high : float64 (nodes, d)
        Range of the numbers, or of codes that are equal or not, in each node; low is above high where all are missing.
    gaps : bool (nodes, d)
        Whether a cell of the column is missing in the node.
    first, last : int64 (nodes,)
        Place of the first record of each node, and behind its last.
    left : int64 (nodes,)
        Records of each node that remain.
    lowest : int64 (nodes,)
        Lowest number of a record in the node that remains.
    least_factor, most_factor : float64 (nodes,)
        Of the factors that distances from its records are multiplied by.
    factor : float64 (m,)
        That of each place.
    here : bool (m,)
        Whether the record at each place remains.
    least, most : uint8 (nodes, codes)
        Least and largest distance of the cells of a node from each code, in steps of 1 / 256, rounded down, and rounded
        up less one step: all distances of categories are at most 1, and bytes stay in the cache.
    start, width : int64 (d,)
        Where the codes of a column start among these, and how many it has; 0 for columns without a table.
    below, above : uint8, flat
        The tables of the metric in such steps.
    metric : Metric
        The columns.
    centres : bool
        Whether what is in the tree are centres, and what is asked for are records: tables of distances have a row for
        each code that occurs, and a column for each code that may be a centre.
    digits : float
        Distances are rounded to so many parts of 1; 0 for not at all.
    """

    values: Floats
    rows: Ints
    places: Ints
    low: Floats
    high: Floats
    gaps: Flags
    first: Ints
    last: Ints
    left: Ints
    lowest: Ints
    least_factor: Floats
    most_factor: Floats
    factor: Floats
    here: Flags
    least: Steps
    most: Steps
    start: Ints
    width: Ints
    below: Steps
    above: Steps
    metric: Metric
    centres: bool
    digits: float


def worth_boxes(records: int) -> bool:
    """Whether the tree is faster than looking at every record; both give the same groups."""
    return records >= _WORTH


def sort_keys(values: Floats, order: Floats, metric: Metric) -> list[Floats]:
    """Return what the codes of each column are sorted by; those that no record has stand beside their nearest.

    ``order`` (m, d) is what records (m, d) are sorted by.
    """
    found = []
    for j in range(values.shape[1]):
        keys = np.full(0 if metric.kinds[j] != TABLE else int(metric.width[j]), np.inf)
        if len(keys):
            seen = ~np.isnan(values[:, j])
            keys[values[seen, j].astype(np.int64)] = order[seen, j]
            there, absent = np.flatnonzero(np.isfinite(keys)), np.flatnonzero(np.isinf(keys))
            table = _table_of(metric, j)
            if len(there):
                keys[absent] = keys[there[np.argmin(table[np.ix_(there, absent)], axis=0)]]
        found.append(keys)
    return found


def _table_of(metric: Metric, j: int) -> Floats:
    """Return the distances (occurring, codes) of a column."""
    later = metric.offset[metric.offset > metric.offset[j]]
    end = int(later.min()) if len(later) else len(metric.tables) - 1
    return metric.tables[metric.offset[j] : end].reshape(-1, int(metric.width[j]))


def open_boxes(
    values: Floats,
    metric: Metric,
    keys_of_codes: list[Floats],
    *,
    factor: Ints | None = None,
    digits: float = 0.0,
    centres: bool = False,
) -> BoxTree:
    """Put records, or centres, (m, d) into a tree; distances are multiplied by a factor (m,) each.

    ``keys_of_codes`` are those of :func:`sort_keys`; ``digits`` rounds distances to so many parts of 1.
    """
    m, d = values.shape
    widths = np.zeros(d, dtype=np.int64)  # codes that are asked for
    keys = values.copy()
    for j in range(d):
        if metric.kinds[j] == TABLE:
            seen = ~np.isnan(values[:, j])
            keys[seen, j] = keys_of_codes[j][values[seen, j].astype(np.int64)]
            widths[j] = len(_table_of(metric, j)) if centres else metric.width[j]
    codes = int(widths.sum())
    depth = 0
    while m >> depth > _LEAF and (4 << depth) * codes <= _CELLS:
        depth += 1
    nodes = (2 << depth) - 1
    rows, first, last = np.arange(m), np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    _build(values, keys, metric, centres, rows, first, last)
    back = np.empty(m, dtype=np.int64)
    back[rows] = np.arange(m)
    steps = 256.0 * metric.tables  # exact, as is a step
    tree = BoxTree(
        values=np.ascontiguousarray(values[rows]),
        rows=rows,
        places=back,
        low=np.zeros((nodes, d)),
        high=np.zeros((nodes, d)),
        gaps=np.empty((nodes, d), dtype=np.bool_),
        first=first,
        last=last,
        left=last - first,
        lowest=np.empty(nodes, dtype=np.int64),
        least_factor=np.empty(nodes),
        most_factor=np.empty(nodes),
        factor=np.ones(m) if factor is None else factor[rows].astype(np.float64),
        here=np.ones(m, dtype=np.bool_),
        least=np.zeros((nodes, codes), dtype=np.uint8),
        most=np.zeros((nodes, codes), dtype=np.uint8),
        start=np.cumsum(widths) - widths,
        width=widths,
        below=np.clip(np.floor(steps), 0, 255).astype(np.uint8),
        above=np.clip(np.ceil(steps) - 1, 0, 255).astype(np.uint8),
        metric=metric,
        centres=centres,
        digits=digits,
    )
    _fit_all(tree)
    return tree


@kernel
def _build(values: Floats, keys: Floats, metric: Metric, centres: bool, rows: Ints, first: Ints, last: Ints) -> None:
    """Order the ``rows`` (m,) so that those of each node are a run, from ``first`` to ``last`` (nodes,)."""
    nodes, d = len(first), keys.shape[1]
    first[0], last[0] = 0, len(rows)
    for t in range(nodes // 2):
        low, high = first[t], last[t]
        half = (high - low) // 2
        part = rows[low:high].copy()
        best, most = 0, -1.0
        for j in range(d):
            far = 0.0
            step = max(1, half // 64)
            for a in range(0, half, step):
                one, other = part[a], part[a + half]
                if metric.kinds[j] == TABLE and centres:  # codes of centres have no distances from each other
                    far += 1.0 if keys[one, j] != keys[other, j] else 0.0
                else:
                    far += cell_distance(values[one, j], values[other, j], metric, j)
            if metric.weights[j] * far > most:
                best, most = j, metric.weights[j] * far
        own = np.empty(len(part))
        for a in range(len(part)):
            own[a] = np.inf if np.isnan(keys[part[a], best]) else keys[part[a], best]
        by_key = np.argsort(own, kind="mergesort")
        rows[low:high] = part[by_key]
        first[2 * t + 1], last[2 * t + 1] = low, low + half
        first[2 * t + 2], last[2 * t + 2] = low + half, high


@kernel
def _fit_all(tree: BoxTree) -> None:
    """Write the box of every node."""
    for t in range(len(tree.left) - 1, -1, -1):
        if 2 * t + 2 < len(tree.left):
            _fit_inner(tree, t)
        else:
            _fit_leaf(tree, t)


@kernel
def _fit_inner(tree: BoxTree, t: int) -> bool:
    """Write the box of a node from those of its children; returns whether that changed it."""
    one, other, changed = 2 * t + 1, 2 * t + 2, False
    for j in range(tree.low.shape[1]):
        low, high = min(tree.low[one, j], tree.low[other, j]), max(tree.high[one, j], tree.high[other, j])
        gap = tree.gaps[one, j] or tree.gaps[other, j]
        changed |= low != tree.low[t, j] or high != tree.high[t, j] or gap != tree.gaps[t, j]
        tree.low[t, j], tree.high[t, j], tree.gaps[t, j] = low, high, gap
    lowest = min(tree.lowest[one], tree.lowest[other])
    least = min(tree.least_factor[one], tree.least_factor[other])
    most = max(tree.most_factor[one], tree.most_factor[other])
    changed |= lowest != tree.lowest[t] or least != tree.least_factor[t] or most != tree.most_factor[t]
    tree.lowest[t], tree.least_factor[t], tree.most_factor[t] = lowest, least, most
    for c in range(tree.least.shape[1]):
        near, far = min(tree.least[one, c], tree.least[other, c]), max(tree.most[one, c], tree.most[other, c])
        changed |= near != tree.least[t, c] or far != tree.most[t, c]
        tree.least[t, c], tree.most[t, c] = near, far
    return changed


@kernel
def _fit_leaf(tree: BoxTree, t: int) -> None:
    """Write the box of a leaf from its records that remain."""
    metric = tree.metric
    tree.low[t], tree.high[t], tree.gaps[t] = np.inf, -np.inf, False
    tree.lowest[t], tree.least_factor[t], tree.most_factor[t] = len(tree.rows), np.inf, -np.inf
    tree.least[t], tree.most[t] = 255, 0
    for at in range(tree.first[t], tree.last[t]):
        if not tree.here[at]:
            continue
        tree.lowest[t] = min(tree.lowest[t], tree.rows[at])
        tree.least_factor[t] = min(tree.least_factor[t], tree.factor[at])
        tree.most_factor[t] = max(tree.most_factor[t], tree.factor[at])
        for j in range(tree.low.shape[1]):
            x = tree.values[at, j]
            if np.isnan(x):
                tree.gaps[t, j] = True
                continue
            tree.low[t, j] = min(tree.low[t, j], x)
            tree.high[t, j] = max(tree.high[t, j], x)
            start, step = metric.offset[j] + int(x) * metric.width[j], 1
            if tree.centres:
                start, step = metric.offset[j] + int(x), metric.width[j]
            for c in range(tree.width[j]):
                place = tree.start[j] + c
                tree.least[t, place] = min(tree.least[t, place], tree.below[start + c * step])
                tree.most[t, place] = max(tree.most[t, place], tree.above[start + c * step])


@kernel
def leave(tree: BoxTree, row: int) -> None:
    """Take a record that remains out of the tree."""
    at = tree.places[row]
    tree.here[at] = False
    t = 0
    tree.left[0] -= 1
    while 2 * t + 2 < len(tree.left):
        t = 2 * t + 1 if at < tree.last[2 * t + 1] else 2 * t + 2
        tree.left[t] -= 1
    _fit_leaf(tree, t)
    while t > 0:
        t = (t - 1) // 2
        if not _fit_inner(tree, t):  # nor are those above
            return
