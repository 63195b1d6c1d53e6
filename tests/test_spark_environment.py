"""The steps of docs/spark-cluster.md: packages are packed, Spark unpacks them, and workers have nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import shoal
from spark_cluster import ENVIRONMENT, NEEDS_SPARK, start_cluster
from tables_for_engines import PLANS, TABLE, digest, parquet_folder

pytestmark = NEEDS_SPARK
cluster = pytest.fixture(start_cluster)
PAGE = Path(__file__).parents[1] / "docs" / "spark-cluster.md"
HEAVY = ("pyspark", "pandas", "altair", "vl_convert", "playwright", "jupyter", "mypy", "sklearn", "saxonche", "duckdb")


def installed_to(folder):
    """What ``pip install --target`` makes, without a network: the packages of this environment, and shoal itself."""
    import numpy

    site = Path(numpy.__file__).parents[1]
    for one in site.iterdir():
        if not one.name.lower().startswith((*HEAVY, "_", "pip", "debugpy")) or one.name.startswith("_polars"):
            if one.is_dir():
                shutil.copytree(one, folder / one.name, copy_function=shutil.os.link, symlinks=True)
            elif not one.name.endswith(".pth"):
                shutil.os.link(one, folder / one.name)
    shutil.rmtree(folder / "shoal", ignore_errors=True)
    shutil.copytree(Path(shoal.__file__).parent, folder / "shoal")


def bare_python():
    """The interpreter under this environment, which has no package of it."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    asked = [str(base), "-c", "import shoal, numba"]
    if not base.exists() or subprocess.run(asked, capture_output=True, check=False, cwd="/").returncode == 0:
        pytest.skip("there is no Python of this version without shoal")
    return str(base)


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
    python, folder = bare_python(), parquet_folder(tmp_path)
    common = {"spark.executor.memory": "1g", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    common |= {"spark.sql.shuffle.partitions": "3", "spark.executorEnv.PYTHONPATH": ""}
    told = protect(master, folder, tmp_path / "out", common, python)
    assert told.startswith("told: the workers of Spark do not have shoal; ship the environment")
    assert not (tmp_path / "out").exists()

    packages = tmp_path / "packages"
    packages.mkdir()
    installed_to(packages)
    with tarfile.open(tmp_path / "packages.tar.gz", "w:gz", compresslevel=1) as packed:
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
