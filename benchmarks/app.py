"""Pages of `shoal app` on a large table: how long each takes the server, and how large it is.

A million records of ten columns, as CSV and as Parquet, opened by their path; then each page as a browser asks for it,
with the process that serves them warm from a small table. ``app`` in benchmarks/run.py.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from record import Recorder, stopwatch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "app"))

STEPS = (
    ("open the file", "POST", "/open/path"),
    ("Open: first rows, types, missing, distinct", "GET", "/open"),
    ("last rows", "GET", "/open?from=999999"),
    ("Roles", "GET", "/roles"),
    ("risk before", "GET", "/roles/risk"),
    ("change a role", "POST", "/roles/role"),
    ("risk after that", "GET", "/roles/risk"),
    ("Hierarchies and rules", "GET", "/meaning"),
    ("a rule while it is typed", "POST", "/meaning/rules/check"),
    ("Choose k", "GET", "/choose"),
    ("Protect", "GET", "/protect"),
)


def table(rows: int) -> pl.DataFrame:
    """Return six columns of numbers, an age, a region, a job and a weight."""
    draw = np.random.default_rng(1)
    numbers = {f"x{place}": draw.normal(size=rows).round(3) for place in range(6)}
    names = {
        "region": draw.choice(["north", "south"], rows),
        "job": draw.choice([f"job {i}" for i in range(200)], rows),
    }
    return pl.DataFrame({**numbers, "age": draw.integers(0, 100, rows), **names, "weight": draw.random(rows).round(2)})


def run(quick: bool) -> None:
    """Open a table of each format and ask for each page once."""
    from visitors import Visitor

    rows = 10_000 if quick else 1_000_000
    recorder = Recorder("app", quick)
    with tempfile.TemporaryDirectory() as folder:
        frame = table(rows)
        frame.write_csv(Path(folder) / "large.csv")
        frame.write_parquet(Path(folder) / "large.parquet")
        frame.head(1000).write_csv(Path(folder) / "small.csv")
        for ending in ("csv", "parquet"):
            visitor = Visitor(Path(folder) / f"workspace-{ending}")
            for name in ("small.csv", f"large.{ending}"):
                for step, method, address in STEPS:
                    form = {"path": str(Path(folder) / name), "column": "0", "role": "kept", "text": "x1 >= x2 - 9"}
                    with stopwatch() as taken:
                        answer = visitor.post(address, form) if method == "POST" else visitor.get(address)
                    if answer.status_code >= 400:
                        raise SystemExit(f"{step}: {answer.text}")
                    if name.startswith("large"):
                        size = round(len(answer.content) / 1024, 1)
                        recorder.add(format=ending, rows=rows, step=step, kib=size, **taken)
            visitor.close()
