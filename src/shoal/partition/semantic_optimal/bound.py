"""A proved lower bound on what the groups of records of any kind cost, from all groups that could cost less.

Prices, one for each distinct record, that no group of at least k records costs less than: every partition then costs at
least the sum of the prices of its records. The prices of a round have ceilings. All groups whose bound
(:mod:`least_costs`) is below these are found (:mod:`cheap_groups`), and what they cost is computed, whatever the
columns, the aggregators and what is suppressed. No other group costs less than the ceilings of its records. So the
highest prices up to the ceilings that none of the groups found costs less than (:mod:`price_program`) prove their sum,
and with cuts the sum less the multipliers: a group that is not known has no more to pay. The next round has ceilings a
little above these prices, until none is at its ceiling.

Equal records are one, with one price: prices that prove a bound prove the same one with the mean of those of equal
records, since what is proved does not depend on which of them is which. That equal records stay together, or that
groups meet conditions, is not used: it can only cost more.

What remains of rounding: a solution is lowered until no group found has a price above its cost, all prices by the
largest excess over k; and the value by 1e-9 of the cost of the partition known, more than all rounding errors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.threads import run_watched
from shoal.partition.search.searchable import TellBound
from shoal.partition.semantic_optimal.cheap_groups import Neighbourhood, cheap_groups
from shoal.partition.semantic_optimal.price_program import PriceProgram, Prices
from shoal.partition.semantic_optimal.problem import Portions, Problem
from shoal.partition.semantic_optimal.state import cost_of_portions

LARGEST = 2500  # distinct records that a bound is computed for: all pairs are held
_FIRST = 0.7  # part of what a record loses in the partition known that its first ceiling is
_ROOM = (0.4, 0.02)  # part of a price, or of the mean price, by which its next ceiling is above it: first, least
_CLOSE = 1e-4  # part of the value by which a round must raise it for another one without cuts
_CUTS = 60  # that are added at a time
_ROUNDING = 1e-9
_CHOSEN = 1e-6  # share of a group from which it is part of a solution
_AT = 1e-6  # part of the mean price within which a price is at its ceiling


@dataclass(frozen=True)
class Bound:
    """A lower bound, 0 where nothing was proved, and whether it is as high as it gets.

    ``groups`` are those of the last solution, as distinct records, and ``shares`` (groups,) how far each is chosen.
    """

    value: float
    complete: bool
    groups: tuple[Ints, ...] = ()
    shares: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class _Pool:
    """Groups that cost less than their ceilings: which (g,) of the sets, by size, and what each costs (g,)."""

    sets: list[Ints]
    costs: Floats
    owner: Ints  # of each cell of all sets, its group
    records: Ints  # and its record

    def __len__(self) -> int:
        return len(self.costs)


def lower_bound(
    problem: Problem,
    portions: Portions,
    until: float,
    threads: int,
    *,
    enough: float | None = None,
    tell: TellBound = float,
    rounds: int = 10_000,
) -> Bound:
    """Return a lower bound on what all partitions of a block cost, given one of them.

    It ends when the bound is as high as it gets, reaches ``enough``, after some rounds or at a moment of the monotonic
    clock; ``tell`` is told whenever it has risen.
    """
    counts, k = problem.records.counts, problem.k
    known = float(problem.costs(portions).sum())
    if known == 0.0 or int(counts.sum()) < 2 * k:
        return Bound(known * (1.0 - _ROUNDING), True)
    here = Neighbourhood(problem.setting, counts)
    mean = known / int(counts.sum())
    program = PriceProgram(counts, mean)
    single = set(np.flatnonzero(counts == 1).tolist())
    goal = min(known, enough or known) * (1.0 - 1e-6)
    ceilings, room, best = _FIRST * _lost(problem, portions), _ROOM[0], Bound(0.0, False)
    highest, seen = np.zeros(len(counts)), set[bytes]()
    while time.monotonic() < until and best.value < goal and rounds > 0:
        rounds -= 1
        sets = cheap_groups(here, ceilings, threads, lambda: time.monotonic() >= until)
        if sets is None:  # too many: ceilings nearer to prices that were proved
            if time.monotonic() >= until or room < _ROOM[1]:
                break
            room /= 2.0
            ceilings = (ceilings + highest) / 2.0
            continue
        pool = _costing_less(problem, sets, ceilings, threads)
        program.set_ceilings(ceilings)
        solved = _solve(program, pool, seen, mean, until)
        while solved is not None:
            value = _proved(solved, pool, program.cuts, problem, ceilings) - _ROUNDING * known
            if value > best.value:
                chosen = np.flatnonzero(solved.shares > _CHOSEN)
                groups = tuple(program.sets[g] for g in chosen)
                best, highest = Bound(value, False, groups, solved.shares[chosen]), np.minimum(solved.prices, ceilings)
                tell(value)
            held_back = float((solved.alone * np.maximum(mean, solved.prices)).sum()) > _CLOSE * known
            cuts = [] if held_back else program.violated_cuts(solved.shares, single, _CUTS)
            if best.value >= goal or not cuts:
                break
            program.add_cuts(cuts)
            solved = _solve(program, pool, seen, mean, until)
        if solved is None:
            break
        if not held_back and not cuts and best.value < goal:
            return replace(best, complete=True)
        spare = np.where(solved.alone > 1e-9, room, room / 4.0)
        ceilings = solved.prices + spare * np.maximum(mean, solved.prices)
    return best


def _lost(problem: Problem, portions: Portions) -> Floats:
    """Return what each distinct record (m,) costs on the mean: its part of its groups."""
    record, group, amount = portions
    each = problem.costs(portions) / np.bincount(group, amount)
    lost: Floats = np.bincount(record, each[group] * amount, minlength=len(problem)) / problem.records.counts
    return lost


def _costing_less(problem: Problem, sets: list[Ints], ceilings: Floats, threads: int) -> _Pool:
    """Return the groups of some sets that cost less than the ceilings of their records."""
    kept: list[Ints] = []
    costs: list[Floats] = [np.zeros(0)]
    for own in sets:
        if not len(own):
            continue
        parts = np.array_split(own, max(1, min(4 * threads, len(own) // 1000)))
        found = run_watched([partial(costs_of_sets, problem, part) for part in parts], [], threads)
        assert found is not None
        cost = np.concatenate(found)
        less = cost < ceilings[own].sum(axis=1)
        kept += list(own[less])
        costs.append(cost[less])
    sizes = np.array([len(one) for one in kept], dtype=np.int64)
    records = np.concatenate([*kept, np.zeros(0, dtype=np.int64)])
    return _Pool(kept, np.concatenate(costs), np.repeat(np.arange(len(kept)), sizes), records)


def costs_of_sets(problem: Problem, sets: Sequence[Ints] | Ints) -> Floats:
    """Return what groups (sets,) of distinct records, each as often as it is in it, cost."""
    group = np.repeat(np.arange(len(sets)), [len(own) for own in sets])
    amounts = np.ones(len(group), dtype=np.int64)
    return cost_of_portions(problem.setting, np.concatenate(list(sets)), group, amounts, len(sets))


def _excess(solved: Prices, pool: _Pool, cuts: list[tuple[int, ...]], m: int) -> Floats:
    """Return by how much the prices of each group found are above what it costs and pays."""
    above = np.bincount(pool.owner, solved.prices[pool.records], minlength=len(pool)) - pool.costs
    for cut, multiplier in zip(cuts, solved.multipliers.tolist(), strict=True):
        if multiplier > 0.0:
            inside = np.zeros(m, dtype=np.int64)
            inside[list(cut)] = 1
            above -= multiplier * (np.bincount(pool.owner, inside[pool.records], minlength=len(pool)) >= 2)
    return above


def _solve(program: PriceProgram, pool: _Pool, seen: set[bytes], mean: float, until: float) -> Prices | None:
    """Solve the problem of prices with all groups of a pool, adding those that are broken; None where time is over."""
    while True:
        solved = program.solve(until)
        if solved is None or not len(pool):
            return solved
        above = _excess(solved, pool, program.cuts, len(solved.prices))
        broken = np.flatnonzero(above > 1e-7 * mean)
        broken = broken[np.argsort(-above[broken], kind="stable")]
        fresh = [g for g in broken.tolist() if pool.sets[g].tobytes() not in seen][: 2 * len(solved.prices)]
        if not fresh:
            return solved
        seen.update(pool.sets[g].tobytes() for g in fresh)
        program.add_groups([pool.sets[g] for g in fresh], pool.costs[fresh].tolist())


def _proved(solved: Prices, pool: _Pool, cuts: list[tuple[int, ...]], problem: Problem, ceilings: Floats) -> float:
    """Return what a solution proves: prices are lowered until none is above its ceiling and no group costs less."""
    over = float(np.maximum(0.0, solved.prices - ceilings).max())
    prices = solved.prices - over
    excess = _excess(solved, pool, cuts, len(prices))
    most = max(0.0, float(excess.max())) if len(pool) else 0.0
    total = float(prices @ problem.records.counts) - float(solved.multipliers.sum())
    return total - most * len(problem.records) / problem.k
