"""The partition step of a method that searches: every set of quasi-identifiers as a whole, with one budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.blocking.size import seconds_of_mdav
from shoal.errors import PlanError, counted, decimal
from shoal.kernels.arrays import Ints
from shoal.kernels.given_away import Limits
from shoal.kernels.progress import Standing
from shoal.kernels.threads import Report, threads_of_each
from shoal.partition.search.budget import Budget, budget_of
from shoal.partition.search.driver import search
from shoal.partition.search.found import Found, Proved, gap_of
from shoal.partition.search.searchable import Searchable, SearchTask, Tell
from shoal.release.declaring import Declared

_CYCLES = 8  # cycles before the end whose groups are repaired, too
_LONG = 5.0  # seconds of a search that are told beforehand
_MINUTES = 100  # seconds from which minutes are told
_A_RECORD = {"optimal": 3e-5, "semantic-optimal": 1.3e-4}  # CPU seconds, of records that are no complete numbers


@dataclass(frozen=True)
class Proof:
    """What proves a lower bound on the sum of squares, on scaled columns.

    Attributes
    ----------
    groups, blocks : int64 (n,)
        The partition that was found, and the blocks that no group crosses.
    cost, total, bound : float
        The sum of squares of the partition, that of the whole table, and what no partition is below.
    proved : Proved
        No group of a block costs less than the prices of its records less its penalties, and the bound is the sum of
        all prices less what all groups can pay together; in a block with branches that is so in each of them, and the
        lowest counts.
    numbers : bool
        Whether it was a search of numbers, and prices were found.
    """

    groups: Ints
    blocks: Ints
    cost: float
    total: float
    bound: float
    proved: Proved
    numbers: bool


@dataclass(frozen=True)
class Searched:
    """What the searches did.

    Attributes
    ----------
    steps : list of int
        Of each set.
    interrupted : bool
        Whether somebody ended them early.
    reached, bound, gap : float or None
        The loss on scaled columns, in percent, before values are rounded: what was reached, what it is proved not to be
        below, and the share of what was reached that a better partition could save. None where no bound was asked for
        and none comes by itself.
    again : int or None
        The option ``steps`` that repeats them, where the plan itself does not: after a time, a gap or an interruption.
        None too where an interruption left some behind the others, which no single number repeats.
    before : list of tuple of int64 (n,)
        Groups of each set from the last cycles before the end, where they were asked for.
    proof : Proof or None
        What proves the bound.
    """

    steps: list[int]
    interrupted: bool
    reached: float | None
    bound: float | None
    gap: float | None
    again: int | None
    before: list[tuple[Ints, ...]] = field(default_factory=list)
    proof: Proof | None = None


def steps_again(made: set[int], free: bool) -> int | None:
    """Return the number that repeats all searches that were not settled at once, from what these made.

    There is such a number where it is the same for all, and need for it where a search was ``free`` to end at any time.
    """
    return next(iter(made)) if free and len(made) == 1 else None


def long_search(declared: Declared, records: int) -> str:
    """Say before a search of very many records what will take long, and about how long; empty where nothing will.

    That of complete numbers takes at most as long as MDAV twice and a second, less where they are easier than most.
    """
    asked, plan = budget_of(declared.options), declared.plan
    if declared.method.search is None or asked != Budget() or plan.blocking:
        return ""
    seconds = 0.0
    for quasi in declared.sets:
        numbers = not declared.method.mixed and quasi.incomplete == 0
        of_numbers = 2 * seconds_of_mdav(records, len(quasi), plan.k) + 1
        seconds += of_numbers if numbers else _A_RECORD.get(declared.method.name, 1e-4) * records
    if seconds <= _LONG:
        return ""
    duration = counted(round(seconds), "second") if seconds < _MINUTES else counted(round(seconds / 60), "minute")
    return (
        f"searching the groups of {records} records, which takes about {duration} of one core, or less; blocking uses "
        "all cores, and the option time or steps ends it earlier or later"
    )


def half_time(declared: Declared) -> Declared:
    """Return the plan with half of the time for a search, where it has one: another search follows."""
    time = declared.options.get("time")
    return replace(declared, options={**declared.options, "time": time / 2}) if time else declared


def same_steps(declared: Declared, searched: Searched | None) -> Declared | None:
    """Return the plan with the steps that a search took, where it was free; None where it was interrupted."""
    if searched is None or searched.again is None:
        return None if searched and searched.interrupted else declared
    if searched.interrupted:
        return None
    options = {name: value for name, value in declared.options.items() if name not in ("time", "gap")}
    return replace(declared, options={**options, "steps": searched.again})


def search_sets(
    search_of: Callable[[SearchTask], Searchable[Any]],
    declared: Declared,
    blocks: Sequence[Ints],
    report: Report,
    threads: int | None,
    *,
    limits: Limits | None = None,
    begin: Sequence[Ints] | None = None,
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    A number of steps is that of the set with most records, or distinct records; all sets get the same number of
    proposals for each of theirs. With a time, the first set has a share of it by its number of columns, and the others
    take the proposals that it made. So one number of steps repeats them all. After an interruption the sets that are
    left are only started. With ``limits`` on what groups keep of confidential columns the search of each set starts
    from groups to ``begin`` with. Where there are rules, the groups of the last cycles are kept: some that lose more
    may lose less once they are repaired.
    """
    plan, asked = declared.plan, budget_of(declared.options)
    _check_sets(asked, len(declared.sets), declared.method.name)
    problems = [
        search_of(
            SearchTask(
                quasi,
                codes,
                plan.k,
                declared.options,
                declared.weights,
                plan.missing_patterns == "counted",
                limits,
                own,
            )
        )
        for quasi, codes, own in zip(
            declared.sets, blocks, begin if begin is not None else [None] * len(blocks), strict=True
        )
    ]
    largest = max(problem.size for problem in problems)
    passes = None if asked.steps is None else asked.steps // largest
    widths = [len(quasi) for quasi in declared.sets]
    time = None if asked.time is None else asked.time * widths[0] / sum(widths)
    found: list[Found] = []
    for i, problem in enumerate(problems):
        budget = replace(asked, time=time)
        if any(one.interrupted for one in found):
            budget = Budget(steps=0)
        elif passes is not None:
            budget = replace(asked, steps=passes * problem.size, time=None)
        tell = _tell(problem, report, i, len(blocks[i]))
        keep = _CYCLES if declared.rules else 0
        found.append(search(problem, plan.seed, budget, threads_of_each(1, threads), tell, keep))
        if time is not None and passes is None and not found[-1].settled:
            passes = found[-1].passes
    interrupted = any(one.interrupted for one in found)
    made = {one.passes * largest for one in found if not one.settled}
    reached = bound = gap = proof = None
    if len(found) == 1 and found[0].bound is not None:
        percent = 100.0 / found[0].total if found[0].total > 0.0 else 0.0
        reached, bound = percent * found[0].cost, percent * found[0].bound
        gap = gap_of(found[0].cost, found[0].bound)
        proved = found[0].proof or Proved(found[0].bound)
        if proved.prices is None:
            proved = proved._replace(prices=np.zeros(len(blocks[0])))
        proof = Proof(
            found[0].groups, blocks[0], found[0].cost, found[0].total, found[0].bound, proved, not declared.method.mixed
        )
    steps = [one.steps for one in found]
    again = steps_again(made, asked.free or interrupted)
    before = [one.before for one in found]
    return [one.groups for one in found], Searched(steps, interrupted, reached, bound, gap, again, before, proof)


def _tell(problem: Searchable[Any], report: Report, place: int, records: int) -> Tell:
    """Return what is told of the search of a set: records done, and how it stands in percent."""
    total = problem.total()

    def tell(part: float, cost: float, bound: float) -> None:
        loss = 100.0 * cost / total if total > 0.0 else None
        gap = gap_of(cost, bound) if bound > 0.0 else None
        words = "" if loss is None else f"{problem.measure} {decimal(loss, 4)} %"
        if gap is not None:
            words += f", no partition below {decimal(100.0 * bound / total, 4)} %, gap {decimal(gap)} %"
        report(int((place + part) * records), Standing(words, loss, gap))

    return tell


def _check_sets(budget: Budget, sets: int, method: str) -> None:
    """Refuse a proof over several sets: their losses are not of one kind."""
    if budget.proofs and sets > 1:
        raise PlanError(
            f"method '{method}': option '{budget.proofs[0]}' needs a single set of quasi-identifiers, and there are "
            f"{sets}; leave it out"
        )
