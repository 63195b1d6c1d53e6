"""The search itself: cycles from the best partition so far, until the budget is used up.

The cycles are a function of the number of steps alone: those of the ``lengths``, each longer than the one before;
the last one takes what remains where that is too little for a cycle of its length and a useful one after it. A search
that is stopped by the clock makes its last cycle as long as the time allows, and one that is interrupted forgets the
cycle that it was in. Either way it has done what a search with that number of steps does, to the bit.
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np

from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.partition.search.budget import Budget
from shoal.partition.search.found import Found, Proved
from shoal.partition.search.pace import Pace, TellCycle
from shoal.partition.search.proof import GapGoal, certify
from shoal.partition.search.searchable import S, Searchable, Tell


def search(
    problem: Searchable[S],
    seed: int,
    budget: Budget,
    threads: int = 1,
    tell: Tell | None = None,
    keep: int = 0,
) -> Found:
    """Search for the best groups within a budget, or for as many steps as suit the size, and prove a bound if asked.

    The groups of the last cycles before the end are found too, as many as are to be kept.
    """
    reason = problem.why_no_bound() if budget.proofs else None
    if reason:
        raise PlanError(f"option '{budget.proofs[0]}' needs a lower bound, and {reason}; leave it out")
    passes = None if budget.steps is None else budget.steps // problem.size
    if passes is None and not budget.free:
        passes = problem.usual_passes()
    if budget.time is not None:
        _compile(problem.few(), bool(budget.proofs))
    until = None if budget.time is None else time.monotonic() + budget.time
    goal = None
    if budget.gap is not None:
        goal = GapGoal(problem, budget.gap, until, passes is not None or until is not None, threads)
    before: deque[Ints] = deque(maxlen=keep)
    cycles = _cycles(problem, seed, passes, until=until, threads=threads, tell=tell, goal=goal, before=before)
    state, done, interrupted = cycles
    cost, exact = problem.cost(state), problem.exact(state)
    proved = goal.proved if goal else None
    if cost == 0.0 or (exact and problem.why_no_bound() is None):
        proved = Proved(cost)
    elif budget.bound is not None and not interrupted:
        proved, interrupted = certify(problem, state, cost, budget.bound, threads, tell)
    groups = problem.groups(state)
    return Found(
        groups,
        cost,
        problem.total(),
        done,
        done * problem.size,
        interrupted,
        exact,
        settled=done == 0 and problem.finished(state),
        bound=proved.bound if proved else None,
        before=tuple(other for other in before if not np.array_equal(other, groups)),
        prices=proved.prices if proved else None,
        penalties=proved.penalties if proved else (),
    )


def _cycles(
    problem: Searchable[S],
    seed: int,
    passes: int | None,
    *,
    until: float | None = None,
    threads: int = 1,
    tell: Tell | None = None,
    goal: GapGoal[S] | None = None,
    before: deque[Ints] | None = None,
) -> tuple[S, int, bool]:
    """Return what is best, the proposals made for each record, and whether somebody ended it early.

    ``before`` is given the groups that each cycle starts from.
    """
    state = problem.start(threads)
    lengths = problem.lengths
    pace = Pace(until, lengths)
    done, length, cycle = 0, lengths.first, 0
    while not problem.finished(state):
        following = int(min(lengths.growth * length, lengths.longest))
        after = int(min(following, lengths.enough))  # what the next cycle has at least
        left, two = (passes - done,) * 2 if passes is not None else (pace.passes_left(1), pace.passes_left(2))
        if left < (1 if passes is not None else min(length, lengths.enough)):
            break
        last = two < length + after and pace.known
        this = int(min(left, length + after - 1)) if last else length
        cost = problem.cost(state)
        try:
            if goal and goal.reached(state, cost, done):
                break
            whole = passes or (done + left if np.isfinite(left) else 0)
            progress = _of_cycle(tell, (done, this, whole), cost, goal.proved.bound if goal else 0.0)
            found = problem.cycle(state, this, (seed, cycle), threads, pace, progress)
        except KeyboardInterrupt:
            return state, done, True
        if found is None:
            break
        if before is not None and before.maxlen:
            before.append(problem.groups(state))
        state, done, length, cycle = found, done + this, following, cycle + 1
        if last:
            break
    return state, done, False


def _of_cycle(tell: Tell | None, passes: tuple[int, int, float], cost: float, bound: float) -> TellCycle | None:
    """Return what is told of a cycle as it goes on, as a part of the whole: done before it, its own passes, all."""
    if tell is None:
        return None
    done, this, whole = passes
    return lambda part, saved: tell((done + part * this) / whole if whole else 0.0, max(cost - saved, 0.0), bound)


def _compile(few: Searchable[S], bounded: bool) -> None:
    """Search a few records first: a time is for searching, not for compiling what has not been used before."""
    state, _, _ = _cycles(few, 0, few.lengths.first)
    if bounded:
        few.prove(state, time.monotonic() + 1.0, 1)
