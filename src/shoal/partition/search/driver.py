"""The search itself: cycles from the best partition so far, until the budget is used up.

The cycles are a function of the number of steps alone: their lengths are those of a scale, each as long as the
:class:`~shoal.partition.search.pace.Lengths` and what is left allow, and the last takes what is too little for another.
A search that ends by the clock takes as long cycles as it foresees time for, and shorter ones to fill what remains; one
that would end too late is given up, and a shorter one tried. A search that is interrupted forgets the cycle that it was
in. Either way it has done what a search with that number of steps does, to the bit.
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

_SHORT = 1.0  # seconds that a search without a time counts as, beside those of a proof


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
    if budget.time is not None:
        _compile(problem.few(), bool(budget.proofs))
    until = None if budget.time is None else time.monotonic() + budget.time
    goal = None
    if budget.gap is not None:
        goal = GapGoal(problem, budget.gap, until, passes is not None or until is not None, threads)
    before: deque[Ints] = deque(maxlen=keep)
    of_search, of_proof = _shares(tell, budget)
    cycles = _cycles(problem, seed, passes, until=until, threads=threads, tell=of_search, goal=goal, before=before)
    state, done, interrupted = cycles
    cost, exact = problem.cost(state), problem.exact(state)
    proved = goal.proved if goal else None
    if cost == 0.0 or (exact and problem.why_no_bound() is None):
        proved = Proved(cost)
    elif budget.bound is not None and not interrupted:
        proved = certify(problem, state, cost, budget.bound, threads, of_proof)
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
        proof=proved,
    )


def _shares(tell: Tell | None, budget: Budget) -> tuple[Tell | None, Tell | None]:
    """Return what is told of the search and of a proof after it, as parts of both: a search without a time is short."""
    if tell is None or budget.bound is None:
        return tell, tell
    time = budget.time or _SHORT
    share = time / (time + budget.bound)
    return (
        lambda part, cost, bound: tell(share * part, cost, bound),
        lambda part, cost, bound: tell(share + (1.0 - share) * part, cost, bound),
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
    lengths = problem.lengths
    pace = Pace(until, lengths)
    state = problem.start(threads, None if tell is None else lambda cost: tell(0.0, cost, 0.0))
    if tell:
        try:
            tell(0.0, problem.cost(state), 0.0)
        except KeyboardInterrupt:
            return state, 0, True
    if passes is None and until is None and goal is None and not problem.finished(state):
        passes = problem.usual_passes(state)
    done, before_this, cycle, room = 0, 0, 0, np.inf
    while not problem.finished(state):
        left = float(passes - done) if passes is not None else min(pace.passes_left(), room)
        this, after = lengths.following(before_this, left)
        if passes is not None and left < this + lengths.first:
            this = int(left)
        if this == 0:
            break
        pace.plan(this)
        cost = problem.cost(state)
        try:
            if goal and goal.reached(state, cost, done):
                return state, done, goal.proved.interrupted
            whole = passes or (done + left if np.isfinite(left) else 0)
            progress = _of_cycle(tell, (done, this, whole), cost, goal.proved.bound if goal else 0.0)
            found = problem.cycle(state, this, (seed, cycle), threads, pace, progress)
        except KeyboardInterrupt:
            return state, done, True
        if found is None:  # the next is shorter, or there is no time left
            continue
        if before is not None and before.maxlen:
            before.append(problem.groups(state))
        state, done, before_this, cycle = found, done + this, this, cycle + 1
        room = min(room - this, after)
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
