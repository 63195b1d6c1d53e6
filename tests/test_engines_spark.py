"""Spark gives the cells of the engine in memory: in one process, and on a cluster of a master and two workers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shoal
from spark_cluster import ENVIRONMENT, NEEDS_SPARK, start_cluster
from spark_program import figures
from tables_for_engines import PLANS, TABLE, digest, parquet_folder

pytestmark = NEEDS_SPARK
cluster = pytest.fixture(start_cluster)
HERE = Path(__file__).parent
FILES = [f"file:{name}" for name in PLANS]
TABLES = [
    f"{partitions}-{order}-{adaptive}:{name}"
    for name in ("numbers", "strata and missing")
    for partitions, order, adaptive in ((1, "given", "on"), (3, "shuffled", "off"), (17, "shuffled", "on"))
]
TABLES += ["17-shuffled-off:rules", "3-shuffled-on:equal records", "measure:missing", "measure:mixed"]
CLUSTER = ["numbers", "missing", "weights", "strata", "mixed", "rules", "blocks of a hierarchy", "equal records"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return parquet_folder(tmp_path_factory.mktemp("engines"))


def start(master, folder, results, cases):
    command = [sys.executable, HERE / "spark_program.py", master, folder, results, *cases]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def compare(process, folder, results, cases):
    said = process.communicate(timeout=1500)[0]
    assert process.returncode == 0, said[-3000:]
    found = json.loads((results / "digests.json").read_text())
    assert list(found) == list(cases)
    for case in cases:
        kind, name = case.split(":")
        if kind == "measure":
            out = results / f"duckdb-{name}.parquet"
            shoal.protect(folder, **PLANS[name], engine="duckdb", output=out)
            assert found[case] == figures(shoal.measure_in_engine(folder, out, engine="duckdb")), case
            continue
        table = TABLE if kind == "file" else TABLE.drop("d", "t")
        memory = shoal.protect(table, **PLANS[name], engine="memory")
        assert found[case] == [digest(memory.data), memory.summary.information_loss], case


def test_spark_in_one_process_gives_the_cells_of_memory(folder, tmp_path):
    compare(start("local[2]", folder, tmp_path, FILES + TABLES), folder, tmp_path, FILES + TABLES)


def executors(workers):
    """Processes of executors that these workers have started."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((one / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent in workers and b"CoarseGrainedExecutorBackend" in (one / "cmdline").read_bytes():
                found.append(int(one.name))
        except OSError:
            continue
    return found


def test_spark_on_a_cluster_gives_the_cells_of_memory(cluster, folder, tmp_path):
    cases = [*(f"file:{name}" for name in CLUSTER), "17-shuffled-on:strata and missing", "measure:numbers"]
    compare(start(cluster[0], folder, tmp_path, cases), folder, tmp_path, cases)


def test_an_executor_that_is_killed_in_the_middle_changes_nothing(cluster, folder, tmp_path):
    cases = ["file:numbers", "file:missing", "file:strata"]
    master, workers = cluster
    process = start(master, folder, tmp_path, cases)
    first = next(line for line in process.stdout if line.startswith(("file:", "Traceback")))
    assert first.startswith("file:numbers"), process.communicate()[0]  # the second case has begun
    time.sleep(1.0)
    victims = executors(workers)
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    compare(process, folder, tmp_path, cases)


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
    other = shutil.which("python3", path="/usr/bin:/bin")
    if other:
        told = refusal(f"{plan}, output={str(tmp_path / 'out')!r})", PYSPARK_PYTHON=other)
        assert "another Python" in told or "do not have shoal" in told
    assert list(tmp_path.iterdir()) == []
