"""Groups that were seen, of which a partition is to be made, and the linear relaxation of that.

Choosing groups that hold every record exactly once at the least cost is a set-partitioning problem: a variable for each
group, an equation for each record. Its linear relaxation may take parts of groups; it gives a share for each group and
a price for each record.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.objective import Objective, errors_of_groups

_KEPT = 60_000  # groups kept, the latest


@dataclass(frozen=True)
class SeenGroups:
    """Groups seen: ``rows[starts[c]:starts[c + 1]]`` are the records of group c, with its cost and its name."""

    rows: Ints
    starts: Ints
    costs: Floats
    keys: Ints

    def __len__(self) -> int:
        return len(self.costs)


def no_groups() -> SeenGroups:
    """Return no groups at all."""
    empty = np.zeros(0, dtype=np.int64)
    return SeenGroups(empty, np.zeros(1, dtype=np.int64), np.zeros(0), empty)


def add_partitions(
    seen: SeenGroups, values: Floats, objective: Objective, partitions: list[Ints], k: int
) -> SeenGroups:
    """Add the groups of partitions to those seen, each once."""
    parts = [group_rows(groups) for groups in partitions]
    rows = [order for order, _ in parts]
    sizes = [np.diff(starts) for _, starts in parts]
    costs = [errors_of_groups(values, objective, order, starts, k) for order, starts in parts]
    together = add_groups(seen, rows, sizes, costs, len(values))
    return take_groups(together, np.arange(max(0, len(together) - _KEPT), len(together)))


def add_groups(seen: SeenGroups, rows: list[Ints], sizes: list[Ints], costs: list[Floats], n: int) -> SeenGroups:
    """Add groups of n records to those seen, each once: their rows one after the other, their sizes and costs."""
    names = np.random.SeedSequence(n).generate_state(n, np.uint64).view(np.int64)  # of records; a sum names a set
    keys = [seen.keys]
    for own, size in zip(rows, sizes, strict=True):
        keys.append(np.add.reduceat(names[own], np.cumsum(size) - size) if len(size) else size)
    all_keys = np.concatenate(keys)
    # the last of equal groups, so that those that are seen again count as new
    last = len(all_keys) - 1 - np.unique(all_keys[::-1], return_index=True)[1]
    all_rows = np.concatenate([seen.rows, *rows])
    all_sizes = np.concatenate([np.diff(seen.starts), *sizes])
    return _take(all_rows, all_sizes, np.concatenate([seen.costs, *costs]), all_keys, np.sort(last))


def add_found(seen: SeenGroups, values: Floats, found: list[Ints], k: int) -> SeenGroups:
    """Add groups (m, size) of several sizes to those seen, with what they cost."""
    found = [groups for groups in found if len(groups)]
    rows = [groups.ravel() for groups in found]
    sizes = [np.full(len(groups), groups.shape[1]) for groups in found]
    starts = [np.arange(0, groups.size + 1, groups.shape[1]) for groups in found]
    costs = [errors_of_groups(values, None, own, start, k) for own, start in zip(rows, starts, strict=True)]
    return add_groups(seen, rows, sizes, costs, len(values))


def take_groups(seen: SeenGroups, kept: Ints) -> SeenGroups:
    """Return some of the groups."""
    return _take(seen.rows, np.diff(seen.starts), seen.costs, seen.keys, kept)


def _take(rows: Ints, sizes: Ints, costs: Floats, keys: Ints, kept: Ints) -> SeenGroups:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.repeat(starts[kept], sizes[kept]) + _counting(sizes[kept])
    return SeenGroups(rows[chosen], np.concatenate([[0], np.cumsum(sizes[kept])]), costs[kept], keys[kept])


def _counting(sizes: Ints) -> Ints:
    """Return 0, 1, ... size - 1 for each size, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def matrix_of(seen: SeenGroups, n: int) -> Any:
    """Return the sparse matrix (n, groups) with a 1 where a record is in a group."""
    from scipy.sparse import csc_matrix

    return csc_matrix((np.ones(len(seen.rows)), seen.rows, seen.starts), shape=(n, len(seen)))


@dataclass(frozen=True)
class Relaxed:
    """A solution of the linear relaxation: its value, the share of each group, the price of each record.

    Where there are limits, ``multipliers`` are those of each.
    """

    value: float
    shares: Floats
    prices: Floats
    multipliers: Floats


def relax(
    matrix: Any, costs: Floats, until: float | None = None, limits: tuple[Any, Ints] | None = None
) -> Relaxed | None:
    """Solve the linear relaxation until a moment of the monotonic clock; None where it was not solved.

    ``limits`` are a matrix (cuts, groups) of how often groups count, and how often they may together.
    """
    from scipy.optimize import linprog

    limited = {} if limits is None or len(limits[1]) == 0 else {"A_ub": limits[0], "b_ub": limits[1]}

    # costs may be as small as the tolerances of the solver
    scale = float(np.abs(costs).mean()) or 1.0
    options = {} if until is None else {"time_limit": max(0.1, until - time.monotonic())}
    # many groups share records, which makes the simplex method slow: the interior point is up to ten times as fast
    solved = linprog(
        costs / scale,
        A_eq=matrix,
        b_eq=np.ones(matrix.shape[0]),
        bounds=(0, None),
        method="highs-ipm",
        options=options,
        **limited,
    )
    if solved.status != 0:
        return None
    multipliers = np.maximum(0.0, -solved.ineqlin.marginals) * scale if limited else np.zeros(0)
    return Relaxed(float(solved.fun) * scale, solved.x, solved.eqlin.marginals * scale, multipliers)


@dataclass(frozen=True)
class Near:
    """Prices near others, their sum in the linear problem, and whether that would be the same without a limit."""

    value: float
    prices: Floats
    free: bool


def relax_near(seen: SeenGroups, n: int, centre: Floats, box: float, until: float | None = None) -> Near | None:
    """Solve the linear relaxation with prices that differ from ``centre`` (n,) by a part ``box`` of them at most.

    No group seen may cost less than its prices at the centre. None where it was not solved until a moment of the
    monotonic clock.
    """
    from scipy.sparse import hstack, identity

    width = box * (np.abs(centre) + 0.1 * np.abs(centre).mean())
    alone = identity(n, format="csc")
    matrix = hstack([matrix_of(seen, n), alone, -alone], format="csc")
    # a record may be left out or be counted twice, at the ends of its box
    relaxed = relax(matrix, np.concatenate([seen.costs, centre + width, width - centre]), until)
    if relaxed is None:
        return None
    return Near(relaxed.value, relaxed.prices, bool(relaxed.shares[len(seen) :].sum() < 1e-6))


def trim(seen: SeenGroups, prices: Floats, most: int) -> SeenGroups:
    """Drop those that cost most above the prices of their records, where there are too many; those in use stay."""
    if len(seen) <= most:
        return seen
    reduced = seen.costs - np.add.reduceat(prices[seen.rows], seen.starts[:-1])
    return take_groups(seen, np.sort(np.argsort(reduced, kind="stable")[: most * 2 // 3]))
