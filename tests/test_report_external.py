"""The external edition of a report has nothing in it that helps an intruder."""

from __future__ import annotations

import datetime
import hashlib
import re

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.report
from report_pages import QUASI, Outline, page_of, without_vega
from shoal.report.editions import find_edition

# the external edition


@pytest.fixture(scope="module")
def secret():
    """A table whose values can be recognised anywhere, and its release."""
    draw = np.random.default_rng(11)
    rows = 240
    table = pl.DataFrame(
        {
            "pay": draw.lognormal(11, 1, rows).round(2),
            "year": draw.integers(1_000_000, 9_000_000, rows),
            "born": [
                datetime.date(1930, 1, 1) + datetime.timedelta(days=int(d)) for d in draw.integers(0, 26_000, rows)
            ],
            "illness": [f"illness-{place:04d}" for place in draw.integers(0, 900, rows)],
            "debt": draw.integers(10_000_000, 99_000_000, rows),
        }
    )
    return shoal.protect(
        table, 4, ["pay", "year", "born"], confidential=["illness", "debt"], seed=918273, method="mdav"
    )


def test_no_value_of_the_original_is_in_the_external_edition(secret):
    text = shoal.report_page(secret, "external").replace(",", "")
    inside = shoal.report_page(secret, "internal").replace(",", "")
    for name in ("illness", "debt", "year", "born"):
        released = set(map(str, secret.data[name])) if name in ("year", "born") else set()
        values = set(map(str, secret.original[name])) - released
        assert not [value for value in values if value in text], name
    pay = {f"{value:.2f}" for value in secret.original["pay"]} | {f"{value:.6g}" for value in secret.original["pay"]}
    assert not [value for value in pay if value in text]
    assert str(secret.original["year"].min()) in inside
    assert "918273" in inside
    assert "918273" not in text


def test_the_external_edition_leaves_out_what_helps_an_intruder(tmp_path):
    survey = tmp_path / "survey.csv"
    shoal.example(300).write_csv(survey)
    release = shoal.protect(
        survey, 5, QUASI, identifiers="name", method="v-mdav", options={"gamma": 1.07}, output=tmp_path / "release.csv"
    )
    shoal.write_report(survey, tmp_path / "release.csv", tmp_path / "e.html", edition="external")
    text = (tmp_path / "e.html").read_text(encoding="utf-8")
    outline = Outline(text)
    words = outline.words
    assert "k = 5" in words
    assert "v-mdav" in words
    assert hashlib.sha256((tmp_path / "release.csv").read_bytes()).hexdigest() in words
    for hidden in (
        "gamma",
        "1.07",
        "plan.yaml",
        "survey.csv",
        release.source.sha256,
        "seed",
        "lowest",
        "highest risk of",
    ):
        assert hidden not in without_vega(text), hidden
    for measure in ("global_risk_original", "sample_uniques_original", "interval_disclosure", "dr", "score"):
        assert f">{shoal.MEASURES[measure].label}<" not in text, measure
    assert "name" not in re.findall(r'<th scope="row">(.*?)</th>', text)


def test_small_counts_are_not_told_outside():
    external, internal = find_edition("external"), find_edition("internal")
    assert [external.count(n) for n in (0, 1, 9, 10)] == ["0", "fewer than 10", "fewer than 10", "10"]
    assert external.for_k(25).count(24) == "fewer than 25"
    assert internal.count(3) == "3"


@pytest.mark.parametrize("missing", [3, 30])
def test_few_missing_values_are_not_told_outside(tmp_path, missing):
    draw = np.random.default_rng(1)
    before = pl.DataFrame(
        {"x": [None] * missing + draw.normal(size=200).tolist(), "c": [None] * missing + ["a", "b"] * 100}
    )
    after = pl.DataFrame({"x": [0.0] * (200 + missing), "c": ["a"] * (200 + missing)})
    words = Outline(page_of(before, after, tmp_path, "external")).words
    row = words.partition("x before ")[2].split()[:3]
    assert row[:3] == (["fewer", "than", "10"] if missing == 3 else ["30", *row[1:]])
    assert ("(missing)" in words) == (missing == 30)


def test_correlations_of_few_records_are_not_told_outside(tmp_path):
    for rows, told in ((40, False), (400, True)):
        release = shoal.protect(shoal.example(rows), 4, ["age", "hours"], identifiers="name", method="mdav")
        assert (
            "Matrix of the correlations of 2 columns in the original" in shoal.report_page(release, "external")
        ) is told
