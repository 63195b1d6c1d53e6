"""Conditions on groups by the definitions of the papers: what releases keep, what is reported, what is refused.

Nothing here knows how shoal counts. Groups are found in the released table, as records that share what is released.

- distinct, entropy and recursive (c, l)-diversity: A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam,
  l-diversity: privacy beyond k-anonymity, ACM TKDD 1(1), 2007.
- t-closeness and its three distances: N. Li, T. Li and S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity
  and l-diversity, ICDE 2007.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import shoal

Values = Sequence[Hashable]

# Nodes of the tree that `ill` is in, with their parents. Leaves are at unequal depth, and "lung" is a value with others
# below it.
PARENT = {
    "lung": "any",
    "heart": "any",
    "flu": "lung",
    "cold": "lung",
    "cough": "cold",
    "stroke": "heart",
    "attack": "heart",
    "none": "any",
}
ILLNESSES = ["flu", "cough", "stroke", "attack", "none", "lung"]


# What the papers define.


def shares(values: Values) -> dict[Hashable, float]:
    """The part of the values that is each of them."""
    return {value: count / len(values) for value, count in Counter(values).items()}


def distinct(values: Values) -> int:
    """How many different values there are."""
    return len(set(values))


def entropy_as_a_number(values: Values) -> float:
    """The number l whose logarithm is the entropy: that of l values which are equally frequent."""
    return math.exp(-sum(p * math.log(p) for p in shares(values).values()))


def most_frequent_to_rest(values: Values, rank: int) -> float:
    """r1 / (rl + ... + rm), which recursive (c, l)-diversity asks to be less than c."""
    counts = sorted(Counter(values).values(), reverse=True)
    rest = sum(counts[rank - 1 :])
    return counts[0] / rest if rest else math.inf


def ordered_distance(group: Values, table: Values) -> float:
    """Each of m - 1 steps between neighbouring values costs 1 / (m - 1) for what has to be moved over it."""
    places = sorted(set(table))
    p, q = shares(group), shares(table)
    if len(places) == 1:
        return 0.0
    carried, total = 0.0, 0.0
    for place in places:
        carried += p.get(place, 0.0) - q[place]
        total += abs(carried)
    return total / (len(places) - 1)


def equal_distance(group: Values, table: Values) -> float:
    """Whatever has to be moved costs 1."""
    p, q = shares(group), shares(table)
    return sum(abs(p.get(value, 0.0) - q[value]) for value in q) / 2


def path(node: str, parent: dict[str, str]) -> list[str]:
    """The node, its parent, and so on to the root."""
    return [node, *path(parent[node], parent)] if node in parent else [node]


def height(node: str, parent: dict[str, str]) -> int:
    """Edges from the node down to the farthest leaf below it."""
    below = [child for child, above in parent.items() if above == node]
    return max((1 + height(child, parent) for child in below), default=0)


def distance_in_tree(a: str, b: str, parent: dict[str, str]) -> float:
    """How high the lowest common ancestor is, as a part of the height of the tree."""
    if a == b:
        return 0.0
    above_b = path(b, parent)
    common = next(node for node in path(a, parent) if node in above_b)
    return height(common, parent) / height(path(a, parent)[-1], parent)


def hierarchical_distance(group: Values, table: Values, parent: dict[str, str] = PARENT) -> float:
    """Under every node as much is moved as the children with too much can give to those with too little.

    A value with others below it counts as one more child of itself. A missing value is a child of the root.
    """
    root = next(node for node in parent.values() if node not in parent)
    p, q = shares(group), shares(table)
    nodes = {root, *parent}
    extra: dict[str, float] = {}
    cost = 0.0
    for node in sorted(nodes, key=lambda node: height(node, parent)):
        children = [extra[child] for child, above in parent.items() if above == node]
        children.append(p.get(node, 0.0) - q.get(node, 0.0))
        if node == root:
            children.append(p.get(None, 0.0) - q.get(None, 0.0))
        given = sum(x for x in children if x > 0)
        taken = -sum(x for x in children if x < 0)
        cost += height(node, parent) / height(root, parent) * min(given, taken)
        extra[node] = sum(children)
    return cost


def least_work(group: Values, table: Values, ground: Callable[[Any, Any], float]) -> float:
    """The earth mover's distance as the linear program that defines it."""
    values = list(dict.fromkeys(table))
    m = len(values)
    p, q = shares(group), shares(table)
    flows = np.zeros((2 * m, m * m))
    for i in range(m):
        for j in range(m):
            flows[i, i * m + j] = 1
            flows[m + j, i * m + j] = 1
    ends = [p.get(value, 0.0) for value in values] + [q[value] for value in values]
    costs = [ground(a, b) for a in values for b in values]
    return float(linprog(costs, A_eq=flows, b_eq=ends, method="highs").fun)


@pytest.mark.parametrize("seed", range(20))
def test_each_distance_is_the_least_work_of_moving_one_distribution_to_the_other(seed: int) -> None:
    """The closed forms above are the linear program with the ground distances of the paper, on random trees as well."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 7, 30).tolist()
    group = table[: int(rng.integers(2, 9))]
    places = sorted(set(table))
    steps = len(places) - 1
    ordered = least_work(group, table, lambda a, b: abs(places.index(a) - places.index(b)) / steps)
    assert ordered_distance(group, table) == pytest.approx(ordered)
    assert equal_distance(group, table) == pytest.approx(least_work(group, table, lambda a, b: float(a != b)))

    parent = {f"n{i}": f"n{rng.integers(max(i - 5, 0), i)}" for i in range(1, 14)}
    in_tree = rng.choice(list(parent), 30).tolist()
    moved = least_work(in_tree[:5], in_tree, lambda a, b: distance_in_tree(a, b, parent))
    assert hierarchical_distance(in_tree[:5], in_tree, parent) == pytest.approx(moved)


# What is compared with releases.


def classes(released: pl.DataFrame, seen: Sequence[str]) -> list[list[int]]:
    """The records that share what is released of the columns, missing cells included."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(released.select(seen).iter_rows()):
        found.setdefault(key, []).append(row)
    return list(found.values())


def figure(name: str, asked: Any, group: list[Any], *, table: list[Any], distance: str) -> float:
    """What a group has of a condition. In an order missing values have no place."""
    if name == "distinct":
        return distinct(group)
    if name == "entropy":
        return entropy_as_a_number(group)
    if name == "recursive":
        return most_frequent_to_rest(group, asked[1])
    if distance == "ordered":
        observed = [value for value in group if value is not None]
        return ordered_distance(observed, [value for value in table if value is not None]) if observed else 0.0
    return (equal_distance if distance == "equal" else hierarchical_distance)(group, table)


def meets(name: str, asked: Any, reached: float) -> bool:
    """Whether the figure of a group is as asked; sums of shares may be off by their last digits."""
    if name in ("distinct", "entropy"):
        return bool(reached >= asked - 1e-9)
    if name == "recursive":
        return bool(reached < asked[0])
    return bool(reached <= asked + 1e-9)


DISTANCE = {
    "pay": "ordered",
    "score": "ordered",
    "size": "ordered",
    "code": "equal",
    "ill": "hierarchy",
    "club": "equal",
}
SETTINGS: dict[str, Any] = {
    "nominal": ["code"],
    "orders": {"size": ["XS", "S", "M", "L", "XXL"]},
    "hierarchies": {"ill": {"pairs": [[child, above] for child, above in PARENT.items()]}},
}


def settings_for(columns: Sequence[str]) -> dict[str, Any]:
    """The settings that say of what kind the columns are; those that nothing depends on are refused."""
    kept = {
        "nominal": [name for name in SETTINGS["nominal"] if name in columns],
        "orders": {name: order for name, order in SETTINGS["orders"].items() if name in columns},
        "hierarchies": {name: tree for name, tree in SETTINGS["hierarchies"].items() if name in columns},
    }
    return {name: value for name, value in kept.items() if value}


def people(rng: np.random.Generator, n: int, gaps: float) -> pl.DataFrame:
    """A table with ties, whole numbers, names and confidential columns of each kind, some of them going with x."""
    x = rng.normal(size=n).round(1)
    rank = np.argsort(np.argsort(x + rng.normal(size=n)))
    table = pl.DataFrame(
        {
            "x": x,
            "y": rng.integers(18, 40, n),
            "z": rng.integers(0, 4, n),
            "job": rng.choice(["smith", "baker", "clerk"], n),
            "area": np.repeat(["north", "south"], [n // 2, n - n // 2]),
            "weight": rng.integers(1, 9, n).astype(float),
            "pay": (rank * 100.0 / n).round(1),
            "score": rank * 6 // n,
            "size": np.array(["XS", "S", "L", "XXL"])[rng.choice(4, n, p=[0.2, 0.4, 0.3, 0.1])],
            "code": rng.choice([1, 2, 3, 5], n),
            "ill": rng.choice(ILLNESSES, n),
            "club": np.array(["a", "b", "c"])[rank * 3 // n],
        }
    )
    hidden = [
        pl.when(pl.Series(rng.random(n) < gaps)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("z", *DISTANCE)
    ]
    return table.with_columns(hidden)


def drawn_conditions(rng: np.random.Generator, columns: int) -> dict[str, dict[str, Any]]:
    """Some conditions on so many columns; now and then one that cannot be met."""
    asked: dict[str, dict[str, Any]] = {}
    for column in rng.choice(sorted(DISTANCE), columns, replace=False):
        every = {
            "t": round(float(rng.uniform(0.12, 0.4)), 2),
            "distinct": int(rng.integers(2, 4)),
            "entropy": round(float(rng.uniform(1.2, 3.6)), 2),
            "recursive": [round(float(rng.uniform(0.5, 3)), 1), int(rng.integers(2, 4))],
        }
        chosen = rng.choice(sorted(every), int(rng.integers(1, 4)), replace=False)
        asked[str(column)] = {str(name): every[str(name)] for name in chosen}
    return asked


def compared(table: pl.DataFrame, sets: list[list[str]], asked: dict[str, dict[str, Any]], **more: Any) -> bool:
    """Whether a release was made, which then is as asked and as reported; one that is refused cannot be made."""
    plan = settings_for([column for column, limits in asked.items() if "t" in limits])
    strata = [str(name) for name in more.get("strata", [])]
    columns = {name: table[name].to_list() for name in asked}
    columns = {
        name: [SETTINGS["orders"][name].index(value) if value is not None else None for value in values]
        if name in SETTINGS["orders"]
        else values
        for name, values in columns.items()
    }

    def figures(groups: list[list[int]], column: str, name: str) -> list[float]:
        values = columns[column]
        limit = asked[column][name]
        return [
            figure(name, limit, [values[r] for r in rows], table=values, distance=DISTANCE[column]) for rows in groups
        ]

    wholes = classes(table, strata) if strata else [list(range(len(table)))]
    possible = all(
        meets(name, limit, reached)
        for column, limits in asked.items()
        for name, limit in limits.items()
        for reached in figures(wholes, column, name)
    )
    if not possible:
        with pytest.raises(shoal.ShoalError, match="conditions"):
            shoal.protect(table, 3, sets, conditions=asked, **plan, **more)
        return False
    release = shoal.protect(table, 3, sets, conditions=asked, **plan, **more)
    found = {condition.column: condition for condition in release.summary.conditions}
    assert list(found) == list(asked)
    groups_of_sets = [classes(release.data, [*names, *strata]) for names in sets]
    for column, limits in asked.items():
        assert found[column].distance == (DISTANCE[column] if "t" in limits else found[column].distance)
        assert set(found[column].reached) == set(limits)
        assert release.data[column].equals(table[column])
        for name, limit in limits.items():
            every = [reached for groups in groups_of_sets for reached in figures(groups, column, name)]
            assert all(meets(name, limit, reached) for reached in every), (column, name)
            worst = min(every) if name in ("distinct", "entropy") else max(every)
            assert found[column].reached[name] == pytest.approx(worst, abs=1e-9), (column, name)
        assert min(len(rows) for groups in groups_of_sets for rows in groups) >= max(3, found[column].least_group)
    return True


WAYS: dict[str, dict[str, Any]] = {
    "mdav": {"sets": [["x", "y"]], "method": "mdav"},
    "search": {"sets": [["x", "y"]], "method": "optimal", "options": {"steps": 20}},
    "weights": {"sets": [["x", "y"]], "method": "mdav", "weight": "weight"},
    "weighted search": {"sets": [["x"]], "method": "optimal", "options": {"steps": 20}, "weight": "weight"},
    "strata": {"sets": [["x", "y"]], "method": "v-mdav", "strata": ["area"]},
    "blocks": {"sets": [["x", "y"]], "method": "mdav", "blocking": {"method": "2d-tree", "size": 25}},
    "two sets": {"sets": [["x"], ["y", "job"]], "method": "sa-mdav"},
    "mixed": {"sets": [["x", "job"]], "method": "sa-mdav"},
    "mixed search": {"sets": [["x", "job"]], "method": "semantic-optimal", "options": {"steps": 20}},
    "one column": {"sets": [["x"]], "method": "univariate"},
    "ties": {"sets": [["z"]], "method": "mdav"},
    "gaps": {"sets": [["x", "z"]], "method": "mdav"},
    "gaps searched": {"sets": [["x", "z"]], "method": "optimal", "options": {"steps": 20}},
}


@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("way", WAYS)
def test_every_group_of_a_release_keeps_what_was_asked_and_the_summary_says_how_far(way: str, gaps: float) -> None:
    """On random tables and conditions, with and without missing values. Groups of the same means are one to readers."""
    rng = np.random.default_rng([sorted(WAYS).index(way), int(gaps * 100)])
    made = 0
    for _ in range(6):
        table = people(rng, int(rng.integers(40, 90)), gaps)
        made += compared(table, asked=drawn_conditions(rng, int(rng.integers(1, 3))), **WAYS[way])
    assert made > 1


@pytest.mark.parametrize(("c", "most", "rest"), [(1.1, 11, 10), (0.7, 7, 10), (2.3, 23, 10), (0.3, 6, 20), (1.4, 7, 5)])
def test_the_most_frequent_value_is_truly_less_than_c_times_the_rest(c: float, most: int, rest: int) -> None:
    """1.1 times 10 is more than 11 in binary fractions, and r1 = c (r2 + ...) still is a miss."""
    others = [f"v{i // min(most, rest)}" for i in range(rest)]
    table = pl.DataFrame({"x": range(most + rest), "ill": ["most"] * most + others})
    with pytest.raises(shoal.ShoalError, match="no groups meet what is asked of 'ill'"):
        shoal.protect(table, most + rest, "x", conditions={"ill": {"recursive": [c, 2]}}, method="mdav")
    allowed = {"ill": {"recursive": [c + 0.01, 2]}}
    release = shoal.protect(table, most + rest, "x", conditions=allowed, method="mdav")
    assert release.summary.conditions[0].reached["recursive"] == pytest.approx(most / rest)


@pytest.mark.parametrize("values", [3, 5, 6, 7, 10, 13])
def test_equally_frequent_values_have_the_entropy_of_their_number(values: int) -> None:
    """The exponential of the logarithm of 3 is a little less than 3, and 3 values still are entropy 3-diverse."""
    table = pl.DataFrame({"x": range(3 * values), "ill": [f"v{i % values}" for i in range(3 * values)]})
    release = shoal.protect(table, 3 * values, "x", conditions={"ill": {"entropy": values}}, method="mdav")
    assert release.summary.conditions[0].reached["entropy"] == pytest.approx(values)
    with pytest.raises(shoal.ShoalError, match="no groups meet what is asked of 'ill'"):
        shoal.protect(table, 3 * values, "x", conditions={"ill": {"entropy": values + 0.001}}, method="mdav")
