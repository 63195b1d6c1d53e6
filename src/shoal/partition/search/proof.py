"""How far from the optimum a search can still be: a proved lower bound, found after it or to end it.

The gap is the part of the cost reached, in percent, that no better partition could save: 100 (cost - bound) / cost.
Nothing here changes the groups.
"""

from __future__ import annotations

import time
from typing import Generic

import numpy as np

from shoal.partition.search.found import Proved, gap_of
from shoal.partition.search.searchable import S, Searchable, Tell

_FIRST = 10.0  # seconds of the first attempt at a bound, where no time is set
_SEARCHED = 300  # proposals for each record before the first attempt
_VAIN = 4  # cycles in a row without a gain after which a search without a budget gives up


class GapGoal(Generic[S]):
    """Ends a search when its gap is proved to be small enough, or when there is no hope of that.

    A bound is tried for as long as the search has taken, again and again while it is not as high as it gets. Without
    another budget the search gives up when it has found nothing better twice in a row since the bound was tried.
    """

    def __init__(self, problem: Searchable[S], gap: float, until: float | None, budget: bool, threads: int) -> None:
        self.proved = Proved(0.0)
        self._problem, self._gap, self._until, self._budget, self._threads = problem, gap, until, budget, threads
        self._began = time.monotonic()
        self._tried = 0.0  # seconds of the last attempt
        self._last, self._vain = np.inf, 0

    def reached(self, state: S, cost: float, passes: int) -> bool:
        """Say whether to end, after a cycle: what it found and what that costs, and the proposals so far a record."""
        self._vain = self._vain + 1 if cost >= self._last else 0
        self._last = cost
        if gap_of(cost, self.proved.bound) <= self._gap:
            return True
        if passes < _SEARCHED:
            return False
        searched = time.monotonic() - self._began
        if not self.proved.complete and searched > 2.0 * self._tried:
            self._tried = max(_FIRST, searched)
            until = time.monotonic() + self._tried
            if self._until is not None:
                until = min(until, (time.monotonic() + self._until) / 2)
            enough = cost * (1.0 - self._gap / 100.0)
            proved = self._problem.prove(state, until, self._threads, enough)
            if proved.bound < self.proved.bound:
                proved = self.proved._replace(complete=proved.complete, interrupted=proved.interrupted)
            self.proved, self._vain = proved, 0
            if proved.interrupted:
                return True
        return gap_of(cost, self.proved.bound) <= self._gap or (not self._budget and self._vain >= _VAIN)


def certify(problem: Searchable[S], state: S, cost: float, seconds: float, threads: int, tell: Tell | None) -> Proved:
    """Return a bound on what was found; where the proof was interrupted, what was proved until then."""
    began = time.monotonic()
    told = (lambda value: tell(min(1.0, (time.monotonic() - began) / seconds), cost, value)) if tell else float
    return problem.prove(state, began + seconds, threads, tell=told)
