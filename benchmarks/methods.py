"""Every other method at 100 000 x 5, single searches, and what a second thread saves: normal records, k = 3."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from record import Recorder, stopwatch
from shoal.columns.scaling import Records
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, farthest, nearest, open_pool
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS

SEARCHING = ("mdav-single", "v-mdav", "iv-mdav", "ldf", "hdf", "dbfs", "tfrp", "univariate")


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("methods", quick)
    n = 10_000 if quick else 100_000
    for method in ("mdav", *SEARCHING):
        for few in (100, 20_000):  # with and without an index, of records and of the centroids of tfrp
            _partition(method, few, 5, 1)
    for method in SEARCHING:
        least = min(_partition(method, n, 5, 1)["cpu"] for _ in range(3))
        recorder.add(part="methods", n=n, d=5, method=method, cpu=least)
    for d in (2, 5, 10):
        recorder.add(part="searches", n=n, d=d, **_searches(n, d))
    for row in _threads(n // 2):
        recorder.add(**row)


def _threads(n: int) -> Iterable[dict[str, Any]]:
    """Return wall seconds on one thread and on two, in turn, so that a slow minute of the machine meets both."""
    for method in ("ldf", "hdf"):
        pairs = [[_partition(method, n, 5, threads)["wall"] for threads in (1, 2)] for _ in range(7)]
        one, two = map(min, zip(*pairs, strict=True))
        yield {"part": "threads", "n": n, "d": 5, "method": method, "one": one, "two": two,
               "load": round(os.getloadavg()[0], 1)}  # fmt: skip


def _searches(n: int, d: int) -> dict[str, float]:
    """Return CPU seconds of building the tree, and microseconds of a search for 3 neighbours and for the farthest."""
    x = np.random.default_rng(0).normal(size=(n, d))
    few = open_pool(x[:6_000].copy())
    for search in (_all_nearest, _all_farthest):
        search(few, 1)  # compiles
    with stopwatch() as building:
        pool = open_pool(x)
    with stopwatch() as nearest_ones:
        _all_nearest(pool, n)
    with stopwatch() as farthest_ones:
        _all_farthest(pool, n // 5)
    return {
        "build": building["cpu"],
        "nearest": round(1e6 * nearest_ones["cpu"] / n, 1),
        "farthest": round(1e6 * farthest_ones["cpu"] / (n // 5), 1),
        "mdav": _partition("mdav", n, d, 1)["cpu"],
        "ldf": _partition("ldf", n, d, 1)["cpu"],
    }


@kernel
def _all_nearest(pool: Pool, rows: int) -> None:
    near, distances = np.empty(3, np.int64), np.empty(3)
    for row in range(rows):
        nearest(pool, row, 3, near, distances)


@kernel
def _all_farthest(pool: Pool, rows: int) -> int:
    last = 0
    for row in range(rows):
        last = farthest(pool, row)
    return last


def _partition(method: str, n: int, d: int, threads: int) -> dict[str, float]:
    """Return CPU and wall seconds."""
    records = Records(np.random.default_rng(0).normal(size=(n, d)), threads=threads)
    with stopwatch() as measured:
        METHODS[method].function(records, 3, new_watch())
    return measured
