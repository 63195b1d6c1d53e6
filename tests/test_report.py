"""The report: what it says, that it says no more than its edition may, and that it appears whole or not at all."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shlex
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.report
from command_line import run
from shoal.report.editions import find_edition

QUASI = ["age", "height", "hours", "income"]
NASTY = ['in"come', "<b>bold</b>", "</script><script>alert(1)</script>", "a & b", "it's", "{{ 7 * 7 }}", "datum['x']"]
FIGURES = re.compile(r"<script type=\"application/json\" id=\"specs\">(.*?)</script>", re.DOTALL)


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.code = [], [], []
        self.inside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag):
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag) :]

    def handle_data(self, data):
        if "script" in self.inside or "style" in self.inside:
            return
        if "code" in self.inside:
            self.code[-1] += data
        self.text.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def words(self):
        return re.sub(r"[ \n]+", " ", " ".join(self.text))


def without_vega(text):
    """Return a page without the script of the library, which is the same in all."""
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def release():
    roles = {"identifiers": "name", "confidential": "satisfied", "strata": "region", "weight": "weight"}
    return shoal.protect(shoal.example(300), 5, QUASI, **roles, method="mdav")


@pytest.fixture(scope="module")
def pages(release):
    return {edition: shoal.report_page(release, edition) for edition in ("internal", "external")}


def page_of(before, after, tmp_path, edition="internal", quasi=None, **more):
    path = shoal.write_report(before, after, tmp_path / "report.html", quasi, edition=edition, **more)
    return path.read_text(encoding="utf-8")


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


# files, the manifest and the command line


@pytest.fixture
def written(tmp_path):
    survey = tmp_path / "survey.csv"
    shoal.example(120).write_csv(survey)
    roles = {"identifiers": "name", "confidential": "satisfied"}
    shoal.protect(survey, 5, QUASI, method="mdav", **roles, output=tmp_path / "release.csv")
    return survey, tmp_path / "release.csv"


def test_the_command_reads_the_manifest(written, tmp_path):
    result = run("report", *written, "-o", tmp_path / "r.html")
    assert (result.exit_code, result.stdout) == (0, "")
    words = Outline((tmp_path / "r.html").read_text(encoding="utf-8")).words
    assert "Groups of at least k = 5 records by the method mdav." in words
    assert "release.csv" in words
    assert "l-diversity" in words


def test_a_report_works_on_files_that_shoal_did_not_make(written, tmp_path):
    manifest = tmp_path / "release.csv.manifest.json"
    manifest.unlink()
    words = ("--confidential", "satisfied", "--weight", "weight", "--known", "age")
    result = run("report", *written, "-o", tmp_path / "r.htm", "-q", "age,income", "--edition", "external", *words)
    assert result.exit_code == 0
    words = Outline((tmp_path / "r.htm").read_text(encoding="utf-8")).words
    assert "Measured for somebody who knows age." in words
    assert "external edition" in words


@pytest.mark.parametrize("which", ["release", "original"])
def test_the_manifest_of_another_file_is_left_out(written, tmp_path, which):
    path = written[1] if which == "release" else written[0]
    path.write_text(path.read_text(encoding="utf-8").replace("north", "nord"), encoding="utf-8")
    words = Outline(page_of(*written, tmp_path, quasi=QUASI)).words
    assert f"the manifest beside the release is about another {which}" in words
    assert "Nothing is known of what was asked for" in words


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"plan": {"k": 1}, "summary": {}}', '{"plan": 3, "summary": 4}'])
def test_a_manifest_that_is_not_one_is_left_out(written, tmp_path, content):
    (tmp_path / "release.csv.manifest.json").write_text(content, encoding="utf-8")
    words = Outline(page_of(*written, tmp_path, quasi=QUASI)).words
    assert "the manifest 'release.csv.manifest.json' cannot be read" in words


def test_a_plan_of_another_version_is_left_out(written, tmp_path):
    path = tmp_path / "release.csv.manifest.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["plan"]["new setting"] = 1
    path.write_text(json.dumps(content), encoding="utf-8")
    assert "is not one of this version" in Outline(page_of(*written, tmp_path, quasi=QUASI)).words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "r.pdf"], "a report is written to a file that ends in .html"),
        (["-o", "nowhere/r.html"], "make it first"),
        (["-o", "r.html", "--edition", "extern"], "edition: must be internal or external, not 'extern'; did you mean"),
        (["-o", "r.html", "-q", "agee"], "did you mean 'age'"),
        (["-o", "r.html", "--threads", 0], "threads: must be at least 1"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(written, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = run("report", *written, *words)
    assert result.exit_code == 2
    assert said in result.stderr.replace("\n", " ")
    assert sorted(tmp_path.iterdir()) == before


def test_a_report_never_replaces_a_table(written, tmp_path):
    table = tmp_path / "t.html"
    with pytest.raises(shoal.FileError, match="is one of the other files"):
        shoal.report.check_report(table, beside=[table])


def test_a_missing_package_is_told_before_any_work(written, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.release.release.find_spec", lambda name: None)
    result = run(
        "protect", written[0], "-o", tmp_path / "new.csv", "-k", 5, "-q", "age", "--report", tmp_path / "r.html"
    )
    assert result.exit_code == 2
    assert "pip install 'shoal[report]'" in result.stderr
    assert not (tmp_path / "new.csv").exists()


def test_release_and_report_appear_together_or_not_at_all(written, tmp_path, monkeypatch):
    def fails(facts):
        raise OSError("no space")

    monkeypatch.setattr("shoal.report.page_of", fails)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(shoal.FileError, match="nothing was written"):
        shoal.protect(
            written[0],
            5,
            "age",
            identifiers="name",
            method="mdav",
            output=tmp_path / "new.csv",
            report=tmp_path / "r.html",
        )
    assert sorted(tmp_path.iterdir()) == before


def test_a_table_in_memory_has_a_report_too(release, tmp_path):
    assert release.report(tmp_path / "r.html") == tmp_path / "r.html"
    outline = Outline((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert outline.code[1] == 'release = shoal.protect(table, plan="plan.yaml")'
    assert "in memory" in outline.words


def test_protect_writes_a_report_of_a_table_in_memory(tmp_path):
    shoal.protect(shoal.example(60), 5, "age", identifiers="name", report=tmp_path / "r.html", method="mdav")
    assert "Disclosure control report" in (tmp_path / "r.html").read_text(encoding="utf-8")


# notebooks


def test_a_notebook_shows_a_summary_without_scripts():
    names = {name: np.arange(20.0) * (place + 1) for place, name in enumerate(NASTY)}
    release = shoal.protect(pl.DataFrame(names), 4, NASTY, method="mdav")
    fragment = release._repr_html_()
    outline = Outline(fragment)
    assert {tag for tag, _ in outline.tags} <= {
        "div",
        "table",
        "caption",
        "strong",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "p",
    }
    assert all(name in outline.words for name in NASTY)
    assert "mdav, k = 4" in outline.words
    assert not any(name.startswith("on") for _, attributes in outline.tags for name in attributes)


@pytest.mark.slow
def test_a_million_rows_fit_into_five_megabytes(tmp_path):
    draw = np.random.default_rng(0)
    before = pl.DataFrame({f"column {j}": draw.normal(size=1_000_000) for j in range(8)})
    before = before.with_columns(pl.Series("group", draw.choice(["a", "b", "c"], 1_000_000)))
    after = before.select(pl.col(pl.Float64).round(1), "group")
    page_of(before, after, tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 5_000_000


def test_numbers_that_are_names_are_categories_among_the_columns_of_a_report(tmp_path):
    release = shoal.protect(
        shoal.example(60).drop("name"), 5, ["age", "satisfied"], nominal=["satisfied"], method="sa-mdav"
    )
    page = release.report(tmp_path / "report.html").read_text(encoding="utf-8")
    table = page[page.index("Columns of the original") :]
    cells = dict(
        re.findall(r"<tr><th[^>]*>(age|satisfied)</th><td[^>]*>quasi-identifier</td><td[^>]*>(\w+)</td>", table)
    )
    assert cells == {"age": "number", "satisfied": "category"}
