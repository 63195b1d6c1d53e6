"""Slow, obvious versions of the methods in plain NumPy: what the kernels are compared with.

Records are (n, d) arrays with NaN where missing. Squares are summed in the order of the columns, as the kernels
do, so that ties come out the same way.
"""

from __future__ import annotations

import itertools

import numpy as np


def distances(x, point):
    """Squared distances of all rows of x to a point, over common columns, scaled to all of them."""
    d = x.shape[1]
    total, common = np.zeros(len(x)), np.zeros(len(x))
    for j in range(d):
        both = ~np.isnan(x[:, j]) & ~np.isnan(point[j])
        total += np.where(both, np.nan_to_num(x[:, j] - point[j]) ** 2, 0.0)
        common += both
    if not np.isnan(x).any() and not np.isnan(point).any():
        return total
    return np.where(common > 0, total * (d / np.maximum(common, 1)), 2.0 * d)


def centroid(x):
    """Mean of the observed values; NaN where a column has none."""
    seen = ~np.isnan(x)
    counts = seen.sum(axis=0)
    return np.where(counts > 0, np.nansum(x, axis=0) / np.maximum(counts, 1), np.nan)


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
    """Sum of squared errors over the observed values."""
    return sum(np.nansum((x[labels == g] - centroid(x[labels == g])) ** 2) for g in np.unique(labels))


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


def best_cut(x, order, k):
    """Least sum of squares of all ways to cut an order into consecutive groups of at least k."""
    n = len(order)
    best = np.inf
    for cuts in range(n // k):
        for places in itertools.combinations(range(k, n - k + 1), cuts):
            bounds = [0, *places, n]
            if min(np.diff(bounds)) < k:
                continue
            parts = (x[order[a:b]] for a, b in itertools.pairwise(bounds))
            best = min(best, sum(np.nansum((part - centroid(part)) ** 2) for part in parts))
    return best
