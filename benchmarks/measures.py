"""Measures of utility and risk: CPU seconds and memory of all of them, record linkage by itself, and scores.

Normal data, MDAV with k = 5, in blocks from 200 000 records on. Each size of the whole runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl

import shoal
from published import data_folder
from record import Recorder, peak_mib, stopwatch
from shoal.kernels.watch import new_watch
from shoal.measures.comparison import compare
from shoal.measures.linkage import linkage_tasks, linked
from shoal.tables.table import open_table

D, K = 10, 5


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("measures", quick)
    for n in (10_000, 20_000) if quick else (10_000, 100_000, 1_000_000):
        done = subprocess.run([sys.executable, __file__, str(n)], capture_output=True, text=True, check=True)
        recorder.add(part="whole", n=n, d=D, **json.loads(done.stdout))
    for d in (2, 5, 10):
        recorder.add(part="linkage", d=d, **_linkage(20_000 if quick else 100_000, d))
    table = pl.read_csv(data_folder() / "casc" / "census.csv")
    columns = sorted(table.columns)
    threes = [columns[i : i + 3] for i in range(0, len(columns), 3)]
    for k in range(2, 11):
        for sets, known in (([columns], None), (threes, None), (threes, threes[0])):
            found = shoal.protect(table, k, sets).measure(known=known)
            figures = {name: round(found[name], 3) for name in ("pil", "dbrl", "interval_disclosure", "dr", "score")}
            recorder.add(part="score", k=k, sets=len(sets), known=len(known or columns), **figures)
    adult = _adult()
    found = shoal.measure(adult, adult)
    recorder.add(part="adult", records=len(adult), global_risk=round(found.global_risk, 4), published=1.31)


def _normal(n: int, d: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return normal records and their release."""
    x = np.random.default_rng(0).normal(size=(n, d))
    table = pl.DataFrame({f"v{j}": x[:, j] for j in range(d)})
    blocking = "spread-tree" if n >= 200_000 else None
    return table, shoal.protect(table, K, table.columns, blocking=blocking).data


def _linkage(n: int, d: int) -> dict[str, float]:
    """Time record linkage alone, every record linked, on one thread."""
    table, released = _normal(n, d)
    comparison = compare(open_table(table), open_table(released), quasi_identifiers=[table.columns])
    with stopwatch() as seconds:
        tasks = linkage_tasks(comparison.known)
        found = linked([task(new_watch()) for task in tasks], n)
    matrix = round(8 * n * n / 1e9, 1)
    return {"n": found.records, "dbrl": round(found.percent, 3), "cpu": seconds["cpu"], "matrix_gb": matrix}


def _adult() -> pl.DataFrame:
    """Return occupation and native-country of the complete records of Adult."""
    lines = (data_folder() / "adult" / "adult.data").read_text().splitlines()
    cells = [line.split(", ") for line in lines if line and "?" not in line]
    return pl.DataFrame({"occupation": [row[6] for row in cells], "native-country": [row[13] for row in cells]})


def _whole(n: int) -> dict[str, float]:
    """Time all measures of a release, after a first small call that loads the kernels."""
    table, released = _normal(n, D)
    shoal.measure(table[:200], released[:200])
    before = peak_mib()
    with stopwatch() as seconds:
        found = shoal.measure(table, released)
    keys = ("information_loss", "pil", "dbrl", "interval_disclosure", "score", "global_risk")
    figures = {name: round(found[name], 3) for name in keys}
    linked_records = int(found.linkage["dbrl"]["records"])
    return {**seconds, "peak_before_mib": before, "peak_mib": peak_mib(), "linked": linked_records, **figures}


if __name__ == "__main__":
    print(json.dumps(_whole(int(sys.argv[1]))))
