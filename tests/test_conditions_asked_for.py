"""How conditions on confidential columns are asked for, and what is told where they cannot be meant or met."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
import yaml

import shoal
from command_line import run
from given_away_by_definition import ORDER, people
from shoal.columns.numbers import Column
from shoal.kernels.given_away import excesses
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import distribution_of
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.plan import Plan

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
