"""The spread tree: cuts that follow the data, each where it takes most of the spread away.

A block with more than L records is cut in two along one direction: its first principal axis, or the column in which
it is most spread out. Along each, the place is found where the sum of squares between the two parts is largest; the
better of the two is taken. Clusters are kept together, correlated columns are cut across their common direction, and
evenly spread data are halved along the longest column. Where a cut that leaves a multiple of k on one side is nearly
as good, it is taken: its part has no records left over.

A block of at most L records is still cut where that takes away far more than a cut of evenly spread records would,
which is 0.75 / d of the sum of squares: such a cut runs between clusters. Every part has at least k records: nothing
has to be fused.

Cost: O(n (d^2 + log n) log(n / L)).
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

_TURNS = 30  # of the power iteration: the axis only has to be sensible
BETWEEN_CLUSTERS = 2.5  # times 1 / d of the sum of squares: what cuts a block that is small enough
_AS_GOOD = 1.01  # how much better a cut must be to leave records over on both sides


def spread_tree(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record, a row of ``values`` (n, d): at least k and at most ``size`` records.

    >>> spread_tree(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    blocks = np.zeros(len(values), dtype=np.int64)
    _cut(np.ascontiguousarray(values), k, max(size, 2 * k - 1), blocks)
    return blocks


@kernel
def _cut(values: Floats, k: int, size: int, blocks: Ints) -> None:
    """Cut the rows of ``values`` (n, d) into blocks of at most ``size``, numbered from one end to the other."""
    n, d = values.shape
    order = np.arange(n)
    stops = np.empty(n // k + 2, np.int64)  # where the blocks still to be looked at end; each starts at the one before
    stops[0], top, start, block = n, 1, 0, 0
    axis = np.empty(d)
    while top > 0:
        stop = stops[top - 1]
        part = order[start:stop]
        between, total = -1.0, 0.0
        if stop - start >= 2 * k:
            widest, total = _principal_axis(values, part, axis)
            keys, along_axis = np.empty(len(part)), np.zeros(len(part))
            for a in range(len(part)):
                keys[a] = values[part[a], widest]
                for j in range(d):
                    along_axis[a] += values[part[a], j] * axis[j]
            by_key, by_axis = np.argsort(keys, kind="mergesort"), np.argsort(along_axis, kind="mergesort")
            cut, between = _best_cut(keys[by_key], k)
            axis_cut, axis_between = _best_cut(along_axis[by_axis], k)
            if axis_between > between:
                cut, between, by_key = axis_cut, axis_between, by_axis
        if between < 0.0 or (stop - start <= size and between * d < BETWEEN_CLUSTERS * total):
            for row in part:
                blocks[row] = block
            start, top, block = stop, top - 1, block + 1
            continue
        moved = part[by_key]
        for a in range(len(moved)):
            order[start + a] = moved[a]
        stops[top] = start + cut
        top += 1


@kernel
def _principal_axis(values: Floats, rows: Ints, axis: Floats) -> tuple[int, float]:
    """Put the direction of largest spread of some rows into ``axis``.

    Returns the column of largest spread, and the sum of squares of all columns.
    """
    d = values.shape[1]
    mean = np.zeros(d)
    for row in rows:
        for j in range(d):
            mean[j] += values[row, j] / len(rows)
    spread = np.zeros((d, d))
    for row in rows:
        for i in range(d):
            for j in range(i + 1):
                spread[i, j] += (values[row, i] - mean[i]) * (values[row, j] - mean[j])
    widest = 0
    for i in range(d):
        for j in range(i):
            spread[j, i] = spread[i, j]
        if spread[i, i] > spread[widest, widest]:
            widest = i
    # loops, not array expressions: these compile in a fifth of the time
    total = 0.0
    for i in range(d):
        axis[i] = spread[widest, i]
        total += spread[i, i]
    turned = np.empty(d)
    for _ in range(_TURNS):
        squares = 0.0
        for i in range(d):
            turned[i] = 0.0
            for j in range(d):
                turned[i] += spread[i, j] * axis[j]
            squares += turned[i] * turned[i]
        length = np.sqrt(squares)
        for i in range(d):
            axis[i] = turned[i] / length if length > 0.0 else (1.0 if i == widest else 0.0)
        if length == 0.0:
            break
    return widest, total


@kernel
def _best_cut(keys: Floats, k: int) -> tuple[int, float]:
    """Where to cut sorted numbers into two parts of at least k so that the sum of squares between them is largest."""
    count = len(keys)
    middle = keys[count // 2]
    total, head = 0.0, 0.0
    for x in keys:
        total += x - middle
    best, cut, even_best, even_cut = -1.0, count // 2, -1.0, count // 2
    for a in range(1, count - k + 1):
        head += keys[a - 1] - middle
        gap = head / a - (total - head) / (count - a)
        between = gap * gap * a * (count - a) / count
        if a >= k and between > best:
            best, cut = between, a
        if a >= k and between > even_best and (a % k == 0 or (count - a) % k == 0):
            even_best, even_cut = between, a
    if best <= _AS_GOOD * even_best:
        return even_cut, even_best
    return cut, best
