"""The search for records of any kind: what :mod:`shoal.partition.search` needs to know of distinct records in blocks.

A cycle anneals every block once, from the best groups so far, on as many threads as there are; one of many distinct
records in regions (:mod:`regions`), with other borders in each cycle. It has 50 proposals for each distinct record, or
half of the usual ones where these are fewer than 100, and the next one twice as many: what becomes of a block depends
on these and on nothing in the others. The first long cycle of a small block ends with groups put together from all that
could cost less (:mod:`combining`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.draws import open_stream
from shoal.kernels.threads import run_watched, threads_of_each
from shoal.kernels.watch import new_watch
from shoal.partition.search.found import Proved
from shoal.partition.search.pace import Lengths, Pace, TellCycle
from shoal.partition.search.searchable import TellBound, TellCost, join_blocks
from shoal.partition.semantic_optimal.annealing import anneal
from shoal.partition.semantic_optimal.bound import LARGEST, lower_bound
from shoal.partition.semantic_optimal.combining import combined, worth_combining
from shoal.partition.semantic_optimal.exact import exact_groups, small_enough
from shoal.partition.semantic_optimal.neighbours import near_records
from shoal.partition.semantic_optimal.problem import Portions, Problem
from shoal.partition.semantic_optimal.regions import Region, join_regions, regions_of
from shoal.partition.semantic_optimal.start import best_start, portions_of
from shoal.partition.semantic_optimal.state import cost_of_portions, fill, open_state

_FIRST = 50  # proposals for each distinct record in the first cycle, at most
_SHORT = 15  # fewer than these are too few for a cycle to recover from a high temperature
_HOT, _WARM, _COLD = 0.3, 0.03, 5e-3  # warm: where a cycle is short
_COMBINED = 400  # proposals for each distinct record of a cycle from which it pays to combine
_POLISHED, _POLISH, _POLISHES = 0.02, 200, 4  # first temperature, proposals and rounds of what polishes combined groups
_FEW = 20  # distinct records that are searched to compile


@dataclass(frozen=True)
class Reached:
    """Groups of a block: its portions, what they cost, and the records near each; none where nothing costs less.

    Whether groups were ``combined``, which is done once.
    """

    portions: Portions
    cost: float
    neighbours: Ints | None
    combined: bool = False


@dataclass(frozen=True)
class MixedSearch:
    """The search of a table of any kind; see :class:`shoal.partition.search.searchable.Searchable`.

    Attributes
    ----------
    whole : Problem
        All records of the table in one block.
    rows_of_blocks : list of int64 (rows,)
        The rows of each block.
    problems : list of Problem
        The problem of each.
    begin : int64 (n,) or None
        Groups to start from, which meet the limits of the problems.
    hot, cold : float
        Temperatures of a cycle, in units of what a group that loses something loses in the middle.
    """

    whole: Problem
    rows_of_blocks: list[Ints]
    problems: list[Problem]
    begin: Ints | None = None
    hot: float = _HOT
    cold: float = _COLD

    @property
    def measure(self) -> str:
        """What the cost is called in percent of the total."""
        return "record loss" if self.whole.objective.of_records.any() else "loss"

    @property
    def size(self) -> int:
        """Number of distinct records, block by block."""
        return sum(map(len, self.problems))

    @property
    def lengths(self) -> Lengths:
        """How long cycles are."""
        first = min(_FIRST, self._usual // 2)
        return Lengths(first, combined=_COMBINED if any(map(worth_combining, self.problems)) else np.inf)

    def usual_passes(self, state: list[Reached]) -> int:
        """Return the number of proposals for each distinct record that takes some seconds, and is at least 20."""
        return self._usual

    @property
    def _usual(self) -> int:
        return int(np.clip(3_000_000 // self.size, 20, 5000))

    def start(self, threads: int, tell: TellCost | None = None) -> list[Reached]:
        """Return the best groups of several methods, block by block; those of few records are the best there are."""
        watch = new_watch()
        pairs = zip(self.problems, self.rows_of_blocks, strict=True)
        begin = self.begin
        each = threads_of_each(len(self.problems), threads)
        tasks = [partial(_start, one, None if begin is None else begin[rows], each, watch) for one, rows in pairs]
        started = run_watched(tasks, [watch], threads)
        assert started is not None
        return started

    def cycle(
        self,
        state: list[Reached],
        passes: int,
        seeds: tuple[int, int],
        threads: int,
        pace: Pace,
        progress: TellCycle | None,
    ) -> list[Reached] | None:
        """Anneal every block that is not settled, and keep what got better; None where time ran out."""
        watch = new_watch()
        open_blocks = [b for b, reached in enumerate(state) if reached.neighbours is not None]
        parts = [
            (b, region)
            for b in open_blocks
            for region in regions_of(self.problems[b], state[b].portions, _near(state[b]), seeds)
        ]
        parts.sort(key=lambda part: -len(part[1]))  # the longest first, so that no thread is left with it
        began, saved = time.monotonic(), np.zeros(len(parts))
        tasks = [
            partial(_anneal, self, region, passes, seeds, watch, saved[t : t + 1])
            for t, (_, region) in enumerate(parts)
        ]
        steps = passes * sum(len(self.problems[b]) for b in open_blocks)
        found = pace.run(tasks, watch, threads, steps, progress, saved)
        if found is None:
            return None
        annealed = time.monotonic()
        better = list(state)
        for b in open_blocks:
            portions = join_regions([own for (block, _), own in zip(parts, found, strict=True) if block == b])
            cost = float(self.problems[b].costs(portions).sum())
            if cost < state[b].cost:
                better[b] = replace(state[b], portions=portions, cost=cost)
            if passes >= _COMBINED and worth_combining(self.problems[b]) and not state[b].combined:
                better[b] = self._combine(b, better[b], seeds, threads, pace)
                if pace.over():
                    return None
            if better[b].cost == 0.0:
                better[b] = replace(better[b], neighbours=None)
        pace.measured(passes, annealed - began, time.monotonic() - annealed)
        return better

    def _combine(self, b: int, reached: Reached, seeds: tuple[int, int], threads: int, pace: Pace) -> Reached:
        """Put the groups of a block together from all that could cost less, and keep these where they do."""
        problem = self.problems[b]
        until = np.inf if pace.deadline is None else pace.deadline
        found = combined(problem, reached.portions, until, threads)
        if found is not None:
            polishing = replace(self, hot=min(self.hot, _POLISHED))
            for turn in range(_POLISHES):
                region = Region(0, np.arange(len(problem)), problem.setting, problem.limits, found, _near(reached))
                own = (seeds[0], seeds[1] + (turn + 1) * 1_000_003)
                found = _anneal(polishing, region, _POLISH, own, new_watch(), np.zeros(1))
            cost = float(problem.costs(found).sum())
            if cost < reached.cost:
                return replace(reached, portions=found, cost=cost, combined=True)
        return replace(reached, combined=True)

    def cost(self, state: list[Reached]) -> float:
        """Return what the groups of all blocks cost."""
        return sum(reached.cost for reached in state)

    def finished(self, state: list[Reached]) -> bool:
        """Whether no block can be better, as far as the search can tell."""
        return all(reached.neighbours is None for reached in state)

    def exact(self, state: list[Reached]) -> bool:
        """Whether no partition costs less: all have been looked at, of the whole table and by its own weights."""
        if self.cost(state) == 0.0:
            return True
        return self.finished(state) and len(self.problems) == 1 and self.problems[0].weighed

    def groups(self, state: list[Reached]) -> Ints:
        """Return the group (n,) of each row."""
        labels = [
            problem.records.hand_out(*reached.portions) for problem, reached in zip(self.problems, state, strict=True)
        ]
        return join_blocks(self.rows_of_blocks, labels)

    def total(self) -> float:
        """Return what there is to lose: what the centre of the table in the place of every record costs."""
        return self.whole.objective.total

    def few(self) -> MixedSearch:
        """Return the search of a few distinct records of the first block, some of them frequent and some rare."""
        problem = self.problems[0]
        few = min(len(problem), _FEW)
        counts = np.full(few, problem.k, dtype=np.int64)
        counts[::2] = 1
        part = replace(
            problem,
            weights=problem.weights[:few],
            limits=None,
            records=replace(
                problem.records,
                values=problem.records.values[:few],
                counts=counts,
                order=problem.records.order[:few],
                mixed_order=problem.records.mixed_order[:few],
                record=np.repeat(np.arange(few), counts),
            ),
        )
        return MixedSearch(part, [np.arange(int(counts.sum()))], [part])

    def why_no_bound(self) -> str | None:
        """Say why no lower bound can be proved; None if it can."""
        largest = max(map(len, self.problems))
        if largest > LARGEST:
            return (
                f"it is proved for up to {LARGEST} distinct records that are partitioned together, and here they are "
                f"{largest}"
            )
        if not all(problem.weighed for problem in self.problems):
            return "it is proved where equal records have equal sampling weights"
        return None

    def prove(
        self, state: list[Reached], until: float, threads: int, enough: float | None = None, tell: TellBound = float
    ) -> Proved:
        """Return a lower bound until a moment of the monotonic clock: blocks share the time by their sizes."""
        proved, complete = np.zeros(len(self.problems)), np.zeros(len(self.problems), dtype=np.bool_)
        sizes = np.array([len(problem) ** 2 for problem in self.problems], dtype=np.float64)
        goal, interrupted = enough if len(self.problems) == 1 else None, False

        def told(place: int, value: float) -> None:
            proved[place] = value
            tell(float(proved.sum()))

        try:
            for i, (problem, reached) in enumerate(zip(self.problems, state, strict=True)):
                now = time.monotonic()
                end = now + (until - now) * float(sizes[i] / sizes[i:].sum())
                found = lower_bound(problem, reached.portions, end, threads, enough=goal, tell=partial(told, i))
                told(i, found.value)
                complete[i] = found.complete
        except KeyboardInterrupt:
            interrupted = True
        return Proved(float(proved.sum()), bool(complete.all()), interrupted=interrupted)


def _near(reached: Reached) -> Ints:
    """Return the records near each of a block that is not settled."""
    assert reached.neighbours is not None
    return reached.neighbours


def _start(problem: Problem, begin: Ints | None, threads: int, watch: Ints) -> Reached:
    """Return the groups that a block is searched from."""
    if small_enough(problem.records, problem.split):
        portions = exact_groups(problem.records, problem.setting, problem.limits, problem.split)
        return Reached(portions, float(problem.costs(portions).sum()), None)
    if begin is None:
        portions = best_start(problem.records, problem.k, problem.setting, threads, watch)
    else:
        portions = portions_of(problem.records, np.unique(begin, return_inverse=True)[1])
    cost = float(problem.costs(portions).sum())
    near = near_records(problem.records, threads) if len(problem) > 1 and cost > 0.0 else None
    return Reached(portions, cost, near)


def _anneal(
    search: MixedSearch, region: Region, passes: int, seeds: tuple[int, int], watch: Ints, saved: Floats
) -> Portions:
    """Anneal the groups of a region once, and return the better of both; ``saved`` (1,) is what that saved."""
    setting, portions = region.setting, region.portions
    m, d = setting.values.shape
    groups = int(portions[1].max()) + 1
    state = open_state(m, d, int(setting.metric.start[d]), groups + m // 2)
    fill(setting, state, *portions)
    before = float(state.costs.sum())
    costs = state.costs[state.costs > 0.0]
    usual = float(np.median(costs)) if len(costs) else 1.0
    anneal(
        setting,
        region.limits,
        region.neighbours,
        search.whole.split,
        state,
        passes * m,
        min(search.hot, _HOT if passes >= _SHORT else _WARM) * usual,
        search.cold * usual,
        open_stream(int(np.random.SeedSequence((*seeds, region.number)).generate_state(1, np.uint64)[0])),
        watch,
    )
    there = np.flatnonzero(state.amount > 0)
    numbered = np.unique(state.group[there], return_inverse=True)[1].reshape(-1).astype(np.int64)
    found = state.record[there], numbered, state.amount[there]
    cost = float(cost_of_portions(setting, *found, int(numbered.max()) + 1).sum())
    if cost >= before:
        found = portions
    else:
        saved[0] = before - cost
    return region.records[found[0]], found[1], found[2]
