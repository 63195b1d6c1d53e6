"""Reports as files: the manifest, the command line, mistakes, notebooks."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.report
from command_line import run
from report_pages import NASTY, QUASI, Outline, page_of, protected_survey


@pytest.fixture(scope="module")
def release():
    return protected_survey()


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
