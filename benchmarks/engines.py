"""Engines: CPU time, peak memory and disk of normal records, from a Parquet folder to another, each in its own process.

MDAV with k = 3 on five columns, blocks of the 2^d-tree, sizes by ``auto``. DuckDB has 2 GiB for the whole process.
Spark has two executors of one core and 1.5 GiB each in processes of their own (``local-cluster``); its CPU time is that
of the driver, Java and all Python workers together. CPU time, memory and what is put aside are read from the system
twice a second, over the process and all that it has started.

``python benchmarks/run.py engines`` runs 2.5 million records by all engines and 10 million by DuckDB. Larger ones are
run one at a time, and take the place of an earlier row: ``python benchmarks/engines.py --only duckdb 25000000``. The
records and what is put aside take some 250 bytes of disk a record. ``--process ENGINE FOLDER OUTPUT`` is what a process
runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from record import Recorder, load, machine

_PIECE = 500_000  # records of a file
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SPARK = {
    "spark.executor.memory": "1536m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "32",
    "spark.log.level": "ERROR",
    # what docs/spark-cluster.md names for short runs
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.defaultJavaOptions": "-XX:CompileThresholdScaling=5 -XX:+UseSerialGC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}


def run(quick: bool) -> None:
    """Run the smallest size by all engines, and a larger one by DuckDB."""
    recorder = Recorder("engines", quick)
    small, large = (50_000, 100_000) if quick else (2_500_000, 10_000_000)
    for engine in ("memory", "duckdb") if quick else ("memory", "duckdb", "spark"):
        recorder.add(**measured(engine, small))
    recorder.add(**measured("duckdb", large))


def run_only(engine: str, n: int) -> None:
    """Run one size by one engine, and keep what was measured of others."""
    before, rows = load("engines")
    kept = [{"commit": before["commit"], **row} for row in rows if (row["engine"], row["n"]) != (engine, n)]
    commit = machine()["commit"]
    Recorder("engines", False, kept).add(**measured(engine, n), commit=commit)


def measured(engine: str, n: int) -> dict[str, Any]:
    """Protect n records in a process of its own, and return what it took."""
    with tempfile.TemporaryDirectory(prefix="shoal-benchmark-") as folder:
        source, aside = Path(folder) / "in", Path(folder) / "aside"
        write_normal(source, n)
        aside.mkdir()
        output = Path(folder) / ("out" if engine == "spark" else "out.parquet")
        command = [sys.executable, __file__, "--process", engine, str(source), str(output)]
        settings = {**os.environ, "TMPDIR": str(aside), "SPARK_LOCAL_DIRS": str(aside), "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings, cwd=folder)
        used = _watched(process, aside)
        said = process.stdout.read() if process.stdout else ""
        if process.returncode:
            raise SystemExit(f"{engine} did not protect {n} records")
        return {"engine": engine, "n": n, "d": 5, **used, **json.loads(said.splitlines()[-1])}


def _watched(process: subprocess.Popen[str], aside: Path) -> dict[str, Any]:
    """Wait for a process, and return the CPU seconds and peak memory of it and its children, and the peak on disk."""
    cpu: dict[int, float] = {}
    memory = disk = 0.0
    while process.poll() is None:
        resident = 0.0
        for pid in _family(process.pid):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except (OSError, IndexError):
                continue
            cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICK
            resident += pages * _PAGE
        memory = max(memory, resident)
        disk = max(disk, _on_disk(aside))
        time.sleep(0.5)
    return {
        "cpu": round(sum(cpu.values()), 1),
        "peak_mib": round(memory / 2**20),
        "aside_mib": round(disk / 2**20),
    }


def _on_disk(folder: Path) -> int:
    """Return the bytes of all files in a folder, from which files and folders may vanish meanwhile."""
    size = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += Path(here, name).stat().st_size
    return size


def _family(root: int) -> list[int]:
    """Return a process and all that it has started, directly or not."""
    parents = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(one.name)] = int((one / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def write_normal(folder: Path, n: int) -> None:
    """Write normal records in files of half a million."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    for start in range(0, n, _PIECE):
        values = draw.normal(size=(min(_PIECE, n - start), 5))
        pl.DataFrame({f"v{j}": values[:, j] for j in range(5)}).write_parquet(folder / f"{start:012d}.parquet")


def protect(engine: str, source: str, output: str) -> None:
    """Protect a folder, and print the figures of the release as JSON."""
    plan = {"k": 3, "quasi_identifiers": [f"v{j}" for j in range(5)], "method": "mdav", "blocking": "2d-tree"}
    settings: dict[str, Any] = {"name": engine}
    if engine == "duckdb":
        settings["memory"] = "2GiB"
    if engine == "spark":
        settings |= {"master": "local-cluster[2,1,1536]", "settings": _SPARK}
    data = pl.read_parquet(f"{source}/*.parquet") if engine == "memory" else source
    release = shoal.protect(data, **plan, engine=settings, output=output, progress=False)
    summary = release.summary
    found = {
        "seconds": round(summary.seconds, 1),
        "blocks": summary.blocks,
        "loss": summary.information_loss,
        "laps": {name: round(seconds, 1) for name, seconds in release.timings.items()},
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        protect(*sys.argv[2:])
    elif sys.argv[1:2] == ["--only"] and len(sys.argv) == 4:
        run_only(sys.argv[2], int(sys.argv[3]))
    else:
        raise SystemExit("python benchmarks/engines.py --only ENGINE RECORDS")
