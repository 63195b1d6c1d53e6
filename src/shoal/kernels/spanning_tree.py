"""The minimum spanning tree of records.

Edges are compared by (squared length, lower row, higher row), so no two are equal, the tree is the only one, and it
does not matter how it is found.

Few records, or records with missing values: Prim's algorithm, O(d n^2). Many complete records: Boruvka's algorithm on
the neighbour index. In each round every component finds its shortest edge to another one, and all are joined by these:
at most log2(n) rounds. A record's nearest one outside its component stays that until the two are joined, a part of the
index that lies inside one component is passed over by the records of it, and no record looks farther than the
shortest edge found for its component so far. About O(d n log^2 n) in few columns. Equal records are one place in the
index: the first of them has an edge of length 0 to each of the others.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.disjoint_sets import join
from shoal.kernels.indexing import worth_indexing
from shoal.kernels.tree import LEAF, LEAVES, LEVELS, TreePool, open_tree_pool
from shoal.kernels.tree_search import (
    box_distances,
    doubt_of,
    exact_distance,
    leaf_distances,
    scale_point,
    within,
)


def spanning_tree(values: Floats, watch: Ints) -> tuple[Ints, Floats]:
    """Return the edges of the tree in no special order: rows (n - 1, 2), the lower first, and squared lengths (n - 1,).

    ``watch`` is that of the methods: where its second entry is not 0, the work is given up and edges are missing.

    >>> spanning_tree(np.array([[0.0], [3.0], [1.0]]), np.zeros(2, np.int64))
    (array([[0, 2],
           [1, 2]]), array([1., 4.]))
    """
    n = len(values)
    edges, lengths = np.zeros((n - 1, 2), np.int64), np.zeros(n - 1)
    if worth_indexing(n):
        _boruvka(open_tree_pool(values), watch, edges, lengths)
    else:
        _prim(values, watch, edges, lengths)
    return edges, lengths


@kernel
def _before(length: float, a: int, b: int, than: float, c: int, d: int) -> bool:
    """Whether edge (a, b) comes before (c, d)."""
    if length != than:
        return length < than
    low, other = min(a, b), min(c, d)
    return low < other or (low == other and max(a, b) < max(c, d))


@kernel
def _prim(values: Floats, watch: Ints, edges: Ints, lengths: Floats) -> None:
    """Fill in the edges. The tree grows from row 0."""
    n, d = values.shape
    outside = np.arange(1, n)
    near, gap = np.zeros(n, np.int64), np.full(n, np.inf)
    last = 0
    for at in range(n - 1):
        if watch[1] != 0:
            return
        best = 0
        for t in range(n - 1 - at):
            row = outside[t]
            length = 0.0
            for j in range(d):
                x = values[row, j] - values[last, j]
                length += x * x
            if _before(length, row, last, gap[row], row, near[row]):
                gap[row], near[row] = length, last
            if t > 0 and _before(gap[row], row, near[row], gap[outside[best]], outside[best], near[outside[best]]):
                best = t
        last = outside[best]
        edges[at, 0], edges[at, 1], lengths[at] = min(last, near[last]), max(last, near[last]), gap[last]
        outside[best] = outside[n - 2 - at]


@kernel
def _boruvka(pool: TreePool, watch: Ints, edges: Ints, lengths: Floats) -> None:
    """Fill in the edges, those of equal records first."""
    first, place_of, places = pool.first, pool.place_of, pool.first.shape[0]
    made = 0
    for row in range(place_of.shape[0]):
        if row != first[place_of[row]]:
            edges[made, 0], edges[made, 1], lengths[made] = first[place_of[row]], row, 0.0
            made += 1
    home = np.arange(places)  # component of each place
    inside = np.empty(pool.radius.shape[0], np.int64)
    # the nearest place outside the component, or -1 where only a lower bound of its distance is known
    near, gap = np.full(places, -1), np.zeros(places)
    from_place, to_place, shortest = np.empty(places, np.int64), np.empty(places, np.int64), np.empty(places)
    while made < edges.shape[0] and watch[1] == 0:
        _find_components(home)
        _mark_nodes(pool, home, inside)
        shortest[:] = np.inf
        for search in (False, True):  # edges that are known make the searches shorter
            for at in range(places):
                a = pool.order[at]
                c = home[a]
                known = near[a] >= 0 and home[near[a]] != c
                if known == search or gap[a] > shortest[c]:
                    continue
                if search:
                    near[a], gap[a] = _nearest_outside(pool, a, home, inside, shortest[c])
                if near[a] >= 0 and (
                    shortest[c] == np.inf
                    or _before(gap[a], first[a], first[near[a]], shortest[c], first[from_place[c]], first[to_place[c]])
                ):
                    shortest[c], from_place[c], to_place[c] = gap[a], a, near[a]
        for c in range(places):
            if shortest[c] == np.inf:
                continue
            if join(home, from_place[c], to_place[c]):
                row, other = first[from_place[c]], first[to_place[c]]
                edges[made, 0], edges[made, 1], lengths[made] = min(row, other), max(row, other), shortest[c]
                made += 1


@kernel
def _find_components(home: Ints) -> None:
    """Let every place point to the lowest place of its component directly."""
    for place in range(home.shape[0]):
        home[place] = home[home[place]]


@kernel
def _mark_nodes(pool: TreePool, home: Ints, inside: Ints) -> None:
    """Note for each node of the index the component that all its places are in, or -1."""
    levels, fans, nodes = pool.shape[LEVELS], pool.fans, pool.nodes
    width = pool.shape[LEAVES]
    for leaf in range(width):
        inside[nodes[levels] + leaf] = -1
        for s in range(pool.counts[leaf]):
            c = home[pool.places[leaf * LEAF + s]]
            if s == 0:
                inside[nodes[levels] + leaf] = c
            elif inside[nodes[levels] + leaf] != c:
                inside[nodes[levels] + leaf] = -1
                break
    for level in range(levels - 1, 0, -1):
        fan = fans[level + 1]
        width //= fan
        for node in range(width):
            start = nodes[level + 1] + node * fan
            c = inside[start]
            for f in range(1, fan):
                if inside[start + f] != c:
                    c = -1
            inside[nodes[level] + node] = c


@kernel
def _nearest_outside(pool: TreePool, place: int, home: Ints, inside: Ints, most: float) -> tuple[int, float]:
    """Nearest place of another component and its squared distance; -1 and ``most`` where none is within ``most``.

    The search is that of :func:`shoal.kernels.tree_search.nearest`, without the nodes that lie in the component.
    """
    values, first, places = pool.values, pool.first, pool.places
    point = pool.values[first[place]]
    scaled, chunk, columns, counts = pool.point, pool.chunk, pool.columns, pool.counts
    low, high, fans, boxes, path, nodes = pool.low, pool.high, pool.fans, pool.boxes, pool.path, pool.nodes
    d, levels, unit = point.shape[0], pool.shape[LEVELS], pool.unit[0]
    own = home[place]
    square = scale_point(point, pool.centre, unit, scaled)
    doubt = doubt_of(pool.radius[nodes[1] : nodes[1] + fans[1]], square)
    best, best_row, best_place = most, np.iinfo(np.int64).max, -1
    limit = within(best, unit, doubt, d)
    start = pool.slots[place] // LEAF
    leaf, level = start, 0
    while True:
        if inside[nodes[levels] + leaf] != own:
            leaf_distances(columns, leaf, counts[leaf], scaled, chunk)
            for s in range(counts[leaf]):
                other = places[leaf * LEAF + s]
                if chunk[s] <= limit and home[other] != own:
                    length = exact_distance(values, point, first[other])
                    if length < best or (length == best and first[other] < best_row):
                        best, best_row, best_place = length, first[other], other
                        limit = within(best, unit, doubt, d)
        if level == 0:
            level, path[1] = 1, 0
            box_distances(low, high, boxes[1], fans[1], scaled, pool.bounds[1])
            _pass_over(pool.bounds[1], inside, nodes[1], fans[1], own)
        leaf = -1
        while leaf < 0 and level > 0:
            bounds, fan = pool.bounds[level], fans[level]
            child, least = 0, bounds[0]
            for f in range(1, fan):
                if bounds[f] < least:
                    child, least = f, bounds[f]
            if least > limit or least == np.inf:
                level -= 1
                continue
            bounds[child] = np.inf
            node = path[level] * fan + child
            if level < levels:
                level += 1
                path[level], fan = node, fans[level]
                box_distances(low, high, boxes[level] + node * d * fan, fan, scaled, pool.bounds[level])
                _pass_over(pool.bounds[level], inside, nodes[level] + node * fan, fan, own)
            elif node != start:
                leaf = node
        if leaf < 0:
            return best_place, best


@kernel
def _pass_over(bounds: Floats, inside: Ints, start: int, fan: int, own: int) -> None:
    """Leave out the children that lie in one's own component."""
    for f in range(fan):
        if inside[start + f] == own:
            bounds[f] = np.inf
