"""The order of the values of a hierarchy: near ones side by side, whatever the order of the rows.

Methods that cut a sorted column need one. The values below a name are a run, as in any walk through a tree, and the
children of a name are put in the order of an optimal leaf ordering: neighbours are near, by the mean distance of the
values at and below them. In most trees many siblings are equally far from each other, so that ties are the rule: the
rarer come first. Rare values have to share a group, and then share it with each other, while frequent ones can be cut
off. Siblings that come in an order of their own (:attr:`Hierarchy.in_order`) keep it.

A value with others below it comes after them (post-order). In the mixed traversal that A. Veltmann, Implementation and
evaluation of microaggregation algorithms for categorical data (UPC, 2022), proposes, it comes before them where that
brings it nearer to its neighbours.

Source: Z. Bar-Joseph, D. Gifford and T. Jaakkola, Fast optimal leaf ordering for hierarchical clustering,
Bioinformatics 17, 2001, on average linkage. Cost: O(v^2) for v values, and O(c^3) for c children of one name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.columns.hierarchy.tree import Hierarchy
from shoal.kernels.arrays import Floats, Ints

_OPTIMAL = 128  # siblings that are put in an optimal order; more are in that of their clusters
_TIE = 1e-6  # of a distance, for each place between two siblings: less than distances differ by


def order_values(hierarchy: Hierarchy, values: Ints, counts: Floats, distances: Floats) -> tuple[Ints, Ints]:
    """Return the place of each value in post-order and in the mixed traversal, int64 (nodes,).

    A node that is no value has the place of the next value; one that has none below it comes last.

    Parameters
    ----------
    hierarchy : Hierarchy
        Nodes.
    values : int64 (v,)
        Nodes that are values of the column, ascending.
    counts : float64 (v,)
        Records with each.
    distances : float64 (v, v)
        Between them.

    Examples
    --------
    >>> from shoal.columns.hierarchy import grow
    >>> pets = grow([("cat", "animal"), ("dog", "animal"), ("frog", "animal")])
    >>> post, mixed = order_values(pets, np.array([1, 2, 3]), np.array([5.0, 9.0, 1.0]), 1.0 - np.eye(3))
    >>> [pets.names[node] for node in np.argsort(post)]
    ['frog', 'cat', 'dog', 'animal']
    """
    kept = hierarchy.closure(values)
    first, last = np.searchsorted(values, kept), np.searchsorted(values, kept + hierarchy.sizes[kept])
    kept, first, last = kept[first < last], first[first < last], last[first < last]
    below: dict[int, list[int]] = {int(node): [] for node in kept}
    for node in kept[1:].tolist():
        below[int(hierarchy.parent[node])].append(node)
    sums = np.zeros((len(values) + 1, len(values) + 1))
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    records = np.concatenate([[0.0], np.cumsum(counts)])
    runs = {int(node): (int(a), int(b)) for node, a, b in zip(kept, first, last, strict=True)}
    if not hierarchy.in_order:
        for node, children in below.items():
            children.sort(key=lambda child: (records[runs[child][1]] - records[runs[child][0]], hierarchy.names[child]))
            if len(children) > 2:
                means = _means(sums, [runs[child] for child in children])
                below[node] = [children[place] for place in _near(means)]
    post = _walk(hierarchy, below, None, values)
    return post, _walk(hierarchy, below, distances, values)


def _means(sums: Floats, runs: Sequence[tuple[int, int]]) -> Floats:
    """Mean distances (c, c) between runs of values, from the sums of all distances before each."""
    a, b = np.array(runs).T
    block = sums[np.ix_(b, b)] - sums[np.ix_(a, b)] - sums[np.ix_(b, a)] + sums[np.ix_(a, a)]
    return np.asarray(block / np.outer(b - a, b - a))


def _near(means: Floats) -> list[int]:
    """Order siblings by the distances (c, c) between them; as they come where these are all the same."""
    c = len(means)
    pairs = means[np.triu_indices(c, 1)]
    if np.ptp(pairs) < _TIE:
        return list(range(c))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # slow to import

    # a tie, of which there are many, is decided by the order in which they come
    apart = np.abs(np.subtract.outer(np.arange(c), np.arange(c)))[np.triu_indices(c, 1)]
    told = pairs + _TIE * apart / c
    tree = linkage(told, "average")
    order: list[int] = leaves_list(optimal_leaf_ordering(tree, told) if c <= _OPTIMAL else tree).tolist()
    return order if order[0] < order[-1] else order[::-1]


def _walk(hierarchy: Hierarchy, below: dict[int, list[int]], distances: Floats | None, values: Ints) -> Ints:
    """Place of each node (nodes,): children in their order, then their parent, or before where that is nearer.

    Without ``distances`` (v, v) the parent is always after its children.
    """
    row = {int(node): i for i, node in enumerate(values)}
    ends: dict[int, tuple[int, int]] = {}  # first and last value of each node in post-order
    for node in sorted(below, reverse=True):
        children = below[node]
        first = ends[children[0]][0] if children else row[node]
        ends[node] = (first, row[node] if node in row else ends[children[-1]][1])
    place = np.full(len(hierarchy), len(hierarchy), dtype=np.int64)
    reached, before = 0, -1
    stack = [(0, False)]
    while stack:
        node, done = stack.pop()
        children = below[node]
        early = False
        if not done and children:
            early = distances is not None and node in row and _earlier(distances, row[node], before, below, ends, node)
            if not early:
                stack.append((node, True))
            stack += [(child, False) for child in reversed(children)]
        if done or early or not children:
            place[node] = reached
            if node in row:
                reached, before = reached + 1, row[node]
    return place


def _earlier(
    distances: Floats,
    value: int,
    before: int,
    below: dict[int, list[int]],
    ends: dict[int, tuple[int, int]],
    node: int,
) -> bool:
    """Whether a value is nearer to its neighbours before the values below it than after them."""
    first, last = ends[below[node][0]][0], ends[below[node][-1]][1]
    come = distances[before, value] - distances[before, first] if before >= 0 else 0.0
    return bool(come + distances[value, first] < distances[last, value] - _TIE)
