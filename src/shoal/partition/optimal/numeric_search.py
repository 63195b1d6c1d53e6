"""The search for numbers: what :mod:`shoal.partition.search` needs to know of a table of scaled records.

A cycle of a small table anneals the whole of it several times and combines what was seen (``whole``). A larger one, or
one with large groups, is annealed once, in regions whose borders move (``large``); where groups do not cost by formula
it is cut into regions that are annealed one by one. Every independent part that got better is taken, and the best
partition is never lost, so the search can stop at any time. Cycles have 10 proposals for each record, then 20, 40, ...,
for a small table up to some thousand and then no longer ones; those of a large table have 100, 800, ...
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.exchange import open_cells
from shoal.kernels.given_away import excesses
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.mdav import mdav
from shoal.partition.optimal import large
from shoal.partition.optimal.certificate import prove, why_no_bound
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.improve import renumbered
from shoal.partition.optimal.large_start import start_again, start_large
from shoal.partition.optimal.large_table import LargeTable, Outlook, with_nearer_neighbours
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem, blocks_by_number, problem_of_rows
from shoal.partition.optimal.regions import cut_regions, improve_region, searched_whole
from shoal.partition.optimal.start import start
from shoal.partition.optimal.whole import Block, blocks_of, cycle_of_blocks, lengths, usual_passes
from shoal.partition.search.few_records import FEW, cheapest_groups
from shoal.partition.search.found import Proved
from shoal.partition.search.pace import Lengths, Pace, TellCycle
from shoal.partition.search.searchable import TellBound, TellCost, join_blocks
from shoal.partition.univariate import univariate

_FIRST = 10  # proposals for each record in the first cycle
_FIRST_TOLD = 20  # in that of regions whose groups must keep something, which start from groups that are settled
_TOLD = 2.6e6  # proposals in them by default
_AFTERWARDS = 50_000  # records up to which there is time by default to search what does not cost by formula
_SORTED = 10  # k from which a median costs by the size of its group
_WIDE = 10  # columns from which a proposal costs by their number
_DEAREST, _AGAIN, _TIMES = 600, 290, 4  # records of the dearest groups, proposals for each, and how often
_LARGE_GROUPS = 12  # k from which one annealing in place finds better groups than combining does


@dataclass(frozen=True)
class Reached:
    """A partition, its cost, whether it is known to be optimal, what was seen in blocks, and what of a large table.

    ``left`` are the seconds that are left after the start for a search of the usual length. ``cheaper`` are groups of
    MDAV, and their cost, where that is less: a search of next to no steps returns them, but does not go on from them.
    """

    groups: Ints
    cost: float
    exact: bool
    blocks: list[Block]
    outlook: Outlook | None = None
    table: LargeTable | None = None
    left: float = 0.0
    cheaper: tuple[Ints, float] | None = None


@dataclass(frozen=True)
class NumericSearch:
    """The search of a table of numbers; see :class:`shoal.partition.search.searchable.Searchable`."""

    problem: Problem
    kind: str | None = None  # "whole", "large" or "regions"; by size and objective where nothing is said
    begin: Ints | None = None  # groups to start from, which meet the limits of the problem
    measure = "loss"

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.problem)

    @property
    def lengths(self) -> Lengths:
        """How long cycles are: those of a table that is searched whole end to grow."""
        if self._kind == "large":
            return large.lengths(self.size, self.problem.values.shape[1], self.problem.k)
        if self._kind == "whole":
            return lengths(_FIRST, self.problem.k)
        return Lengths(_FIRST if self.problem.limits is None else _FIRST_TOLD)

    @property
    def _kind(self) -> str:
        """How it is searched."""
        if self.kind is not None:
            return self.kind
        if self.problem.limits is not None:
            return "whole" if searched_whole(self.size) else "regions"
        if self.problem.objective is None and (self.problem.k >= _LARGE_GROUPS or not searched_whole(self.size)):
            return "large"
        return "whole" if searched_whole(self.size) else "regions"

    def usual_passes(self, state: Reached) -> int:
        """Return the number of proposals for each record that takes a second or so; none where the start took it.

        >>> search = NumericSearch(Problem(np.eye(1000)[:, :2], None, np.zeros(1000, dtype=np.int64), None, 3))
        >>> search.usual_passes(search.start(1))
        3000
        """
        if self._kind == "large":
            return large.usual_passes(state.table, state.left) if state.table is not None else 0
        if self.problem.limits is not None and self._kind == "regions":
            return int(np.clip(_TOLD / self.size, _FIRST_TOLD, 3000))
        if self._kind == "regions" and self.size > _AFTERWARDS:
            return 0
        share = 0.1 ** not_by_formula(self.problem)  # a proposal that is not by formula costs tenfold
        if self.problem.objective is not None and not self.problem.objective.plain:
            share *= min(1.0, _SORTED / self.problem.k)
        d = self.problem.values.shape[1]
        share *= min(1.0, _WIDE / d)
        passes = float(np.clip(5e6 * share / self.size, 100 * share, 3000 * share))
        return int(passes) if self._kind != "whole" else usual_passes(self.size, d, self.problem.k, passes)

    def start(self, threads: int, tell: TellCost | None = None) -> Reached:
        """Return the groups of fast methods, and the best where it can be told.

        One complete column is cut optimally (Hansen & Mukherjee 2003); a few records have few partitions.
        """
        problem = self.problem
        settled = problem.values.shape[1] == 1 and problem.objective is None and problem.limits is None
        if self._kind == "large" and not settled:
            groups, _, outlook, table, left = start_large(problem, threads, tell)
            cost = problem.cost(groups)
            return Reached(groups, cost, cost == 0.0, [], outlook, table, left)
        if self._kind == "regions" and not settled and self.begin is None:
            groups = _start_by_formula(problem, threads, 1.0 if self.size > _AFTERWARDS else 0.5)
            cost = problem.cost(groups)
            return Reached(groups, cost, cost == 0.0, [])
        parts = blocks_by_number(problem.blocks)
        few = self._kind == "whole" and max(map(len, parts)) <= FEW
        labels = []
        for rows in parts:
            part = problem_of_rows(problem, rows)
            if settled:
                labels.append(univariate(Records(part.values), part.k, new_watch()))
            elif few:
                labels.append(cheapest_groups(_costs_of_subsets(part)))
            elif self.begin is not None:
                labels.append(renumbered(self.begin[rows]))
            else:
                labels.append(_quick_groups(part, threads))
        settled |= few
        groups = join_blocks(parts, labels)
        cost = problem.cost(groups)
        settled |= cost == 0.0
        whole = self._kind == "whole" and not settled
        by_formula = problem.objective is None and self.begin is None  # other starts have been compared with MDAV
        cheaper = self._cheaper_by_mdav(parts, cost) if by_formula and not settled else None
        return Reached(groups, cost, settled, blocks_of(problem) if whole else [], cheaper=cheaper)

    def _cheaper_by_mdav(self, parts: list[Ints], cost: float) -> tuple[Ints, float] | None:
        """Return the groups of MDAV of each block and what they cost; None where that is not less."""
        problem = self.problem
        labels = [mdav(Records(np.ascontiguousarray(problem.points[rows])), problem.k, new_watch()) for rows in parts]
        groups = join_blocks(parts, labels)
        found = problem.cost(groups)
        return (groups, found) if found < cost else None

    def cycle(
        self, state: Reached, passes: int, seeds: tuple[int, int], threads: int, pace: Pace, progress: TellCycle | None
    ) -> Reached | None:
        """Anneal, and keep every independent part that got better; None where time ran out."""
        blocks, table = state.blocks, state.table
        if progress and state.cheaper is not None:  # what is saved counts from there, not from where the cycle starts
            progress = partial(_told_from, progress, state.cost - state.cheaper[1])
        if blocks:
            better = cycle_of_blocks(blocks, state.groups, passes, seeds, threads=threads, pace=pace, progress=progress)
            groups, blocks = better or (None, blocks)
        elif state.outlook is not None:
            groups, table = self._cycle_of_table(state, passes, seeds, threads, pace, progress)
        else:
            groups = self._cycle_of_regions(state.groups, passes, seeds, threads, pace, progress)
        if groups is None:
            return None
        cost = self.problem.cost(groups)
        cheaper = state.cheaper if state.cheaper is not None and state.cheaper[1] < cost else None
        return Reached(groups, cost, cost == 0.0, blocks, state.outlook, table, cheaper=cheaper)

    def cost(self, state: Reached) -> float:
        """Return what the partition costs."""
        return state.cost if state.cheaper is None else state.cheaper[1]

    def finished(self, state: Reached) -> bool:
        """Whether there is nothing to go on with."""
        return state.exact

    def exact(self, state: Reached) -> bool:
        """Whether no partition costs less."""
        return state.exact

    def groups(self, state: Reached) -> Ints:
        """Return the group (n,) of each row."""
        return state.groups if state.cheaper is None else state.cheaper[0]

    def total(self) -> float:
        """Return the sum of squares of the observed values about the means of their columns."""
        return self.problem.total()

    def few(self) -> NumericSearch:
        """Return the search of the first records, in one block."""
        rows = np.arange(min(self.size, 8 * self.problem.k))
        few = problem_of_rows(self.problem, rows)
        one = replace(few, blocks=np.zeros_like(few.blocks), limits=None)
        return NumericSearch(one, None if self.problem.limits else self._kind)

    def why_no_bound(self) -> str | None:
        """Say why no lower bound can be proved; None if it can."""
        return why_no_bound(self.problem)

    def prove(
        self, state: Reached, until: float, threads: int, enough: float | None = None, tell: TellBound = float
    ) -> Proved:
        """Return a lower bound, and what proves it, until a moment of the monotonic clock."""
        seen = [block.seen for block in state.blocks]
        return prove(self.problem, self.groups(state), until, threads, enough=enough, tell=tell, seen=seen)

    def _cycle_of_table(
        self,
        state: Reached,
        passes: int,
        seeds: tuple[int, int],
        threads: int,
        pace: Pace,
        progress: TellCycle | None,
    ) -> tuple[Ints | None, LargeTable | None]:
        """Anneal a large table; None where time ran out. It is laid out first where there was no time at the start."""
        groups, table, outlook = state.groups, state.table, state.outlook
        assert outlook is not None
        if table is None:
            if pace.ends_within(outlook.laying_out):
                return None, None
            groups, table = start_again(self.problem, outlook, groups, threads)
        table = with_nearer_neighbours(self.problem, table, passes, threads)
        began = time.monotonic()
        hottest = large.hottest_of(passes)
        better = large.cycle_of_table(
            table, groups, passes, seeds, hottest=hottest, threads=threads, pace=pace, progress=progress
        )
        annealed = time.monotonic()
        if better is not None:
            cells = open_cells(large.cells_to_refine(table, passes))
            better = self._improve_apart(better, passes, seeds, cells)
            pace.measured(passes, annealed - began, time.monotonic() - annealed, ended=cells[0] <= 0)
        return better, table

    def _improve_apart(self, groups: Ints, passes: int, seeds: tuple[int, int], cells: Ints) -> Ints:
        """Improve what annealing a whole table is not made for.

        Large groups are refined, as long as there are ``cells`` (1,) to be looked at. Of small ones the dearest are
        annealed once more, with more neighbours: where tails are heavy, a few groups of outliers cost as much as all
        others.
        """
        problem = self.problem
        if cells[0] > 0:
            parts = blocks_by_number(problem.blocks)
            blocks = large.blocks_to_refine(problem.points, parts, problem.k)
            return large.refine_blocks(blocks, parts, groups, problem.k, cells)
        if problem.k > _LARGE_GROUPS:
            return groups
        some, watch = min(passes, _AGAIN), new_watch()
        for again in range(_TIMES):
            rows, found, fresh = _dearest(problem, groups), groups.copy(), len(groups)
            for part in blocks_by_number(problem.blocks[rows]):
                own = rows[part]
                labels = improve_region(
                    problem, groups, own, passes=some, seeds=(*seeds, again, 2), watch=watch, saved=None
                )
                found[own] = labels + fresh
                fresh += len(own)
            groups = better_parts(problem.values, None, groups, renumbered(found), problem.k)
        return groups

    def _cycle_of_regions(
        self,
        groups: Ints,
        passes: int,
        seeds: tuple[int, int],
        threads: int,
        pace: Pace,
        progress: TellCycle | None,
    ) -> Ints | None:
        """Anneal all regions once; None where time ran out."""
        problem = self.problem
        regions = cut_regions(problem.values, groups, problem.blocks, np.random.default_rng([*seeds, 1]))
        watch, saved = new_watch(), np.zeros(len(regions))
        tasks = [
            partial(
                improve_region,
                problem,
                groups,
                rows,
                passes=passes,
                seeds=(*seeds, number, 0),
                watch=watch,
                saved=saved[number : number + 1] if progress else None,
            )
            for number, rows in enumerate(regions)
        ]
        began = time.monotonic()
        labels = pace.run(tasks, watch, threads, len(problem) * passes, progress, saved)
        if labels is None:
            return None
        pace.measured(passes, time.monotonic() - began)
        return better_parts(problem.values, problem.objective, groups, join_blocks(regions, labels), problem.k)


def _told_from(progress: TellCycle, more: float, part: float, saved: float) -> None:
    """Tell what is saved beside groups that cost so much less than those that the cycle starts from."""
    progress(part, max(0.0, saved - more))


def _dearest(problem: Problem, groups: Ints) -> Ints:
    """Return the rows of the groups that cost most, some hundred of them."""
    order, starts = group_rows(groups)
    errors = errors_of_groups(problem.values, problem.objective, order, starts, problem.k)
    dear = np.argsort(-errors, kind="stable")
    taken = dear[np.cumsum(np.diff(starts)[dear]) <= _DEAREST]
    return np.flatnonzero(np.isin(groups, taken))


def _quick_groups(problem: Problem, threads: int) -> Ints:
    """Return the best that is found quickly for one block of a small table."""
    tried = [start(problem)]
    if problem.objective is not None and len(problem) >= 2 * problem.k:
        tried.append(_start_by_formula(problem, threads, 0.0))
    return min(tried, key=problem.cost)


def _start_by_formula(problem: Problem, threads: int, part: float) -> Ints:
    """Return groups that lose little as if means of complete records were released, for which a step is quick.

    They are searched for a ``part`` of what a search of the usual length takes, or for a moment, if there is time for
    any. They are those of MDAV where what is released makes these cheaper.
    """
    plain = Problem(problem.points, None, problem.blocks, None, problem.k)
    groups, by_mdav, _, table, left = start_large(plain, threads)
    if table is not None:
        lengths = large.lengths(len(problem), problem.values.shape[1], problem.k)
        usual = large.usual_passes(table, left)
        passes = max(int(part * usual), min(lengths.first, usual))
        better = large.cycle_of_table(
            table,
            groups,
            passes,
            (0, 0),
            hottest=large.hottest_of(passes),
            threads=threads,
            pace=Pace(None, lengths),
            progress=None,
        )
        assert better is not None  # there is no time that could run out
        groups = better
    return min([groups, by_mdav], key=problem.cost)


def _costs_of_subsets(problem: Problem) -> Floats:
    """Return what each subset (2^n,) of n records costs as a group; those of fewer than k are none."""
    n = len(problem)
    members = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    groups = np.flatnonzero(members.sum(axis=1) >= problem.k)
    starts = np.concatenate([[0], np.cumsum(members[groups].sum(axis=1))])
    costs = np.full(1 << n, np.inf)
    rows = np.nonzero(members[groups])[1]
    costs[groups] = errors_of_groups(problem.values, problem.objective, rows, starts, problem.k)
    if problem.limits is not None:
        costs[groups[excesses(problem.limits, rows, starts) > 0.0]] = np.inf
    return costs


def not_by_formula(problem: Problem) -> float:
    """Return the part of the records in blocks in which what a group costs does not change by a formula."""
    objective = problem.objective
    if objective is None or not objective.plain:
        return float(objective is not None)
    first = np.unique(problem.blocks, return_index=True)[1]
    at = np.zeros(int(problem.blocks.max()) + 1, dtype=np.int64)
    at[problem.blocks[first]] = first
    differs = np.bincount(problem.blocks, (objective.observed != objective.observed[at[problem.blocks]]).any(axis=1))
    return float((differs > 0)[problem.blocks].mean())
