"""The report: size of the file, CPU seconds and memory, the measures included. Each size in a process of its own.

Half of the columns are whole numbers and every fifth one is a category; the release is the table with rounded numbers,
in which nearly every record is unique, or for "groups" five records at a time, in the order of the first column, share
the means of their numbers and the category of one of them, as after microaggregation.
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
        ((1000, 10, "rounded"), (20_000, 10, "groups"))
        if quick
        else (
            (1000, 10, "rounded"),
            (1000, 60, "rounded"),
            (100_000, 10, "rounded"),
            (280_000, 65, "groups"),
            (1_000_000, 10, "rounded"),
            (1_000_000, 60, "rounded"),
        )
    )
    for n, d, release in sizes:
        words = [sys.executable, __file__, str(n), str(d), release]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        recorder.add(n=n, d=d, release=release, **json.loads(done.stdout))


def _tables(n: int, d: int, release: str) -> tuple[pl.DataFrame, pl.DataFrame]:
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
    if release == "groups":
        group = pl.Series(before["amount 0"].to_numpy().argsort().argsort() // 5)
        numbers = [pl.col(pl.Float64).mean().over(group), pl.col(pl.Int64).mean().round(0).cast(pl.Int64).over(group)]
        return before, before.with_columns(*numbers, pl.col(pl.String).first().over(group))
    return before, before.with_columns((pl.col(pl.Float64) / 1000).round(0) * 1000, pl.col(pl.Int64) // 10 * 10)


def _report(n: int, d: int, release: str) -> dict[str, float]:
    before, after = _tables(n, d, release)
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
    print(json.dumps(_report(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
