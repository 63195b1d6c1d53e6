"""The method ``optimal``: the groups that lose least, found by a search that can go on for as long as it may.

Start from fast methods, anneal, keep every independent part that got better, and put groups seen on the way together
as a set-partitioning problem. The modules tell the story in this order: ``start``, ``annealing``, ``improve``,
``crossover``, ``columns``, ``combine``; ``whole`` and ``regions`` do it for small and large tables, ``search`` runs it
all at the ``pace`` that the clock allows; ``bound``, ``pricing`` and ``certificate`` prove how far from the optimum the
result can still be. The cost that is lowered is the squared error of what will be released
(``objective``). One complete column is cut optimally (Hansen & Mukherjee 2003).

Cost: O(d) for each step, whatever n and k; the start costs as much as MDAV-single.

Every group has at least k records: the start's have, and every change keeps groups between k and 2k - 1.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace

import numpy as np

from shoal.columns.scaling import Records
from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.partition.optimal.certificate import GapGoal, prove, why_no_bound
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.problem import Problem, problem_of_rows
from shoal.partition.optimal.search import Found, Tell, search, usual_steps
from shoal.partition.univariate import univariate


@dataclass(frozen=True)
class Budget:
    """What ends a search: a number of steps or seconds, a gap in percent, and seconds to prove a bound afterwards."""

    steps: int | None = None
    time: float | None = None
    gap: float | None = None
    bound: float | None = None


def optimal(
    records: Records,
    k: int,
    watch: Ints,
    seed: int = 0,
    steps: int | None = None,
    time: float | None = None,
    gap: float | None = None,
    bound: float | None = None,
) -> Ints:
    """Partition records into groups with the least sum of squares that a search finds."""
    d = records.values.shape[1]
    objective = released_as(records.observed, records.values.shape, None, [0] * d, [0.0] * d)
    cells = np.zeros(len(records), dtype=np.int64)
    problem = Problem(records.values, records.observed, cells, objective, k)
    return solve(problem, seed, Budget(steps, time, gap, bound), records.threads).groups


def solve(problem: Problem, seed: int, budget: Budget, threads: int, tell: Tell | None = None) -> Found:
    """Search for the best groups within a budget, or for as many steps as suit the size, and prove a bound if asked."""
    asked = [name for name in ("gap", "bound") if getattr(budget, name) is not None]
    reason = why_no_bound(problem) if asked else None
    if reason:
        raise PlanError(f"method 'optimal': option '{asked[0]}' needs a lower bound, and {reason}; leave it out")
    if problem.values.shape[1] == 1 and problem.objective is None:
        return _one_column(problem)
    steps = budget.steps
    if steps is None and budget.time is None and budget.gap is None:
        steps = usual_steps(problem)
    if budget.time is not None:
        _compile(problem, bool(asked))
    until = None if budget.time is None else clock.monotonic() + budget.time
    goal = None
    if budget.gap is not None:
        goal = GapGoal(problem, budget.gap, until, steps is not None or until is not None, threads)
    found = search(problem, seed, steps, until, threads, tell, goal)
    if budget.bound is None or found.interrupted:
        return found
    return _certify(problem, found, budget.bound, threads, tell)


def _certify(problem: Problem, found: Found, seconds: float, threads: int, tell: Tell | None) -> Found:
    """Add a bound to what was found; an interruption ends the proof and leaves the groups as they are."""
    proved = 0.0

    def told(value: float) -> None:
        nonlocal proved
        proved = max(proved, value)
        if tell:
            tell(1.0, found.cost, proved)

    try:
        proved = prove(problem, found.groups, clock.monotonic() + seconds, threads, tell=told)[0]
    except KeyboardInterrupt:
        return replace(found, bound=proved, interrupted=True)
    return replace(found, bound=proved)


def _compile(problem: Problem, bounded: bool) -> None:
    """Search a few records first: a time is for searching, not for compiling what has not been used before."""
    rows = np.arange(min(len(problem), 8 * problem.k))
    few = problem_of_rows(problem, rows)
    few = replace(few, cells=np.zeros_like(few.cells))
    found = search(few, 0, 10 * len(rows), None, 1)
    if bounded:
        prove(few, found.groups, clock.monotonic() + 1.0, 1)


def _one_column(problem: Problem) -> Found:
    """Cut the order of one complete column optimally, cell by cell."""
    groups = np.empty(len(problem), dtype=np.int64)
    first = 0
    for cell in np.unique(problem.cells):
        rows = np.flatnonzero(problem.cells == cell)
        part = Records(np.ascontiguousarray(problem.values[rows]))
        groups[rows] = univariate(part, problem.k, np.zeros(2, dtype=np.int64)) + first
        first = int(groups[rows].max()) + 1
    cost = problem.cost(groups)
    return Found(groups, cost, steps=0, interrupted=False, exact=True, bound=cost)
