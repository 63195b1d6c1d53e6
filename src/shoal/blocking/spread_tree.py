"""The spread tree: cuts that follow the data, each where it takes most of the spread away.

A block with more than L records is cut in two along one direction: its first principal axis, or the column in
which it is most spread out. Along each, the place is found where the sum of squares between the two parts is
largest; the better of the two is taken. Clusters are kept together, correlated columns are cut across their
common direction, and evenly spread data are halved along the longest column. Every part has at least k records:
nothing has to be fused.

Cost: O(n (d + log n) log(n / L)).
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

_TURNS = 30  # of the power iteration: the axis only has to be sensible


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
        if stop - start <= size:
            for row in part:
                blocks[row] = block
            start, top, block = stop, top - 1, block + 1
            continue
        widest = _principal_axis(values, part, axis)
        keys, by_axis = values[part, widest], np.empty(len(part))
        for a in range(len(part)):
            by_axis[a] = 0.0
            for j in range(d):
                by_axis[a] += values[part[a], j] * axis[j]
        along_column, along_axis = np.argsort(keys, kind="mergesort"), np.argsort(by_axis, kind="mergesort")
        column_cut, column_between = _best_cut(keys[along_column], k)
        axis_cut, axis_between = _best_cut(by_axis[along_axis], k)
        if axis_between > column_between:
            order[start:stop] = part[along_axis]
            stops[top] = start + axis_cut
        else:
            order[start:stop] = part[along_column]
            stops[top] = start + column_cut
        top += 1


@kernel
def _principal_axis(values: Floats, rows: Ints, axis: Floats) -> int:
    """Put the direction of largest spread of some rows into ``axis``; returns the column of largest spread."""
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
    axis[:] = spread[widest]
    for _ in range(_TURNS):
        turned = np.zeros(d)
        for i in range(d):
            for j in range(d):
                turned[i] += spread[i, j] * axis[j]
        length = np.sqrt((turned * turned).sum())
        if length == 0.0:
            axis[:] = 0.0
            axis[widest] = 1.0
            break
        axis[:] = turned / length
    return widest


@kernel
def _best_cut(keys: Floats, k: int) -> tuple[int, float]:
    """Where to cut sorted numbers into two parts of at least k so that the sum of squares between them is largest."""
    count = len(keys)
    middle = keys[count // 2]
    total, head = 0.0, 0.0
    for x in keys:
        total += x - middle
    best, cut = -1.0, count // 2
    for a in range(1, count - k + 1):
        head += keys[a - 1] - middle
        gap = head / a - (total - head) / (count - a)
        between = gap * gap * a * (count - a) / count
        if a >= k and between > best:
            best, cut = between, a
    return cut, best
