"""What groups give away of confidential columns, by the definitions of the papers, and tables to look at."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl

TREE = {"any": {"ill": {"flu": None, "cold": None}, "hurt": {"leg": None, "arm": {"left": None, "right": None}}}}
ORDER = ["low", "mid", "high"]


# by definition -------------------------------------------------------------------------------------------------------


def shares(values, among):
    counts = Counter(values)
    return [counts[one] / len(values) for one in among]


def ordered_distance(group, table, levels=None):
    """Earth mover's distance of Li et al. (2007) in an order; what is missing has no place in it."""
    group, table = [v for v in group if v is not None], [v for v in table if v is not None]
    among = [v for v in levels or sorted(set(table)) if v in set(table)]
    if not group or len(among) < 2:
        return 0.0
    differences = np.subtract(shares(group, among), shares(table, among))
    return float(np.abs(np.cumsum(differences)).sum()) / (len(among) - 1)


def equal_distance(group, table):
    among = list(dict.fromkeys(table))
    return 0.5 * float(np.abs(np.subtract(shares(group, among), shares(table, among))).sum())


def tree_distance(group, table, tree=TREE):
    """Flows through common ancestors, as Li et al. (2007) move them, each at the height of the node it passes."""

    def height(below):
        return 0 if not below else 1 + max(height(one) for one in below.values())

    top = height(tree["any"])

    def cost(name, below, extra):
        here = {name: extra.get(name, 0.0)} if name in extra else {}
        paid = 0.0
        for child, under in (below or {}).items():
            more, here[("below", child)] = cost(child, under, extra)
            paid += more
        up, down = sum(v for v in here.values() if v > 0), -sum(v for v in here.values() if v < 0)
        return paid + min(up, down) * height(below) / top, up - down

    among = list(dict.fromkeys(table))
    extra = dict(zip(among, np.subtract(shares(group, among), shares(table, among)), strict=True))
    lost = extra.pop(None, 0.0)
    paid, rest = cost("any", tree["any"], extra)
    assert abs(rest + lost) < 1e-9
    return paid + abs(lost)


def kept(group, asked, distance):
    """Whether a group keeps what is asked of a column, by the definitions."""
    counts = sorted(Counter(group).values(), reverse=True)
    entropy = -sum(c / len(group) * math.log(c / len(group)) for c in counts)
    c, place = asked.get("recursive", (math.inf, 1))
    return (
        len(counts) >= asked.get("distinct", 1)
        and entropy >= math.log(asked.get("entropy", 1.0)) - 1e-8
        and (len(counts) >= place and counts[0] < c * sum(counts[place - 1 :]))
        and distance(group) <= asked.get("t", 1.0) + 1e-8
    )


def by_group(column, groups):
    parts = {}
    for value, group in zip(column, np.asarray(groups).tolist(), strict=True):
        parts.setdefault(group, []).append(value)
    return list(parts.values())


def people(n=120, seed=1, missing=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=n)
    pay = 8 * np.round((20 + 6 * x + 3 * rng.normal(size=n)) / 8)
    level = np.digitize(pay, [15, 23])
    leaves = ["flu", "cold", "leg", "left", "right", "arm"]
    ill = [leaves[int(i)] for i in np.clip(np.floor(3 + x + rng.normal(size=n)), 0, 5)]
    columns = {
        "x": x,
        "y": y,
        "kind": [["a", "b", "c"][int(i)] for i in np.digitize(x, [-0.5, 0.5])],
        "pay": [int(v) for v in pay],
        "level": [ORDER[i] for i in level],
        "ill": ill,
        "side": [["east", "west"][i % 2] for i in range(n)],
        "w": np.round(rng.uniform(1, 5, n), 2),
    }
    if missing:
        for name in ("pay", "level", "ill"):
            columns[name] = [None if rng.random() < 0.1 else v for v in columns[name]]
    return pl.DataFrame(columns)


def distance_of(column, table):
    values = table[column].to_list()
    return {
        "pay": lambda group: ordered_distance(group, values),
        "level": lambda group: ordered_distance(group, values, ORDER),
        "ill": lambda group: tree_distance(group, values),
        "kind": lambda group: equal_distance(group, values),
    }[column]


SAID = {"pay": {}, "level": {"orders": {"level": ORDER}}, "ill": {"hierarchies": {"ill": {"tree": TREE}}}}
ASKED = [{"distinct": 3}, {"entropy": 2.2}, {"recursive": [2.5, 2]}, {"t": 0.2}, {"distinct": 2, "t": 0.25}]


def holds(release, table, column, asked):
    """Whether every group of every set keeps what is asked."""
    far = distance_of(column, table)
    values = table[column].to_list()
    for own in np.atleast_2d(release.groups.T):
        for group in by_group(values, own):
            if len(group) < release.plan.k or not kept(group, asked, far):
                return False
    return True
