"""Reports: the form of a page, what it says, and unusual tables."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shlex
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.report
from command_line import run
from report_pages import NASTY, QUASI, Outline, page_of, protected_survey, without_vega


@pytest.fixture(scope="module")
def release():
    return protected_survey()


FIGURES = re.compile(r"<script type=\"application/json\" id=\"specs\">(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def pages(release):
    return {edition: shoal.report_page(release, edition) for edition in ("internal", "external")}


# the form of the page


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_a_page_loads_nothing_and_forbids_it(pages, edition):
    page = pages[edition]
    outline = Outline(page)
    assert not any("src" in attributes for _, attributes in outline.tags)
    assert all(link["href"].startswith("#") for link in outline.all("a"))
    assert not outline.all("link")
    assert "url(" not in without_vega(page)
    assert "@import" not in page
    policy = next(meta["content"] for meta in outline.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_a_page_can_be_read_aloud(pages, edition):
    outline = Outline(pages[edition])
    assert outline.all("html")[0]["lang"] == "en"
    assert [len(outline.all(name)) for name in ("header", "nav", "main", "footer", "h1")] == [1] * 5
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h\d", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in heading for heading in outline.all("th"))
    assert len(outline.all("caption")) == len(outline.all("table"))
    plots = [division for division in outline.all("div") if division.get("class") == "plot"]
    assert plots
    assert all(plot["role"] == "img" and len(plot["aria-label"]) > 20 for plot in plots)
    assert len(json.loads(FIGURES.search(pages[edition])[1])) == len(plots)
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {link["href"].removeprefix("#") for link in outline.all("a")}
    assert targets <= set(ids)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_have_enough_contrast(scheme):
    style = files("shoal.report").joinpath("page.css").read_text(encoding="utf-8")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
    texts = [("ink", "page"), ("ink", "card"), ("soft", "page"), ("soft", "card"), ("link", "page"), ("link", "card")]
    texts += [("on-brand", "brand"), ("good", "good-pale"), ("care", "care-pale"), ("bad", "bad-pale")]
    texts += [("on-strong", f"c{step}") for step in (0, 1, 9, 10)] + [
        ("on-weak", f"c{step}") for step in (3, 4, 5, 6, 7)
    ]
    assert {pair: contrast(*map(colours.get, pair)) for pair in texts if contrast(*map(colours.get, pair)) < 4.5} == {}
    marks = [(mark, "card") for mark in ("before", "after")]
    assert all(contrast(*map(colours.get, pair)) >= 3.0 for pair in marks)


def test_names_with_quotes_and_markup_are_escaped(tmp_path):
    draw = np.random.default_rng(0)
    table = pl.DataFrame({name: draw.normal(size=80) for name in NASTY})
    table = table.with_columns(pl.Series("<u>kind</u>", draw.choice(["<em>yes</em>", 'n"o', "&lt;"], 80)))
    text = page_of(table, table, tmp_path)
    outline = Outline(text)
    assert len(outline.all("script")) == 3
    assert not {"b", "em", "u"} & {tag for tag, _ in outline.tags}
    assert all(name in outline.words for name in [*NASTY, "<u>kind</u>", "<em>yes</em>", "&lt;"])
    assert "<" not in FIGURES.search(text)[1]
    specs = json.dumps(json.loads(FIGURES.search(text)[1]))
    assert "<em>yes</em>" in specs


# what it says


def test_the_verdict_of_a_release_that_keeps_its_promise():
    release = shoal.protect(shoal.example(300), 5, ["age", "height", "hours"], identifiers="name", method="mdav")
    words = Outline(shoal.report_page(release)).words
    found = release.measure()
    assert "Every record shares its quasi-identifiers with at least 4 other records." in words
    assert "Groups of at least k = 5 records by the method mdav." in words
    assert "1 direct identifier removed: name." in words
    for name in ("information_loss", "dbrl", "pil", "global_risk", "interval_disclosure"):
        assert f"{found[name]:.2f}\N{NO-BREAK SPACE}%" in words, name
    for measure in shoal.MEASURES.values():
        if found[measure.name] is not None:
            assert measure.sentence in words, measure.name


def test_the_verdict_of_two_sets_says_that_k_does_not_hold_for_both(tmp_path):
    release = shoal.protect(
        shoal.example(200), 5, [["age", "hours"], ["height", "income"]], identifiers="name", method="mdav"
    )
    words = Outline(shoal.report_page(release)).words
    assert "Reached, with reservations" in words
    assert "k holds for each set of quasi-identifiers, not for all of them together." in words
    assert "Nobody gave a role to region, weight and satisfied" in words


def test_the_verdict_of_a_table_that_was_not_protected(tmp_path):
    survey = shoal.example(100)
    words = Outline(page_of(survey, survey, tmp_path, quasi=QUASI)).words
    assert "Not protected" in words
    assert "Nothing is known of what was asked for" in words
    assert "no better than that of unprotected data" in words


def test_groups_of_one_value_are_told_inside_only(tmp_path):
    survey = shoal.example(100).with_columns(answer=pl.lit("yes"))
    release = shoal.protect(survey, 5, QUASI, identifiers="name", confidential="answer", method="mdav")
    told = "There are groups in which all records have the same answer"
    assert told in Outline(shoal.report_page(release)).words
    assert told not in Outline(shoal.report_page(release, "external")).words


def test_sizes_and_risk_are_counts_that_add_up(release, pages):
    outline = Outline(pages["internal"])
    sizes = release.measure().key_sizes
    assert sum(int(size) * count for size, count in sizes.items()) == 300
    specs = json.loads(FIGURES.search(pages["internal"])[1])
    drawn = [row for spec in specs for row in spec["datasets"].get("rows", []) if str(row.get("name")) in sizes]
    assert {row["name"]: row["value"] for row in drawn} == sizes
    assert "Records by individual risk" in outline.words


def test_a_report_tells_what_was_changed(release, pages):
    words = Outline(pages["internal"]).words
    changed = int((release.original["age"] != release.data["age"]).sum())
    assert f"age quasi-identifier number changed {changed:,} ({changed / 3:.1f} %)" in words
    assert "name identifier category removed" in words
    assert "region stratum category as it was 0 (0.0 %)" in words


def test_the_command_makes_the_same_release_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = Path("my survey's.csv")
    shoal.example(120).write_csv(original)
    words = ("-k", 4, "-q", "age,income", "--drop", "name", "--missing", "NA", "-m", "v-mdav", "-O", "gamma=1.1")
    assert run("protect", original, "-o", "release.csv", *words, "--report", "r.html").exit_code == 0
    first = hashlib.sha256(Path("release.csv").read_bytes()).hexdigest()
    outline = Outline(Path("r.html").read_text(encoding="utf-8"))
    plan, command = outline.code
    assert first in outline.words
    assert hashlib.sha256(original.read_bytes()).hexdigest() in command
    Path("release.csv").unlink()
    Path("release.csv.manifest.json").unlink()
    Path("plan.yaml").write_text(plan, encoding="utf-8")
    again = shlex.split(command.splitlines()[1])
    assert run(*again[1:]).exit_code == 0
    assert hashlib.sha256(Path("release.csv").read_bytes()).hexdigest() == first


# unusual tables


def unusual():
    draw = np.random.default_rng(3)
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=int(m)) for m in draw.integers(0, 10**6, 60)]
    return {
        "one column": {"x": draw.normal(size=60)},
        "no numbers": {
            "a": draw.choice(["x", "y"], 60),
            "b": draw.choice(["u", "v", "w"], 60),
            "c": draw.random(60) < 0.4,
        },
        "missing": {"x": [None if v < -0.5 else v for v in draw.normal(size=60)], "c": [None, "a", "b"] * 20},
        "all missing": {"x": pl.Series([None] * 60, dtype=pl.Float64), "y": draw.normal(size=60)},
        "constant": {"x": [4] * 60, "c": ["one"] * 60},
        "times": {"t": days, "d": [day.date() for day in days]},
        "huge": {
            "x": draw.normal(size=60) * 1e300,
            "y": draw.normal(size=60) * 1e-300,
            "least": draw.integers(0, 5, 60) * 5e-324,
            "z": draw.integers(2**62, 2**63 - 1, 60),
        },
        "two records": {"x": [1, 2], "c": ["a", "b"]},
        "30 columns": {f"column {j}": draw.normal(size=60) for j in range(30)},
        "many categories": {"c": [f"{place}" for place in range(60)]},
    }


@pytest.mark.parametrize("edition", ["internal", "external"])
@pytest.mark.parametrize("name", unusual())
def test_unusual_tables_have_a_report(name, edition, tmp_path):
    before = pl.DataFrame(unusual()[name])
    after = before.select(pl.col(column).sort() for column in before.columns)
    text = page_of(before, after, tmp_path, edition)
    outline = Outline(text)
    assert all(column in outline.words for column in before.columns)
    sections = {attributes["id"] for attributes in outline.all("section")}
    numbers = any(kind.is_numeric() or kind.is_temporal() for kind in before.dtypes)
    assert ("distributions" in sections) == numbers
    assert ("categories" in sections) == any(kind in (pl.String, pl.Boolean) for kind in before.dtypes)
    assert "NaN" not in FIGURES.search(text)[1]
    assert len(text) < 5_000_000


def test_many_columns_are_chosen_from_a_list(tmp_path):
    before = pl.DataFrame(unusual()["30 columns"])
    outline = Outline(page_of(before, before, tmp_path))
    assert len(outline.all("option")) == 30 - 12 + 1
    assert sum("hidden" in card for card in outline.all("article")) == 18
