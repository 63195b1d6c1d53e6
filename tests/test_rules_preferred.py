"""Soft rules: kept where that costs no more than their weight, beside hard ones that always hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.rules.grammar import parse_rule
from shoal.rules.languages import as_r
from shoal.rules.writing import as_text


def table(n=120):
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 50, n), rng.integers(0, 50, n)
    return pl.DataFrame({"a": a, "c": c, "t": a + c})


def kept_with(weight):
    rules = ["t = a + c", f"gap: prefer {weight} c <= a"]
    return shoal.protect(table(), 4, ["a", "c", "t"], method="mdav", rules=rules)


def test_a_heavier_preference_is_kept_in_more_records_and_costs_more_and_hard_rules_always_hold():
    releases = [kept_with(weight) for weight in (0, 0.01, 0.05, 1)]
    broken = [release.summary.rules[1].violations_after for release in releases]
    losses = [release.summary.information_loss for release in releases]
    assert broken == sorted(broken, reverse=True)
    assert broken[0] > broken[1] > broken[-1]
    assert losses == sorted(losses)
    for release, count in zip(releases, broken, strict=True):
        data = release.data
        assert (data["t"] == data["a"] + data["c"]).all()
        assert (data["c"] > data["a"]).sum() == count
        assert [rule.guaranteed for rule in release.summary.rules] == [True, False]
        assert release.summary.rules[1].violations_before == (table()["c"] > table()["a"]).sum() > 0


def test_a_group_moves_by_no_more_than_the_weight():
    """Two groups break A <= B by 1 and by 4, with standard deviations of about 7: the weight lies between."""
    rows = {"A": [10, 14, 12, 30, 38, 34], "B": [11, 9, 13, 31, 22, 37]}
    data = pl.DataFrame(rows)
    plain = shoal.protect(data, 3, ["A", "B"], method="mdav").data
    assert (plain["A"] > plain["B"]).all()
    some = shoal.protect(data, 3, ["A", "B"], method="mdav", rules=["prefer 0.01 A <= B"]).data
    assert [(a <= b) for a, b in some.rows()] == [True] * 3 + [False] * 3
    every = shoal.protect(data, 3, ["A", "B"], method="mdav", rules=["prefer 1 A <= B"]).data
    assert (every["A"] <= every["B"]).all()


def test_of_two_preferences_that_contradict_each_other_the_heavier_wins():
    rules = ["small: prefer 5 c <= a - 1", "large: prefer 9 c >= a"]
    release = shoal.protect(table(), 4, ["a", "c"], method="mdav", rules=rules, confidential="t")
    small, large = release.summary.rules
    assert large.violations_after < small.violations_after


def test_categories_may_be_preferred():
    data = pl.DataFrame({"v": ["x", "x", "x", "y"]})
    for weight, released in ((0.1, "x"), (0.9, "y")):
        rules = [f"prefer {weight} v = 'y'"]
        assert set(shoal.protect(data, 4, ["v"], method="mdav-generic", rules=rules).data["v"]) == {released}


@pytest.mark.parametrize(
    ("text", "weight", "name"),
    [
        ("prefer A <= B", 1.0, "prefer A <= B"),
        ("low: prefer 0.5 if A > 1 then B > 1", 0.5, "low"),
        ("prefer 2 <= A", 1.0, "prefer 2 <= A"),
    ],
)
def test_a_preference_is_read_with_its_weight_and_written_again(text, weight, name):
    rule = parse_rule(text)
    assert (rule.weight, rule.name) == (weight, name)
    again = parse_rule(as_text([rule]).strip())
    assert (again.weight, again.condition) == (rule.weight, rule.condition)
    with pytest.raises(shoal.PlanError, match="soft rule"):
        as_r([rule])


@pytest.mark.parametrize("text", ["prefer <= 3", "prefer in {1, 2}", "prefer is missing", "x: prefer + 1 > 2"])
def test_a_column_may_be_called_prefer(text):
    rule = parse_rule(text)
    assert rule.weight is None
    assert rule.variables == ("prefer",)


def test_a_broken_preference_is_told_and_does_not_fail_a_check(tmp_path):
    table().write_csv(tmp_path / "t.csv")
    (tmp_path / "t.rules").write_text("t = a + c\ngap: prefer 0.5 c <= a\n")
    assert [(f.soft, f.violations > 0) for f in shoal.check_rules(table(), tmp_path / "t.rules")] == [
        (False, False),
        (True, True),
    ]
    assert run("rules", "check", tmp_path / "t.csv", tmp_path / "t.rules").exit_code == 0
