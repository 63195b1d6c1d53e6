"""How far from the optimum a partition can still be: a proved lower bound, found after the search or to end it.

The gap is the part of the cost reached, in percent, that no better partition could save: 100 (cost - bound) / cost.
Groups do not cross cells, so the bounds of the cells add up. Nothing here changes the groups.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.partition.optimal.bound import LARGEST, lower_bound
from shoal.partition.optimal.columns import no_columns
from shoal.partition.optimal.problem import Problem

_FIRST = 10.0  # seconds of the first attempt at a bound, where no time is set
_SEARCHED = 300  # proposals for each record before the first attempt
_VAIN = 4  # cycles in a row without a gain after which a search without a budget gives up

TellBound = Callable[[float], object]  # the bound so far


def why_no_bound(problem: Problem) -> str | None:
    """Say why no bound can be proved; None if it can."""
    if problem.objective is not None:
        return "it is proved for complete columns released as means, without sampling weights"
    largest = int(np.bincount(problem.cells).max())
    if largest > LARGEST and problem.values.shape[1] > 1:
        return f"it is proved for up to {LARGEST} records that are partitioned together, and here they are {largest}"
    return None


def gap_of(cost: float, bound: float) -> float:
    """Return the gap in percent.

    >>> gap_of(50.0, 49.0)
    2.0
    """
    return max(0.0, 100.0 * (cost - bound) / cost) if cost > 0.0 else 0.0


def prove(
    problem: Problem,
    groups: Ints,
    until: float,
    threads: int,
    enough: float | None = None,
    tell: TellBound = float,
) -> tuple[float, bool]:
    """Return a lower bound, and whether it is as high as it gets, until a moment of the monotonic clock.

    Cells share the time by the squares of their sizes. ``enough`` is a bound at which to end where there is one cell.
    """
    cells = [np.flatnonzero(problem.cells == cell) for cell in np.unique(problem.cells)]
    shares = np.array([len(rows) ** 2 for rows in cells], dtype=np.float64)
    proved, complete = 0.0, True
    for i, rows in enumerate(cells):
        now = time.monotonic()
        values = np.ascontiguousarray(problem.values[rows])
        labels = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
        found = lower_bound(
            values,
            problem.k,
            no_columns(),
            labels,
            until=now + (until - now) * float(shares[i] / shares[i:].sum()),
            threads=threads,
            enough=enough if len(cells) == 1 else None,
            tell=tell if len(cells) == 1 else float,
        )
        proved, complete = proved + found.value, complete and found.complete
    return proved, complete


class GapGoal:
    """Ends a search when its gap is proved to be small enough, or when there is no hope of that.

    A bound is tried for as long as the search has taken, again and again while it is not as high as it gets. Without
    another budget the search gives up when it has found nothing better twice in a row since the bound was tried.
    """

    def __init__(self, problem: Problem, gap: float, until: float | None, budget: bool, threads: int) -> None:
        self.bound = 0.0
        self._problem, self._gap, self._until, self._budget, self._threads = problem, gap, until, budget, threads
        self._complete = False
        self._began = time.monotonic()
        self._tried = 0.0  # seconds of the last attempt
        self._last, self._vain = np.inf, 0

    def reached(self, groups: Ints, cost: float, passes: int) -> bool:
        """Say whether to end, after a cycle: groups, what they cost, and the proposals so far for each record."""
        self._vain = self._vain + 1 if cost >= self._last else 0
        self._last = cost
        if gap_of(cost, self.bound) <= self._gap:
            return True
        if passes < _SEARCHED:
            return False
        searched = time.monotonic() - self._began
        if not self._complete and searched > 2.0 * self._tried:
            self._tried = max(_FIRST, searched)
            until = time.monotonic() + self._tried
            if self._until is not None:
                until = min(until, (time.monotonic() + self._until) / 2)
            enough = cost * (1.0 - self._gap / 100.0)
            bound, self._complete = prove(self._problem, groups, until, self._threads, enough)
            self.bound = max(self.bound, bound)
            self._vain = 0
        return gap_of(cost, self.bound) <= self._gap or (not self._budget and self._vain >= _VAIN)
