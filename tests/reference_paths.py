"""Slow, obvious versions of the methods that cut a path or a tour: every cut and every change is tried."""

from __future__ import annotations

import itertools

import numpy as np

from reference import centroid, distances, farthest, nearest


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


def cut(x, order, k):
    """Groups of the best cut of an order into runs of k to 2k - 1; of equal ones that with the shorter last run."""
    n, d = len(order), x.shape[1]
    cost, start = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
    cost[0] = 0.0
    for stop in range(k, n + 1):
        mean, count, squares = [0.0] * d, [0] * d, 0.0
        for first in range(stop - 1, max(stop - 2 * k, -1), -1):
            for j in range(d):
                value = x[order[first], j]
                if not np.isnan(value):
                    count[j] += 1
                    delta = value - mean[j]
                    mean[j] += delta / count[j]
                    squares += delta * (value - mean[j])
            if stop - first >= k and cost[first] + squares < cost[stop]:
                cost[stop], start[stop] = cost[first] + squares, first
    labels, stop = np.full(n, -1), n
    while stop:
        labels[order[start[stop] : stop]] = stop
        stop = start[stop]
    return labels, cost[n]


def nearest_point_next(x):
    left = np.arange(len(x))
    order = [farthest(x, left, centroid(x))]
    while len(order) < len(x):
        left = np.setdiff1d(left, order[-1:])
        order.append(nearest(x, left, order[-1], 1)[0][0])
    return np.array(order)


def npn_mhm(x, k):
    return cut(x, nearest_point_next(x), k)[0]


def group_path(x, labels, k):
    """Cut the path through the groups of a heuristic."""
    order = []
    for g in nearest_point_next(np.array([centroid(x[labels == g]) for g in range(labels.max() + 1)])):
        left = np.flatnonzero(labels == g)
        while len(left):
            order.append(nearest(x, left, order[-1], 1)[0][0] if order else left[0])
            left = np.setdiff1d(left, order[-1:])
    return cut(x, np.array(order), k)[0]


def tsp_hm(x, k, near=10, longest=3):
    """2-opt and Or-opt on a list, looking at records in the order in which their surroundings changed."""
    n = len(x)
    tour = nearest_point_next(x).tolist()
    length = np.sqrt([distances(x, row) for row in x])
    close = [nearest(x, np.arange(n), row, min(near + 1, n))[0] for row in range(n)]
    queue = list(tour)
    while queue and n >= 5:
        changed = _two_opt(tour, queue[0], length, close) or _or_opt(tour, queue[0], length, close, longest)
        queue = queue[1:] + [row for row in changed if row not in queue[1:]]
        queue = list(dict.fromkeys(queue))
    cuts = [cut(x, np.roll(tour, -turn), k) for turn in range(2 * k - 1)]
    return min(cuts, key=lambda found: found[1])[0]


def _two_opt(tour, a, length, close):
    n = len(tour)
    for step in (1, -1):
        b = tour[(tour.index(a) + step) % n]
        for c in close[a]:
            if length[a, c] >= length[a, b]:
                break
            e = tour[(tour.index(c) + step) % n]
            old, new = length[a, b] + length[c, e], length[a, c] + length[b, e]
            if a in (c, e) or b == c or old - new <= 1e-12 * old:
                continue
            first, last = (tour.index(b), tour.index(c))[::step]
            if 2 * ((last - first) % n + 1) > n:
                first, last = last + 1, first - 1
            places = [(first + t) % n for t in range((last - first) % n + 1)]
            rows = [tour[p] for p in places]
            for p, row in zip(places, reversed(rows), strict=True):
                tour[p] = row
            return a, b, c, e
    return ()


def _or_opt(tour, a, length, close, longest):
    n = len(tour)
    for step in (1, -1):
        for count in range(1, min(longest, n - 3) + 1):
            run = [tour[(tour.index(a) + step * t) % n] for t in range(count)]
            z, p = run[-1], tour[(tour.index(a) - step) % n]
            q = tour[(tour.index(z) + step) % n]
            freed = length[p, a] + length[z, q]
            saved = freed - length[p, q]
            for c in close[a]:
                if length[a, c] >= saved:
                    break
                for side in (step, -step):
                    e = tour[(tour.index(c) + side) % n]
                    grown = length[a, c] + length[z, e] - length[c, e]
                    if c in run or e in run or saved - grown <= 1e-12 * freed:
                        continue
                    rest = [row for row in tour if row not in run]
                    at = rest.index(c) + (side == 1)
                    tour[:] = rest[:at] + run[::side] + rest[at:]
                    return p, q, a, z, c, e
    return ()
