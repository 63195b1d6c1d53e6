"""The steps of docs/spark-cluster.md: packages are packed, Spark unpacks them, and workers have nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import shoal
from spark_cluster import ENVIRONMENT, NEEDS_SPARK, start_cluster
from tables_for_engines import PLANS, TABLE, digest, parquet_folder

pytestmark = NEEDS_SPARK
cluster = pytest.fixture(start_cluster)
PAGE = Path(__file__).parents[1] / "docs" / "spark-cluster.md"
OF_SPARK = ("pyspark", "py4j")


def needed():
    """The distributions that ``pip install 'shoal[spark]'`` brings, but shoal and what Spark has on its workers."""
    found, waiting = set(), [("shoal", "spark")]
    while waiting:
        name, extra = waiting.pop()
        for line in distribution(name).requires or []:
            wanted = Requirement(line)
            plain = canonicalize_name(wanted.name)
            asked = wanted.marker is None or wanted.marker.evaluate({"extra": extra})
            if asked and plain not in OF_SPARK and plain not in found:
                found.add(plain)
                waiting.append((plain, ""))
    return sorted(found)


def installed_to(folder):
    """What ``pip install --target`` makes, without a network: the packages of this environment, and shoal itself."""
    for name in needed():
        for file in distribution(name).files:
            if ".." not in file.parts and file.suffix != ".pyc":
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).symlink_to(file.locate().resolve())
    shutil.copytree(Path(shoal.__file__).parent, folder / "shoal", ignore=shutil.ignore_patterns("__pycache__"))


def bare_python(folder):
    """A Python of this version without any package."""
    venv.create(folder, symlinks=True)
    python = str(folder / "bin" / "python")
    asked = [python, "-c", "import importlib.metadata as found; print([*found.distributions()])"]
    plain = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"}
    assert subprocess.run(asked, env=plain, check=True, cwd="/", capture_output=True, text=True).stdout == "[]\n"
    return python


def protect(master, folder, out, settings, python):
    words = (
        "import json, sys, shoal\n"
        "from tables_for_engines import PLANS\n"
        "engine = {'name': 'spark', 'master': sys.argv[1], 'settings': json.loads(sys.argv[4])}\n"
        "try:\n"
        "    shoal.protect(sys.argv[2], **PLANS['missing'], engine=engine, output=sys.argv[3])\n"
        "    print('done')\n"
        "except shoal.ShoalError as error:\n"
        "    print('told:', error)\n"
    )
    command = [sys.executable, "-c", words, master, str(folder), str(out), json.dumps(settings)]
    surroundings = {**ENVIRONMENT, "PYSPARK_PYTHON": python, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


def test_packed_packages_are_all_that_workers_need(cluster, tmp_path):
    """Without them the workers are told to have no shoal; with them the release is that of memory."""
    master, _ = cluster
    python, folder = bare_python(tmp_path / "bare"), parquet_folder(tmp_path)
    common = {"spark.executor.memory": "1g", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    common |= {"spark.sql.shuffle.partitions": "3", "spark.executorEnv.PYTHONPATH": ""}
    told = protect(master, folder, tmp_path / "out", common, python)
    assert told.startswith("told: the workers of Spark do not have shoal; ship the environment")
    assert not (tmp_path / "out").exists()

    packages = tmp_path / "packages"
    packages.mkdir()
    installed_to(packages)
    with tarfile.open(tmp_path / "packages.tar.gz", "w:gz", compresslevel=1, dereference=True) as packed:
        packed.add(packages, arcname=".")
    shutil.rmtree(packages)
    shipped = {
        **common,
        "spark.archives": f"{tmp_path}/packages.tar.gz#packages",
        "spark.executorEnv.PYTHONPATH": "packages",
        "spark.executorEnv.NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name in ("spark.archives=packages.tar.gz#packages", "spark.executorEnv.PYTHONPATH=packages", "NUMBA_CACHE_DIR"):
        assert name in page
    assert protect(master, folder, tmp_path / "out", shipped, python) == "done"
    import polars as pl

    released = pl.read_parquet(sorted((tmp_path / "out").glob("*.parquet")))
    assert digest(released) == digest(shoal.protect(TABLE, **PLANS["missing"], engine="memory").data)
