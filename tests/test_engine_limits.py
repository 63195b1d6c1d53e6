"""What an engine meets that is too large, full or strange: it spills, or says so in one sentence and leaves nothing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.duckdb import DuckdbEngine
from shoal.engines.engine import BLOCK, ROW
from spark_cluster import own_mounts
from tables_for_engines import PLANS, TABLE, digest

pytest.importorskip("duckdb")
ROWS = 400_000


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Rows with their blocks that do not fit into the memory that DuckDB has."""
    path = tmp_path_factory.mktemp("engines") / "blocked.parquet"
    rng = np.random.default_rng(0)
    kept = {f"kept_{i}": rng.integers(0, 2**60, size=ROWS) for i in range(40)}
    order = {BLOCK: rng.integers(0, 20, size=ROWS), ROW: rng.permutation(ROWS)}
    pl.DataFrame({**kept, **order}).write_parquet(path, compression="lz4", row_group_size=20_000)
    return path


@pytest.fixture
def aside(tmp_path, monkeypatch):
    """Where rows are put aside."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "aside"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "aside").mkdir()
    return tmp_path / "aside"


@pytest.fixture
def small_engine(aside, tmp_path):
    """An engine with 115 MiB for DuckDB, on a table that plays no part."""
    TABLE.head(5).write_parquet(tmp_path / "in.parquet")

    def opened(threads):
        return DuckdbEngine([tmp_path / "in.parquet"], 256 * 2**20, threads)

    return opened


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_do_not_fit_into_memory_are_sorted_on_disk(threads, wide, small_engine, aside):
    engine = small_engine(threads)
    spilt, blocks, rows = 0, [], 0
    for table in engine._blocks(wide):
        spilt = max(spilt, sum(one.stat().st_size for one in aside.glob("*/sorting/*")))
        blocks.append(table.column(BLOCK)[0].as_py())
        rows += table.num_rows
        assert len(table.column(BLOCK).unique()) == 1
        assert (np.diff(table.column(ROW).to_numpy()) > 0).all()
    assert spilt > 10 * 2**20  # what DuckDB has written out of memory
    assert blocks == list(range(20))
    assert rows == ROWS
    engine.close()
    assert list(aside.iterdir()) == []


@pytest.fixture(scope="module")
def kept_columns(tmp_path_factory):
    """A table of many columns that are kept, and what the engine in memory makes of it."""
    path = tmp_path_factory.mktemp("engines") / "in.parquet"
    rng = np.random.default_rng(0)
    kept = {f"kept_{i}": rng.integers(0, 2**60, size=ROWS) for i in range(40)}
    table = pl.DataFrame({"x": rng.normal(size=ROWS), "y": rng.normal(size=ROWS), **kept})
    table.write_parquet(path, row_group_size=20_000)
    return path, digest(shoal.protect(table, **OF_KEPT, confidential=list(kept), engine="memory").data), list(kept)


OF_KEPT = {
    **{"k": 3, "quasi_identifiers": ["x", "y"], "method": "mdav"},
    "blocking": {"method": "2d-tree", "size": 1000},
}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_release_that_is_sorted_on_disk_is_that_of_memory(threads, kept_columns, tmp_path, aside, monkeypatch):
    """Rows take 130 MB, and DuckDB has 115 MiB."""
    path, expected, kept = kept_columns
    spilt = []
    blocks = DuckdbEngine._blocks

    def watched(self, blocked):
        for table in blocks(self, blocked):
            spilt.append(sum(one.stat().st_size for one in aside.glob("*/sorting/*")))
            yield table

    monkeypatch.setattr(DuckdbEngine, "_blocks", watched)
    engine = {"name": "duckdb", "memory": "256MiB"}
    out = tmp_path / "out.parquet"
    shoal.protect(path, **OF_KEPT, confidential=kept, engine=engine, threads=threads, output=out)
    assert max(spilt) > 10 * 2**20
    assert digest(pl.read_parquet(out)) == expected
    assert list(aside.iterdir()) == []


@pytest.mark.skipif(not own_mounts(), reason="no file system of a few megabytes can be mounted here")
@pytest.mark.parametrize("room", [20, 150])
def test_a_disk_that_is_full_is_told_and_nothing_is_left(room, kept_columns, tmp_path, aside):
    """The folder for what is put aside has too little room for the rows with their blocks, or for sorting them."""
    path, _, kept = kept_columns
    words = (
        f"import shoal\ntry:\n    shoal.protect({str(path)!r}, **{OF_KEPT!r}, confidential={kept!r}, "
        f"engine={{'name': 'duckdb', 'memory': '256MiB'}}, output={str(tmp_path / 'out.parquet')!r})\n"
        "except shoal.FileError as error:\n    print('told:', error)\n"
        f"import os\nprint('left:', os.listdir({str(aside)!r}))\n"
    )
    mount = f'mount -t tmpfs -o size={room}m tmpfs {aside} && exec {sys.executable} -c "$0"'
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", mount, words], capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    assert len(told) == 2, done.stdout + done.stderr
    assert told[0].startswith("told:")
    assert "set TMPDIR to a folder with room for twice the table" in told[0]
    assert told[1] == "left: []"
    assert list(tmp_path.iterdir()) == [aside]


@pytest.fixture(scope="module")
def large_groups(tmp_path_factory):
    """The same rows in row groups of 28 MiB, and in one of 85 MiB, with how many numbers there are below a half."""
    rng = np.random.default_rng(5)
    table = pl.DataFrame({f"x{i}": rng.random(360_000) for i in range(31)})
    where = tmp_path_factory.mktemp("engines")
    table.write_parquet(where / "three.parquet", row_group_size=120_000)
    table.write_parquet(where / "one.parquet", row_group_size=360_000)
    return where, int(sum((table[name] < 0.5).sum() for name in table.columns))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_hold_no_more_row_groups_than_fit_into_memory(threads, large_groups):
    where, below = large_groups
    engine = DuckdbEngine([where / "three.parquet"], 256 * 2**20, threads)
    head = engine.head()
    assert head.equals(pl.read_parquet(where / "three.parquet", n_rows=len(head)))
    assert engine.add_up(head.columns, lambda frame, _: int((frame.to_numpy() < 0.5).sum())) == below
    engine.close()


def test_a_row_group_that_does_not_fit_into_memory_is_told_and_nothing_is_left(large_groups, tmp_path, aside):
    plan = {"k": 3, "quasi_identifiers": ["x0", "x1"], "method": "mdav", "blocking": {"method": "2d-tree", "size": 500}}
    with pytest.raises(shoal.FileError, match="which a row group of the files has to fit into") as caught:
        shoal.protect(
            large_groups[0] / "one.parquet",
            **plan,
            engine={"name": "duckdb", "memory": "256MiB"},
            output=tmp_path / "out.parquet",
        )
    assert len(str(caught.value).splitlines()) == 1
    assert list(aside.iterdir()) == []
    assert list(tmp_path.iterdir()) == [aside]


def test_a_disk_that_is_full_while_sorting_is_told_and_nothing_is_left(wide, small_engine, aside):
    engine = small_engine(2)
    engine._run("SET max_temp_directory_size = '2MB'")
    with pytest.raises(shoal.FileError, match="no room to sort on disk") as caught:
        list(engine._blocks(wide))
    assert len(str(caught.value).splitlines()) == 1
    engine.close()
    assert list(aside.iterdir()) == []


def test_a_type_that_shoal_does_not_have_is_refused_as_a_quasi_identifier_and_kept_otherwise(aside, tmp_path):
    import duckdb

    source = tmp_path / "in.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT random() AS x, {'a': i, 'b': [i]} AS pair, i::VARCHAR::BLOB AS raw, (i % 5)::UTINYINT AS u "
            f"FROM range(60) t(i)) TO '{source}' (FORMAT parquet)"
        )
    plan = {"k": 3, "method": "mdav", "engine": "duckdb"}
    for name in ("pair", "raw"):
        with pytest.raises((shoal.PlanError, shoal.DataError), match=f"'{name}'") as caught:
            shoal.protect(source, **plan, quasi_identifiers=["x", name], output=tmp_path / "out.parquet")
        assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "out.parquet").exists()
    shoal.protect(source, **plan, quasi_identifiers=["x", "u"], output=tmp_path / "out.parquet")
    before, after = (pl.read_parquet(path) for path in (source, tmp_path / "out.parquet"))
    assert after.select("pair", "raw").equals(before.select("pair", "raw"))
    assert after.schema == before.schema
    assert list(aside.iterdir()) == []


def test_text_has_no_types_and_is_refused_with_what_to_do(tmp_path):
    TABLE.select("a", "b", "c").write_csv(tmp_path / "in.csv")
    with pytest.raises(shoal.FileError) as caught:
        shoal.protect(tmp_path / "in.csv", **PLANS["numbers"], engine="duckdb")
    assert "polars.scan_csv" in str(caught.value)
    release = shoal.protect(pl.scan_csv(tmp_path / "in.csv"), **PLANS["numbers"])
    expected = shoal.protect(pl.read_csv(tmp_path / "in.csv"), **PLANS["numbers"], engine="memory")
    assert isinstance(release.data, pl.LazyFrame)
    assert digest(release.data.collect()) == digest(expected.data)


def test_a_relation_over_text_gives_the_same_cells(tmp_path):
    import duckdb

    TABLE.select("a", "b", "c").write_csv(tmp_path / "in.csv")
    with duckdb.connect() as connection:
        relation = connection.read_csv(str(tmp_path / "in.csv"))
        release = shoal.protect(relation, **PLANS["numbers"])
        expected = shoal.protect(pl.read_csv(tmp_path / "in.csv"), **PLANS["numbers"], engine="memory")
        assert type(release.data) is type(relation)
        assert digest(release.data.pl()) == digest(expected.data)
