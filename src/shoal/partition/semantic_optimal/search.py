"""The search: cycles of annealing, each twice as long as the one before, from the best groups so far.

The cycles are a function of the number of steps alone: 50 proposals for each distinct record, then 100, 200, ...; the
last one takes what remains, which is at least as much as the doubling asks for and less than three times that. A search
that is stopped by the clock makes its last cycle as long as the time allows, and one that is interrupted forgets the
cycle that it was in. Either way it has done what a search with that number of steps does, to the bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.draws import open_stream
from shoal.kernels.mixed import add_sums, centre_of, sums_start
from shoal.kernels.watch import DONE, STOP, new_watch
from shoal.partition.semantic_optimal.annealing import anneal
from shoal.partition.semantic_optimal.exact import exact_groups, small_enough
from shoal.partition.semantic_optimal.neighbours import near_records
from shoal.partition.semantic_optimal.start import best_start
from shoal.partition.semantic_optimal.state import cost_of_portions, fill, open_state

_FIRST = 50  # proposals for each distinct record in the first cycle
_TICK = 0.05
_USED = 0.92  # part of the time left that is planned for
_HOT, _COLD = 0.3, 5e-3  # temperatures, in units of what a group that loses something loses in the middle

Tell = Callable[[float, float], None]  # part done, cost
Portions = tuple[Ints, Ints, Ints]  # distinct record, its group, how many


@dataclass(frozen=True)
class Problem:
    """What is searched: distinct records, the smallest group, whether equal records may be separated, the centre."""

    records: Mixed
    k: int
    split: bool
    middle: Floats

    def costs(self, portions: Portions) -> Floats:
        """Return what each group costs."""
        record, group, amount = portions
        return cost_of_portions(
            self.records.cells,
            self.records.centring,
            *self.records.columns,
            self.middle,
            self.k,
            record,
            group,
            amount,
            int(group.max()) + 1,
        )

    def total(self) -> float:
        """Return what there is to lose: the cost of all records in one group."""
        m = len(self.records.counts)
        everything = (np.arange(m), np.zeros(m, dtype=np.int64), self.records.counts)
        return float(self.costs(everything).sum())


@dataclass(frozen=True)
class Found:
    """What a search found.

    Portions and their cost, proposals made for each distinct record, whether it was interrupted, and whether nothing
    costs less.
    """

    portions: Portions
    cost: float
    passes: int
    interrupted: bool
    exact: bool = False


def problem_of(records: Mixed, k: int, split: bool, middle: Floats | None = None) -> Problem:
    """Return the problem of some records; ``middle`` is the centre of the table where they are a part of it."""
    return Problem(records, k, split, centre_of_all(records) if middle is None else middle)


def centre_of_all(records: Mixed) -> Floats:
    """Return the centre (d,) of all records."""
    start = sums_start(records.width)
    sums, seen, centre = np.zeros(start[-1]), np.zeros(len(records.kinds)), np.empty(len(records.kinds))
    kinds, tables, offset, width, _ = records.columns
    for cells, count in zip(records.cells, records.counts, strict=True):
        add_sums(cells, float(count), kinds, tables, offset, width, start, sums, seen)
    centre_of(kinds, width, start, sums, seen, centre)
    return centre


def usual_passes(distinct: int) -> int:
    """Return the number of proposals for each distinct record that suits the size: some seconds, and at least 100.

    >>> usual_passes(400), usual_passes(10_000)
    (3750, 150)
    """
    return int(np.clip(1_500_000 // max(distinct, 1), 100, 5000))


def search(problem: Problem, seed: int, passes: int | None, until: float | None, tell: Tell | None = None) -> Found:
    """Search for groups of the least cost, for so many proposals a record or until a moment of the monotonic clock."""
    if small_enough(problem.records, problem.split):
        portions = exact_groups(problem.records, problem.k, problem.split, problem.middle)
        return Found(portions, float(problem.costs(portions).sum()), 0, interrupted=False, exact=True)
    portions = best_start(problem.records, problem.k, problem.costs)
    cost = float(problem.costs(portions).sum())
    m = len(problem.records.counts)
    done, length, cycle, interrupted, pace = 0, _FIRST, 0, False, 0.0
    neighbours = near_records(problem.records) if m > 1 and cost > 0.0 else np.zeros((m, 1), dtype=np.int64)
    while cost > 0.0 and m > 1:
        if passes is not None:
            left = float(passes - done)
        else:
            assert until is not None
            left = _USED * (until - time.monotonic()) / pace if pace else np.inf
        if left < (1 if passes is not None else length):
            break
        last = left < 3 * length
        this = int(left) if last else length
        began = time.monotonic()
        try:
            whole = passes or (done + left if np.isfinite(left) else 0)
            tried = _cycle(
                problem, portions, neighbours, this, (seed, cycle), until, _part(tell, done, this, whole, cost)
            )
        except KeyboardInterrupt:
            tried, interrupted = None, True
        if tried is None:
            break
        pace = (time.monotonic() - began) / this
        new = float(problem.costs(tried).sum())
        if new < cost:
            portions, cost = tried, new
        done, length, cycle = done + this, 2 * length, cycle + 1
        if last:
            break
    return Found(portions, cost, done, interrupted, exact=cost == 0.0)


def _part(tell: Tell | None, done: int, this: int, whole: float, cost: float) -> Callable[[float], None] | None:
    if tell is None:
        return None
    return lambda part: tell((done + part * this) / whole if whole else 0.0, cost)


def _cycle(
    problem: Problem,
    portions: Portions,
    neighbours: Ints,
    passes: int,
    seeds: tuple[int, int],
    until: float | None,
    progress: Callable[[float], None] | None,
) -> Portions | None:
    """Anneal once; None where time ran out."""
    records = problem.records
    m, d = records.cells.shape
    state = open_state(m, d, int(records.width.sum()), int(portions[1].max()) + 1 + m // 2)
    fill(records.cells, records.centring, *records.columns, problem.middle, problem.k, state, *portions)
    costs = state.costs[state.costs > 0.0]
    usual = float(np.median(costs)) if len(costs) else 1.0
    stream = open_stream(int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0]))
    watch = new_watch()
    with ThreadPoolExecutor(1, thread_name_prefix="shoal-search") as pool:
        future = pool.submit(
            anneal,
            records.cells,
            records.centring,
            *records.columns,
            problem.middle,
            neighbours,
            problem.k,
            problem.split,
            state,
            passes * m,
            _HOT * usual,
            _COLD * usual,
            stream,
            watch,
        )
        try:
            while not future.done():
                wait([future], _TICK)
                if progress:
                    progress(min(1.0, float(watch[DONE]) / (passes * m)))
                if until is not None and time.monotonic() > until:
                    watch[STOP] = 1
                    return None
        except BaseException:
            watch[STOP] = 1
            raise
        future.result()
    there = np.flatnonzero(state.amount > 0)
    groups = np.unique(state.group[there], return_inverse=True)[1].reshape(-1).astype(np.int64)
    return state.record[there], groups, state.amount[there]
