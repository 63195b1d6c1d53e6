"""Measures of engines are those of tables in memory, whatever moves the rows and however they are dealt out."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import program
from shoal.engines.memory import MemoryEngine
from shoal.release import measuring
from shoal.release.measuring import measure_rows
from shoal.release.surveyed import declare_rows, fit_to_rows
from tables_for_engines import PLANS, TABLE, parquet_folder

pytest.importorskip("duckdb")
CASES = ["numbers", "missing", "dates", "sets", "mixed", "nominal", "weights", "missing ignored", "scaled by range"]
OWN = ("notes", "seconds")  # notes name the engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


def figures(measures):
    return {name: value for name, value in measures.to_dict().items() if name not in OWN}


def alike(found, expected, where):
    """Figures of an engine are there in memory, and the same up to the rounding of sums."""
    if isinstance(found, dict):
        for name, value in found.items():
            alike(value, expected[name], f"{where} {name}")
    elif isinstance(found, list):
        assert len(found) == len(expected), where
        for own, other in zip(found, expected, strict=True):
            alike(own, other, where)
    elif isinstance(found, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), where
    elif found is not None:
        assert found == expected, where


@pytest.mark.parametrize("case", CASES)
def test_figures_are_those_of_tables_in_memory(case, folder, tmp_path):
    plan = {name: value for name, value in PLANS[case].items() if name != "weight"}
    release = shoal.protect(folder, **plan, engine="duckdb", output=tmp_path / "out.parquet")
    found = shoal.measure_in_engine(folder, tmp_path / "out.parquet", engine="duckdb")
    scaling = {} if release.summary.record_loss is None else {"scaling": release.plan.scaling}
    expected = shoal.measure(
        TABLE,
        pl.read_parquet(tmp_path / "out.parquet"),
        release.plan.quasi_identifiers,
        hierarchies=release.plan.hierarchies,
        orders=release.plan.orders,
        nominal=release.plan.nominal,
        **scaling,
    )
    alike(figures(found), figures(expected), case)
    told = {name for name, value in figures(found).items() if value not in (None, {}, [])}
    assert told >= {"information_loss", "dbrl", "k_anonymity", "global_risk", "changed_records", "key_sizes"}
    assert found.information_loss == pytest.approx(release.summary.information_loss, rel=1e-12)
    assert found.linkage["dbrl"] == {"records": len(TABLE), "error": 0.0}


@pytest.mark.parametrize("case", ["missing", "mixed"])
def test_a_release_is_measured_where_it_is_with_the_same_bits(case, folder, tmp_path):
    """Batches of DuckDB, another number of threads, files cut elsewhere, and all rows at once add up to the same."""
    release = shoal.protect(TABLE.lazy(), **PLANS[case], threads=1)
    found = release.measure()
    shoal.protect(folder, **PLANS[case], engine="duckdb", output=tmp_path / "out.parquet")
    other = shoal.measure_in_engine(folder, tmp_path / "out.parquet", engine="duckdb", threads=2)
    assert figures(found) == figures(other)
    with pytest.raises(shoal.PlanError, match="'known': has no effect"):
        release.measure(known=["a"])


class Dealt(MemoryEngine):
    """Rows in memory, in batches of odd sizes and in another order."""

    def add_up(self, columns, part, released=()):
        def dealt(frame, rows):
            order = np.random.default_rng(1).permutation(len(rows))
            cuts = np.split(order, [1, 40, 700])
            parts = [part(frame[own], rows[own]) for own in cuts]
            return sum(parts[1:], parts[0])

        return super().add_up(columns, dealt, released)


@pytest.mark.parametrize("case", ["missing", "mixed"])
def test_sums_depend_neither_on_batches_nor_on_their_order(case, monkeypatch):
    from shoal.tables.table import open_table

    monkeypatch.setattr(measuring, "SAMPLE", 300)
    released = shoal.protect(TABLE, **PLANS[case], engine="memory").data
    found = []
    for kind in (MemoryEngine, Dealt):
        engine = kind(open_table(TABLE))
        survey, _, declared = declare_rows(engine, PLANS[case])
        declared = fit_to_rows(engine, survey, declared)
        engine._put_in_place = lambda: released
        found.append(figures(measure_rows(engine, declared, len(TABLE))))
    assert found[0] == found[1]
    assert found[0]["linkage"]["dbrl"]["records"] < 400


def test_linkage_of_a_sample_is_within_its_error(folder, tmp_path, monkeypatch):
    shoal.protect(folder, **PLANS["numbers"], engine="duckdb", output=tmp_path / "out.parquet")
    whole = shoal.measure_in_engine(folder, tmp_path / "out.parquet", engine="duckdb")
    monkeypatch.setattr(measuring, "SAMPLE", 500)
    sample = shoal.measure_in_engine(folder, tmp_path / "out.parquet", engine="duckdb")
    linked = sample.linkage["dbrl"]
    assert 400 < linked["records"] < 600
    assert 0.0 < abs(sample.dbrl - whole.dbrl) < 4.0 * linked["error"]
    assert any("random sample" in note for note in sample.notes)
    assert sample.information_loss == whole.information_loss


def test_the_command_measures_with_an_engine(folder, tmp_path):
    shoal.protect(folder, **PLANS["numbers"], engine="duckdb", output=tmp_path / "out")
    words = ["measure", str(folder), str(tmp_path / "out"), "--engine", "duckdb", "--memory", "300MiB"]
    done = CliRunner().invoke(program, [*words, "--json", "-o", str(tmp_path / "figures.json")])
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written["k_anonymity"] == 4
    assert written["pil"] is None
    refused = CliRunner().invoke(program, [*words, "--known", "a"])
    assert refused.exit_code != 0
    assert "--known: no effect with --engine" in refused.output


def test_tables_that_do_not_fit_are_refused_in_one_sentence(folder, tmp_path):
    TABLE.head(900).write_parquet(tmp_path / "short.parquet")
    TABLE.with_columns(pl.col("c").cast(pl.Float64)).write_parquet(tmp_path / "typed.parquet")

    def refused(path, **changed):
        settings = {"quasi_identifiers": ["a", "c"], "engine": "duckdb", **changed}
        with pytest.raises((shoal.PlanError, shoal.DataError, shoal.FileError)) as caught:
            shoal.measure_in_engine(folder, path, **settings)
        assert len(str(caught.value).splitlines()) == 1
        return str(caught.value)

    assert "another number of records" in refused(tmp_path / "short.parquet")
    assert "'c': other types" in refused(tmp_path / "typed.parquet")
    assert "'nowhere' not in both" in refused(tmp_path / "short.parquet", quasi_identifiers=["a", "nowhere"])
    assert "no manifest" in refused(tmp_path / "short.parquet", quasi_identifiers=None)
    assert "must be 'duckdb' or 'spark'" in refused(tmp_path / "short.parquet", engine="memory")
    assert "is not there" in refused(tmp_path / "none.parquet")
    assert ".json" in refused(tmp_path / "short.parquet", output=tmp_path / "figures.txt")
