"""Loss against time on many normal records: optimal beside exact MDAV."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from record import Recorder, peak_mib, stopwatch
from shoal.columns.scaling import Records
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search

TIMES = {100_000: (10, 30, 100), 1_000_000: (30, 100)}


def run(quick: bool) -> None:
    """Search tables of each size for some seconds."""
    recorder = Recorder("many", quick)
    for n, times in ({10_000: (1, 3)} if quick else TIMES).items():
        for row in _many(n, times):
            recorder.add(n=n, d=5, k=3, load=round(os.getloadavg()[0], 1), **row)


def _many(n: int, times: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return the loss of MDAV and its time, and the losses of searches of some seconds as they went down."""
    x = np.random.default_rng(0).normal(size=(n, 5))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    total = float((x**2).sum())
    problem = Problem(x, None, np.zeros(n, dtype=np.int64), None, 3)
    METHODS["mdav"].function(Records(x[:6000].copy()), 3, new_watch())  # compiles, or loads
    with stopwatch() as taken:
        groups = METHODS["mdav"].function(Records(x), 3, new_watch())
    rows = [{"method": "mdav", "loss": round(100 * problem.cost(groups) / total, 4), **taken, "peak_mib": peak_mib()}]
    for seconds in times:
        began, curve = time.monotonic(), []

        def tell(part: float, cost: float, bound: float, began: float = began, curve: list[Any] = curve) -> None:
            loss = round(100 * cost / total, 4)
            if not curve or curve[-1][1] != loss:
                curve.append((round(time.monotonic() - began, 2), loss))

        with stopwatch() as taken:
            found = search(NumericSearch(problem), 0, Budget(time=float(seconds)), os.cpu_count() or 1, tell)
        loss = round(100 * found.cost / total, 4)
        curve.append((round(time.monotonic() - began, 2), loss))
        rows.append(
            {"method": "optimal", "time": seconds, "loss": loss, "steps": found.steps, "curve": curve, **taken}
            | {"peak_mib": peak_mib()}
        )
    return rows
