"""The search: cycles of annealing, and what was found kept part by part.

A cycle of a small table anneals the whole of it several times and combines what was seen (``whole``). A larger one is
cut into regions, each is annealed once, and every independent part that got better is taken. The best partition is
never lost, so the search can stop at any time.

The cycles are a function of the number of steps alone: 10 proposals for each record, then 20, 40, ..., for a small
table up to some thousand and then no longer ones; the last one takes what remains where that is too little for a cycle
of its length and a useful one after it. A search that is stopped by the clock makes its last cycle as long as the time
allows, and one that is interrupted forgets the cycle that it was in. Either way it has done what a search with that
number of steps does, to the bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.certificate import GapGoal
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.improve import improve
from shoal.partition.optimal.pace import LONG, Pace, run
from shoal.partition.optimal.problem import Problem, problem_of_rows
from shoal.partition.optimal.regions import cut_regions, searched_whole
from shoal.partition.optimal.start import start
from shoal.partition.optimal.whole import cells_of, cycle_of_cells, lengths

_FIRST = 10  # proposals for each record in the first cycle

Tell = Callable[[float, float, float], None]  # part done, cost, proved lower bound or 0


@dataclass(frozen=True)
class Found:
    """What a search found.

    Groups and their cost, steps done, whether it was interrupted, whether no partition costs less, what every partition
    is proved to cost at least, where that was tried, and the sum of squares that costs are part of, where it is known.
    """

    groups: Ints
    cost: float
    steps: int
    interrupted: bool
    exact: bool = False
    bound: float | None = None
    total: float = 0.0


def usual_steps(problem: Problem) -> int:
    """Return the number of proposals that suits the size: a second or so, and at least 100 for each record.

    >>> usual_steps(Problem(np.zeros((1000, 2)), None, np.zeros(1000, dtype=np.int64), None, 3))
    3000000
    """
    share = 1.0 if problem.objective is None else 0.1  # the cost of a proposal that is not by formula is tenfold
    return int(len(problem) * np.clip(5e6 * share / len(problem), 100 * share, 3000 * share))


def search(
    problem: Problem,
    seed: int,
    steps: int | None,
    until: float | None,
    threads: int,
    tell: Tell | None = None,
    goal: GapGoal | None = None,
) -> Found:
    """Search for groups of the least cost: for a number of steps, until a moment of the monotonic clock, to a goal."""
    n = len(problem)
    groups = _start(problem)
    cost = problem.cost(groups)
    passes = None if steps is None else steps // n
    done, length, cycle, interrupted = 0, _FIRST, 0, False
    whole = searched_whole(n)
    cells = cells_of(problem) if whole and cost > 0.0 else []
    enough, longest = lengths(problem) if whole else (np.inf, np.inf)
    pace = Pace(until, whole)
    while cost > 0.0:
        following = int(min(2 * length, longest))
        after = int(min(following, enough))  # what the next cycle has at least
        left, two = (passes - done,) * 2 if passes is not None else (pace.passes_left(1), pace.passes_left(2))
        if left < (1 if passes is not None else min(length, enough)):
            break
        last = two < length + after and pace.known
        this = int(min(left, length + after - 1)) if last else length
        progress = None
        if tell:
            all_of_it = passes or (done + left if np.isfinite(left) else 0)
            progress = partial(_tell_part, tell, done, this, all_of_it, (cost, goal.bound if goal else 0.0))
        try:
            if goal and goal.reached(groups, cost, done):
                break
            if whole:
                better = cycle_of_cells(cells, groups, this, (seed, cycle), threads, pace, progress)
                found, cells = better or (None, cells)
            else:
                found = _cycle_of_regions(problem, groups, this, (seed, cycle), threads, pace, progress)
        except KeyboardInterrupt:
            found, interrupted = None, True
        if found is None:
            break
        groups, cost = found, problem.cost(found)
        done, length, cycle = done + this, following, cycle + 1
        if last:
            break
    bound = 0.0 if cost == 0.0 else goal.bound if goal else None
    return Found(groups, cost, done * n, interrupted, exact=cost == 0.0, bound=bound)


def _tell_part(tell: Tell, done: int, this: int, whole: float, reached: tuple[float, float], part: float) -> None:
    tell((done + part * this) / whole if whole else 0.0, *reached)


def _start(problem: Problem) -> Ints:
    groups = np.empty(len(problem), dtype=np.int64)
    first = 0
    for cell in np.unique(problem.cells):
        rows = np.flatnonzero(problem.cells == cell)
        part = problem_of_rows(problem, rows)
        groups[rows] = start(part.values, part.observed, part.objective, part.k) + first
        first = int(groups[rows].max()) + 1
    return groups


def _cycle_of_regions(
    problem: Problem,
    groups: Ints,
    passes: int,
    seeds: tuple[int, int],
    threads: int,
    pace: Pace,
    progress: Callable[[float], None] | None,
) -> Ints | None:
    """Anneal all regions once; None where time ran out."""
    regions = cut_regions(problem.values, groups, problem.cells, np.random.default_rng([*seeds, 1]))
    watch = new_watch()
    tasks = [
        partial(_improve_region, problem, groups, rows, passes, (*seeds, number, 0), watch)
        for number, rows in enumerate(regions)
    ]
    began = time.monotonic()
    results = run(tasks, watch, threads, pace, progress, len(problem) * passes)
    if results is None:
        return None
    pace.measured(passes, time.monotonic() - began, 0.0)
    tried, first = np.empty_like(groups), 0
    for rows, labels in zip(regions, results, strict=True):
        tried[rows] = labels + first
        first += int(labels.max()) + 1
    return better_parts(problem.values, problem.objective, groups, tried, problem.k)


def _improve_region(
    problem: Problem, groups: Ints, rows: Ints, passes: int, seeds: tuple[int, ...], watch: Ints
) -> Ints:
    """Anneal one region; a long cycle forgets the groups as they are."""
    heat = 1.0 if passes < LONG else None
    return improve(problem_of_rows(problem, rows), groups[rows], None, passes, heat, seeds, watch)
