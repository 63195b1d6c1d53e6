"""optimal against every fast method, with and without refining, at the same CPU time, on made-up tables of any size.

A table is recorded when it is done. ``python benchmarks/any_size.py 60 100`` does those of some k.
"""

from __future__ import annotations

import os
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
from shoal.partition.optimal.problem import Problem, blocks_by_number
from shoal.partition.refine import refine
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.found import Found
from shoal.partition.search.searchable import join_blocks

FAST = ("mdav", "mdav-single", "v-mdav", "hdf", "ldf", "tfrp", "mst", "k-ward")
_QUICK = 3000  # records
SHAPES = (  # records, k and strata: nine of each kind, 45 in all
    (300, 3, 1),
    (2000, 3, 1),
    (10_000, 3, 1),
    (100_000, 3, 1),
    (3000, 10, 1),
    (30_000, 10, 1),
    (12_000, 60, 1),
    (12_000, 60, 3),
    (10_000, 100, 1),
)
_YARDSTICK = 100_000  # normal records in five columns: how long MDAV takes for them at k = 3 tells how fast a core is


def run(quick: bool, only: tuple[int, ...] = ()) -> None:
    """Search every table by default, or those of some k, and record the fast method that loses least beside it."""
    places = Places("any-size", quick, "kind", "n", "d", "k", "strata")
    yardstick = _yardstick(_QUICK if quick else _YARDSTICK)
    for n, k, strata in SHAPES:
        if (quick and n > _QUICK) or (only and k not in only):
            continue
        for kind, draw in KINDS.items():
            rng = np.random.default_rng([n, k])
            row = _compare(draw(rng, n), rng.integers(strata, size=n), k)
            places.put((kind, n, 5, k, strata), [row | {"yardstick": yardstick}])


def _yardstick(n: int) -> float:
    """Return the CPU seconds of MDAV for normal records in five columns, at k = 3."""
    x = np.random.default_rng(0).normal(size=(n, 5))
    METHODS["mdav"].function(Records(x[:_QUICK].copy()), 3, new_watch())  # compiles, or loads
    return round(_timed(lambda: METHODS["mdav"].function(Records(x), 3, new_watch()))[1], 2)


def _compare(values: Floats, strata: Ints, k: int) -> dict[str, Any]:
    """Return losses in percent of MDAV's and CPU seconds: of optimal, and of the best of the others."""
    x = (values - values.mean(axis=0)) / values.std(axis=0)
    problem = Problem(x, None, strata, None, k)
    parts = blocks_by_number(strata)
    records = [Records(np.ascontiguousarray(x[rows])) for rows in parts]
    search(NumericSearch(problem).few(), 0, Budget())  # compiles, or loads
    others = {}
    for name in FAST:
        made, seconds = _timed(lambda name=name: [METHODS[name].function(own, k, new_watch()) for own in records])
        others[name] = (problem.cost(join_blocks(parts, made)), seconds)
        refined, more = _timed(
            lambda made=made: [
                refine(own, groups.copy(), k, new_watch()) for own, groups in zip(records, made, strict=True)
            ]
        )
        others[f"{name} --refine"] = (problem.cost(join_blocks(parts, refined)), seconds + more)
    mdav, exact = others["mdav"]
    best = min(others, key=lambda name: others[name][0])
    began = time.perf_counter()
    found, seconds = _timed(lambda: search(NumericSearch(problem), 0, Budget(), os.cpu_count() or 1))
    wall, least = time.perf_counter() - began, others[best]
    longer = _as_long(problem, found, seconds, *least)
    return {
        "optimal": round(100 * found.cost / mdav, 3),
        "seconds": round(seconds, 3),
        "wall": round(wall, 3),
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
        more, taken = _timed(lambda budget=budget: search(NumericSearch(problem), 0, budget, os.cpu_count() or 1))
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
