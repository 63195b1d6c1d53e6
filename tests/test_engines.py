"""One plan, one release: every engine gives the same cells, the same summary, and refuses the same things."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cache

import numpy as np
import polars as pl
import pytest

import shoal
from given_away_by_definition import equal_distance, ordered_distance, tree_distance
from spark_cluster import NEEDS_SPARK, results_of, start_cluster, start_program
from tables_for_engines import MATRIX, PLANS, TABLE, digest, parquet_folder, told

pytest.importorskip("duckdb")
SPARK = {"spark local": NEEDS_SPARK, "spark cluster": NEEDS_SPARK}
EVERY = {**PLANS, **MATRIX}
LAW = {"lawyer": None, "judge": None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


@pytest.fixture(scope="module")
def released(folder, tmp_path_factory):
    """What an engine releases; Spark is asked for all cases at once, since it takes long to start."""
    found = {}

    def of(engine, case):
        where = tmp_path_factory.mktemp("released")
        if engine == "spark local" and engine not in found:
            found[engine] = on_spark("local[2]", folder, where, [*PLANS, *MATRIX])
        if engine == "spark cluster" and engine not in found:
            with contextmanager(start_cluster)(where) as (master, _):
                found[engine] = on_spark(master, folder, where, MATRIX)
        if engine in SPARK:
            return found[engine][f"file:{case}"]
        release = shoal.protect(folder, **EVERY[case], engine=engine, threads=1, output=where / "out.parquet")
        manifest = json.loads((where / "out.parquet.manifest.json").read_text())
        return told(release, pl.read_parquet(where / "out.parquet"), manifest)

    return of


def on_spark(master, folder, where, cases):
    cases = [f"file:{case}" for case in cases]
    return results_of(start_program(master, folder, where, cases), where, cases)


@cache
def expected(case):
    """The release of a table that is in memory, on two threads."""
    release = shoal.protect(TABLE, **EVERY[case], engine="memory", threads=2)
    assert release.summary.blocks > 3
    return told(release, release.data, release.manifest())


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        pytest.param(engine, case, marks=SPARK.get(engine, ()))
        for engine in ("memory", "duckdb", *SPARK)
        for case in (MATRIX if engine == "spark cluster" else EVERY)
    ],
)
def test_every_engine_gives_the_same_release(engine, case, released):
    assert released(engine, case) == expected(case)


@pytest.mark.parametrize("case", ["missing", "mixed"])
def test_neither_threads_nor_a_limit_of_memory_change_a_byte(case, folder, tmp_path):
    written = []
    for threads, memory in ((1, None), (2, None), (1, "256MiB"), (2, "256MiB")):
        engine = {"name": "duckdb", **({"memory": memory} if memory else {})}
        out = tmp_path / f"{threads}-{memory}.parquet"
        shoal.protect(folder, **PLANS[case], engine=engine, threads=threads, output=out)
        written.append(out.read_bytes())
    assert len(set(written)) == 1
    assert digest(pl.read_parquet(out)) == expected(case)[0]


@pytest.mark.parametrize("case", ["numbers", "strata", "univariate", "fractions"])
def test_blocks_of_a_whole_table_are_those_of_an_engine(case):
    """Without what looks across blocks, and where no interval has far too many records, an engine changes no cell."""
    plan = {**PLANS[case], "blocking": {**PLANS[case]["blocking"], "size": 700 if case == "univariate" else 120}}
    whole = shoal.protect(TABLE, **plan)
    assert whole.summary.blocks > 1
    assert digest(shoal.protect(TABLE, **plan, engine="memory").data) == digest(whole.data)


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
    assert again.summary.information_loss == manifest["summary"]["information_loss"]


def test_every_key_has_k_records_in_the_file(folder, tmp_path):
    shoal.protect(folder, **PLANS["missing"], engine="duckdb", output=tmp_path / "out.parquet")
    released = pl.read_parquet(tmp_path / "out.parquet")
    names = PLANS["missing"]["quasi_identifiers"]
    assert released.group_by(names).len()["len"].min() >= PLANS["missing"]["k"]
    assert released.drop(names).equals(TABLE.drop(names))
    assert released.schema == TABLE.schema


def refused(path, **changed):
    with pytest.raises((shoal.PlanError, shoal.DataError, shoal.FileError)) as caught:
        shoal.protect(path, **{**PLANS["numbers"], "engine": "duckdb", **changed})
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"blocking": {"method": "2d-tree", "repair": True}}, "blocking.repair"),
        ({"blocking": "equal-counts"}, "'equal-counts' sorts all records"),
        ({"blocking": "categories"}, "'categories' cuts a column of categories"),
        ({"scaling": "robust"}, "scaling: quartiles"),
        ({"strata": ["g"], "small_strata": "merge"}, "small_strata"),
        ({"method": "optimal", "options": {"time": 1.0}}, "'time'"),
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


def test_conditions_on_groups_hold_in_the_file(folder, tmp_path):
    plan = PLANS["conditions"]
    release = shoal.protect(folder, **plan, engine="duckdb", output=tmp_path / "out.parquet")
    groups = pl.read_parquet(tmp_path / "out.parquet").group_by("a", "b").agg(pl.col("j").n_unique(), pl.col("g"))
    assert groups["j"].min() >= 3
    for values in groups["g"].to_list():
        counts = sorted((values.count(value) for value in set(values)), reverse=True)
        assert counts[0] < 3.0 * sum(counts[1:])
    assert [one.column for one in release.summary.conditions] == ["j", "g"]
    assert release.summary.conditions[0].reached["distinct"] == groups["j"].min()
    assert release.summary.loss_without_conditions < release.summary.information_loss
    told = refused(folder, **{**plan, "conditions": {"j": {"distinct": 5, "entropy": 4.99}}})
    assert "ask for larger ones (blocking.size)" in told


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


def test_groups_are_near_to_the_whole_table_in_the_file(folder, tmp_path):
    """t compares with the distribution in the table, not with that of the block."""
    plan = PLANS["near"]
    release = shoal.protect(folder, **plan, engine="duckdb", output=tmp_path / "out.parquet")
    groups = pl.read_parquet(tmp_path / "out.parquet").group_by("a", "b").agg("g", "j", "m")
    tree = {"any": {"craft": {"baker": None, "smith": None}, "office": {"clerk": None, "law": LAW}}}
    farthest = {
        "g": max(equal_distance(own, TABLE["g"].to_list()) for own in groups["g"].to_list()),
        "j": max(tree_distance(own, TABLE["j"].to_list(), tree) for own in groups["j"].to_list()),
        "m": max(ordered_distance(own, TABLE["m"].to_list()) for own in groups["m"].to_list()),
    }
    for one in release.summary.conditions:
        assert one.reached["t"] == pytest.approx(farthest[one.column], abs=1e-9)
        assert one.reached["t"] <= plan["conditions"][one.column]["t"] + 1e-7
    assert len(groups) > 3 * release.summary.blocks
    told = refused(folder, **{**plan, "conditions": {**plan["conditions"], "m": {"t": 0.001}}})
    assert "ask for larger ones (blocking.size)" in told


def test_a_column_of_too_many_values_is_refused_by_name(folder, monkeypatch):
    monkeypatch.setattr("shoal.release.survey._MOST", 100)
    told = refused(folder, **PLANS["near"])
    assert "column 'm' has more than a million values" in told
