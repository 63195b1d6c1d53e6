"""Loss and time of block sizes, those of ``auto`` among them, and 2.5 million records from file to file.

Uniform and correlated log-normal records, z-scores, MDAV with k = 3, blocks of the spread tree.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from blocking import protect_timed, uniform
from record import Recorder


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("sizes", quick)
    n = 20_000 if quick else 500_000
    tables = [("uniform", uniform(n, 5)), ("log-normal", _log_normal(n, 5))]
    tables += [("uniform", uniform(n, 10)), ("log-normal", _log_normal(n, 10))]
    protect_timed(tables[0][1].head(20_000), {"method": "spread-tree", "size": 6_000})  # compiles
    for name, table in tables:
        for size in (100, 1_000, 10_000, 100_000, "auto"):
            cut = {"method": "spread-tree", "size": size}
            recorder.add(part="size", data=name, n=n, d=table.width, **protect_timed(table, cut))
    recorder.add(part="command line", n=5 * n, d=10, **_command_line(uniform(5 * n, 10)))


def _log_normal(n: int, d: int) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    x = np.exp(draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) * 0.5)
    return pl.DataFrame({f"v{j}": x[:, j] for j in range(d)})


def _command_line(table: pl.DataFrame) -> dict[str, object]:
    """Protect a Parquet file to another through the command line."""
    with tempfile.TemporaryDirectory() as folder:
        table.write_parquet(Path(folder) / "in.parquet")
        command = [
            sys.executable,
            "-m",
            "shoal",
            "protect",
            "in.parquet",
            "-o",
            "out.parquet",
            "-k",
            "3",
            "--all-numeric",
        ]
        command += ["--blocking", "spread-tree", "--json"]
        shoal.protect(
            table.head(20_000), 3, table.columns, blocking={"method": "spread-tree", "size": 6_000}
        )  # compiles
        started = time.perf_counter()
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        summary = json.loads(out.stdout)
        return {
            "wall": round(time.perf_counter() - started, 2),
            "peak_mib": summary["peak_memory_mib"],
            "loss": round(summary["information_loss"], 4),
            "blocks": summary["blocks"],
        }
