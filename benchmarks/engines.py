"""Engines: CPU time and peak memory of normal records, from a Parquet folder to another, each in a process of its own.

MDAV with k = 3 on five columns, blocks of the 2^d-tree, sizes by ``auto``. DuckDB has 2 GiB for the whole process; its
peak is that of the process. ``python benchmarks/engines.py ENGINE FOLDER OUTPUT`` is what a process runs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from record import Recorder

_PIECE = 500_000  # records of a file


def run(quick: bool) -> None:
    """Run all sizes; the engine in memory has the first alone."""
    recorder = Recorder("engines", quick)
    sizes = (50_000, 100_000) if quick else (2_500_000, 10_000_000, 25_000_000, 50_000_000)
    for n in sizes:
        with tempfile.TemporaryDirectory(prefix="shoal-benchmark-") as folder:
            source = Path(folder) / "in"
            write_normal(source, n)
            for engine in ("memory", "duckdb") if n == sizes[0] else ("duckdb",):
                command = [sys.executable, __file__, engine, str(source), str(Path(folder) / f"{engine}.parquet")]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                recorder.add(engine=engine, n=n, d=5, **json.loads(done.stdout.splitlines()[-1]))


def write_normal(folder: Path, n: int) -> None:
    """Write normal records in files of half a million."""
    folder.mkdir()
    draw = np.random.default_rng(0)
    for start in range(0, n, _PIECE):
        values = draw.normal(size=(min(_PIECE, n - start), 5))
        pl.DataFrame({f"v{j}": values[:, j] for j in range(5)}).write_parquet(folder / f"{start:012d}.parquet")


def protect(engine: str, source: str, output: str) -> None:
    """Protect a folder, and print what it took as JSON."""
    plan = {"k": 3, "quasi_identifiers": [f"v{j}" for j in range(5)], "method": "mdav", "blocking": "2d-tree"}
    settings = {"name": engine, "memory": "2GiB"} if engine == "duckdb" else {"name": engine}
    data = pl.read_parquet(f"{source}/*.parquet") if engine == "memory" else source
    release = shoal.protect(data, **plan, engine=settings, output=output)
    used = resource.getrusage(resource.RUSAGE_SELF)
    summary = release.summary
    found = {
        "cpu": round(used.ru_utime + used.ru_stime, 1),
        "seconds": round(summary.seconds, 1),
        "peak_mib": round(used.ru_maxrss / 2**10),
        "blocks": summary.blocks,
        "loss": summary.information_loss,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    protect(*sys.argv[1:])
