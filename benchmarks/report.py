"""The report: size of the file, CPU seconds and memory, the measures included. Each size in a process of its own.

Half of the columns are whole numbers and every fifth one is a category; the release is the table with rounded numbers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from record import Recorder, peak_mib, stopwatch


def run(quick: bool) -> None:
    """Write reports of tables of several sizes."""
    recorder = Recorder("report", quick)
    sizes = (
        ((1000, 10), (20_000, 10))
        if quick
        else ((1000, 10), (1000, 60), (100_000, 10), (1_000_000, 10), (1_000_000, 60))
    )
    for n, d in sizes:
        done = subprocess.run([sys.executable, __file__, str(n), str(d)], capture_output=True, text=True, check=True)
        recorder.add(n=n, d=d, **json.loads(done.stdout))


def _tables(n: int, d: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(0)
    columns = {}
    for j in range(d):
        if j % 5 == 4:
            columns[f"category {j}"] = pl.Series(draw.choice(["a", "b", "c", "d", "e"], n))
        elif j % 2:
            columns[f"count {j}"] = pl.Series(draw.integers(0, 1000, n))
        else:
            columns[f"amount {j}"] = pl.Series(draw.lognormal(10.0, 1.0, n).round(2))
    before = pl.DataFrame(columns)
    return before, before.with_columns((pl.col(pl.Float64) / 1000).round(0) * 1000, pl.col(pl.Int64) // 10 * 10)


def _report(n: int, d: int) -> dict[str, float]:
    before, after = _tables(n, d)
    shoal.measure(before[:200], after[:200])  # loads the kernels
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for edition in ("internal", "external") if n <= 100_000 else ("internal",):
            path = Path(folder) / "report.html"
            with stopwatch() as seconds:
                shoal.write_report(before, after, path, edition=edition)
            found |= {f"{edition}_mb": round(path.stat().st_size / 1e6, 2), f"{edition}_cpu": seconds["cpu"]}
    return {**found, "peak_mib": peak_mib()}


if __name__ == "__main__":
    print(json.dumps(_report(int(sys.argv[1]), int(sys.argv[2]))))
