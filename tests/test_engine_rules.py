"""Edit rules on engines: kept inside blocks, the same on every engine, and checked on the result."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.release.block_worker import BlockWorker
from tables_for_engines import PLANS, TABLE, parquet_folder

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


def refused(path, **changed):
    with pytest.raises((shoal.PlanError, shoal.DataError)) as caught:
        shoal.protect(path, **{**PLANS["rules"], "engine": "duckdb", **changed})
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_rules_hold_in_the_file(folder, tmp_path):
    release = shoal.protect(folder, **PLANS["rules"], engine="duckdb", output=tmp_path / "out.parquet")
    after = pl.read_parquet(tmp_path / "out.parquet")
    assert (after["z"] == after["x"] + after["y"]).all()
    assert (after.filter(pl.col("g") == "north")["x"] <= 95).all()
    assert set(after["x"].to_list()) <= set(TABLE["x"].to_list())
    assert after.group_by("x", "y", "z").len()["len"].min() >= 4
    assert [rule.violations_after for rule in release.summary.rules] == [0, 0, 0, 0]
    assert release.summary.rules[0].name == "total"
    plain = shoal.protect(TABLE, **{**PLANS["rules"], "rules": None}, engine="memory")
    assert release.summary.loss_without_rules == plain.summary.information_loss
    assert release.summary.blocks > 3


def test_rules_are_kept_where_they_held(folder, tmp_path):
    plan = PLANS["rules where held"]
    release = shoal.protect(folder, **plan, engine="duckdb", output=tmp_path / "out.parquet")
    after = pl.read_parquet(tmp_path / "out.parquet")
    kept, still = TABLE["x"] <= 60, after["x"] <= 60
    assert not (kept & ~still).any()
    kept = ~((TABLE["y"] > 20) & (TABLE["x"] >= 80))
    assert not (kept & (after["y"] > 20) & (after["x"] >= 80)).any()
    assert release.summary.rules[0].violations_before == int((TABLE["x"] > 60).sum())
    assert release.summary.rules[0].violations_after == int((after["x"] > 60).sum())
    assert sum(rule.would_break for rule in release.summary.rules) > 0


def test_without_blocks_the_release_is_that_of_a_whole_table():
    plan = {**PLANS["rules"], "blocking": {"method": "2d-tree", "size": 5000}}
    whole = shoal.protect(TABLE, **{**plan, "blocking": None})
    block = shoal.protect(TABLE, **plan, engine="memory")
    assert block.data.equals(whole.data)
    assert block.summary.rules == whole.summary.rules
    assert block.summary.loss_without_rules == whole.summary.loss_without_rules


def test_a_table_that_breaks_a_rule_is_refused_by_the_number_of_its_record(folder):
    row = int((TABLE["x"] > 80).arg_max()) + 1
    count = int((TABLE["x"] > 80).sum())
    told = refused(folder, rules=["low: x <= 80"])
    assert f"breaks rule 'low' (rule 1, line 1) in {count} records, the first is record {row}" in told


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rules": ["g = 'nowhere'"]}, "'nowhere' is no value of column 'g'"),
        ({"rules": ["x <= q"]}, "column 'q' is not in the table"),
        ({"rules": ["x < 3", "x > 5"], "broken_rules": "keep-where-held"}, "contradict each other"),
        ({"rules": ["sum(x) unchanged"]}, "about the total of all records"),
        ({"rules": ["x = 2 * y"], "product_rules": "geometric-means"}, "product_rules"),
        ({"rules": ["z = x + y"], "quasi_identifiers": [["x", "y"], ["z", "c"]]}, "different sets"),
        ({"rules": ["z = x + y"], "method": "individual-ranking"}, "groups each column by itself"),
    ],
)
def test_rules_that_do_not_fit_are_refused_before_any_work(changed, told, folder):
    assert told in refused(folder, **changed)


def test_a_release_that_breaks_a_rule_is_found_by_the_engine(folder, tmp_path, monkeypatch):
    """The check reads rows before and after: a worker that releases something else is told, and nothing is written."""
    put = BlockWorker.put

    def other(self, frame, block):
        return put(self, frame, block).with_columns(z=pl.col("z") + 1)

    monkeypatch.setattr(BlockWorker, "put", other)
    with pytest.raises(shoal.BrokenPromise, match="rule 'total' in 1500 records"):
        shoal.protect(folder, **PLANS["rules"], engine="duckdb", output=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []
