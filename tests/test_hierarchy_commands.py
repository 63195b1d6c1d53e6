"""shoal hierarchy, and what the report draws: names and counts, and a count of few only on request."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import program
from shoal.columns.hierarchy import grow
from shoal.report.outlines import outline
from shoal.tables.table import open_table
from small_wordnet import write_small_wordnet

JOBS = "baker;craft;work\nsmith;craft;work\nclerk;office;work\n"
PEOPLE = ["baker"] * 7 + ["smith"] * 2 + ["office"] * 6 + ["clerk"] * 5


@pytest.fixture
def jobs(tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    pl.DataFrame({"job": [None, *PEOPLE], "age": range(len(PEOPLE) + 1)}).write_csv(tmp_path / "people.csv")
    return tmp_path


def run(folder, *words):
    words = [str(folder / word) if str(word).endswith((".csv", ".yaml")) else str(word) for word in words]
    result = CliRunner().invoke(program, ["hierarchy", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_check_tells_the_size_and_that_all_values_are_there(jobs):
    result = run(jobs, "check", "jobs.csv")
    assert result.exit_code == 0
    assert result.stdout == "jobs.csv: 6 names, 3 of them leaves, 3 levels\n"
    result = run(jobs, "check", "jobs.csv", "--data", "people.csv", "--column", "job")
    assert result.stdout.splitlines()[1] == "column job: all of its 4 values are in it, 1 of them above others"


def test_check_in_json(jobs):
    found = json.loads(run(jobs, "check", "jobs.csv", "--data", "people.csv", "--column", "job", "--json").stdout)
    assert found["nodes"] == 6
    assert found["leaves"] == 3
    assert found["height"] == 3
    assert found["root"] == "work"
    assert (found["records"], found["missing"], found["distinct"], found["inner_values"]) == (21, 1, 4, 1)


def test_check_lists_all_that_is_wrong(jobs):
    (jobs / "bad.csv").write_text("a;b;*\na;c;*\nx;y\ny;x\n")
    result = run(jobs, "check", "bad.csv")
    assert result.exit_code == 2
    assert "the name in line 1, cell 1 has 2 parents" in result.stderr
    assert "is a cycle" in result.stderr
    pl.DataFrame({"job": ["bakr", "king"]}).write_csv(jobs / "people.csv")
    result = run(jobs, "check", "jobs.csv", "--data", "people.csv", "--column", "job")
    assert result.exit_code == 2
    assert (
        "column 'job': 2 values are not in the hierarchy: 'bakr', did you mean 'baker'?; 'king'"
        in result.stderr.replace("\n", " ")
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["check", "jobs.csv", "--column", "job"], "name the table and its column together"),
        (["check", "jobs.csv", "--data", "people.csv", "--column", "jop"], "did you mean 'job'?"),
        (["show", "jobs.csv", "--least", "3"], "--least has no effect without --data"),
        (["show", "jobs.csv", "--data", "people.csv", "--column", "job", "--least", "0"], "must be at least 1"),
        (["from-wordnet", "people.csv", "--column", "job"], "name the file to write the hierarchy to"),
        (["from-wordnet", "-o", "out.csv", "--words", "w.csv", "--word", "a=b"], "not both"),
        (["from-wordnet", "-o", "out.csv", "--word", "ab"], "--word ab: write it as name=value"),
    ],
)
def test_what_makes_no_sense_is_refused(jobs, words, told):
    result = run(jobs, *words)
    assert result.exit_code == 2
    assert told in result.stderr.replace("\n", " ")


def test_show_draws_the_tree(jobs):
    drawn = run(jobs, "show", "jobs.csv").stdout
    assert drawn.splitlines() == [
        "work",
        "├── craft",
        "│   ├── baker",
        "│   └── smith",
        "└── office",
        "    └── clerk",
    ]


def test_show_does_not_cut_long_names(jobs):
    name = "a name of a leaf that is longer than a line of a terminal, since it goes on and on and on and on"
    (jobs / "long.csv").write_text(f"{name};work\n")
    assert run(jobs, "show", "long.csv").stdout.splitlines() == ["work", f"└── {name}"]


def test_show_counts_records_and_does_not_tell_few_unless_asked(jobs):
    words = ["show", "jobs.csv", "--data", "people.csv", "--column", "job"]
    drawn = [line.split("── ")[-1] for line in run(jobs, *words).stdout.splitlines()]
    assert drawn == ["work  20", "craft  9", "baker  7", "smith  <5", "office  11 (6 itself)", "clerk  5"]
    assert "smith  2" in run(jobs, *words, "--least", "1").stdout


def test_from_wordnet_writes_a_hierarchy_that_can_be_used(jobs):
    folder = write_small_wordnet(jobs / "nltk_data")
    (jobs / "words.csv").write_text("value;word\nbaker;technician\nsmith;skilled_worker\nclerk;cleaner#3\n")
    words = ["from-wordnet", "people.csv", "--column", "job", "--folder", folder, "--parent", "office=person"]
    result = run(jobs, *words, "--words", "words.csv", "-o", "made.csv")
    assert result.exit_code == 2
    assert "'office' is not a noun of WordNet" in result.stderr
    words = ["from-wordnet", "people.csv", "--column", "job", "--folder", folder, "--version", "3.0", "--json"]
    for word in ("baker=technician", "smith=skilled_worker", "clerk=cleaner#3", "office=executive"):
        words += ["--word", word]
    for name in ("made.csv", "made.yaml"):
        result = run(jobs, *words, "--parent", "office=person", "-o", name)
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["distinct"] == 4
        made = shoal.load_hierarchy(jobs / name, PEOPLE)
        assert [made.names[a] for a in made.ancestors(made.code_of("baker"))][:2] == ["smith", "worker"]
        assert made.names[made.parent[made.code_of("office")]] == "person"
    result = run(jobs, "from-wordnet", "--words", "words.csv", "--folder", folder, "-o", "words-alone.csv")
    assert result.exit_code == 0, result.stderr
    assert "clerk" in shoal.load_hierarchy(jobs / "words-alone.csv")
    assert run(jobs, *words, "-o", "made.txt").exit_code == 2


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("w.csv", "a;b\na;c\n", "words 'w.csv': line 2: the value has a word already"),
        ("w.csv", "a;b;c\n", "words 'w.csv': line 1: write a value and its word"),
        ("w.yaml", "a: [b]\n", "words 'w.yaml': line 1: write a value and its word"),
        ("w.yaml", "- a\n", "the words must be values with their words"),
        ("w.yaml", "a: [\n", "the words are not valid YAML"),
        ("none.csv", None, "cannot read the words"),
    ],
)
def test_words_that_cannot_be_read(jobs, name, text, told):
    if text is not None:
        (jobs / name).write_text(text)
    result = run(jobs, "from-wordnet", "--words", name, "-o", "made.csv")
    assert result.exit_code == 2
    assert told in result.stderr.replace("\n", " ")


def test_an_outline_counts_both_tables_and_of_the_original_nothing_where_few_may_not_be_told():
    tree = grow([("a", "x"), ("b", "x"), ("x", "*"), ("c", "*"), ("d", "*")])
    before, after = (open_table(pl.DataFrame({"v": v})) for v in (["a", "b", "c", "c"], ["x", "x", "c", None]))
    both = outline("v", tree, before, after)
    assert both.names == ["*", "x", "a", "b", "c"]
    assert both.before == [4, 2, 1, 1, 2]
    assert both.after == [3, 2, 0, 0, 1]
    outside = outline("v", tree, before, after, least=3)
    assert outside.names == ["*", "x", "c"]
    assert outside.before is None


@pytest.fixture
def release(jobs):
    people = pl.DataFrame({"job": PEOPLE, "age": list(range(len(PEOPLE)))})
    return shoal.protect(
        people, 3, ["job"], confidential="age", method="sa-mdav", hierarchies={"job": jobs / "jobs.csv"}
    )


def test_the_report_draws_hierarchies_with_counts(release):
    pytest.importorskip("jinja2")
    page = shoal.report_page(release)
    assert 'id="hierarchies"' in page
    drawn = page.split('id="hierarchies"')[1].split("<pre")[1].split("</pre>")[0]
    assert "├── craft" in drawn
    assert "│   └── smith" in drawn  # fewer than k: for those who may see the original
    external = shoal.report_page(release, "external")
    drawn = external.split('id="hierarchies"')[1].split("<pre")[1].split("</pre>")[0]
    assert "before" not in drawn
    assert "smith" not in drawn


def test_a_release_is_measured_by_its_hierarchies(release):
    found = release.measure()
    assert found.semantic == ["job"]
    assert found.information_loss == pytest.approx(release.summary.information_loss, rel=1e-12)
    assert found.record_loss == found.semantic_loss == pytest.approx(release.summary.record_loss, rel=1e-12)
    assert found.distinct_after == release.summary.distinct_after
    assert found.global_risk == pytest.approx(release.summary.global_risk)


def test_a_report_of_files_looks_for_their_hierarchies(jobs):
    pytest.importorskip("jinja2")
    people = pl.DataFrame({"job": PEOPLE, "age": list(range(len(PEOPLE)))})
    people.write_csv(jobs / "people.csv")
    shoal.protect(
        jobs / "people.csv",
        3,
        ["job"],
        confidential="age",
        method="sa-mdav",
        hierarchies={"job": jobs / "jobs.csv"},
        output=jobs / "release.csv",
    )
    page = shoal.write_report(jobs / "people.csv", jobs / "release.csv", jobs / "report.html").read_text()
    assert 'id="hierarchies"' in page
    (jobs / "jobs.csv").unlink()
    page = shoal.write_report(jobs / "people.csv", jobs / "release.csv", jobs / "report.html").read_text()
    assert 'id="hierarchies"' not in page
    assert "is not where it was" in page


@pytest.mark.parametrize(
    ("source", "values", "above"),
    [
        ({"flat": True}, ["a", "b", "c", "d"], "*"),
        ({"prefixes": True}, ["10", "11", "20", "31"], "1"),
        ({"intervals": [10]}, ["1", "12", "25", "31"], "[0, 10)"),
        ({"intervals": [10]}, [1.0, 12.0, 25.0, 31.0], 1.0),
    ],
    ids=["flat", "prefixes", "intervals", "floats"],
)
def test_a_report_draws_hierarchies_that_were_made_from_the_values_of_the_original(tmp_path, source, values, above):
    pytest.importorskip("jinja2")
    original = pl.DataFrame({"code": values * 2})
    path = tmp_path / "report.html"
    shoal.write_report(original, pl.DataFrame({"code": [above] * 8}), path, ["code"], hierarchies={"code": source})
    drawn = path.read_text(encoding="utf-8").split('id="hierarchies"')[1].split("<pre")[1].split("</pre>")[0]
    lines = [line.split("</code>")[0].lstrip("│├└─ ").rsplit(maxsplit=2) for line in drawn.splitlines()[1:]]
    after = {name: int(count) for name, _, count in lines}
    assert after["1" if above == 1.0 else above] == 8
