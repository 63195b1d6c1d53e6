"""Absurd arguments and unexpected failures: clear, bounded, and without a cell."""

from __future__ import annotations

import time

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import program
from shoal.errors import PlanError

TABLE = pl.DataFrame({"a": range(1, 11), "b": [5, 3, 8, 1, 9, 2, 7, 4, 6, 0]})


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    TABLE.write_csv(path)
    return path


def run(*words):
    return CliRunner().invoke(program, [str(word) for word in words])


HUGE = "9" * 20
ABSURD = {
    "sweep IN -k 2:2000000000 -m mdav --all-numeric": "more than 10000, which is the most that a sweep takes",
    f"sweep IN -k 2:{HUGE} -m mdav --all-numeric": "is none of 5, 2:20, 2:20:2 or 3,5,10",
    "sweep IN -k 2:3 -m mdav --all-numeric --sample 5 --repeats 1000000000": "repeats: must be at most 1000",
    f"sweep IN -k 2:3 -m mdav --all-numeric --sample {HUGE}": "sample: must be fewer than the 10 records",
    f"protect IN -o OUT -k 2 --all-numeric --steps {HUGE}": "option 'steps' must be at most 1000000000000",
    f"protect IN -o OUT -k 2 --all-numeric -O steps={HUGE}": "option 'steps' must be at most 1000000000000",
    f"protect IN -o OUT -k 2 --all-numeric -m v-mdav -O gamma=1{'0' * 400}": "option 'gamma' must be a finite number",
    f"protect IN -o OUT -k {HUGE} --all-numeric -m mdav": "k: must be at most 1000000000",
    "protect IN -o OUT -k 999999999 --all-numeric -m mdav": "fewer than k = 999999999",
    f"protect IN -o OUT -k 2 --all-numeric -m mdav --seed {HUGE}": "seed: must be at most",
    "protect IN -o OUT -k 2 --all-numeric --time 1e999h": "must be a finite number",
    f"protect IN -o OUT -k 2 --all-numeric -m mdav --blocking spread-tree --block-size {HUGE}": "blocking.size",
}


@pytest.mark.parametrize(("command", "told"), ABSURD.items(), ids=range(len(ABSURD)))
def test_absurd_arguments_are_refused_at_once(tmp_path, table, command, told):
    started = time.perf_counter()
    result = run(*command.replace("IN", str(table)).replace("OUT", str(tmp_path / "r.csv")).split())
    assert result.exit_code == 2
    assert told in result.stderr.replace("\n", " ")
    assert len(result.stderr) < 2000
    assert time.perf_counter() - started < 10
    assert not (tmp_path / "r.csv").exists()


def test_any_number_of_threads_can_be_asked_for():
    release = shoal.protect(TABLE, k=2, quasi_identifiers=["a", "b"], method="mdav", threads=10**30)
    assert release.data.equals(shoal.protect(TABLE, k=2, quasi_identifiers=["a", "b"], method="mdav").data)


@pytest.mark.parametrize("columns", [["a"], ["b"]])
@pytest.mark.parametrize("cut", ["equal-counts", "univariate", "spread-tree"])
def test_blocking_columns_of_a_method_by_column_are_refused(cut, columns):
    asked = {"k": 2, "quasi_identifiers": ["a", "b"], "method": "individual-ranking"}
    with pytest.raises(PlanError, match=r"blocking.columns: method .individual-ranking. treats every column by itself"):
        shoal.protect(TABLE, **asked, blocking={"method": cut, "size": 4, "columns": columns})
    cut_by_itself = shoal.protect(TABLE, **asked, blocking={"method": cut, "size": 4})
    assert cut_by_itself.summary.smallest_group >= 2


@pytest.mark.parametrize("ending", ["csv", "xml"])
@pytest.mark.parametrize(
    "column",
    [
        pl.Series("u", [2**64 - 1 - i for i in range(10)], dtype=pl.UInt64),
        pl.Series("u", [-(2**63) + i for i in range(10)], dtype=pl.Int64),
        pl.Series("u", [i - 100 for i in range(10)], dtype=pl.Int8),
    ],
    ids=["UInt64", "Int64", "Int8"],
)
def test_whole_numbers_of_any_size_are_kept_with_rules(tmp_path, column, ending):
    path, rules, output = tmp_path / "u.parquet", tmp_path / "ok.rules", tmp_path / f"r.{ending}"
    TABLE.with_columns(column).write_parquet(path)
    rules.write_text("a >= 0\n", encoding="utf-8")
    result = run("protect", path, "-o", output, "-k", 2, "-q", "a,b", "-m", "mdav", "--keep", "u", "--rules", rules)
    assert result.exit_code == 0, result.stderr
    assert str(column[0]) in output.read_text(encoding="utf-8")


def test_a_failure_of_shoal_tells_where_and_no_cell(tmp_path, table, monkeypatch):
    def fails(*_arguments, **_options):
        raise pl.exceptions.InvalidOperationError("conversion failed for 10 values: [SECRET]")

    monkeypatch.setattr("shoal.release.protecting.check_release", fails)
    command = ("protect", table, "-o", tmp_path / "r.csv", "-k", 2, "--all-numeric", "-m", "mdav")
    result = run(*command)
    assert result.exit_code == 70
    assert "failed with InvalidOperationError in release/protecting.py, line " in result.stderr
    assert "report" in result.stderr
    assert "SECRET" not in result.output + result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("SHOAL_TRACEBACK", "1")
    assert isinstance(run(*command).exception, pl.exceptions.InvalidOperationError)


@pytest.mark.parametrize("error", [RecursionError("SECRET"), type("PanicException", (BaseException,), {})("SECRET")])
def test_whatever_fails_in_a_command_is_a_sentence(table, monkeypatch, error):
    def fails(*_arguments):
        raise error

    monkeypatch.setattr("shoal.tables.inspection.open_table", fails)
    result = run("inspect", table)
    assert result.exit_code == 70
    assert result.stderr.startswith("error: ")
    assert "SECRET" not in result.stderr
