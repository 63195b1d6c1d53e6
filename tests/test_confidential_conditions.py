"""Conditions on confidential columns: diversity and closeness of every group, by definition, on what is released."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
import yaml

import shoal
from all_partitions import partitions, squares
from command_line import run
from shoal.columns.categories import Factor, nominal, ordinal, semantic
from shoal.columns.hierarchy import grow
from shoal.columns.numbers import Column
from shoal.kernels.given_away import excesses
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import distribution_of
from shoal.partition.conditions.least_size import least_size, nearest_possible
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.plan import Plan

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


# what kernels count --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("column", ["pay", "level", "ill", "kind"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_groups_that_miss_are_those_that_miss_by_definition(column, asked, missing):
    table = people(60, seed=3, missing=missing and column != "kind")
    values = table[column].to_list()
    there = np.array([v is not None for v in values])
    labels = list(dict.fromkeys(v for v in values if v is not None))
    factor = Factor(np.array([labels.index(v) if v is not None else 0 for v in values]), there, labels)
    made = {
        "pay": lambda: Column("pay", np.array([v or 0 for v in values]), there),
        "level": lambda: ordinal("level", factor, ORDER),
        "ill": lambda: semantic("ill", factor, grow(tree_pairs(TREE)), "wu-palmer"),
        "kind": lambda: nominal("kind", factor),
    }[column]()
    told = LittleGivenAway([distribution_of(made)], [ConfidentialCondition(**asked)])
    rng = np.random.default_rng(5)
    both = set()
    for size in (2, 5, 9, 20):
        groups = rng.permutation(np.arange(60) // size)
        failing = told.failing(group_rows(groups))
        for members, misses in zip(
            [np.flatnonzero(groups == g) for g in range(groups.max() + 1)], failing, strict=True
        ):
            assert misses != kept([values[i] for i in members], asked, distance_of(column, table))
            both.add(bool(misses))
    assert both == {True, False}


def tree_pairs(tree, above=None):
    pairs = []
    for name, below in tree.items():
        pairs += [(name, above)] if above else []
        pairs += tree_pairs(below or {}, name)
    return pairs


# what is possible ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 7, 9, 10])
@pytest.mark.parametrize("values", ["different", "with ties", "names"])
def test_no_group_is_nearer_than_is_possible_and_some_group_is_as_near(n, values):
    rng = np.random.default_rng(n)
    numbers = np.arange(n) if values == "different" else rng.integers(0, 4, n)
    there = np.ones(n, dtype=bool)
    column = Column("v", numbers, there)
    if values == "names":
        column = nominal("v", Factor(np.unique(numbers, return_inverse=True)[1], there, list(map(str, set(numbers)))))
    own = distribution_of(column)
    table = numbers.tolist()
    far = equal_distance if values == "names" else ordered_distance
    for size in range(1, n + 1):
        least = min(far([table[i] for i in rows], table) for rows in itertools.combinations(range(n), size))
        assert nearest_possible(own, size) == pytest.approx(least, abs=1e-9)
        if values == "different":  # Soria-Comas et al. (2015)
            known = (n + size) * (n - size) / (4 * n * (n - 1) * size)
            assert least >= known - 1e-12
            assert n % size or n // size % 2 == 0 or least == pytest.approx(known)


@pytest.mark.parametrize("column", ["pay", "ill", "kind"])
@pytest.mark.parametrize("asked", [*ASKED, {"t": 0.05}, {"t": 0.0}, {"recursive": [0.4, 2]}, {"entropy": 2.9}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_what_some_partition_meets_is_not_refused_and_what_none_meets_is(column, asked, seed):
    table = people(8, seed=seed)
    values = table[column].to_list()
    far = distance_of(column, table)
    possible = any(
        all(kept([values[i] for i in group], asked, far) for group in groups)
        for groups in partitions(list(range(8)), 2)
    )
    more = SAID.get(column, {}) if "t" in asked else {}
    given = {"quasi_identifiers": ["x", "y"], "method": "mdav", "conditions": {column: asked}, **more}
    if not possible:
        with pytest.raises(shoal.DataError, match="no groups meet what is asked of"):
            shoal.protect(table, 2, **given)
        return
    release = shoal.protect(table, 2, **given)
    groups = by_group(values, release.groups)
    assert all(kept(group, asked, far) for group in groups)
    assert min(map(len, groups)) >= release.summary.conditions[0].least_group


def test_a_least_size_is_told_and_no_group_is_below_it():
    pay = distribution_of(Column("pay", np.arange(1080), np.ones(1080, dtype=bool)))
    sizes = {t: least_size(pay, ConfidentialCondition(t=t)) for t in (0.05, 0.1, 0.25)}
    assert sizes == {0.05: 6, 0.1: 3, 0.25: 2}
    assert least_size(pay, ConfidentialCondition(recursive=(0.25, 3))) == 7  # 2 and more than 4
    assert least_size(pay, ConfidentialCondition(entropy=2.5, distinct=2)) == 3


# releases ------------------------------------------------------------------------------------------------------------

WAYS = {
    "mdav": {"method": "mdav"},
    "optimal": {"method": "optimal", "options": {"steps": 3000}},
    "semantic-optimal": {"method": "semantic-optimal", "options": {"steps": 3000}, "quasi_identifiers": ["x", "kind"]},
    "mondrian": {"method": "mondrian-mixed", "quasi_identifiers": ["x", "kind"]},
    "by column": {"method": "individual-ranking"},
    "two sets": {"method": "mdav", "quasi_identifiers": [["x"], ["y"]]},
    "refined": {"method": "mdav", "refine": True},
    "blocks": {"method": "mdav", "blocking": {"method": "spread-tree", "size": 40}},
    "searched blocks": {"method": "optimal", "options": {"steps": 2000}, "blocking": {"method": "2d-tree", "size": 60}},
    "strata": {"method": "mdav", "strata": "side"},
    "searched strata": {"method": "optimal", "options": {"steps": 2000}, "strata": "side"},
    "weights": {"method": "optimal", "options": {"steps": 2000}, "weight": "w", "aggregators": "weighted-mean"},
    "rules": {"method": "mdav", "rules": ["if x < 0 then x <= 0"]},
    "dominance": {"method": "mdav", "dominance": {"p": 1, "action": "grow"}},
}


def holds(release, table, column, asked):
    """Whether every group of every set keeps what is asked."""
    far = distance_of(column, table)
    values = table[column].to_list()
    for own in np.atleast_2d(release.groups.T):
        for group in by_group(values, own):
            if len(group) < release.plan.k or not kept(group, asked, far):
                return False
    return True


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_every_group_keeps_what_is_asked_whatever_else_is(way, asked):
    table = people()
    given = {"quasi_identifiers": ["x", "y"], **WAYS[way]}
    release = shoal.protect(table, 4, conditions={"pay": asked}, **given)
    assert holds(release, table, "pay", asked)
    plain = shoal.protect(table, 4, confidential="pay", **given)
    assert not holds(plain, table, "pay", asked)
    found = release.summary.conditions[0]
    assert (found.column, found.distance) == ("pay", "ordered" if "t" in asked else "equal")
    assert found.asked == asked
    if way != "rules":
        assert release.summary.loss_without_conditions == pytest.approx(plain.summary.information_loss)
    if "strata" in given:
        assert all(len(set(group)) == 1 for group in by_group(table["side"].to_list(), release.groups))


@pytest.mark.parametrize("method", ["mdav", "optimal"])
@pytest.mark.parametrize("column", ["pay", "level", "ill"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_missing_confidential_values_are_a_value_of_their_own(column, asked, method):
    table = people(missing=True)
    more = SAID[column] if "t" in asked else {}
    release = shoal.protect(table, 4, ["x", "y"], method=method, conditions={column: asked}, **more)
    assert holds(release, table, column, asked)


@pytest.mark.parametrize("patterns", ["counted", "ignored"])
@pytest.mark.parametrize("method", ["mdav", "optimal", "semantic-optimal"])
def test_missing_quasi_identifiers_and_persons_do_not_get_in_the_way(method, patterns):
    rng = np.random.default_rng(2)
    table = people(160)
    holes = {name: rng.random(160) < 0.1 for name in ("x", "y")}
    table = table.with_columns(
        pl.when(pl.Series(gone)).then(None).otherwise(pl.col(name)).alias(name) for name, gone in holes.items()
    ).with_columns(person_id=pl.Series([f"p{i // 2}" for i in range(160)]))
    release = shoal.protect(
        table, 4, ["x", "y"], method=method, conditions={"pay": {"t": 0.2}}, identifiers="person_id",
        missing_patterns=patterns,
    )  # fmt: skip
    assert holds(release, table, "pay", {"t": 0.2})
    assert all(len(set(group)) >= 4 for group in by_group(table["person_id"].to_list(), release.groups))


def test_where_groups_keep_it_already_nothing_changes():
    table = people()
    for method in ("mdav", "optimal"):
        plain = shoal.protect(table, 6, ["x", "y"], method=method, confidential="w")
        asked = shoal.protect(table, 6, ["x", "y"], method=method, conditions={"w": {"distinct": 2}})
        assert asked.data.equals(plain.data)
        assert asked.groups.tolist() == plain.groups.tolist()


def test_several_columns_at_once():
    table = people()
    asked = {"pay": {"t": 0.25}, "level": {"distinct": 2}, "ill": {"entropy": 1.8}}
    release = shoal.protect(table, 4, ["x", "y"], method="mdav", conditions=asked)
    assert all(holds(release, table, column, own) for column, own in asked.items())
    assert [one.column for one in release.summary.conditions] == list(asked)


# the least loss ------------------------------------------------------------------------------------------------------


def least_with(x, k, meets):
    """The least sum of squares of a partition into groups of k that all meet a condition, by looking at all."""
    found = [
        sum(squares(x[group]) for group in groups)
        for groups in partitions(list(range(len(x))), k)
        if all(meets(group) for group in groups)
    ]
    return min(found)


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["optimal", "semantic-optimal"])
def test_on_tiny_tables_the_search_finds_the_optimum_among_partitions_that_meet_the_condition(method, asked, seed):
    table = people(9, seed=seed)
    x = table.select("x", "y").to_numpy()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    values = table["pay"].to_list()
    far = distance_of("pay", table)
    try:
        release = shoal.protect(table, 3, ["x", "y"], method=method, conditions={"pay": asked})
    except shoal.DataError:
        assert not kept(values, asked, far)
        return
    least = least_with(x, 3, lambda group: kept([values[i] for i in group], asked, far))
    reached = sum(squares(x[np.flatnonzero(release.groups == g)]) for g in range(release.groups.max() + 1))
    if method == "optimal":
        assert reached == pytest.approx(least)
    else:  # squares of mean distances, not sums of squares
        assert holds(release, table, "pay", asked)


@pytest.mark.parametrize("asked", [{"distinct": 4}, {"t": 0.15}, {"entropy": 3.0}], ids=str)
def test_exchanges_lose_less_than_merging_alone_and_a_search_loses_less_than_both(asked):
    table = people(240, seed=8)
    conditions = {"pay": asked}
    repaired = shoal.protect(table, 4, ["x", "y"], method="mdav", conditions=conditions).summary
    searched = shoal.protect(table, 4, ["x", "y"], method="optimal", conditions=conditions).summary
    assert searched.information_loss < repaired.information_loss
    assert searched.loss_without_conditions < searched.information_loss


def test_a_search_with_steps_is_repeated_to_the_byte(tmp_path):
    table = people()
    asked = {"conditions": {"pay": {"t": 0.2}}, "method": "optimal"}
    timed = shoal.protect(table, 4, ["x", "y"], options={"time": 0.4}, **asked)
    again = shoal.protect(table, plan=Plan(**timed.manifest()["plan_again"]))
    assert again.data.equals(timed.data)


# how it is asked for -------------------------------------------------------------------------------------------------


def test_the_command_line_the_plan_and_python_ask_for_the_same(tmp_path):
    table = people()
    table.write_csv(tmp_path / "in.csv")
    asked = ["-C", "pay:t=0.2", "-C", "pay:distinct=3", "-C", "level:recursive=2.5,2"]
    done = run("protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "x,y", "-m", "mdav", *asked)
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    said = {"pay": {"t": 0.2, "distinct": 3}, "level": {"recursive": [2.5, 2]}}
    assert manifest["plan"]["conditions"] == {"pay": {"distinct": 3, "t": 0.2}, "level": {"recursive": [2.5, 2]}}
    assert manifest["plan"]["confidential"] == ["pay", "level"]
    release = shoal.protect(tmp_path / "in.csv", 4, ["x", "y"], method="mdav", conditions=said)
    assert release.data.equals(pl.read_csv(tmp_path / "out.csv"))
    assert Plan.from_yaml(release.plan.to_yaml()) == release.plan
    told = {one["column"]: one["reached"] for one in manifest["summary"]["conditions"]}
    assert told["pay"]["t"] <= 0.2
    assert told["pay"]["distinct"] >= 3


WRONG = {
    "no column": ({"payy": {"t": 0.2}}, "column 'payy' is not in the table; did you mean 'pay'?"),
    "a quasi-identifier": ({"x": {"t": 0.2}}, "column 'x' has 2 roles: quasi-identifier, confidential"),
    "nothing": ({"pay": {}}, "conditions.pay: give distinct, entropy, recursive or t"),
    "not by name": ({"pay": 3}, "conditions.pay: give distinct, entropy, recursive or t by name"),
    "no columns": ("pay", "conditions: name each column with what its groups must keep"),
    "another word": ({"pay": {"close": 1}}, "conditions.pay: there is no setting 'close'"),
    "one value": ({"pay": {"distinct": 1}}, "conditions.pay: distinct: must be at least 2"),
    "above one": ({"pay": {"t": 1.5}}, "conditions.pay: t: must be at most 1"),
    "half a pair": ({"pay": {"recursive": [2]}}, "conditions.pay: recursive: give c and l"),
    "a text": ({"pay": {"t": "0.2"}}, "conditions.pay: t: must be a number, and not a text"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_meant_is_a_mistake_with_the_column(case):
    conditions, expected = WRONG[case]
    with pytest.raises(shoal.PlanError) as caught:
        shoal.protect(people(), 4, ["x", "y"], method="mdav", conditions=conditions)
    assert expected in str(caught.value)


def test_kinds_of_columns_matter_for_t_only():
    with pytest.raises(shoal.PlanError, match="orders: column 'level' is not a quasi-identifier"):
        shoal.protect(people(), 4, ["x", "y"], conditions={"level": {"distinct": 2}}, orders={"level": ORDER})
    asked = {"conditions": {"level": {"t": 0.2}}, "method": "mdav"}
    plain = shoal.protect(people(), 4, ["x", "y"], **asked)
    in_order = shoal.protect(people(), 4, ["x", "y"], **asked, orders={"level": ORDER})
    assert (plain.summary.conditions[0].distance, in_order.summary.conditions[0].distance) == ("equal", "ordered")
    assert in_order.measure().t_closeness > 0.0  # measures know the columns of the plan, too


@pytest.mark.parametrize("wrong", ["pay", "pay:t", "pay:t=much", ":t=1"])
def test_a_condition_on_the_command_line_is_told_how_it_is_written(wrong, tmp_path):
    people().write_csv(tmp_path / "in.csv")
    done = run("protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "x,y", "-C", wrong)
    assert done.exit_code != 0
    assert f"--condition {wrong}" in done.output


def test_what_strata_cannot_meet_is_refused_before_any_work(tmp_path):
    table = people().with_columns(level=pl.when(pl.col("side") == "east").then(pl.lit("low")).otherwise("level"))
    with pytest.raises(shoal.DataError, match=r"'level' \(at least 2 different values\).*\(1 stratum of 2\)"):
        shoal.protect(
            table, 4, ["x", "y"], strata="side", conditions={"level": {"distinct": 2}}, output=tmp_path / "out.csv"
        )
    assert not list(tmp_path.iterdir())


def test_equal_records_cannot_be_kept_together_as_well():
    with pytest.raises(shoal.PlanError, match="leave the option split out"):
        shoal.protect(
            people(), 4, ["x", "kind"], method="semantic-optimal", options={"split": False},
            conditions={"pay": {"t": 0.2}},
        )  # fmt: skip


def test_a_broken_condition_is_noticed_on_the_release(monkeypatch):
    monkeypatch.setattr("shoal.release.grouping.repair_sets", lambda declared, groups, *_: groups)
    monkeypatch.setattr("shoal.release.grouping.conditions_of", lambda *_: [[]])
    with pytest.raises(shoal.BrokenPromise, match=r"a group misses a condition of column 'pay': t at most 0\.05"):
        shoal.protect(people(), 4, ["x", "y"], method="mdav", conditions={"pay": {"t": 0.05}})


def test_excess_is_zero_exactly_where_nothing_is_missed():
    own = distribution_of(Column("v", np.arange(10), np.ones(10, dtype=bool)))
    told = LittleGivenAway([own], [ConfidentialCondition(distinct=3)])
    assert excesses(told.limits, *group_rows(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 2]))).tolist() == [
        pytest.approx(1 / 3), 0.0, 0.0,
    ]  # fmt: skip


def test_a_plan_with_conditions_goes_to_yaml_and_back():
    plan = Plan(k=3, quasi_identifiers=["x"], conditions={"pay": {"recursive": (2, 3), "t": 0.1}})
    assert yaml.safe_load(plan.to_yaml())["conditions"] == {"pay": {"recursive": [2.0, 3], "t": 0.1}}
    assert Plan.from_yaml(plan.to_yaml()) == plan
