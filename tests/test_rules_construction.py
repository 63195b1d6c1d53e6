"""What rules are made of and how tuples are built: classification, projection, derivation, programs, conflicts."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run


def protect(table, rules, k=3, **asked):
    asked.setdefault("quasi_identifiers", table.columns)
    return shoal.protect(table, k, rules=rules, method="mdav", **asked)


def whole_table(n=60, seed=0):
    draw = np.random.default_rng(seed)
    return pl.DataFrame({name: draw.integers(0, 100, n) for name in "ABC"})


def test_whole_numbers_add_up_and_rounding_does_not_break_a_total():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B") + pl.col("C"))
    plain = protect(table, None).data
    assert (plain["T"] != plain["A"] + plain["B"] + plain["C"]).any()
    kept = protect(table, ["T = A + B + C"])
    assert (kept.data["T"] == kept.data["A"] + kept.data["B"] + kept.data["C"]).all()
    assert kept.data.schema == table.schema
    assert kept.summary.rules[0].cost < 0.05
    assert "derived" in kept.summary.rules[0].kept_by


def test_a_total_of_a_narrow_type_does_not_overflow():
    draw = np.random.default_rng(3)
    a = draw.integers(120, 128, 40)
    table = pl.DataFrame({"A": a, "B": 255 - a}).with_columns(T=pl.col("A") + pl.col("B")).cast(pl.UInt8)
    for k in (2, 3, 5, 7):
        data = protect(table, ["T = A + B"], k).data.cast(pl.Int64)
        assert (data["T"] == data["A"] + data["B"]).all()
        assert data["T"].unique().to_list() == [255]


def test_decimals_add_up_to_the_cent():
    draw = np.random.default_rng(1)
    cents = draw.integers(0, 10**6, (30, 2)).tolist()
    table = pl.DataFrame(
        {"A": [Decimal(a) / 100 for a, _ in cents], "B": [Decimal(b) / 100 for _, b in cents]},
        schema={"A": pl.Decimal(12, 2), "B": pl.Decimal(12, 2)},
    ).with_columns(T=pl.col("A") + pl.col("B"))
    data = protect(table, ["T = A + B"]).data
    assert all(a + b == t for a, b, t in data.rows())
    assert data.schema == table.schema


def test_a_total_from_the_original_moves_its_parts():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    data = protect(table, ["T = A + B", "T from original"]).data
    assert (data["T"] == data["A"] + data["B"]).all()
    assert set(data["T"]) <= set(table["T"])


def test_where_all_parts_are_from_the_original_a_record_is_released():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    release = protect(table, ["T = A + B", "T from original", "A from original", "B from original"])
    assert all(set(release.data[name]) <= set(table[name]) for name in "ABT")
    assert (release.data["T"] == release.data["A"] + release.data["B"]).all()
    assert "a record of the group" in release.summary.rules[0].kept_by


def test_products_with_zeros_and_negative_values_have_an_answer():
    draw = np.random.default_rng(2)
    a = draw.normal(size=50).round(2)
    a[::7] = 0.0
    table = pl.DataFrame({"A": a, "R": draw.normal(size=50)}).with_columns(P=pl.col("A") * pl.col("R"))
    release = protect(table, ["P = A * R"])
    assert (release.data["P"] == release.data["A"] * release.data["R"]).all()
    assert release.summary.rules[0].kept_by.startswith("mean; P derived")
    positive = table.with_columns(pl.col("A").abs() + 1, pl.col("R").abs() + 1).with_columns(
        P=pl.col("A") * pl.col("R")
    )
    assert protect(positive, ["P = A * R"]).summary.rules[0].kept_by.startswith("mean; P derived")
    geometric = protect(positive, ["P = A * R"], product_rules="geometric-means")
    assert geometric.summary.rules[0].kept_by.startswith("geometric-mean")
    assert (geometric.data["P"] == geometric.data["A"] * geometric.data["R"]).all()
    projected = protect(positive, ["P = A * R"], aggregators="mean")
    assert (projected.data["P"] == projected.data["A"] * projected.data["R"]).all()
    assert projected.summary.rules[0].cost < geometric.summary.rules[0].cost


def test_an_antecedent_of_few_records_is_kept_when_it_is_merged():
    draw = np.random.default_rng(4)
    earnings = draw.integers(2000, 9000, 200)
    earnings[:4] = (10, 20, 30, 40)
    taxable = draw.integers(0, 5000, 200)
    wages = np.where(earnings < 1115, taxable // 2, taxable + 1000)
    table = pl.DataFrame({"E": earnings, "T": taxable, "W": wages})
    rule = "if E < 1115 then W <= T"
    few = protect(table, [rule], 10)
    assert not few.data.filter((pl.col("E") < 1115) & (pl.col("W") > pl.col("T"))).height
    assert "stratum" not in few.summary.rules[0].kept_by


def test_an_antecedent_about_a_column_that_is_kept():
    draw = np.random.default_rng(5)
    sex = draw.choice(["F", "M"], 80)
    table = pl.DataFrame({"births": np.where(sex == "M", 0, draw.integers(0, 9, 80)), "age": draw.integers(18, 90, 80),
                          "sex": sex})  # fmt: skip
    rule = "if sex = 'M' then births = 0"
    plain = protect(table, None, 20, quasi_identifiers=["births", "age"], confidential="sex").data
    assert plain.filter((pl.col("sex") == "M") & (pl.col("births") > 0)).height
    kept = protect(table, [rule], 20, quasi_identifiers=["births", "age"], confidential="sex")
    assert not kept.data.filter((pl.col("sex") == "M") & (pl.col("births") > 0)).height
    assert kept.data["sex"].to_list() == sex.tolist()


def test_missing_values_in_a_total():
    draw = np.random.default_rng(6)
    x = draw.integers(0, 100, (60, 2)).astype(float)
    values = np.column_stack([x, x.sum(axis=1)])
    holes = draw.random(values.shape) < 0.3
    table = pl.DataFrame(
        {name: [None if gone else v for v, gone in zip(values[:, j], holes[:, j], strict=True)]
         for j, name in enumerate("ABT")}
    )  # fmt: skip
    data = protect(table, ["T = A + B"]).data
    full = [row for row in data.rows() if None not in row]
    assert full
    assert all(a + b == t for a, b, t in full)
    assert all((now is None) >= (before is None)
               for row, old in zip(data.rows(), table.rows(), strict=True)
               for now, before in zip(row, old, strict=True))  # fmt: skip


def test_a_rule_is_kept_where_it_held():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    spoilt = table.with_columns(T=pl.when(pl.int_range(pl.len()) < 5).then(pl.col("T") + 7).otherwise(pl.col("T")))
    with pytest.raises(shoal.DataError, match="5 records"):
        protect(spoilt, ["T = A + B"])
    release = protect(spoilt, ["T = A + B"], broken_rules="keep-where-held")
    held = release.data[5:]
    assert (held["T"] == held["A"] + held["B"]).all()
    assert release.summary.rules[0].violations_before == 5


@pytest.mark.parametrize("asked", [
    {"blocking": {"method": "spread-tree", "size": 20}},
    {"blocking": {"method": "2d-tree", "size": 20, "repair": True}},
    {"strata": ["S"], "quasi_identifiers": ["A", "B", "C", "T"]},
    {"weight": "S", "quasi_identifiers": ["A", "B", "C", "T"]},
    {"scaling": "range"},
    {"aggregators": {"A": "median", "T": "trimmed-mean", "*": "mode"}},
    {"refine": True},
])  # fmt: skip
def test_rules_with_everything_else(asked):
    table = whole_table(90).with_columns(T=pl.col("A") + pl.col("B"), S=1 + pl.int_range(90) % 3)
    rules = ["T = A + B", "C <= 99", "if A < 50 then T <= 149"]
    data = protect(table, rules, **asked).data
    assert (data["T"] == data["A"] + data["B"]).all()
    assert not data.filter((pl.col("A") < 50) & (pl.col("T") > 149)).height


@pytest.mark.parametrize(
    "method", sorted(n for n, m in shoal.METHODS.items() if not m.needs and n != "individual-ranking")
)
def test_rules_with_every_method(method):
    table = whole_table(40).with_columns(T=pl.col("A") + pl.col("B"))
    data = shoal.protect(table, 4, table.columns, rules=["T = A + B", "A from original"], method=method).data
    assert (data["T"] == data["A"] + data["B"]).all()
    assert set(data["A"]) <= set(table["A"])


def test_a_method_by_column_keeps_rules_of_single_columns():
    table = whole_table(40)
    data = shoal.protect(table, 4, table.columns, rules=["A from original"], method="individual-ranking").data
    assert set(data["A"]) <= set(table["A"])
    with pytest.raises(shoal.PlanError, match="'individual-ranking' groups each column by itself"):
        shoal.protect(table, 4, table.columns, rules=["A <= B + 100"], method="individual-ranking")


def test_dates_keep_their_order():
    draw = np.random.default_rng(8)
    start = [date(2020, 1, 1 + int(v)) for v in draw.integers(0, 28, 40)]
    table = pl.DataFrame({"born": start, "A": draw.normal(size=40)}).with_columns(
        died=pl.col("born") + pl.duration(days=pl.Series(draw.integers(0, 300, 40)))
    )
    data = protect(table, ["born <= died", "born >= '2020-01-01'", "died from original"]).data
    assert (data["born"] <= data["died"]).all()
    assert set(data["died"]) <= set(table["died"])


CONFLICTS = {
    ("low: A <= 3", "high: A >= 5"): "rules 'low' and 'high' contradict each other",
    ("a: A <= B", "b: B <= C", "c: C < A"): "rules 'a', 'b' and 'c' contradict",
    ("A in {1, 2}", "A >= 3"): "contradict each other",
    ("A in {1, 2}", "A in {3, 4}"): "contradict each other",
    ("0.2 <= A <= 0.8",): "contradicts itself",
}


@pytest.mark.parametrize("rules", CONFLICTS)
def test_contradictions_are_told_before_any_work(rules):
    with pytest.raises(shoal.PlanError, match=CONFLICTS[rules]):
        protect(whole_table(), list(rules))


def test_rules_across_sets_and_to_kept_columns_are_told():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    with pytest.raises(shoal.PlanError, match="different sets of quasi-identifiers"):
        protect(table, ["T = A + B"], quasi_identifiers=[["A", "T"], ["B", "C"]])
    with pytest.raises(shoal.PlanError, match="make 'T' a quasi-identifier"):
        protect(table, ["T = A + B"], quasi_identifiers=["A", "B"])


def test_a_limit_that_is_kept_in_every_record():
    draw = np.random.default_rng(9)
    limit = draw.integers(50, 200, 60)
    table = pl.DataFrame({"A": limit - draw.integers(0, 50, 60), "B": draw.integers(0, 9, 60), "L": limit})
    data = protect(table, ["A <= L"], quasi_identifiers=["A", "B"]).data
    assert (data["A"] <= data["L"]).all()
    assert data["L"].to_list() == limit.tolist()


def test_numbers_of_64_bits_keep_their_rules():
    draw = np.random.default_rng(10)
    low = [2**63 + int(v) for v in draw.integers(0, 10**6, 40)]
    table = pl.DataFrame({"A": low, "B": [v + 4096 for v in low]}, schema={"A": pl.UInt64, "B": pl.UInt64})
    data = protect(table, ["A <= B", "B from original"]).data
    assert (data["A"] <= data["B"]).all()


def test_a_sweep_keeps_the_rules_of_its_plan():
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    found = shoal.sweep(table, "3,5", ["mdav"], table.columns, rules=["T = A + B"])
    plain = shoal.sweep(table, "3,5", ["mdav"], table.columns)
    kept, ignored = ([r.information_loss for r in one.results] for one in (found, plain))
    assert kept != ignored
    assert kept == pytest.approx(ignored, abs=0.5)


def test_what_asks_for_missing_values_is_checked_and_not_guaranteed():
    table = whole_table(40)
    rules = protect(table, ["count(A, B) = 2", "A is not missing", "A >= 0"]).summary.rules
    assert [rule.guaranteed for rule in rules] == [False, False, True]
    assert all("checked, not guaranteed" in rule.kept_by for rule in rules[:2])
    holes = table.with_columns(
        A=pl.when(pl.int_range(40) < 2).then(None).otherwise(pl.col("A")), N=pl.int_range(40) < 2
    )
    spoilt = holes.with_columns(pl.col("N").cast(pl.Int64)).filter(pl.int_range(pl.len()) < 3)
    with pytest.raises(shoal.DataError, match="checked and not guaranteed"):
        protect(spoilt, ["if N = 0 then A is not missing"], 3, quasi_identifiers=["A", "B"], confidential="N")


def test_the_report_and_the_command_line_say_how_each_rule_was_kept(tmp_path):
    table = whole_table().with_columns(T=pl.col("A") + pl.col("B"))
    release = protect(table, {"sums": "T = A + B", "town": "C from original"})
    inside = release.report(tmp_path / "inside.html").read_text(encoding="utf-8")
    assert "How each rule was kept and what it cost" in inside
    assert release.summary.rules[0].kept_by in inside
    assert "Without rules the information loss would be" in inside
    outside = release.report(tmp_path / "outside.html", edition="external").read_text(encoding="utf-8")
    assert "Edit rules" in outside
    assert release.summary.rules[0].kept_by not in outside
    plain = protect(table, None).report(tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "Edit rules" not in plain
    table.write_csv(tmp_path / "in.csv")
    (tmp_path / "sums.rules").write_text("sums: T = A + B\n", encoding="utf-8")
    command = [str(tmp_path / "in.csv"), "-o", str(tmp_path / "out.csv"), "-k", "3", "--all-numeric"]
    asked = ["protect", *command, "--method", "mdav", "--rules", str(tmp_path / "sums.rules"), "--json"]
    result = run(*asked)
    (rule,) = json.loads(result.stdout)["rules"]
    assert rule["name"] == "sums"
    assert set(rule) >= {
        "name",
        "kind",
        "kept_by",
        "violations_before",
        "violations_after",
        "guaranteed",
        "cost",
        "cost_in_groups",
    }


def test_rules_over_categories_are_kept_by_a_value_or_a_record_of_the_group():
    draw = np.random.default_rng(11)
    work = draw.choice(["none", "farm", "city"], 90)
    place = np.where(work == "farm", "country", draw.choice(["country", "town"], 90))
    wage = np.where(work == "none", 0, draw.integers(100, 900, 90))
    table = pl.DataFrame({"work": work, "place": place, "wage": wage})
    rules = [
        "work in {none, farm, city}",
        "place from original",
        "if work = 'farm' then place = 'country'",
        "if work = 'none' then wage = 0",
    ]
    for method in ("semantic-optimal", "s-mdav", "sa-mdav"):
        release = shoal.protect(table, 7, ["work", "place", "wage"], method=method, rules=rules)
        data = release.data
        assert not data.filter((pl.col("work") == "farm") & (pl.col("place") != "country")).height
        assert not data.filter((pl.col("work") == "none") & (pl.col("wage") != 0)).height
        assert all(rule.guaranteed for rule in release.summary.rules)
        assert data.group_by(data.columns).len()["len"].min() >= 7


def test_a_rule_that_changes_nothing_costs_nothing_whatever_the_weights_and_the_rounding():
    draw = np.random.default_rng(5)
    a = draw.integers(0, 1000, 90)
    table = pl.DataFrame({"a": a, "b": a + draw.integers(0, 400, 90), "w": draw.lognormal(0, 1.5, 90)})
    columns = ["a", "b"]
    plain = protect(table, None, quasi_identifiers=columns, weight="w").data
    kept = protect(table, ["a <= b"], quasi_identifiers=columns, weight="w")
    assert kept.data.equals(plain)
    assert kept.summary.rules[0].cost == 0.0
    halves = table.with_columns(pl.col("a") / 7, pl.col("b") / 7)
    assert protect(halves, ["a <= b"], quasi_identifiers=columns, weight="w").summary.rules[0].cost == 0.0


def test_a_rule_that_moves_values_costs_their_squares_beside_the_weighted_means():
    table = pl.DataFrame({"a": [0.0, 2.0, 10.0, 12.0], "w": [3.0, 1.0, 1.0, 1.0]})
    kept = protect(table, ["a from original"], k=2, quasi_identifiers=["a"], weight="w")
    x, released = table["a"].to_numpy(), kept.data["a"].to_numpy()
    means = np.array([0.5, 0.5, 11.0, 11.0])
    expected = ((x - released) ** 2).sum() - ((x - means) ** 2).sum()
    assert kept.summary.rules[0].cost == pytest.approx(max(100 * expected / ((x - x.mean()) ** 2).sum(), 0.0))
