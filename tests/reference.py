"""Slow, obvious versions of the methods in plain NumPy: what the kernels are compared with.

Records are (n, d) arrays with NaN where missing. Squares are summed in the order of the columns, as the kernels
do, so that ties come out the same way.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np


def distances(x, point):
    """Squared distances of all rows of x to a point."""
    total = np.zeros(len(x))
    for j in range(x.shape[1]):
        total += (x[:, j] - point[j]) ** 2
    return total


def centroid(x):
    return x.sum(axis=0) / len(x)


def farthest(x, rows, point):
    rows = np.sort(rows)
    return rows[np.argmax(distances(x[rows], point))]


def nearest(x, rows, row, count):
    """Rows nearest to a record, with their squared distances; the record itself is at distance 0."""
    rows = np.sort(rows)
    s = distances(x[rows], x[row])
    s[rows == row] = 0.0
    order = np.argsort(s, kind="stable")[:count]
    return rows[order], s[order]


def sse(x, labels):
    """Sum of squared errors."""
    return sum(np.sum((x[labels == g] - centroid(x[labels == g])) ** 2) for g in np.unique(labels))


def join_rest(x, labels, left):
    """Each record left over joins the group with the nearest centroid."""
    if labels.max() < 0:
        return np.zeros_like(labels)
    centroids = np.array([centroid(x[labels == g]) for g in range(labels.max() + 1)])
    new = labels.copy()
    for row in left:
        new[row] = np.argmin(distances(centroids, x[row]))
    return new


def mdav(x, k):
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    while len(left) >= 3 * k:
        r = farthest(x, left, centroid(x[left]))
        s = farthest(x, left, x[r])
        for seed in (r, s):
            group = nearest(x, left, seed, k)[0]
            labels[group] = g
            left = np.setdiff1d(left, group)
            g += 1
    return _single(x, k, labels, left, g)


def mdav_single(x, k):
    return _single(x, k, np.full(len(x), -1), np.arange(len(x)), 0)


def _single(x, k, labels, left, g):
    while len(left) >= 2 * k:
        group = nearest(x, left, farthest(x, left, centroid(x[left])), k)[0]
        labels[group] = g
        left = np.setdiff1d(left, group)
        g += 1
    labels[left] = g
    return labels


def v_mdav(x, k, gamma=0.2):
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    centre = centroid(x)
    while len(left) >= k:
        group = list(nearest(x, left, farthest(x, left, centre), k)[0])
        left = np.setdiff1d(left, group)
        while len(group) < 2 * k - 1 and len(left):
            d_in, x_next = min((nearest(x, left, m, 1)[1][0], nearest(x, left, m, 1)[0][0]) for m in group)
            d_out = nearest(x, left, x_next, 2)[1][1] if len(left) > 1 else np.inf
            if not d_in < gamma**2 * d_out:
                break
            group.append(x_next)
            left = np.setdiff1d(left, [x_next])
        labels[group] = g
        g += 1
    return join_rest(x, labels, left)


def iv_mdav(x, k, gamma=1.16, candidates=2, outlier=None, cap=False):
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    largest = 2 * k - 1 if cap else candidates * k
    while len(left) >= 3 * k:
        r = farthest(x, left, centroid(x[left]))
        near, near_s = nearest(x, left, r, candidates * k)
        group = list(near[:k])
        usual = np.mean([np.sqrt(nearest(x, left, m, k)[1][-1]) for m in group[1:]])
        extend = outlier is None or not np.sqrt(near_s[k - 1]) > outlier * usual
        left = np.setdiff1d(left, group)
        for y in near[k:] if extend else []:
            if len(group) == largest or len(left) <= k:
                break
            if nearest(x, left, y, k)[1][-1] > gamma**2 * distances(x[[y]], x[r])[0]:
                group.append(y)
                left = np.setdiff1d(left, [y])
        labels[group] = g
        g += 1
    if len(left) >= 2 * k:
        group = nearest(x, left, farthest(x, left, centroid(x[left])), k)[0]
        labels[group] = g
        left = np.setdiff1d(left, group)
        g += 1
    labels[left] = g
    return labels


def density_first(x, k, sign):
    """LDF with sign 1, HDF with sign -1: all candidates are made anew in every round."""
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    while len(left) >= k:
        candidates = [nearest(x, left, row, k)[0] for row in left]
        scores = [sign * _pairwise(x, group) for group in candidates]
        group = candidates[int(np.argmax(scores))]
        labels[group] = g
        left = np.setdiff1d(left, group)
        g += 1
    return join_rest(x, labels, left)


def _pairwise(x, group):
    total = 0.0
    for s in range(len(group)):
        for t in range(s):
            total += distances(x[[group[s]]], x[group[t]])[0]
    return total / len(group)


def dbfs(x, k):
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    while len(left) >= 2 * k:
        gaps = np.array([distances(x[left], x[row]) for row in left])
        r, s = np.unravel_index(np.argmax(gaps), gaps.shape)
        for seed in (left[r], left[s]):
            group = nearest(x, np.flatnonzero(labels < 0), seed, k)[0]
            labels[group] = g
            g += 1
        left = np.flatnonzero(labels < 0)
    if len(left) >= k:
        labels[left] = g
        return labels
    return join_rest(x, labels, left)


def tfrp(x, k, dissolve=True):
    labels, left, g = np.full(len(x), -1), np.arange(len(x)), 0
    corners = [np.nanmax(x, axis=0), np.nanmin(x, axis=0)]
    while len(left) >= k:
        group = nearest(x, left, farthest(x, left, corners[g % 2]), k)[0]
        labels[group] = g
        left = np.setdiff1d(left, group)
        g += 1
    labels = join_rest(x, labels, left)
    if not dissolve:
        return labels
    first = labels.copy()
    groups = labels.max() + 1
    squares = np.array([sse(x[labels == g], np.zeros((labels == g).sum())) for g in range(groups)])
    for g in np.argsort(-squares, kind="stable"):
        members = np.flatnonzero(first == g)
        others = [h for h in np.unique(labels) if h != g]
        if (labels == g).sum() != len(members) or not others:
            continue
        centroids = np.array([centroid(x[labels == h]) for h in others])
        moved = labels.copy()
        for row in members:
            moved[row] = others[int(np.argmin(distances(centroids, x[row])))]
        if sse(x, moved) < sse(x, labels) - 1e-9:
            labels = moved
    return np.unique(labels, return_inverse=True)[1]


def mst(x, k, large="diameter"):
    """Kruskal's tree; an edge goes, longest first, where counting both sides finds at least k."""
    n = len(x)
    gaps = np.array([distances(x, row) for row in x])
    home, tree = list(range(n)), []
    for length, a, b in sorted((gaps[a, b], a, b) for a, b in itertools.combinations(range(n), 2)):
        if home[a] != home[b]:
            home = [home[a] if h == home[b] else h for h in home]
            tree.append((-length, a, b))
    for edge in sorted(tree):
        rest = [other for other in tree if other != edge]
        if min(len(_side(rest, edge[1])), len(_side(rest, edge[2]))) >= k:
            tree = rest
    labels, g = np.full(n, -1), 0
    for row in range(n):
        if labels[row] >= 0:
            continue
        part = np.array(sorted(_side(tree, row)))
        within = np.zeros(len(part), dtype=int)
        if len(part) >= 2 * k and large != "keep":
            within = {"diameter": dbfs, "centroid": mdav_single}[large](x[part], k)
        labels[part] = within + g
        g += within.max() + 1
    return labels


def _side(edges, row):
    """All rows that edges connect with a row."""
    found, last = {row}, set()
    while found != last:
        last = set(found)
        for _, a, b in edges:
            if a in found or b in found:
                found |= {a, b}
    return found


def k_ward(x, k):
    if len(x) < 2 * k:
        return np.zeros(len(x), dtype=int)
    gaps = np.array([distances(x, row) for row in x])
    ends = np.unravel_index(np.argmax(gaps), gaps.shape)
    left, groups = np.arange(len(x)), []
    for end in ends:
        groups.append(nearest(x, left, end, k)[0].tolist())
        left = np.setdiff1d(left, groups[-1])
    groups = [[row] for row in left] + groups
    cost = functools.cache(lambda a, b: _union_cost(x[list(a)], x[list(b)]))
    while min(map(len, groups)) < k:
        pairs = [
            (cost(tuple(a), tuple(b)), i, j)
            for i, a in enumerate(groups)
            for j, b in enumerate(groups)
            if i != j and len(a) < k
        ]
        _, i, j = min(pairs)
        union = groups[i] + groups[j]
        groups = [group for t, group in enumerate(groups) if t not in (i, j)] + [union]
    labels, g = np.empty(len(x), dtype=int), 0
    for rows in map(np.sort, groups):
        labels[rows] = k_ward(x[rows], k) + g
        g = labels[rows].max() + 1
    return labels


def _union_cost(a, b):
    """What the union of two groups adds to the sum of squares, rounded so that equal choices are equal."""
    d = a.shape[1]
    count_a, count_b = (~np.isnan(a)).sum(axis=0), (~np.isnan(b)).sum(axis=0)
    both = (count_a > 0) & (count_b > 0)
    if not both.any():
        return 2.0 * d * len(a) * len(b) / (len(a) + len(b))
    weight = count_a[both] * count_b[both] / (count_a[both] + count_b[both])
    gap = centroid(a)[both] - centroid(b)[both]
    return float(f"{(weight * gap**2).sum() * d / both.sum():.12g}")


class Draws:
    """Splitmix64 with Python's whole numbers."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        return ((z >> 32) * n) >> 32


def two_step_ga(x, k, part=5, population=20, generations=200, seed=0):
    labels = mdav(x, k)
    centroids = np.array([centroid(x[labels == g]) for g in range(labels.max() + 1)])
    together = mdav(centroids, part) if len(centroids) >= part else np.zeros(len(centroids), dtype=int)
    draws, found = Draws(seed), np.empty(len(x), dtype=int)
    for p in range(together.max() + 1):
        rows = np.array([row for g in np.flatnonzero(together == p) for row in np.flatnonzero(labels == g)])
        start = np.unique(labels[rows], return_inverse=True)[1]
        found[rows] = _evolve(x[rows], start, k, population, generations, draws) + len(x) * p
    return found


def _evolve(x, start, k, population, generations, draws):
    groups = start.max() + 1

    def child(genes, otherwise):
        for _ in range(1 + draws.below(3)):
            a = draws.below(len(x))
            if draws.below(2) == 0:
                b = draws.below(len(x))
                genes[a], genes[b] = genes[b], genes[a]
            else:
                genes[a] = draws.below(groups)
        large = [g for g in range(groups) if (genes == g).sum() >= k]
        if not large:
            return otherwise.copy()
        centroids = np.array([centroid(x[genes == g]) for g in large])
        for row in np.flatnonzero(~np.isin(genes, large)):
            genes[row] = large[np.argmin(distances(centroids, x[row]))]
        return genes

    def parent():
        a, b = sorted((draws.below(population), draws.below(population)))
        return b if squares[b] < squares[a] else a

    now = [start] + [child(start.copy(), start) for _ in range(population - 1)]
    squares = [sse(x, genes) for genes in now]
    for _ in range(generations):
        then = [now[int(np.argmin(squares))]]
        while len(then) < population:
            a, b, place = parent(), parent(), draws.below(len(x))
            then.append(child(np.concatenate([now[a][:place], now[b][place:]]), now[a]))
        now, squares = then, [sse(x, genes) for genes in then]
    return now[int(np.argmin(squares))]
