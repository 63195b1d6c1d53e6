"""Totals kept: controlled rounding against all ways of rounding, with whole numbers, decimals and weights."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.rules.totals import round_to_total


def table(n=83, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"v": rng.integers(0, 100, n), "u": rng.integers(0, 9, n), "w": rng.integers(1, 9, n)})


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_of_all_roundings_with_the_total_is_found(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 6, 6)
    means = np.round(rng.uniform(0, 9, 6) * counts) / counts
    total = int(np.rint((counts * means).sum()))
    found = round_to_total(means, counts, total, 0, 9)
    near = [range(max(int(m) - 1, 0), min(int(m) + 3, 10)) for m in means]
    ways = [np.array(way) for way in product(*near) if (np.array(way) * counts).sum() == total]
    assert found is not None
    assert (found.values * counts).sum() == total
    least = min((counts * (way - means) ** 2).sum() for way in ways)
    assert (counts * (found.values - means) ** 2).sum() == pytest.approx(least)


@pytest.mark.parametrize("method", ["mdav", "optimal"])
def test_totals_of_whole_numbers_are_exactly_what_they_were_and_plain_means_change_them(method):
    options = {"options": {"steps": 5000}} if method == "optimal" else {}
    settings = {"method": method, "confidential": "w", **options}
    plain = shoal.protect(table(), 3, ["v", "u"], **settings).data
    assert (plain["v"].sum(), plain["u"].sum()) != (table()["v"].sum(), table()["u"].sum())
    release = shoal.protect(table(), 3, ["v", "u"], rules=["sum(v) unchanged", "all: sum(u) unchanged"], **settings)
    assert (release.data["v"].sum(), release.data["u"].sum()) == (table()["v"].sum(), table()["u"].sum())
    assert [(rule.kind, rule.guaranteed) for rule in release.summary.rules] == [("total", True)] * 2
    assert release.summary.smallest_group >= 3


def test_one_odd_group_makes_up_for_a_remainder():
    """Nine groups of five and one of eight: only the last can make up for what five does not divide."""
    counts, means = np.array([5] * 9 + [8]), np.array([2.4] * 9 + [3.25])
    for total in range(130, 150):
        found = round_to_total(means, counts, total, 0, 99)
        assert found is not None
        assert (found.values * counts).sum() == total


def test_weighted_totals_are_kept_exactly_with_whole_weights_and_refused_with_fractions():
    settings = {"method": "mdav", "weight": "w", "rules": ["sum(v) unchanged"]}
    release = shoal.protect(table(), 3, ["v"], confidential="u", **settings)
    assert (release.data["v"] * table()["w"]).sum() == (table()["v"] * table()["w"]).sum()
    odd = table().with_columns(w=pl.col("w") + 1 / 3)
    with pytest.raises(shoal.DataError, match="weights have too many decimals"):
        shoal.protect(odd, 3, ["v"], confidential="u", **settings)


def test_totals_of_decimals_and_of_floats_are_kept():
    cents = table().with_columns(v=(pl.col("v") * Decimal("0.01")).cast(pl.Decimal(10, 2)))
    release = shoal.protect(cents, 3, ["v"], method="mdav", rules=["sum(v) unchanged"], confidential=["u", "w"])
    assert release.data["v"].sum() == cents["v"].sum()
    floats = table().with_columns(v=pl.col("v") / 7)
    release = shoal.protect(floats, 3, ["v"], method="mdav", rules=["sum(v) unchanged"], confidential=["u", "w"])
    assert release.data["v"].sum() == pytest.approx(floats["v"].sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "settings", "told"),
    [
        ([1, 1, 1, 2, 9, 9, 9, 10], {}, "common divisor"),
        ([1, 1, 1, 2, 9, 9, 9, 90, 3], {"aggregators": "median"}, "choose mean"),
        ([1, 1, 1, None, 9, 9, 9, 90, 3], {"missing_patterns": "ignored"}, "3 cells of the column would be suppressed"),
    ],
)
def test_a_total_that_cannot_be_kept_is_refused_with_the_reason(rows, settings, told):
    data = pl.DataFrame({"v": rows})
    with pytest.raises(shoal.DataError, match=f"rule 'sum\\(v\\) unchanged'.*{told}"):
        shoal.protect(data, 4, ["v"], method="mdav", rules=["sum(v) unchanged"], **settings)


def test_a_total_beside_other_rules_is_kept_where_they_leave_it_and_refused_where_not():
    floats = table().with_columns(v=pl.col("v") / 7, u=pl.col("u") / 7).with_columns(t=pl.col("v") + pl.col("u"))
    rules = ["t = v + u", "sum(t) unchanged"]
    release = shoal.protect(floats, 3, ["v", "u", "t"], method="mdav", rules=rules, confidential="w")
    assert release.data["t"].sum() == pytest.approx(floats["t"].sum(), rel=1e-9)
    whole = pl.DataFrame({"v": [0, 0, 0, 10, 30]})
    with pytest.raises(shoal.DataError, match="cannot be kept beside 'v from original'"):
        shoal.protect(whole, 5, ["v"], method="mdav", rules=["v from original", "sum(v) unchanged"])


def test_a_file_is_checked_against_the_total_of_the_original(tmp_path):
    table().write_csv(tmp_path / "in.csv")
    (tmp_path / "t.rules").write_text("sum(v) unchanged\n")
    asked = ["-k", 3, "-q", "v", "--keep", "u,w", "-m", "mdav"]
    assert run("protect", tmp_path / "in.csv", "-o", tmp_path / "plain.csv", *asked).exit_code == 0
    done = run("protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *asked, "--rules", tmp_path / "t.rules")
    assert done.exit_code == 0, done.output
    for name, status in (("plain.csv", 1), ("out.csv", 0)):
        found = run("rules", "check", tmp_path / name, tmp_path / "t.rules", "--original", tmp_path / "in.csv")
        assert found.exit_code == status
    assert "--original" in run("rules", "check", tmp_path / "in.csv", tmp_path / "t.rules").output


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("sum(v, u) unchanged", "the sum of one variable before 'unchanged'"),
        ("v unchanged", "the sum of one variable before 'unchanged'"),
        ("if u > 1 then sum(v) unchanged", "a rule by itself"),
        ("sum(v) = u within household", "rules across the records of a household are not kept"),
    ],
)
def test_other_rules_about_several_records_are_refused(rule, told):
    with pytest.raises(shoal.PlanError, match=told):
        shoal.check_rules(table(), [rule])
