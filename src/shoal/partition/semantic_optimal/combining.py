"""Groups put together from all that could cost less: the prices of a bound choose among these, whole or in part.

The linear problem of :mod:`bound` chooses most of its groups whole. These are taken, then those with the largest shares
whose records are left; every record that remains joins the group that it costs least in, and what comes of it is
refined by changes that cost nothing. The result is kept where it costs less.

Cost: that of some rounds of the bound, which grows fast with k, so that it is done for few records and small k alone,
and for the information loss, where bounds are close.
Nothing depends on the clock or the number of threads.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.partition.semantic_optimal.bound import costs_of_sets, lower_bound
from shoal.partition.semantic_optimal.problem import Portions, Problem

_LARGEST = {2: 1000, 3: 1000, 4: 200}  # distinct records that this is done for, by k
_ROUNDS = 14


def worth_combining(problem: Problem) -> bool:
    """Whether a block is small enough."""
    few = len(problem) <= _LARGEST.get(problem.k, 0)
    return few and problem.split and problem.limits is None and not problem.objective.of_records.any()


def combined(problem: Problem, portions: Portions, until: float, threads: int) -> Portions | None:
    """Return groups that the linear problem chooses; None where there is no such problem, or no time for it."""
    found = lower_bound(problem, portions, until, threads, rounds=_ROUNDS)
    if not found.groups:
        return None
    left, sets = problem.records.counts.copy(), list[Ints]()
    for g in np.argsort(-found.shares, kind="stable").tolist():
        records, times = np.unique(found.groups[g], return_counts=True)
        often = min(int((left[records] // times).min()), max(1, round(float(found.shares[g]))))
        left[records] -= often * times
        sets += [found.groups[g]] * often
    if not sets:
        return None
    for one in np.repeat(np.arange(len(left)), left).tolist():
        at = _cheapest(problem, sets, one)
        sets[at] = np.sort(np.append(sets[at], one))
    return _portions(sets)


def _cheapest(problem: Problem, sets: list[Ints], one: int) -> int:
    """Return the group that a record costs least in."""
    with_it = [np.append(own, one) for own in sets]
    grown: Floats = costs_of_sets(problem, with_it) - costs_of_sets(problem, sets)
    return int(np.argmin(grown))


def _portions(sets: list[Ints]) -> Portions:
    """Return groups, as distinct records, as portions."""
    found = [np.unique(own, return_counts=True) for own in sets]
    group = np.repeat(np.arange(len(sets)), [len(records) for records, _ in found])
    return np.concatenate([r for r, _ in found]), group, np.concatenate([t for _, t in found]).astype(np.int64)
