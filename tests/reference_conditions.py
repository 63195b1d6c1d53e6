"""Slow versions of the methods that form groups by a condition on a confidential column, from their descriptions."""

from __future__ import annotations

import math

import numpy as np

import reference
from given_away_by_definition import ordered_distance


def _far(values, rows):
    return round(ordered_distance([values[i] for i in rows], values), 10)  # equal ones are


def _merged(x, groups, values, t):
    """While a group is farther than t: the farthest is merged with the group whose centroid is nearest."""
    groups = [list(map(int, group)) for group in groups]
    while len(groups) > 1:
        off = [_far(values, group) for group in groups]
        worst = int(np.argmax(off))
        if off[worst] <= t + 1e-9:
            break
        centres = [x[group].mean(axis=0) for group in groups]
        away = [((centre - centres[worst]) ** 2).sum() for centre in centres]
        away[worst] = np.inf
        near = int(np.argmin(away))
        groups[worst] += groups[near]
        del groups[near]
    return _labels(len(x), groups)


def _labels(n, groups):
    labels = np.full(n, -1)
    for g, group in enumerate(groups):
        labels[list(group)] = g
    return labels


def t_merge(x, k, values, t):
    labels = reference.mdav(x, k)
    return _merged(x, [np.flatnonzero(labels == g) for g in range(labels.max() + 1)], values, t)


def k_first(x, k, values, t):
    left, groups, seed = np.arange(len(x)), [], None
    while len(left) >= 2 * k:
        point = reference.centroid(x[left]) if len(groups) % 2 == 0 else x[seed]
        seed = reference.farthest(x, left, point)
        order = list(reference.nearest(x, left, seed, len(left))[0])
        group, others = order[:k], order[k:]
        while _far(values, group) > t + 1e-9 and others:
            y = others.pop(0)
            changed = [[*group[:i], y, *group[i + 1 :]] for i in range(k)]
            best = min(changed, key=lambda one: _far(values, one))
            if _far(values, best) < _far(values, group):
                group = best
        groups.append(group)
        left = np.setdiff1d(left, group)
    groups.append(list(left))
    return _merged(x, groups, values, t)


def t_first(x, k, values, t):
    """Before what the bound misses is repaired."""
    n = len(x)
    size = max(k, math.ceil(n / (2 * (n - 1) * t + 1) - 1e-9))
    size += (n % size) // (n // size)
    ranked = sorted(range(n), key=lambda i: values[i])
    lengths = [n // size + (n % size if s == size // 2 else 0) for s in range(size)]
    strata = [set(ranked[sum(lengths[:s]) : sum(lengths[: s + 1])]) for s in range(size)]
    groups, seed = [], None
    for g in range(n // size):
        left = np.array(sorted(set().union(*strata)))
        point = reference.centroid(x[left]) if g % 2 == 0 else x[seed]
        seed = reference.farthest(x, left, point)
        group = []
        for stratum in strata:
            for _ in range(2 if len(stratum) > n // size - g else 1):
                found = int(reference.nearest(x, np.array(sorted(stratum)), seed, 1)[0][0])
                group.append(found)
                stratum.remove(found)
        groups.append(group)
    return _labels(n, groups)


def p_sensitive(x, k, values, p):
    left, groups, size = np.arange(len(x)), [], max(k, p)
    while len(left) >= 2 * size and len({values[i] for i in left}) >= p:
        seed = reference.farthest(x, left, reference.centroid(x[left]))
        order = list(map(int, reference.nearest(x, left, seed, len(left))[0]))
        group = []
        for i in order:
            if len(group) < p and values[i] not in {values[j] for j in group}:
                group.append(i)
        group += [i for i in order if i not in group][: size - len(group)]
        groups.append(group)
        left = np.setdiff1d(left, group)
    labels = _labels(len(x), groups)
    if len(left) >= k and len({values[i] for i in left}) >= p:
        labels[left] = len(groups)
        return labels
    if not groups:
        return np.zeros(len(x), dtype=int)
    centres = [x[group].mean(axis=0) for group in groups]
    for i in left:
        labels[i] = np.argmin([((x[i] - centre) ** 2).sum() for centre in centres])
    return labels
