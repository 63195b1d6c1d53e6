"""Loss and time of block sizes, those of ``auto`` among them.

Uniform and correlated log-normal records, z-scores, MDAV with k = 3, blocks of the spread tree.
"""

from __future__ import annotations

import numpy as np
import polars as pl

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


def _log_normal(n: int, d: int) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    x = np.exp(draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) * 0.5)
    return pl.DataFrame({f"v{j}": x[:, j] for j in range(d)})
