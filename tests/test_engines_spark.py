"""Spark: partitions, their order and adaptive execution change nothing, nor does what a cluster loses on the way.

That Spark releases what the engine in memory does, in one process and on a cluster, is in test_engines.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shoal
from spark_cluster import ENVIRONMENT, NEEDS_SPARK, own_mounts, results_of, start_cluster, start_program
from spark_program import figures
from tables_for_engines import PLANS, TABLE, digest, parquet_folder, told

pytestmark = NEEDS_SPARK
cluster = pytest.fixture(start_cluster)
TABLES = [
    f"{partitions}-{order}-{adaptive}:{name}"
    for name in ("numbers", "strata and missing")
    for partitions in (1, 3, 17)
    for order, adaptive in (("given", "on"), ("shuffled", "on"), ("shuffled", "off"))
]
TABLES += ["17-shuffled-off:rules", "3-shuffled-on:equal records", "17-shuffled-on:mixed"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


def of_memory(folder, case):
    """What a case of the program finds where the engine is in memory, or DuckDB measures."""
    kind, name = case.split(":")
    if kind == "measure":
        out = folder.with_name(f"duckdb-{name}.parquet")
        shoal.protect(folder, **PLANS[name], engine="duckdb", output=out)
        return figures(shoal.measure_in_engine(folder, out, engine="duckdb"))
    memory = shoal.protect(TABLE if kind == "file" else TABLE.drop("d", "t"), **PLANS[name], engine="memory")
    if kind == "file":
        return told(memory, memory.data, memory.manifest())
    return [digest(memory.data), memory.summary.information_loss]


def compare(process, folder, results, cases):
    for case, found in results_of(process, results, cases).items():
        assert found == of_memory(folder, case), case


def test_neither_partitions_nor_their_order_nor_adaptive_execution_change_a_cell(folder, tmp_path):
    cases = [*TABLES, "measure:missing", "measure:mixed"]
    compare(start_program("local[2]", folder, tmp_path, cases), folder, tmp_path, cases)


def test_tables_and_measures_on_a_cluster(cluster, folder, tmp_path):
    cases = ["17-shuffled-on:strata and missing", "3-shuffled-off:rules", "measure:numbers"]
    compare(start_program(cluster[0], folder, tmp_path, cases), folder, tmp_path, cases)


def executors(workers):
    """Processes of executors that these workers have started, each with its worker."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((one / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent in workers and b"CoarseGrainedExecutorBackend" in (one / "cmdline").read_bytes():
                found.append((int(one.name), parent))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("lost", ["executor", "worker"])
def test_what_is_lost_in_the_middle_changes_nothing(lost, cluster, folder, tmp_path):
    """An executor is killed, or a worker with its executor; releases are the same, and nothing half-written is left."""
    cases = ["file:numbers", "file:missing", "file:strata", "file:mixed"]
    master, workers = cluster
    results = tmp_path / "results"
    results.mkdir()
    process = start_program(master, folder, results, cases)
    first = next(line for line in process.stdout if line.startswith(("file:", "Traceback")))
    assert first.startswith("file:numbers"), process.communicate()[0]  # the second case has begun
    time.sleep(1.0)
    executor, worker = executors(workers)[0]
    for victim in (executor, worker) if lost == "worker" else (executor,):
        os.kill(victim, signal.SIGKILL)
    compare(process, folder, results, cases)
    left = sorted(one.name for one in results.iterdir() if one.name != "digests.json")
    assert left == sorted(f"out-{i}{end}" for i in range(len(cases)) for end in ("", ".manifest.json"))
    for i in range(len(cases)):
        assert all(one.name.startswith("part-") for one in (results / f"out-{i}").iterdir())


def test_a_loss_that_is_not_made_up_for_is_told_and_leaves_nothing(cluster, folder, tmp_path):
    """Where Spark may not try again, a killed executor ends the run in one sentence."""
    master, workers = cluster
    out = tmp_path / "results" / "out"
    out.parent.mkdir()
    settings = {"spark.task.maxFailures": "1", "spark.executor.memory": "1g", "spark.driver.host": "127.0.0.1"}
    engine = {"name": "spark", "master": master, "settings": {**settings, "spark.log.level": "OFF"}}
    plan = {**PLANS["search"], "options": {"steps": 500_000_000}}  # much longer than it takes to find the executor
    words = (
        f"import shoal\ntry:\n    shoal.protect({str(folder)!r}, **{plan!r}, engine={engine!r}, output={str(out)!r})\n"
        "except shoal.ShoalError as error:\n    print('told:', error)"
    )
    process = subprocess.Popen([sys.executable, "-c", words], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    deadline = time.time() + 900
    while not (busy := [one for one, _ in executors(workers) if searching(one)]):
        assert time.time() < deadline
        assert process.poll() is None
        time.sleep(0.5)
    os.kill(busy[0], signal.SIGKILL)
    said = process.communicate(timeout=300)[0]
    assert [line for line in said.splitlines() if line.startswith("told: Spark could not read or move the rows:")], said
    assert list(out.parent.iterdir()) == []


def searching(executor):
    """Whether a Python worker of an executor has been at work for a while."""
    family, seconds = [executor], []
    for pid in family:
        for one in Path("/proc").glob("[0-9]*"):
            try:
                fields = (one / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == pid and b"java" not in (one / "cmdline").read_bytes():
                    family.append(int(one.name))
                    seconds.append(int(fields[11]) / os.sysconf("SC_CLK_TCK"))
            except OSError:
                continue
    return max(seconds, default=0.0) > 5.0


def refusal(code, **environment):
    """What a program that protects with Spark is told."""
    words = "import sys, shoal\ntry:\n    " + code + "\nexcept shoal.ShoalError as error:\n    print('told:', error)"
    done = subprocess.run(
        [sys.executable, "-c", words], env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("told:")]
    assert told, done.stdout + done.stderr[-2000:]
    return told[0]


def test_bad_input_is_told_in_one_sentence(folder, tmp_path):
    plan = f"shoal.protect({str(folder)!r}, k=3, quasi_identifiers=['a', 'b'], method='mdav', engine='spark'"
    assert "Java 17" in refusal(f"{plan})", PATH="/nowhere", JAVA_HOME="")
    assert "Spark writes a folder" in refusal(f"{plan}, output={str(tmp_path / 'out.parquet')!r})")
    no_rows = (
        "from pyspark.sql import SparkSession; s = SparkSession.builder.master('local[1]').getOrCreate(); "
        "shoal.protect(s.createDataFrame([(1, 2.0)], ['a', 'b']), k=2, quasi_identifiers=['b'])"
    )
    assert "no stable number" in refusal(no_rows)
    out = f"output={str(tmp_path / 'out')!r}"
    other = (  # the driver tells its workers which Python it is
        "from pyspark.sql import SparkSession; s = SparkSession.builder.master('local[1]').getOrCreate(); "
        "s.sparkContext.pythonVer = '3.9'; "
    )
    assert "the workers of Spark run another Python" in refusal(f"{other}{plan}, {out})")
    bare = shutil.which("python3", path="/usr/bin:/bin")
    if bare:
        assert "do not have shoal" in refusal(f"{plan}, {out})", PYSPARK_PYTHON=bare)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "other").write_text("")
    assert "is not empty" in refusal(f"{plan}, {out})")
    assert [one.name for one in tmp_path.rglob("*")] == ["out", "other"]


def test_a_type_that_shoal_does_not_have_is_refused_as_a_quasi_identifier_and_kept_otherwise(tmp_path):
    words = (
        "from pyspark.sql import SparkSession; s = SparkSession.builder.master('local[1]').getOrCreate(); "
        "t = s.range(60).selectExpr('id', 'cast(id * id % 17 as double) x', 'map(id, id) m', "
        "'make_interval(0, 0, 0, id) i', 'struct(id, array(id) b) p', 'cast(string(id) as binary) r'); "
        "told = lambda *q: shoal.protect(t.drop(*'i' if 'i' not in q else ''), k=3, method='mdav', "
        "quasi_identifiers=list(q), confidential=['id'], "
        "engine={'name': 'spark', 'row': 'id'}).data; "
    )
    for name in "mipr":
        assert f"'{name}'" in refusal(f"{words} told('x', '{name}')")
    kept = "r = told('x').orderBy('id').drop('x').collect(); o = t.orderBy('id').drop('x', 'i').collect(); "
    assert "the same" in refusal(f"{words}{kept} print('told:', 'the same' if r == o and len(r) == 60 else r)")


@pytest.mark.skipif(not own_mounts(), reason="no file system of a few megabytes can be mounted here")
@pytest.mark.parametrize("room", [3, 12])
def test_a_disk_that_is_full_is_told_and_nothing_is_left(room, tmp_path):
    """Spark has so many megabytes on disk, into which neither what tasks need nor 200 000 rows in blocks fit."""
    for name in ("disk", "results"):
        (tmp_path / name).mkdir()
    words = (
        "import polars, numpy, shoal\n"
        "table = polars.DataFrame(numpy.random.default_rng(1).normal(size=(200_000, 6)))\n"
        f"table.write_parquet('{tmp_path}/in.parquet')\n"
        "engine = {'name': 'spark', 'master': 'local[1]', 'settings': {'spark.log.level': 'OFF'}}\n"
        "try:\n"
        f"    shoal.protect('{tmp_path}/in.parquet', k=3, quasi_identifiers=['column_0', 'column_1'], method='mdav', "
        f"blocking={{'method': '2d-tree', 'size': 3000}}, engine=engine, output='{tmp_path}/results/out')\n"
        "except shoal.ShoalError as error:\n    print('told:', error)\n"
    )
    (tmp_path / "program.py").write_text(words)
    mount = f"mount -t tmpfs -o size={room}m tmpfs {tmp_path}/disk && exec {sys.executable} {tmp_path}/program.py"
    settings = {**ENVIRONMENT, "SPARK_LOCAL_DIRS": str(tmp_path / "disk")}
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount], env=settings, capture_output=True, text=True, check=False
    )
    assert "told: Spark has no room left on a disk" in done.stdout, done.stderr[-3000:]
    assert list((tmp_path / "results").iterdir()) == []
