"""Cents stay cents: released numbers have the decimals of their column, or those that were asked for."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run

COLUMNS = ["pay", "bonus", "total", "rate", "exact"]


def cells(path):
    return pl.read_csv(path, infer_schema=False)


@pytest.fixture
def payroll(tmp_path):
    """Money with cents and totals, a rate of one decimal, and a column of all digits that floats have."""
    draw = np.random.default_rng(0)
    pay, bonus = (draw.integers(10_000, 9_000_000, 60) for _ in range(2))
    columns = {
        "pay": [f"{cents / 100:.2f}" for cents in pay],
        "bonus": [f"{cents / 100:.2f}" for cents in bonus],
        "total": [f"{cents / 100:.2f}" for cents in pay + bonus],
        "rate": [f"{rate:.1f}" for rate in draw.random(60)],
        "exact": [repr(float(x)) for x in draw.normal(size=60)],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "pay.csv")
    return tmp_path / "pay.csv"


def decimals_in(texts):
    return max(len(text.partition(".")[2]) for text in texts)


def test_no_released_number_of_a_text_file_has_more_decimals_than_its_column(payroll, tmp_path):
    release = shoal.protect(payroll, 3, COLUMNS, method="mdav", output=tmp_path / "out.csv")
    assert release.summary.decimals == {"pay": 2, "bonus": 2, "total": 2, "rate": 1}
    found = cells(tmp_path / "out.csv")
    assert {name: decimals_in(found[name]) for name in release.summary.decimals} == release.summary.decimals
    assert decimals_in(found["exact"]) > 10
    means = pl.read_csv(payroll).group_by(pl.Series("group", release.groups)).agg(pl.col("pay").mean())
    by_group = release.data.group_by(pl.Series("group", release.groups)).agg(pl.col("pay").first())
    both = means.join(by_group, on="group")
    assert (both["pay"] - both["pay_right"]).abs().max() <= 0.005 + 1e-9


def test_sums_that_a_reader_recomputes_from_the_file_are_exact_in_decimals(payroll, tmp_path):
    rules = ["total = pay + bonus"]
    shoal.protect(payroll, 3, COLUMNS, method="mdav", rules=rules, output=tmp_path / "out.csv")
    found = cells(tmp_path / "out.csv")
    triples = zip(found["pay"], found["bonus"], found["total"], strict=True)
    assert all(Decimal(pay) + Decimal(bonus) == Decimal(total) for pay, bonus, total in triples)
    assert all(decimals_in(found[name]) <= 2 for name in ("pay", "bonus", "total"))


def test_a_product_that_the_file_rounds_to_cents_is_kept_to_the_cent(tmp_path):
    draw = np.random.default_rng(1)
    price, amount = draw.integers(100, 9999, 60), draw.integers(10, 500, 60)
    value = [
        (Decimal(int(p)) / 100 * Decimal(int(a)) / 10).quantize(Decimal("0.01"))
        for p, a in zip(price, amount, strict=True)
    ]
    table = pl.DataFrame(
        {"p": [f"{p / 100:.2f}" for p in price], "q": [f"{a / 10:.1f}" for a in amount], "v": [str(v) for v in value]}
    )
    table.write_csv(tmp_path / "in.csv")
    release = shoal.protect(tmp_path / "in.csv", 3, ["p", "q", "v"], method="mdav", rules=["v = p * q"])
    assert release.summary.decimals == {"p": 2, "q": 1, "v": 2}
    release.write(tmp_path / "out.csv")
    found = cells(tmp_path / "out.csv")
    for p, q, v in found.rows():
        assert abs(Decimal(p) * Decimal(q) - Decimal(v)) <= Decimal("0.005")
        assert max(map(decimals_in, ([p], [v]))) <= 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (1, {"pay": 1, "bonus": 1, "total": 1, "rate": 1, "exact": 1}),
        ("all", {}),
        ({"pay": 0, "exact": 3}, {"pay": 0, "bonus": 2, "total": 2, "rate": 1, "exact": 3}),
        ({"*": 0, "rate": "all"}, {"pay": 0, "bonus": 0, "total": 0, "exact": 0}),
    ],
)
def test_decimals_can_be_asked_for(payroll, asked, told):
    release = shoal.protect(payroll, 3, COLUMNS, method="mdav", decimals=asked)
    assert release.summary.decimals == told
    for name, count in told.items():
        scaled = release.data[name].to_numpy() * 10**count
        assert np.allclose(scaled, np.rint(scaled), rtol=0, atol=1e-6)


def test_decimals_in_a_plan_and_on_the_command_line(payroll, tmp_path):
    plan = shoal.Plan(k=3, quasi_identifiers=COLUMNS, method="mdav", decimals=1)
    assert plan.decimals == {"*": 1}
    assert shoal.Plan.from_yaml(plan.to_yaml()) == plan
    (tmp_path / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
    told = []
    for asked in (
        ["--plan", str(tmp_path / "plan.yaml")],
        ["-k", "3", "--all-numeric", "--decimals", "pay=0,rate=all"],
    ):
        out = tmp_path / f"out{len(told)}.csv"
        result = run("protect", str(payroll), "-o", str(out), *asked, "--method", "mdav", "--json")
        told.append(json.loads(result.stdout)["decimals"])
    assert told == [dict.fromkeys(COLUMNS, 1), {"pay": 0, "bonus": 2, "total": 2}]


def test_coarser_decimals_than_those_of_the_file_keep_rules_too(payroll, tmp_path):
    rules = ["total = pay + bonus", "pay <= 90000"]
    release = shoal.protect(payroll, 3, COLUMNS, method="mdav", rules=rules, decimals=0, output=tmp_path / "out.csv")
    assert (release.data["pay"] + release.data["bonus"] == release.data["total"]).all()
    assert (release.data["pay"] == release.data["pay"].round(0)).all()
    assert release.data["pay"].max() <= 90000


def test_frames_have_no_text_and_keep_all_digits_unless_decimals_are_asked_for():
    table = pl.DataFrame({"x": [0.5, 1.0, 2.5, 7.0, 7.5, 8.5]})
    assert shoal.protect(table, 3, ["x"]).data["x"][0] == pytest.approx(4 / 3, rel=1e-15)
    release = shoal.protect(table, 3, ["x"], decimals=1)
    assert release.data["x"].to_list() == [1.3] * 3 + [7.7] * 3
    assert release.summary.decimals == {"x": 1}


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (["1.5", "2.25", "3", "4", "NA", "5.5"], 2),
        (["1e3", "2.25", "3", "4", "5", "6"], None),
        (["0.1234567890123456", "2.25", "3", "4", "5", "6"], None),
        (["123456789012.1234", "2.25", "3", "4", "5", "6"], None),
        (["1.0", "2.0", "3.0", "4.0", "5.0", "7.0"], 1),
        (["1,50", "12,05", "20,00", "99,10", "1000,5", "5,20"], 2),
    ],
)
def test_the_grid_is_found_when_a_file_is_read(tmp_path, texts, count):
    (tmp_path / "in.csv").write_text("x;kept\n" + "".join(f"{text};a\n" for text in texts), encoding="utf-8")
    release = shoal.protect(
        tmp_path / "in.csv",
        2,
        ["x"],
        method="mdav",
        reading={"missing": ["NA"]} if "NA" in texts else None,
    )
    assert release.summary.decimals.get("x") == count


def test_row_wise_xml_has_a_grid_too(tmp_path):
    rows = "".join(f"<Record><x>{x}</x></Record>" for x in ("1.25", "1.5", "2.11", "8.25", "9.75", "9.99"))
    (tmp_path / "in.xml").write_text(f"<Data>{rows}</Data>", encoding="utf-8")
    release = shoal.protect(tmp_path / "in.xml", 3, ["x"], method="mdav")
    assert release.summary.decimals == {"x": 2}
    assert release.data["x"].to_list() == [1.62] * 3 + [9.33] * 3


@pytest.mark.parametrize(
    ("asked", "mistake"),
    [
        (-1, "decimals: give a whole number from 0 to 15, or 'all'"),
        ({"pay": "two"}, "decimals.pay: give a whole number from 0 to 15, or 'all'"),
        ({"pya": 2}, "column 'pya' is not in the table; did you mean 'pay'?"),
        ({"rate": 2}, "decimals: column 'rate' is not a quasi-identifier"),
    ],
)
def test_decimals_that_make_no_sense_are_told(payroll, asked, mistake):
    with pytest.raises(shoal.PlanError, match=mistake.replace("?", r"\?").replace(".", r"\.")):
        shoal.protect(payroll, 3, ["pay", "bonus"], decimals=asked)


def test_decimals_of_whole_numbers_have_no_effect():
    table = pl.DataFrame({"x": [1, 2, 3, 4]})
    with pytest.raises(shoal.PlanError, match="column 'x' has no fractions"):
        shoal.protect(table, 2, ["x"], decimals={"x": 2})
    with pytest.raises(shoal.PlanError, match="has no effect without a column of fractions"):
        shoal.protect(table, 2, ["x"], decimals=2)
