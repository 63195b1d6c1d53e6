"""The search: cycles of annealing, each twice as long as the one before, and what was found kept part by part.

A cycle cuts the groups into regions, anneals each, and takes every independent part that got better. Small tables are
annealed twice in a cycle, once from far above the temperature at which groups form and once from the best groups so
far, and the groups seen on the way are combined. The best partition is never lost, so the search can stop at any time.

The cycles are a function of the number of steps alone: 10 proposals for each record, then 20, 40, ...; the last one
takes what remains, which is at least as much as the doubling asks for and less than three times that. A search that is
stopped by the clock makes its last cycle as long as the time allows, and one that is interrupted forgets the cycle that
it was in. Either way it has done what a search with that number of steps does, to the bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import open_stream
from shoal.kernels.pool import Pool, nearest, open_pool
from shoal.kernels.representatives import group_rows
from shoal.partition.method import DONE, STOP, new_watch
from shoal.partition.optimal.annealing import anneal
from shoal.partition.optimal.certificate import GapGoal
from shoal.partition.optimal.combine import Columns, add_columns, combine, no_columns
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem, problem_of_rows
from shoal.partition.optimal.regions import cut_regions, searched_whole
from shoal.partition.optimal.start import start

_FIRST = 10  # proposals for each record in the first cycle
_NEIGHBOURS = 30
_MOMENTS = 8  # at which the groups of a cycle are kept for combining
_LONG = 300  # proposals a record from which a cycle starts far above the temperature at which groups form
_COMBINED = 600  # proposals a record from which it pays to combine
_TICK = 0.05
_TELLING = 0.3  # seconds of a cycle from which its pace says how long the next takes
_USED = 0.95  # part of the time left that is planned for
_GRACE = 0.1  # part of the whole time by which the last cycle may be late rather than be lost
_HOTTER = 1.4  # a proposal of the first cycle that starts from far above takes this much longer than before

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


class _Pace:
    """How long cycles take, for a search that ends by the clock."""

    def __init__(self, until: float | None, combines: bool) -> None:
        self.until = until
        self.grace = 0.0 if until is None else _GRACE * max(0.0, until - time.monotonic())
        self._combines = combines
        self._annealing = 0.0  # seconds of the last cycle
        self._passes = 0  # and its proposals for each record
        self._combining = 0.5  # a guess, until it is measured

    def measured(self, passes: int, annealing: float, combining: float) -> None:
        self._passes, self._annealing = passes, annealing
        if passes >= _COMBINED:
            self._combining = combining

    @property
    def known(self) -> bool:
        """Whether the last cycle was long enough to foresee the next."""
        return self.until is None or self._annealing >= _TELLING

    def passes_left(self) -> float:
        """Return how many proposals a record there is time for; without end before anything was measured."""
        if self.until is None or self._passes == 0:
            return np.inf
        each = self._annealing / self._passes
        seconds = self.until - time.monotonic()
        if self._combines and self._passes < _LONG and seconds / each >= _LONG:
            each *= _HOTTER
        if self._combines and seconds / each >= _COMBINED:
            seconds -= min(1.3 * self._combining, seconds / 3)
        return _USED * seconds / each


def usual_steps(problem: Problem) -> int:
    """Return the number of proposals that suits the size: a second or so, and at least 100 for each record.

    >>> usual_steps(Problem(np.zeros((1000, 2)), None, np.zeros(1000, dtype=np.int64), None, 3))
    5000000
    """
    share = 1.0 if problem.objective is None else 0.1  # the cost of a proposal that is not by formula is tenfold
    return int(len(problem) * np.clip(5e6 * share / len(problem), 100 * share, 5000 * share))


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
    columns = no_columns()
    passes = None if steps is None else steps // n
    done, length, cycle, interrupted = 0, _FIRST, 0, False
    neighbours = _neighbours_of_cells(problem) if searched_whole(n) else {}
    pace = _Pace(until, searched_whole(n))
    while cost > 0.0:
        left = float(passes - done) if passes is not None else pace.passes_left()
        if left < (1 if passes is not None else length):
            break
        last = left < 3 * length and pace.known
        this = int(left) if last else length
        progress = None
        if tell:
            whole = passes or (done + left if np.isfinite(left) else 0)
            progress = partial(_tell_part, tell, done, this, whole, (cost, goal.bound if goal else 0.0))
        try:
            if goal and goal.reached(groups, cost, done):
                break
            result = _cycle(problem, groups, columns, this, (seed, cycle), threads, neighbours, pace, progress)
        except KeyboardInterrupt:
            result, interrupted = None, True
        if result is None:
            break
        groups, columns = result
        cost = problem.cost(groups)
        done, length, cycle = done + this, 2 * length, cycle + 1
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


def _cycle(
    problem: Problem,
    groups: Ints,
    columns: Columns,
    passes: int,
    seeds: tuple[int, int],
    threads: int,
    neighbours: dict[int, Neighbours],
    pace: _Pace,
    progress: Callable[[float], None] | None,
) -> tuple[Ints, Columns] | None:
    """Anneal all regions once, and combine; None where time ran out."""
    rng = np.random.default_rng([*seeds, 1])
    regions = cut_regions(problem.values, groups, problem.cells, rng)
    whole = searched_whole(len(problem))
    tries = 2 if whole else 1
    watch = new_watch()
    tasks = [
        partial(_improve, problem, groups, rows, neighbours.get(int(rows[0])), passes, i, (*seeds, number, i), watch)
        for number, rows in enumerate(regions)
        for i in range(tries)
    ]
    began = time.monotonic()
    results = _run(tasks, watch, threads, pace, progress, len(problem) * tries * passes)
    if results is None:
        return None
    annealed = time.monotonic()
    groups = groups.copy()
    for i in range(tries):
        tried = np.empty_like(groups)
        first = 0
        for rows, (labels, _) in zip(regions, results[i::tries], strict=True):
            tried[rows] = labels + first
            first = int(tried[rows].max()) + 1
        groups = better_parts(problem.values, problem.objective, groups, tried, problem.k)
    if whole and passes >= _COMBINED:
        seen = []
        for i in range(tries):
            for moment in range(_MOMENTS):
                partition = np.empty_like(groups)
                first = 0
                for rows, (_, moments) in zip(regions, results[i::tries], strict=True):
                    partition[rows] = moments[moment] + first
                    first = int(partition[rows].max()) + 1
                seen.append(np.unique(partition, return_inverse=True)[1].astype(np.int64))
        columns = add_columns(columns, problem.values, problem.objective, [*seen, groups], problem.k)
        groups = combine(columns, problem.values, problem.objective, groups, problem.cells, problem.k, rng)
    pace.measured(passes, annealed - began, time.monotonic() - annealed)
    return groups, columns


Neighbours = tuple[Ints, Floats]  # rows near each row, and the squared distance to the k-th of them
Improved = tuple[Ints, Ints]  # groups of a region, and those at moments on the way


def _improve(
    problem: Problem,
    groups: Ints,
    rows: Ints,
    neighbours: Neighbours | None,
    passes: int,
    which: int,
    seeds: tuple[int, ...],
    watch: Ints,
) -> Improved:
    """Anneal one region; the second try of a long cycle starts from the groups as they are."""
    part = problem_of_rows(problem, rows)
    labels = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
    moments = np.tile(labels, (_MOMENTS if searched_whole(len(problem)) else 0, 1))
    order, starts = group_rows(labels)
    errors = errors_of_groups(part.values, part.objective, order, starts, part.k)
    if len(errors) < 2 or errors.sum() == 0.0:
        return labels, moments
    mean = errors.sum() / len(rows)
    usual = float(np.median(errors / np.diff(starts)))
    hot = mean if passes < _LONG or which == 1 else max(10.0 * mean, float(errors.max()) / 3.0)
    cold = 0.01 * min(mean, usual) if usual > 0.0 else 1e-4 * mean
    if neighbours is None:
        neighbours = _neighbours(part)
    anneal(
        part.values,
        part.objective,
        labels,
        *neighbours,
        part.k,
        passes * len(rows),
        hot,
        cold,
        open_stream(int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0])),
        watch,
        moments,
    )
    return np.unique(labels, return_inverse=True)[1].astype(np.int64), moments


def _run(
    tasks: Sequence[Callable[[], Improved]],
    watch: Ints,
    threads: int,
    pace: _Pace,
    progress: Callable[[float], None] | None,
    steps: int,
) -> list[Improved] | None:
    """Run tasks on threads; None where the time is over long before they will be."""
    began = time.monotonic()
    with ThreadPoolExecutor(min(threads, len(tasks)), thread_name_prefix="shoal-search") as pool:
        futures: list[Future[Improved]] = [pool.submit(task) for task in tasks]
        try:
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, _TICK)
                part = min(1.0, float(watch[DONE]) / steps)
                if progress:
                    progress(part)
                if pace.until is not None and _too_late(pace, began, part):
                    _stop(watch, futures)
                    return None
        except BaseException:
            _stop(watch, futures)
            raise
        return [future.result() for future in futures]


def _too_late(pace: _Pace, began: float, part: float) -> bool:
    """Whether the time is over, and a cycle of which a part is done will not end soon after it."""
    now = time.monotonic()
    assert pace.until is not None
    if now <= pace.until:
        return False
    return part == 0.0 or began + (now - began) / part > pace.until + pace.grace


def _stop(watch: Ints, futures: list[Future[Improved]]) -> None:
    watch[STOP] = 1
    for future in futures:
        future.cancel()


def _neighbours(part: Problem) -> Neighbours:
    """Return the rows nearest to each row, and the squared distance to the k-th of them."""
    neighbours = np.empty((len(part), min(_NEIGHBOURS, len(part) - 1)), dtype=np.int64)
    scales = np.empty(len(part))
    _find_neighbours(open_pool(part.values, part.observed), neighbours, scales, min(part.k, neighbours.shape[1]))
    return neighbours, scales


def _neighbours_of_cells(problem: Problem) -> dict[int, Neighbours]:
    """Return the neighbours in each cell, by the first row of the cell: a table that is searched whole keeps them."""
    cells = [np.flatnonzero(problem.cells == cell) for cell in np.unique(problem.cells)]
    return {int(rows[0]): _neighbours(problem_of_rows(problem, rows)) for rows in cells}


@kernel
def _find_neighbours(pool: Pool, neighbours: Ints, scales: Floats, rank: int) -> None:
    """Fill ``neighbours`` (n, m) with the rows nearest to each row, without itself, and ``scales`` (n,)."""
    width = neighbours.shape[1]
    rows, distances = np.empty(width + 1, np.int64), np.empty(width + 1)
    for row in range(neighbours.shape[0]):
        nearest(pool, row, width + 1, rows, distances)
        filled = 0
        scales[row] = distances[rank]
        for near in rows:
            if near != row and filled < width:
                neighbours[row, filled] = near
                filled += 1
