"""Loss against time on normal records, a thousand to a million: optimal beside exact MDAV, and a bound for a thousand.

A size, number of columns and k is recorded when it is done. ``python benchmarks/many.py 1000 10000`` does some sizes.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from record import Places, peak_mib, stopwatch
from shoal.columns.scaling import Records
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search


class Asked(NamedTuple):
    """Columns and k, seconds (None is the default), how many seeds, and seconds for a bound."""

    d: int
    k: int
    times: tuple[int | None, ...]
    seeds: int = 5
    bound: float | None = None


SIZES = {
    1_000: [
        Asked(5, 3, (None, 2, 5), bound=60.0),
        Asked(5, 10, (None, 5)),
        Asked(5, 100, (None, 5)),
        Asked(10, 3, (None, 5)),
    ],
    10_000: [
        Asked(5, 3, (None, 5)),
        Asked(5, 10, (None, 5)),
        Asked(5, 100, (None, 5)),
        Asked(10, 3, (None, 5)),
    ],
    100_000: [
        Asked(5, 3, (None, 5, 30)),
        Asked(5, 10, (None, 5)),
        Asked(5, 100, (None, 5)),
        Asked(10, 3, (None, 5)),
        Asked(10, 10, (None, 5)),
    ],
    1_000_000: [Asked(5, 3, (None, 60))],
}
QUICK = {
    1_000: [Asked(5, 3, (None, 1), 2, 5.0), Asked(10, 100, (None, 1), 2)],
    10_000: [Asked(5, 3, (None, 1), 2)],
}


def run(quick: bool, only: tuple[int, ...] = ()) -> None:
    """Search tables of each size, or some, for some seconds."""
    places = Places("many", quick, "n", "d", "k")
    for n, parts in (QUICK if quick else SIZES).items():
        for asked in parts if not only or n in only else ():
            places.put((n, asked.d, asked.k), _searches(n, asked))


def _searches(n: int, asked: Asked) -> list[dict[str, Any]]:
    """Return the loss of MDAV and its time, the losses of searches as they went down, and what is proved."""
    x = np.random.default_rng(0).normal(size=(n, asked.d))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    problem = Problem(x, None, np.zeros(n, dtype=np.int64), None, asked.k)
    searched = NumericSearch(problem)
    METHODS["mdav"].function(Records(x[:6000].copy()), asked.k, new_watch())  # compiles, or loads
    search(searched.few(), 0, Budget())
    with stopwatch() as taken:
        groups = METHODS["mdav"].function(Records(x), asked.k, new_watch())
    rows = [_row("mdav", 100 * problem.cost(groups) / problem.total(), taken)]
    for seconds in asked.times:
        for seed in range(asked.seeds):
            curve: list[tuple[float, float]] = []
            began = time.monotonic()

            def tell(part: float, cost: float, bound: float, began: float = began, curve: list[Any] = curve) -> None:
                loss = round(100 * cost / problem.total(), 4)
                if not curve or curve[-1][1] != loss:
                    curve.append((round(time.monotonic() - began, 2), loss))

            with stopwatch() as taken:
                found = search(searched, seed, Budget(time=seconds), os.cpu_count() or 1, tell if seed == 0 else None)
            loss = 100 * found.cost / found.total
            more = {"time": seconds, "seed": seed, "steps": found.steps}
            if seed == 0:
                more["curve"] = [*curve, (round(time.monotonic() - began, 2), round(loss, 4))]
            rows.append(_row("optimal", loss, taken, **more))
    if asked.bound is not None:
        with stopwatch() as taken:
            proved = search(searched, 0, Budget(bound=asked.bound), os.cpu_count() or 1)
        assert proved.bound is not None
        rows.append(_row("bound", 100 * proved.bound / proved.total, taken, allowed=asked.bound))
    return rows


def _row(method: str, loss: float, taken: dict[str, float], **more: Any) -> dict[str, Any]:
    load = round(os.getloadavg()[0], 1)
    return {"method": method, "loss": round(loss, 4), **more, **taken, "peak_mib": peak_mib(), "load": load}


if __name__ == "__main__":
    run(False, tuple(map(int, sys.argv[1:])))
