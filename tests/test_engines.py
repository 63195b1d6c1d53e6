"""One plan, one release: every engine gives the same cells, the same summary, and refuses the same things."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.blocking.blocks import BLOCKINGS, COUNTED
from shoal.partition.methods import METHODS
from shoal.plan.roles import Kind
from tables_for_engines import PLANS, TABLE, digest, parquet_folder

pytest.importorskip("duckdb")
OWN = ("seconds", "peak_memory_mib")  # entries of a summary that no two runs share


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


def figures(release):
    return {name: value for name, value in release.summary.to_dict().items() if name not in OWN}


@pytest.mark.parametrize("case", PLANS)
def test_duckdb_gives_the_cells_of_memory(case, folder, tmp_path):
    memory = shoal.protect(TABLE, **PLANS[case], engine="memory")
    release = shoal.protect(folder, **PLANS[case], engine="duckdb", output=tmp_path / "out.parquet")
    assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(memory.data)
    assert figures(release) == figures(memory)
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest["group_sizes"] == memory.manifest()["group_sizes"]
    assert memory.summary.blocks > 3


@pytest.mark.parametrize("threads", [1, 2])
def test_neither_threads_nor_a_limit_of_memory_change_a_cell(threads, folder, tmp_path):
    settings = {**PLANS["missing"], "engine": {"name": "duckdb", "memory": "256MiB"}}
    shoal.protect(folder, **settings, threads=threads, output=tmp_path / "out.parquet")
    memory = shoal.protect(TABLE, **PLANS["missing"], engine="memory", threads=threads)
    assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(memory.data)


@pytest.mark.parametrize("case", ["numbers", "strata", "univariate", "fractions"])
def test_blocks_of_a_whole_table_are_those_of_an_engine(case):
    """Without what looks across blocks, naming an engine changes no cell."""
    whole = shoal.protect(TABLE, **PLANS[case])
    assert digest(shoal.protect(TABLE, **PLANS[case], engine="memory").data) == digest(whole.data)


def test_rows_in_another_order_are_the_same_table():
    """Nothing global depends on the order of the rows: blocks are the same sets of records."""
    order = np.random.default_rng(3).permutation(len(TABLE))
    plan = PLANS["numbers"]
    one, other = shoal.protect(TABLE, **plan, engine="memory"), shoal.protect(TABLE[order], **plan, engine="memory")
    assert one.summary.blocks == other.summary.blocks
    assert one.summary.information_loss == pytest.approx(other.summary.information_loss, rel=0.02)


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow], ids=["pandas", "pyarrow"])
def test_the_engine_in_memory_takes_all_kinds_of_tables(convert):
    plan = PLANS["numbers"]
    release = shoal.protect(convert(TABLE), **plan, engine="memory")
    assert type(release.data) is type(convert(TABLE))
    expected = shoal.protect(TABLE, **plan, engine="memory")
    for name in ("a", "b", "c"):
        assert np.array_equal(np.asarray(release.data[name]), expected.data[name].to_numpy())
    assert np.array_equal(release.groups, expected.groups)


def test_a_lazy_frame_gives_a_lazy_frame():
    release = shoal.protect(TABLE.lazy(), **PLANS["missing"])
    assert isinstance(release.data, pl.LazyFrame)
    assert digest(release.data.collect()) == digest(shoal.protect(TABLE, **PLANS["missing"], engine="memory").data)
    assert release.plan.engine.name == "duckdb"


def test_a_relation_gives_a_relation():
    import duckdb

    with duckdb.connect() as connection:
        connection.register("people", TABLE.to_arrow())
        relation = connection.sql("SELECT * FROM people")
        release = shoal.protect(relation, **PLANS["missing"])
        assert type(release.data) is type(relation)
        assert digest(release.data.pl()) == digest(shoal.protect(TABLE, **PLANS["missing"], engine="memory").data)


def test_a_folder_becomes_a_folder_with_its_manifest(folder, tmp_path):
    plan = {**PLANS["numbers"], "identifiers": ["g"]}
    shoal.protect(folder, **plan, engine="duckdb", output=tmp_path / "out")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["out", "out.manifest.json"]
    released = pl.read_parquet(sorted((tmp_path / "out").iterdir()))
    assert digest(released) == digest(shoal.protect(TABLE, **plan, engine="memory").data)
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert [one["name"] for one in manifest["input"]["files"]] == ["a.parquet", "b.parquet", "c.parquet"]
    assert manifest["plan"]["engine"] == {"name": "duckdb"}
    again = shoal.protect(folder, plan=shoal.Plan(**manifest["plan"]), output=tmp_path / "again.parquet")
    assert digest(pl.read_parquet(tmp_path / "again.parquet")) == digest(released)
    assert figures(again)["information_loss"] == manifest["summary"]["information_loss"]


def test_every_key_has_k_records_in_the_file(folder, tmp_path):
    shoal.protect(folder, **PLANS["missing"], engine="duckdb", output=tmp_path / "out.parquet")
    released = pl.read_parquet(tmp_path / "out.parquet")
    names = PLANS["missing"]["quasi_identifiers"]
    assert released.group_by(names).len()["len"].min() >= PLANS["missing"]["k"]
    assert released.drop(names).equals(TABLE.drop(names))
    assert released.schema == TABLE.schema


def test_more_equal_records_than_a_block_holds_are_protected(tmp_path):
    table = pl.DataFrame({"x": [1.0] * 900 + list(range(100)), "y": [2.0] * 900 + list(range(100))})
    table.write_parquet(tmp_path / "in.parquet")
    plan = {"k": 4, "quasi_identifiers": ["x", "y"], "method": "mdav", "blocking": {"method": "2d-tree", "size": 50}}
    release = shoal.protect(tmp_path / "in.parquet", **plan, engine="duckdb", output=tmp_path / "out.parquet")
    assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(
        shoal.protect(table, **plan, engine="memory").data
    )
    assert release.summary.smallest_group >= 4


def refused(path, **changed):
    with pytest.raises((shoal.PlanError, shoal.DataError, shoal.FileError)) as caught:
        shoal.protect(path, **{**PLANS["numbers"], "engine": "duckdb", **changed})
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"blocking": {"method": "2d-tree", "repair": True}}, "blocking.repair"),
        ({"blocking": "spread-tree"}, "'spread-tree'"),
        ({"scaling": "robust"}, "scaling: quartiles"),
        ({"strata": ["g"], "small_strata": "merge"}, "small_strata"),
        ({"method": "optimal", "options": {"time": 1.0}}, "'time'"),
        ({"rules": ["a <= 1000"]}, "rules"),
        ({"conditions": {"g": {"distinct": 2}}}, "conditions: compare groups"),
        ({"accept": {"g": "it is asked for"}}, "accept: columns that are kept"),
        ({"identifiers": ["person_id"]}, "persons: 'person_id' may be the key"),
        ({"engine": {"name": "duckdb", "master": "local[2]"}}, "engine.master: has no effect"),
        ({"engine": {"name": "duckdb", "memory": "2 lots"}}, "engine.memory: write an amount"),
        ({"engine": {"name": "duckdb", "memory": "1MB"}}, "at least 256MiB"),
        ({"engine": "dask"}, "engine.name: must be"),
        ({"report": "x.html"}, "report"),
    ],
)
def test_what_an_engine_cannot_do_is_refused_in_one_sentence(changed, told, folder):
    assert told in refused(folder, **changed)


def test_every_method_and_blocking_works_or_is_refused_before_any_work(folder, tmp_path):
    """Walks the lists of methods and blockings, so that a new one is tried without a change here."""
    small = TABLE.head(400)
    small.write_parquet(tmp_path / "in.parquet")
    for name, method in METHODS.items():
        names = ["a", "b"] if Kind.NUMERIC in method.kinds else ["o"]
        options = {"steps": 400} if method.search else {}
        plan = {"k": 3, "quasi_identifiers": names, "method": name, "options": options}
        if method.needs:  # engines take no conditions
            assert f"forms groups by {method.needs}" in refused(tmp_path / "in.parquet", **plan)
            continue
        for blocking in BLOCKINGS:
            cut = {**plan, "blocking": {"method": blocking, "size": 150, "columns": names[:1]}}
            if method.by_column:  # each column is cut by itself
                cut["blocking"].pop("columns")
            if blocking not in COUNTED:
                assert f"'{blocking}' sorts all records" in refused(tmp_path / "in.parquet", **cut)
                continue
            memory = shoal.protect(small, **cut, engine="memory")
            shoal.protect(tmp_path / "in.parquet", **cut, engine="duckdb", output=tmp_path / "out.parquet")
            assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(memory.data), (name, blocking)


def test_an_output_folder_that_is_not_empty_is_refused_and_nothing_is_left(folder, tmp_path):
    full = tmp_path / "out"
    full.mkdir()
    (full / "other").write_text("")
    assert "is not empty" in refused(folder, output=full)
    (full / "other").rename(tmp_path / "other")
    assert "the folder" in refused(folder, output=tmp_path / "nowhere" / "out")
    assert "ends in .parquet, or a folder" in refused(folder, output=tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["other", "out"]


def test_what_is_no_parquet_is_refused(tmp_path):
    TABLE.head(10).write_csv(tmp_path / "in.csv")
    assert "reads Parquet" in refused(tmp_path / "in.csv")
    assert "no files that end in .parquet" in refused(tmp_path)
    assert "is not there" in refused(tmp_path / "none*.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    assert "DuckDB could not read" in refused(tmp_path / "bad.parquet")


def test_a_disk_that_is_full_is_told_and_nothing_is_left(folder, tmp_path, monkeypatch):
    import errno

    from shoal.engines import duckdb as engine

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(engine, "write_parquet", full)
    assert "no room left" in refused(folder, output=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_small_stratum_is_refused_by_its_label(tmp_path):
    table = TABLE.with_columns(g=pl.when(pl.int_range(len(TABLE)) < 2).then(pl.lit("rare")).otherwise("g"))
    table.write_parquet(tmp_path / "in.parquet")
    assert "g = rare" in refused(tmp_path / "in.parquet", strata=["g"])


def test_columns_that_look_like_identifiers_are_refused_as_in_memory(tmp_path):
    table = TABLE.with_columns(number=pl.int_range(len(TABLE)), name=pl.int_range(len(TABLE)).cast(pl.String))
    table.write_parquet(tmp_path / "in.parquet")
    with pytest.raises(shoal.PlanError) as whole:
        shoal.protect(table, **PLANS["numbers"])
    assert refused(tmp_path / "in.parquet") == str(whole.value)
