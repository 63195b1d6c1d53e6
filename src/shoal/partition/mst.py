"""MST: the minimum spanning tree is cut at its longest edges, and what remains too large is cut by a heuristic.

The edges of the minimum spanning tree of all records are looked at from the longest to the shortest; one is removed
where both parts that this makes have at least k records. The components are groups, and follow the clusters of the
data. A component of 2k records or more that could not be cut, such as a star, is partitioned by a fixed-size
heuristic: ``large="diameter"`` takes the two records farthest apart (``dbfs``), which the authors call M-d;
``large="centroid"`` takes ``mdav-single``, their M-c; ``large="keep"`` leaves it as it is.

Source: M. Laszlo and S. Mukherjee, Minimum spanning tree partitioning algorithm for microaggregation, IEEE TKDE
17(7), 2005.

Cost: that of the tree (:mod:`shoal.kernels.spanning_tree`), O(d n^2) when every record is looked at; O(n log n) to
sort the edges; for each edge a walk up to the root of its component, O(n h) for components of height h, which shrinks
fast. The heuristics see small parts only.

An edge is removed only where both parts keep k records, and the heuristics make groups of at least k.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.spanning_tree import spanning_tree
from shoal.kernels.watch import DONE, STOP
from shoal.partition.dbfs import dbfs
from shoal.partition.large_groups import cut_large_groups
from shoal.partition.mdav import mdav_single

_HEURISTICS = {"diameter": dbfs, "centroid": mdav_single}


def mst(records: Records, k: int, watch: Ints, large: str = "diameter") -> Ints:
    """Partition records along their minimum spanning tree."""
    n = len(records)
    edges, lengths = spanning_tree(records.values, watch)
    if watch[STOP] != 0:
        return np.zeros(n, dtype=np.int64)
    longest_first = np.lexsort((edges[:, 1], edges[:, 0], -lengths))
    labels = _cut_longest(edges[longest_first], n, k)
    watch[DONE] = n
    return labels if large == "keep" else cut_large_groups(records, labels, k, _HEURISTICS[large])


@kernel
def _cut_longest(edges: Ints, n: int, k: int) -> Ints:
    """Component of each row, numbered from 0, after removing all ``edges`` (n - 1, 2) that can be, in their order.

    The tree hangs from row 0. ``below`` counts the rows of a component at and below each row.
    """
    up, order = _hang(edges, n)
    below, whole = np.ones(n, np.int64), np.zeros(n, np.bool_)
    whole[0] = True  # the uppermost row of a component
    for at in range(n - 1, 0, -1):
        below[up[order[at]]] += below[order[at]]
    for e in range(n - 1):
        row = edges[e, 1] if up[edges[e, 1]] == edges[e, 0] else edges[e, 0]
        if below[row] < k:
            continue
        top = up[row]
        while not whole[top]:
            top = up[top]
        if below[top] - below[row] < k:
            continue
        whole[row] = True
        above = up[row]
        below[above] -= below[row]
        while not whole[above]:
            above = up[above]
            below[above] -= below[row]
    labels, label = np.empty(n, np.int64), 0
    for row in order:
        labels[row] = label if whole[row] else labels[up[row]]
        label += whole[row]
    return labels


@kernel
def _hang(edges: Ints, n: int) -> tuple[Ints, Ints]:
    """Row above each row when the tree hangs from row 0, and the rows from the top down."""
    starts = np.zeros(n + 1, np.int64)
    for e in range(n - 1):
        starts[edges[e, 0] + 1] += 1
        starts[edges[e, 1] + 1] += 1
    starts = np.cumsum(starts)
    beside, place = np.empty(2 * (n - 1), np.int64), starts.copy()
    for e in range(n - 1):
        for a, b in ((edges[e, 0], edges[e, 1]), (edges[e, 1], edges[e, 0])):
            beside[place[a]] = b
            place[a] += 1
    up, order = np.full(n, -1), np.zeros(n, np.int64)
    seen = 1
    for at in range(n):
        row = order[at]
        for b in beside[starts[row] : starts[row + 1]]:
            if b != up[row]:
                up[b], order[seen] = row, b
                seen += 1
    return up, order
