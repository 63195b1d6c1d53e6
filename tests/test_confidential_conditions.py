"""Conditions on confidential columns: diversity and closeness of every group, by definition, on what is released."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest

import shoal
from all_partitions import partitions, squares
from given_away_by_definition import (
    ASKED,
    ORDER,
    SAID,
    TREE,
    by_group,
    distance_of,
    equal_distance,
    holds,
    kept,
    ordered_distance,
    people,
)
from shoal.columns.categories import Factor, nominal, ordinal, semantic
from shoal.columns.hierarchy import grow
from shoal.columns.numbers import Column
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import distribution_of
from shoal.partition.conditions.least_size import least_size, nearest_possible
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.plan import Plan

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
        missing_patterns=patterns, options={"steps": 3000} if "optimal" in method else None,
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
    assert reached == pytest.approx(least)


def centre(values):
    """What stands for values: their mean, or the most frequent name, the first of several."""
    return Counter(values).most_common(1)[0][0] if isinstance(values[0], str) else np.mean(values)


def lost_in(values, rows):
    """What a column loses where one value stands for the rows, or, where one of them lacks it, none does."""
    there = [values[i] for i in rows if values[i] is not None]
    released = centre(there if len(there) == len(rows) else [value for value in values if value is not None])
    return sum(value != released if isinstance(value, str) else (value - released) ** 2 for value in there)


def information_loss(table, names, groups):
    """The mean over cells of what columns lose, as a part of what each would with one value for all, in percent."""
    lost = cells = 0
    for own in (table[name].to_list() for name in names):
        there = [value for value in own if value is not None]
        lost += len(there) * sum(lost_in(own, rows) for rows in groups) / lost_in(there, range(len(there)))
        cells += len(there)
    return 100 * lost / cells


def drawn(rng):
    """One or two conditions on a column."""
    every = {
        "t": float(rng.choice([0.15, 0.25, 0.35])),
        "distinct": int(rng.integers(2, 4)),
        "entropy": float(rng.choice([1.5, 2.0, 2.5])),
        "recursive": [float(rng.choice([1.0, 1.5, 2.5])), 2],
    }
    return {name: every[name] for name in rng.choice(sorted(every), int(rng.integers(1, 3)), replace=False).tolist()}


@pytest.mark.parametrize("beside", ["nothing else", "strata", "gaps"])
@pytest.mark.parametrize(
    ("method", "names"),
    [("optimal", ["x", "y"]), ("semantic-optimal", ["x", "y"]), ("semantic-optimal", ["x", "kind"])],
    ids=str,
)
def test_several_conditions_of_two_columns_are_met_at_the_least_loss_or_by_no_partition(method, names, beside):
    strata = "side" if beside == "strata" else None
    rng = np.random.default_rng(7)
    seen = Counter()
    for seed in range(24):
        n, k = int(rng.integers(6, 10)), int(rng.integers(2, 4))
        table = people(n, seed=seed, missing=seed % 3 == 0)
        # at least k in each stratum, which are searched each by itself
        table = table.with_columns(side=pl.Series(["east"] * (n // 2) + ["west"] * (n - n // 2)))
        if beside == "gaps":
            gone = {name: pl.Series(rng.permutation(n) < 2) for name in names}
            table = table.with_columns(
                pl.when(rows).then(None).otherwise(pl.col(name)).alias(name) for name, rows in gone.items()
            )
        columns = rng.choice([c for c in ("pay", "level", "ill", "kind") if c not in names], 2, replace=False).tolist()
        asked = {column: drawn(rng) for column in columns}
        told = [(table[column].to_list(), own, distance_of(column, table)) for column, own in asked.items()]
        sides = table["side"].to_list()
        possible = [
            groups
            for groups in partitions(list(range(n)), k)
            if all(kept([values[i] for i in rows], own, far) for values, own, far in told for rows in groups)
            and (strata is None or all(len({sides[i] for i in rows}) == 1 for rows in groups))
        ]
        more = {kind: said for column in columns if "t" in asked[column] for kind, said in SAID.get(column, {}).items()}
        given = {"method": method, "conditions": asked, "strata": strata, **more}
        if not possible:
            seen["refused"] += 1
            with pytest.raises(shoal.DataError, match="no groups meet what is asked of"):
                shoal.protect(table, k, names, **given)
            continue
        release = shoal.protect(table, k, names, **given)
        least = min(information_loss(table, names, groups) for groups in possible)
        assert release.summary.information_loss == pytest.approx(least, abs=1e-9)
        assert all(holds(release, table, column, own) for column, own in asked.items())
        seen["chosen among several" if len(possible) > 1 else "the only one"] += 1
    assert seen["refused"]
    assert seen["chosen among several"]


@pytest.mark.parametrize("asked", [{"distinct": 4}, {"t": 0.15}, {"entropy": 3.0}], ids=str)
def test_a_search_loses_less_than_repaired_groups(asked):
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
