"""Adding a method, an aggregator, a measure or a file format takes the edits that CONTRIBUTING names, and no more.

Each test makes those edits, an entry of a table and what it names, and then uses what it added from end to end.
"""

from __future__ import annotations

import json
from dataclasses import make_dataclass

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.aggregate.categories import CATEGORY_AGGREGATORS, CategoryAggregator
from shoal.aggregate.numbers import AGGREGATORS, Aggregator
from shoal.measures import measurement
from shoal.measures.catalogue import Measure
from shoal.partition.method import Method, Option
from shoal.plan.roles import Kind
from shoal.tables.files import FORMATS, Format

PEOPLE = pl.DataFrame(
    {
        "age": [31, 35, 33, 58, 61, 67, 20, 24, 22],
        "pay": [20.0, 30.0, 25.0, 50.0, 80.0, 56.0, 12.0, 14.0, 10.0],
        "town": ["Reus", "Reus", "Vic", "Vic", "Vic", "Olot", "Olot", "Reus", "Olot"],
    }
)
ALL = ["-k", 3, "-q", "age,pay"]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    return path


def in_runs(records, k, watch, first=0):
    """Partition records into runs of k in their order, from a first row on."""
    return np.minimum((np.arange(len(records)) - first) % len(records) // k, len(records) // k - 1)


def test_a_method_is_a_function_and_an_entry(monkeypatch, people, tmp_path):
    entry = Method(
        "runs",
        in_runs,
        doc="Runs of k records in their order.",
        source="a test",
        cost="O(n)",
        options=(Option("first", "row that the first run begins with", 0, int, least=0),),
    )
    monkeypatch.setitem(shoal.METHODS, "runs", entry)
    release = shoal.protect(people, 3, ["age", "pay"], method="runs")
    assert release.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert release.data["age"].to_list() == [33] * 3 + [62] * 3 + [22] * 3
    done = run("protect", people, "-o", tmp_path / "out.csv", *ALL, "-m", "runs", "-O", "first=3", "--refine", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["method"] == "runs"
    assert json.loads(done.stdout)["options"] == {"first": 3}
    assert "first = 0" in run("methods", "runs").stdout
    wrong = run("protect", people, "-o", tmp_path / "x.csv", *ALL, "-m", "runs", "-O", "first=-1")
    assert "option 'first' must be at least 0" in wrong.stderr
    swept = shoal.sweep(PEOPLE, [3], ["runs:first=3", "mdav"], ["age", "pay"])
    assert [one.name for one in swept.results] == ["runs:first=3", "mdav"]


def midrange(values, observed, weights, grouping, lift):
    """The middle between the smallest and the largest value of each group."""
    found = [values[rows][observed[rows]] for rows in np.split(grouping.order, grouping.starts[1:-1])]
    middles = [(own.min() + own.max()) / 2 if len(own) else 0.0 for own in found]
    return np.array(middles), np.array([len(own) for own in found])


def rarest(column, grouping, weights):
    """The rarest category of each group, the first of several."""
    chosen, counts = [], []
    for rows in np.split(grouping.order, grouping.starts[1:-1]):
        there = np.bincount(column.values[rows][column.observed[rows]], minlength=len(column.names))
        chosen.append(np.where(there > 0, there, len(rows) + 1).argmin())
        counts.append(there.sum())
    return np.array(chosen), np.array(counts)


def test_an_aggregator_of_numbers_is_a_function_and_an_entry(monkeypatch, people, tmp_path):
    monkeypatch.setitem(AGGREGATORS, "midrange", Aggregator(midrange))
    monkeypatch.setitem(shoal.METHODS, "runs", Method("runs", in_runs, "Runs.", "a test", "O(n)"))
    out = tmp_path / "out.csv"
    done = run("protect", people, "-o", out, *ALL, "-m", "runs", "-a", "midrange", "--json")
    assert done.exit_code == 0, done.output
    assert pl.read_csv(out)["age"].to_list() == [33] * 3 + [62] * 3 + [22] * 3  # 62.5 goes to the even number
    assert pl.read_csv(out)["pay"].to_list() == [25.0] * 3 + [65.0] * 3 + [12.0] * 3
    searched = shoal.protect(people, 3, ["age", "pay"], aggregators="midrange", options={"steps": 100})
    assert searched.summary.smallest_group >= 3
    told = run("protect", people, "-o", tmp_path / "x.csv", *ALL, "-a", "midrang").stderr
    assert "did you mean 'midrange'" in told
    holes = PEOPLE.with_columns(pay=pl.when(pl.col("age") < 34).then(None).otherwise("pay"))
    release = shoal.protect(holes, 3, "pay", method="runs", aggregators="midrange", missing_patterns="ignored")
    assert release.data["pay"].to_list() == [None] * 3 + [65.0] * 3 + [None] * 3
    assert release.summary.suppressed_cells == 1


def test_an_aggregator_of_categories_is_a_function_and_an_entry(monkeypatch, people, tmp_path):
    monkeypatch.setitem(CATEGORY_AGGREGATORS, "rarest", CategoryAggregator((Kind.NOMINAL,), rarest))
    asked = ["-k", 9, "-q", "town,age", "-m", "mdav-generic", "--json"]
    done = run("protect", people, "-o", tmp_path / "out.csv", *asked, "-a", "town=rarest")
    assert done.exit_code == 0, done.output
    assert pl.read_csv(tmp_path / "out.csv")["town"].unique().to_list() == ["Reus"]  # three of each; Reus came first
    wrong = run("protect", people, "-o", tmp_path / "x.csv", *asked, "-a", "age=rarest")
    assert "aggregator 'rarest' does not suit column 'age'" in wrong.stderr
    four = pl.DataFrame({"town": ["a", "b", "a", "b", "b", "a", "c", "b"]})
    assert shoal.protect(four, 8, "town", method="sa-mdav", aggregators="rarest").data["town"].to_list() == ["c"] * 8


def largest_change(comparison):
    """The largest change of a number, in standard deviations."""
    return max(float(np.abs(pair.original - pair.released)[pair.there].max()) for pair in comparison.pairs)


def test_a_measure_is_a_function_an_entry_and_a_field(monkeypatch, people, tmp_path):
    entry = Measure(
        "largest_change",
        "largest change",
        "utility",
        "",
        "lower",
        "Largest change of a number, in standard deviations.",
        largest_change,
    )
    monkeypatch.setitem(shoal.MEASURES, "largest_change", entry)
    widened = make_dataclass("Measures", [("largest_change", "float | None")], bases=(shoal.Measures,), frozen=True)
    monkeypatch.setattr(measurement, "Measures", widened)
    release = shoal.protect(PEOPLE, 3, ["age", "pay"], method="mdav")
    changes = [(release.data[name] - PEOPLE[name]).abs().max() / PEOPLE[name].std(ddof=0) for name in ("age", "pay")]
    assert release.measure().largest_change == pytest.approx(max(changes))
    release.data.write_csv(tmp_path / "out.csv")
    asked = ["measure", people, tmp_path / "out.csv", "-q", "age,pay"]
    assert json.loads(run(*asked, "--json").stdout)["largest_change"] == pytest.approx(max(changes))
    assert entry.label in run(*asked).stdout
    assert entry.sentence in shoal.report_page(release)


def test_a_file_format_is_two_functions_and_an_entry(monkeypatch, people, tmp_path):
    def read_lines(path, reading):
        return pl.read_ndjson(path), None, ("read as JSON lines",)

    def write_lines(frame, path, form, kept):
        frame.write_ndjson(path)

    monkeypatch.setitem(FORMATS, ".jlines", Format("JSON lines", (".jlines",), read_lines, write_lines))
    first, second, back = (tmp_path / name for name in ("first.jlines", "second.jlines", "back.csv"))
    shoal.protect(people, 3, ["age", "pay"], method="mdav", output=first)
    assert pl.read_ndjson(first)["town"].to_list() == PEOPLE["town"].to_list()
    asked = [*ALL, "-m", "mdav", "--rules", tmp_path / "some.rules", "--json"]
    (tmp_path / "some.rules").write_text("age >= 20\n")
    done = run("protect", first, "-o", second, *asked)
    assert done.exit_code == 0, done.output
    assert "read as JSON lines" in done.stderr
    assert second.read_bytes() == first.read_bytes()  # what is microaggregated stays as it is
    assert run("protect", second, "-o", back, *asked).exit_code == 0
    assert pl.read_csv(back).equals(pl.read_ndjson(first))
    assert json.loads(run("inspect", first, "--json").stdout)["records"] == 9
    assert json.loads(run("measure", people, second, "-q", "age,pay", "--json").stdout)["k_anonymity"] == 3
    first.write_text("{")
    assert "it is damaged" in run("inspect", first).stderr
    assert (
        "delimiter has no effect" in run("protect", second, "-o", tmp_path / "x.csv", *asked, "--delimiter", ";").stderr
    )
