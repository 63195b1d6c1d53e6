"""optimal against every fast method, with and without refining, at the same CPU time, on made-up tables of any size.

A table is recorded when it is done. ``python benchmarks/any_size.py 300 3000`` does those of some sizes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from record import Places
from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.problem import Problem
from shoal.partition.refine import refine
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.found import Found

FAST = ("mdav", "mdav-single", "v-mdav", "hdf", "ldf", "tfrp", "mst", "k-ward")
_QUICK = 3000  # records
SHAPES = {3: (300, 10_000, 100_000), 10: (3000, 30_000), 100: (10_000,)}  # six of each kind, thirty in all


def run(quick: bool, only: tuple[int, ...] = ()) -> None:
    """Search every table by default, or those of some sizes, and record the fast method that loses least beside it."""
    places = Places("any-size", quick, "kind", "n", "d", "k")
    for n in sorted({n for sizes in SHAPES.values() for n in sizes if not quick or n <= _QUICK}):
        for k, sizes in SHAPES.items():
            for kind, draw in KINDS.items():
                if n in sizes and (not only or n in only):
                    places.put((kind, n, 5, k), [_compare(draw(np.random.default_rng([n, k]), n), k)])


def _compare(values: Floats, k: int) -> dict[str, Any]:
    """Return losses in percent of MDAV's and CPU seconds: of optimal, and of the best of the others."""
    x = (values - values.mean(axis=0)) / values.std(axis=0)
    problem = Problem(x, None, np.zeros(len(x), dtype=np.int64), None, k)
    records = Records(x)
    search(NumericSearch(problem).few(), 0, Budget())  # compiles, or loads
    others = {}
    for name in FAST:
        groups, seconds = _timed(lambda name=name: METHODS[name].function(records, k, new_watch()))
        others[name] = (problem.cost(groups), seconds)
        refined, more = _timed(lambda groups=groups: refine(records, groups.copy(), k, new_watch()))
        others[f"{name} --refine"] = (problem.cost(refined), seconds + more)
    mdav, exact = others["mdav"]
    best = min(others, key=lambda name: others[name][0])
    found, seconds = _timed(lambda: search(NumericSearch(problem), 0, Budget()))
    least = others[best]
    longer = _as_long(problem, found, seconds, *least)
    return {
        "optimal": round(100 * found.cost / mdav, 3),
        "seconds": round(seconds, 3),
        "at_the_same_time": round(100 * longer[0] / mdav, 3),
        "longer_seconds": round(longer[1], 2),
        "mdav_seconds": round(exact, 3),
        "best": best,
        "best_other": round(100 * least[0] / mdav, 3),
        "best_seconds": round(least[1], 3),
    }


def _as_long(problem: Problem, found: Found, seconds: float, least: float, most: float) -> tuple[float, float]:
    """Return the cost and the CPU seconds of a search that takes as long as what is better than the default.

    It is given more and more steps until it is as good, or takes longer.
    """
    best, passes, taken = (found.cost, seconds), max(found.passes, 10), seconds
    while best[0] > least and taken <= most:
        passes *= 2
        budget = Budget(steps=passes * len(problem))
        more, taken = _timed(lambda budget=budget: search(NumericSearch(problem), 0, budget))
        if taken <= most:
            best = more.cost, taken
    return best


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what comes of it, and the CPU time of all threads that it took."""
    began = time.process_time()
    return work(), time.process_time() - began


def _clusters(rng: np.random.Generator, n: int) -> Floats:
    centres = 10.0 * rng.normal(size=(max(5, n // 200), 5))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 5))


def _duplicates(rng: np.random.Generator, n: int) -> Floats:
    values: Floats = rng.normal(size=(n, 5))[_often(rng, n)]
    return values


def _often(rng: np.random.Generator, n: int) -> Ints:
    return rng.integers(n // 2, size=n)


KINDS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=(n, 5)),
    "clusters": _clusters,
    "heavy tails": lambda rng, n: rng.standard_t(2.0, size=(n, 5)),
    "integers": lambda rng, n: np.round(3.0 * rng.normal(size=(n, 5))),
    "duplicates": _duplicates,
}


if __name__ == "__main__":
    run(False, tuple(map(int, sys.argv[1:])))
