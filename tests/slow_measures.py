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


def apart(kind, a, b):
    """Distance of two values of a kind: ("number",), ("nominal",), ("ordinal", levels) or ("semantic", tree, nodes)."""
    if kind[0] == "number":
        return abs(a - b)
    if kind[0] == "nominal":
        return float(a != b)
    if kind[0] == "ordinal":
        return abs(kind[1].index(a) - kind[1].index(b)) / (len(kind[1]) - 1)
    return wu_palmer(kind[1], a, b)


def centre(kind, values):
    """Mean, most frequent value, lower median, or the node nearest to all; the first of several."""
    if kind[0] == "number":
        return math.fsum(values) / len(values)
    if kind[0] == "nominal":
        return max(dict.fromkeys(values), key=values.count)
    if kind[0] == "ordinal":
        return sorted(values, key=kind[1].index)[(len(values) - 1) // 2]
    sums = {node: sum(wu_palmer(kind[1], node, value) for value in values) for node in kind[2]}
    return min(sums, key=lambda node: round(sums[node], 9))


def losses(kinds, original, released, weights=None):
    """What a release of rows has lost: ``table``, by ``column`` and by ``record``; None stands for a missing cell.

    ``column`` has SSE and SST of each, ``record`` SSE and SST of whole records with numbers divided by their range,
    ``table`` the loss in percent.
    """
    weights = weights or [1.0] * len(kinds)
    columns, total, whole = [], 0.0, 0.0
    moved, spread = [0.0] * len(original), [0.0] * len(original)
    for j, kind in enumerate(kinds):
        seen = [row[j] for row in original if row[j] is not None]
        middle = centre(kind, seen) if seen else None
        unit = max(seen) - min(seen) if seen and kind[0] == "number" else 1.0
        sse = sst = 0.0
        for i, (before, after) in enumerate(zip(original, released, strict=True)):
            if before[j] is None or unit == 0.0:
                continue
            now = middle if after[j] is None else after[j]
            sse += apart(kind, before[j], now) ** 2
            sst += apart(kind, before[j], middle) ** 2
            moved[i] += weights[j] / sum(weights) * apart(kind, before[j], now) / unit
            spread[i] += weights[j] / sum(weights) * apart(kind, before[j], middle) / unit
        columns.append((sse, sst))
        if sst > 0.0:
            total += weights[j] * len(seen) * 100 * sse / sst
            whole += weights[j] * len(seen)
    record = (sum(one**2 for one in moved), sum(one**2 for one in spread))
    return {"table": total / whole if whole else 0.0, "column": columns, "record": record}


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


def distance(x, y, a, b, mismatch):
    """Squared distance of two records of z-scores and of categories; NaN and None are missing.

    A cell that only one of them has adds what is expected of a z-score or value drawn at random; one that neither has
    adds nothing.
    """
    total = 0.0
    for p, q in zip(x, y, strict=True):
        if not math.isnan(p) and not math.isnan(q):
            total += (p - q) ** 2
        elif not math.isnan(p):
            total += p**2 + 1
        elif not math.isnan(q):
            total += q**2 + 1
    for p, q, chance in zip(a, b, mismatch, strict=True):
        if (p is None) != (q is None):
            total += chance
        elif p is not None:
            total += p != q
    return total


def chances_of_a_mismatch(rows):
    """Chance that two values drawn from a column differ, for each column of categories."""
    found = []
    for column in zip(*rows, strict=True):
        there = [value for value in column if value is not None]
        found.append(1 - sum((there.count(value) / len(there)) ** 2 for value in set(there)))
    return found


def dbrl(x, y, a=None, b=None, blocks=None):
    """Distance-based record linkage over all pairs; ``x``, ``y`` scaled numbers, ``a``, ``b`` rows of categories."""
    n = len(x)
    a, b = a if a is not None else [()] * n, b if b is not None else [()] * n
    before, after = blocks if blocks is not None else ([0] * n, [0] * n)
    mismatch = chances_of_a_mismatch(a)
    total = 0.0
    for i in range(n):
        away = {j: distance(x[i], y[j], a[i], b[j], mismatch) for j in range(n) if before[i] == after[j]}
        if i in away:
            nearest = [j for j, far in away.items() if far <= min(away.values()) * (1 + 1e-9)]
            total += 1 / len(nearest) if i in nearest else 0.0
    return 100 * total / n


def interval_disclosure(x, y):
    """By rank and by deviation, for one column without missing values."""
    n, deviation = len(x), np.std(x)
    by_rank = by_deviation = 0
    for a, b in zip(x, y, strict=True):
        rank = rank_distance(x, a, b)
        for p in range(1, 11):
            by_rank += 100 * rank <= p * n
            by_deviation += abs(a - b) <= p / 100 * deviation * (1 + 1e-9)
    return 100 * by_rank / (10 * n), 100 * by_deviation / (10 * n)


def rank_distance(values, a, b):
    return 0 if a == b else 1 + sum(1 for v in values if min(a, b) < v < max(a, b))


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
