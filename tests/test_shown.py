"""What users see beside reports: notebooks, lines of progress, and the loss by column."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.kernels.progress import show_progress
from shoal.release.declaring import declare
from shoal.release.searching import long_search
from shoal.tables.table import open_table


@pytest.fixture
def hostile():
    rng = np.random.default_rng(1)
    return pl.DataFrame({"<b>age</b>": rng.integers(18, 90, 60), "pay & tax": rng.lognormal(3, 1, 60).round(1)})


def test_inspections_measures_and_sweeps_show_themselves_in_notebooks_with_every_text_escaped(hostile):
    release = shoal.protect(hostile, 3, hostile.columns, method="mdav")
    swept = shoal.sweep(hostile, "3,5", "mdav", hostile.columns, progress=False)
    shown = {
        "Inspection": shoal.inspect(hostile)._repr_html_(),
        "Measures": release.measure()._repr_html_(),
        "Release": release._repr_html_(),
        "Sweep": swept._repr_html_(),
    }
    for name, page in shown.items():
        assert f"<strong>{name}</strong>" in page
        assert "<script" not in page
        assert "<b>" not in page
        assert " & " not in page
    assert "&lt;b&gt;age&lt;/b&gt;" in shown["Inspection"]
    assert "information loss" in shown["Measures"]
    assert "k = 3" in shown["Sweep"] or "k = 5" in shown["Sweep"]


def test_off_a_terminal_a_line_comes_after_ten_seconds_and_then_at_doubling_times(capsys):
    seconds = iter([0.0, 5.0, 11.0, 15.0, 19.0, 21.0, 39.0, 200.0, 319.0])
    with show_progress(100, None, "measuring", clock=lambda: next(seconds)) as report:
        for done in (5, 11, 15, 19, 21, 39, 70, 80):
            report(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["measuring: 11 % after 11 s", "measuring: 21 % after 21 s", "measuring: 70 % after 200 s"]


def test_nothing_is_written_where_progress_is_not_wanted(capsys):
    with show_progress(100, False, clock=itertools.count(0, 100).__next__) as report:
        report(50)
    assert capsys.readouterr().err == ""


def test_a_search_of_very_many_records_says_beforehand_about_how_long_it_takes(capsys, monkeypatch):
    monkeypatch.setattr("shoal.release.searching._LONG", 1.0)
    table = pl.DataFrame({"a": range(30), "b": [i % 7 for i in range(30)]})
    settings = {"k": 3, "quasi_identifiers": ["a", "b"]}
    shoal.protect(table, **settings)
    assert "searching the groups of 30 records, which takes about 1 second" in capsys.readouterr().err
    for quiet in ({"method": "mdav"}, {"options": {"steps": 100}}, {"progress": False}, {"progress": print}):
        shoal.protect(table, **settings, **quiet)
        assert "searching" not in capsys.readouterr().err
    monkeypatch.setattr("shoal.release.searching._LONG", 5.0)
    shoal.protect(table, **settings)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("records", "k", "said"),
    [
        (100_000, 3, ""),
        (300_000, 3, "about 7 seconds"),
        (300_000, 10, ""),
        (1_000_000, 3, "about 29 seconds"),
        (3_000_000, 3, "about 2 minutes"),
    ],
)
def test_how_long_a_search_takes_is_told_from_records_columns_and_k(records, k, said):
    table = pl.DataFrame(np.random.default_rng(0).normal(size=(50, 5)), schema=list("abcde"))
    declared = declare({"k": k, "quasi_identifiers": table.columns}, open_table(table))
    assert said in long_search(declared, records)
    assert bool(said) == bool(long_search(declared, records))


def test_the_loss_by_column_is_shown_where_one_loses_more_than_half_with_what_to_do(tmp_path):
    rng = np.random.default_rng(2)
    money = np.zeros(200)
    money[:4] = [1.0, 5.0, 9.0, 1e6]
    table = pl.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "money": rng.permutation(money)})
    table.write_csv(tmp_path / "in.csv")
    done = run("protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 20, "-q", "a,b,money", "-m", "mdav")
    assert "loss by column" in done.stdout
    assert "money" in done.stdout
    assert "more than half is lost of money" in done.stderr
    assert "another --scaling or a smaller k" in done.stderr
    assert "--column-weight" not in done.stderr  # which mdav does not take
    mixed = table.with_columns(c=pl.Series(["x", "y"] * 100), money=rng.lognormal(0, 1.5, 200))
    mixed.write_csv(tmp_path / "mixed.csv")
    words = ("protect", tmp_path / "mixed.csv", "-k", 20, "-q", "a,b,money,c", "-m", "s-mdav", "-o")
    assert "--column-weight above 1" in run(*words, tmp_path / "mixed-out.csv").stderr
    release = shoal.protect(mixed, 20, mixed.columns, method="s-mdav")
    weighed = shoal.protect(mixed, 20, mixed.columns, method="s-mdav", column_weights={"money": 50.0})
    assert weighed.summary.loss_by_column["money"] < release.summary.loss_by_column["money"]
    even = run("protect", tmp_path / "in.csv", "-o", tmp_path / "even.csv", "-k", 2, "-q", "a,b", "-m", "mdav")
    assert "loss by column" not in even.stdout
    assert "more than half" not in even.stderr
