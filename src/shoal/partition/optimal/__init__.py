"""The method ``optimal``: the groups that lose least, found by a search that can go on for as long as it may.

Start from fast methods, anneal region by region, keep every independent part that got better, and put groups seen on
the way together as a set-partitioning problem. The modules tell the story in this order: ``start``, ``annealing``,
``crossover``, ``combine``, all of it run by ``search``. The cost that is lowered is the squared error of what will be
released (``objective``). One complete column is cut optimally (Hansen & Mukherjee 2003).

Cost: O(d) for each step, whatever n and k; the start costs as much as MDAV-single.

Every group has at least k records: the start's have, and every change keeps groups between k and 2k - 1.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from shoal.arrays import Ints
from shoal.encode import Records
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.search import Found, Problem, Tell, problem_of_rows, search, usual_steps
from shoal.partition.univariate import univariate


def optimal(
    records: Records, k: int, watch: Ints, seed: int = 0, steps: int | None = None, time: float | None = None
) -> Ints:
    """Partition records into groups with the least sum of squares that a search finds."""
    d = records.values.shape[1]
    objective = released_as(records.observed, records.values.shape, None, [0] * d, [0.0] * d)
    cells = np.zeros(len(records), dtype=np.int64)
    problem = Problem(records.values, records.observed, cells, objective, k)
    return solve(problem, seed, steps, time, records.threads).groups


def solve(
    problem: Problem, seed: int, steps: int | None, time: float | None, threads: int, tell: Tell | None = None
) -> Found:
    """Search for the best groups, for a number of steps, for some seconds, or for as many steps as suit the size."""
    if problem.values.shape[1] == 1 and problem.objective is None:
        return _one_column(problem)
    if steps is None and time is None:
        steps = usual_steps(problem)
    if time is not None:
        _compile(problem)
    return search(problem, seed, steps, None if time is None else clock.monotonic() + time, threads, tell)


def _compile(problem: Problem) -> None:
    """Search a few records first: a time is for searching, not for compiling what has not been used before."""
    rows = np.arange(min(len(problem), 8 * problem.k))
    few = problem_of_rows(problem, rows)
    search(replace(few, cells=np.zeros_like(few.cells)), 0, 10 * len(rows), None, 1)


def _one_column(problem: Problem) -> Found:
    """Cut the order of one complete column optimally, cell by cell."""
    groups = np.empty(len(problem), dtype=np.int64)
    first = 0
    for cell in np.unique(problem.cells):
        rows = np.flatnonzero(problem.cells == cell)
        part = Records(np.ascontiguousarray(problem.values[rows]))
        groups[rows] = univariate(part, problem.k, np.zeros(2, dtype=np.int64)) + first
        first = int(groups[rows].max()) + 1
    return Found(groups, problem.cost(groups), steps=0, interrupted=False, exact=True)
