"""The method optimal: loss for a time on the reference sets, and loss against time on many records."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

import shoal
from published import DATA, KS, data_folder
from record import Recorder, peak_mib, stopwatch
from shoal.encode import Records
from shoal.partition import METHODS
from shoal.partition.method import new_watch
from shoal.partition.optimal import Budget, solve
from shoal.partition.optimal.problem import Problem

TIMES = (5, 60)
MANY = {100_000: (10, 30, 100), 1_000_000: (30, 100)}


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("optimal", quick)
    for data, drop in DATA.items():
        path = data_folder() / "casc" / f"{data}.csv"
        for k in KS[:1] if quick else KS:
            asked = {"k": k, "identifiers": drop, "all_numeric": True, "seed": 0}
            shoal.protect(path, **asked, method="optimal", options={"steps": 1000})  # compiles, or loads
            for options in ({}, *({"time": seconds} for seconds in ((1,) if quick else TIMES))):
                with stopwatch() as taken:
                    summary = shoal.protect(path, **asked, method="optimal", options=options).summary
                recorder.add(
                    part="loss",
                    data=data,
                    k=k,
                    time=options.get("time"),
                    loss=round(summary.information_loss, 4),
                    smallest_group=summary.smallest_group,
                    largest_group=summary.largest_group,
                    steps=summary.steps[0] if summary.steps else 0,
                    load=round(os.getloadavg()[0], 1),
                    **taken,
                )
    for n, times in ({10_000: (1, 3)} if quick else MANY).items():
        for row in _many(n, times):
            recorder.add(part="many", n=n, d=5, k=3, load=round(os.getloadavg()[0], 1), **row)


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
            found = solve(problem, 0, Budget(time=float(seconds)), os.cpu_count() or 1, tell)
        loss = round(100 * found.cost / total, 4)
        curve.append((round(time.monotonic() - began, 2), loss))
        rows.append(
            {"method": "optimal", "time": seconds, "loss": loss, "steps": found.steps, "curve": curve, **taken}
            | {"peak_mib": peak_mib()}
        )
    return rows
