"""Slow, obvious versions of the measures: loops over records and pairs of records, straight from the definitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
from scipy import stats

from slow_hierarchy import above, wu_palmer


def z_scores(original, released):
    """Scale two matrices by the mean and population deviation of the first; NaN stands for missing."""
    mean, deviation = np.nanmean(original, axis=0), np.nanstd(original, axis=0)
    return (original - mean) / deviation, (released - mean) / deviation


def information_loss(original, released):
    x, y = z_scores(original, released)
    there = ~np.isnan(x)
    y = np.where(np.isnan(y), 0.0, y)
    return 100 * ((x - y)[there] ** 2).sum() / (x[there] ** 2).sum()


def meaning_lost(trees, original, released, nodes):
    """SSE, SST and loss of records of categories, and (SSE, SST) by column; None stands for missing.

    Of several centres that are equally near the first of ``nodes`` is taken.
    """
    centre = []
    for j, tree in enumerate(trees):
        seen = [row[j] for row in original if row[j] is not None]
        sums = {node: sum(wu_palmer(tree, node, value) for value in seen) for node in nodes[j]}
        centre.append(min(sums, key=lambda node: round(sums[node], 9)) if seen else None)
    sse = sst = 0.0
    columns = [[0.0, 0.0] for _ in trees]
    for before, after in zip(original, released, strict=True):
        moved = spread = 0.0
        for j, tree in enumerate(trees):
            if before[j] is not None:
                became = after[j] if after[j] is not None else centre[j]
                own, whole = wu_palmer(tree, before[j], became), wu_palmer(tree, before[j], centre[j])
                columns[j][0] += own**2
                columns[j][1] += whole**2
                moved += own
                spread += whole
        sse += (moved / len(trees)) ** 2
        sst += (spread / len(trees)) ** 2
    by_column = [tuple(column) for column in columns]
    return sse, sst, 100 * sse / sst if sst else 0.0, by_column


def fate(tree, before, after):
    if after is None:
        return "suppressed"
    if before == after:
        return "kept"
    return "generalised" if after in above(tree, before) else "replaced"


def il1s(original, released):
    losses = []
    for before, after in zip(original.T, released.T, strict=True):
        there = ~np.isnan(before)
        x, y = before[there], np.where(np.isnan(after), np.nanmean(before), after)[there]
        losses.append(np.mean(np.abs(x - y) / (math.sqrt(2) * np.std(x, ddof=1))))
    return 100 * np.mean(losses)


def surprise(difference, error):
    return 100 * (2 * stats.norm.cdf(abs(difference) / error) - 1)


def pil(original, released):
    """PIL from the definitions, a statistic at a time."""
    d = original.shape[1]
    parts = defaultdict(list)
    for j in range(d):
        x, y = original[:, j], released[:, j]
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        n = len(x)
        for percent in range(5, 100, 5):
            q = percent / 100
            e = math.sqrt(q * (1 - q) / n)
            error = (np.quantile(x, min(q + e, 1)) - np.quantile(x, max(q - e, 0))) / 2
            parts["quantiles"].append(surprise(np.quantile(y, q) - np.quantile(x, q), error))
        m2, m4 = stats.moment(x, 2), stats.moment(x, 4)
        parts["mean"].append(surprise(y.mean() - x.mean(), math.sqrt(m2 / n)))
        parts["variance"].append(surprise(y.var() - x.var(), math.sqrt((m4 - m2**2) / n)))
    for i, j in itertools.combinations(range(d), 2):
        (a, b), (c, e) = (both(table[:, i], table[:, j]) for table in (original, released))
        n = len(a)
        u, v = a - a.mean(), b - b.mean()
        m = {(p, q): np.mean(u**p * v**q) for p in range(5) for q in range(5)}
        error = math.sqrt((m[2, 2] - m[1, 1] ** 2) / n)
        parts["covariance"].append(surprise(np.cov(c, e, ddof=0)[0, 1] - m[1, 1], error))
        r = m[1, 1] / math.sqrt(m[2, 0] * m[0, 2])
        # Stuart and Ord, in the form that divides by the covariance
        spread = m[2, 2] / m[1, 1] ** 2 + 0.25 * (
            m[4, 0] / m[2, 0] ** 2 + m[0, 4] / m[0, 2] ** 2 + 2 * m[2, 2] / (m[2, 0] * m[0, 2])
        )
        spread -= m[3, 1] / (m[1, 1] * m[2, 0]) + m[1, 3] / (m[1, 1] * m[0, 2])
        parts["correlation"].append(surprise(np.corrcoef(c, e)[0, 1] - r, math.sqrt(r * r * spread / n)))
    return {name: float(np.mean(losses)) for name, losses in parts.items()}


def both(x, y):
    there = ~np.isnan(x) & ~np.isnan(y)
    return x[there], y[there]


def distance(x, y, a, b):
    """Squared distance of two records of scaled numbers and of categories; NaN and None are missing."""
    terms = [(p - q) ** 2 for p, q in zip(x, y, strict=True) if not (math.isnan(p) or math.isnan(q))]
    terms += [float(p != q) for p, q in zip(a, b, strict=True) if p is not None and q is not None]
    d = len(x) + len(a)
    return 2.0 * d if not terms else sum(terms) * d / len(terms)


def dbrl(x, y, a=None, b=None, blocks=None):
    """Distance-based record linkage over all pairs; ``x``, ``y`` scaled numbers, ``a``, ``b`` rows of categories."""
    n = len(x)
    a, b = a if a is not None else [()] * n, b if b is not None else [()] * n
    before, after = blocks if blocks is not None else ([0] * n, [0] * n)
    total = 0.0
    for i in range(n):
        away = {j: distance(x[i], y[j], a[i], b[j]) for j in range(n) if before[i] == after[j]}
        if i in away:
            nearest = [j for j, far in away.items() if far <= min(away.values()) * (1 + 1e-9)]
            total += 1 / len(nearest) if i in nearest else 0.0
    return 100 * total / n


def interval_disclosure(x, y):
    """By rank and by deviation, for one column without missing values."""
    n, deviation = len(x), np.std(x)
    by_rank = by_deviation = 0
    for a, b in zip(x, y, strict=True):
        between = sum(1 for v in x if min(a, b) < v < max(a, b))
        rank = 0 if a == b else between + 1
        for p in range(1, 11):
            by_rank += 100 * rank <= p * n
            by_deviation += abs(a - b) <= p / 100 * deviation * (1 + 1e-9)
    return 100 * by_rank / (10 * n), 100 * by_deviation / (10 * n)


def minimal_uniques(rows, largest):
    """All minimal sample uniques: pairs of a record and a set of columns."""
    d = len(rows[0])
    unique = {}
    for size in range(1, largest + 1):
        for columns in itertools.combinations(range(d), size):
            counts = Counter(tuple(row[j] for j in columns) for row in rows)
            unique[columns] = {i for i, row in enumerate(rows) if counts[tuple(row[j] for j in columns)] == 1}
    return [
        (i, columns)
        for columns, records in unique.items()
        for i in records
        if not any(i in unique[part] for s in range(1, len(columns)) for part in itertools.combinations(columns, s))
    ]


def groups_of(keys):
    groups = defaultdict(list)
    for row, key in enumerate(keys):
        groups[key].append(row)
    return groups.values()


def diversity(keys, values):
    """Distinct l, entropy l, recursive c and alpha."""
    counts = [sorted(Counter(values[row] for row in rows).values(), reverse=True) for rows in groups_of(keys)]
    least = min(map(len, counts))
    entropy = min(math.exp(-sum(c / sum(own) * math.log(c / sum(own)) for c in own)) for own in counts)
    recursive = max(own[0] / sum(own[least - 1 :]) for own in counts)
    return least, entropy, recursive, max(own[0] / sum(own) for own in counts)


def closeness(keys, values, ordered):
    """t-closeness: total variation of categories, or the ordered earth mover's distance of numbers."""
    present = sorted(set(values))
    whole = Counter(values)
    farthest = 0.0
    for rows in groups_of(keys):
        own = Counter(values[row] for row in rows)
        gaps = [own[v] / len(rows) - whole[v] / len(values) for v in present]
        if ordered:
            far = sum(abs(sum(gaps[: i + 1])) for i in range(len(present))) / (len(present) - 1)
        else:
            far = sum(map(abs, gaps)) / 2
        farthest = max(farthest, far)
    return farthest
