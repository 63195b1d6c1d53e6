"""Combine: the best partition that can be put together from groups that were seen during the search.

Groups are the columns of a set-partitioning problem: choose groups that hold every record exactly once at the least
cost. It is solved window by window: the groups in and around a place, some hundred records, free to be replaced by any
columns that lie inside. The linear relaxation of a window gives a price for each record; a column that costs more than
the prices of its records, by more than can still be gained, is in no better solution and is left out. HiGHS (through
scipy) solves what remains. The effort is limited in nodes and columns, never in seconds, so that the same search gives
the same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.objective import Objective, errors_of_groups

_WINDOW = 200  # records of a window
_COLUMNS = 250  # of the integer problem of a window, those with the least reduced costs
_NODES = 20
_KEPT = 60_000  # columns kept, the latest


@dataclass(frozen=True)
class Columns:
    """Groups seen: ``rows[starts[c]:starts[c + 1]]`` are the records of column c, with its cost and its name."""

    rows: Ints
    starts: Ints
    costs: Floats
    keys: Ints

    def __len__(self) -> int:
        return len(self.costs)


def no_columns() -> Columns:
    """Return no columns at all."""
    empty = np.zeros(0, dtype=np.int64)
    return Columns(empty, np.zeros(1, dtype=np.int64), np.zeros(0), empty)


def add_columns(columns: Columns, values: Floats, objective: Objective, partitions: list[Ints], k: int) -> Columns:
    """Add the groups of partitions to the columns, each once."""
    parts = [group_rows(groups) for groups in partitions]
    rows = [order for order, _ in parts]
    sizes = [np.diff(starts) for _, starts in parts]
    costs = [errors_of_groups(values, objective, order, starts, k) for order, starts in parts]
    together = add_groups(columns, rows, sizes, costs, len(values))
    return take_columns(together, np.arange(max(0, len(together) - _KEPT), len(together)))


def add_groups(columns: Columns, rows: list[Ints], sizes: list[Ints], costs: list[Floats], n: int) -> Columns:
    """Add groups of n records to the columns, each once: their rows one after the other, their sizes and costs."""
    names = np.random.SeedSequence(n).generate_state(n, np.uint64).view(np.int64)  # of records; a sum names a set
    keys = [columns.keys]
    for own, size in zip(rows, sizes, strict=True):
        keys.append(np.add.reduceat(names[own], np.cumsum(size) - size) if len(size) else size)
    all_keys = np.concatenate(keys)
    # the last of equal columns, so that those that are seen again count as new
    last = len(all_keys) - 1 - np.unique(all_keys[::-1], return_index=True)[1]
    all_rows = np.concatenate([columns.rows, *rows])
    all_sizes = np.concatenate([np.diff(columns.starts), *sizes])
    return _take(all_rows, all_sizes, np.concatenate([columns.costs, *costs]), all_keys, np.sort(last))


def take_columns(columns: Columns, kept: Ints) -> Columns:
    """Return some of the columns."""
    return _take(columns.rows, np.diff(columns.starts), columns.costs, columns.keys, kept)


def _take(rows: Ints, sizes: Ints, costs: Floats, keys: Ints, kept: Ints) -> Columns:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.repeat(starts[kept], sizes[kept]) + _counting(sizes[kept])
    return Columns(rows[chosen], np.concatenate([[0], np.cumsum(sizes[kept])]), costs[kept], keys[kept])


def _counting(sizes: Ints) -> Ints:
    """Return 0, 1, ... size - 1 for each size, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def combine(
    columns: Columns, values: Floats, objective: Objective, groups: Ints, cells: Ints, k: int, rng: np.random.Generator
) -> Ints:
    """Return a partition that costs at most as much as ``groups``, of its own groups and columns."""
    groups = groups.copy()
    order, starts = group_rows(groups)
    sizes = np.diff(starts)
    centroids = np.add.reduceat(values[order], starts[:-1], axis=0) / sizes[:, None]
    cell_of = cells[order[starts[:-1]]]
    fresh = np.ones(len(sizes), dtype=bool)  # groups that were not yet near the middle of a window
    free = int(groups.max()) + 1
    for g in rng.permutation(len(sizes)):
        if not fresh[g]:
            continue
        near = np.flatnonzero(cell_of == cell_of[g])
        near = near[np.argsort(((centroids[near] - centroids[g]) ** 2).sum(axis=1), kind="stable")]
        near = near[: max(1, int(np.searchsorted(np.cumsum(sizes[near]), _WINDOW)))]
        fresh[near[: 1 + len(near) // 3]] = False
        inside = np.zeros(len(values), dtype=bool)
        inside[np.concatenate([order[starts[h] : starts[h + 1]] for h in near])] = True
        inside = _whole_groups(inside, groups)
        found = _solve(columns, values, objective, groups, inside, k)
        if found is not None:
            for rows in found:
                groups[rows] = free
                free += 1
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _whole_groups(inside: Any, groups: Ints) -> Any:
    """Restrict a window to groups that lie in it whole: earlier windows may have changed some."""
    partly = np.zeros(int(groups.max()) + 1, dtype=bool)
    partly[groups[~inside]] = True
    return inside & ~partly[groups]


def _solve(
    columns: Columns, values: Floats, objective: Objective, groups: Ints, inside: Any, k: int
) -> list[Ints] | None:
    """Return the rows of the groups of a better partition of a window, or None."""
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
    from scipy.sparse import csc_matrix

    if len(columns) == 0 or not inside.any():
        return None
    rows = np.flatnonzero(inside)
    fits = np.flatnonzero(np.logical_and.reduceat(inside[columns.rows], columns.starts[:-1]))
    own = group_rows(np.unique(groups[rows], return_inverse=True)[1])
    own_costs = errors_of_groups(values, objective, rows[own.order], own.starts, k)
    cost = float(own_costs.sum())
    sizes = np.concatenate([np.diff(own.starts), np.diff(columns.starts)[fits]])
    taken = np.repeat(columns.starts[fits], np.diff(columns.starts)[fits]) + _counting(np.diff(columns.starts)[fits])
    members = np.concatenate([rows[own.order], columns.rows[taken]])
    costs = np.concatenate([own_costs, columns.costs[fits]])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place = np.searchsorted(rows, members)
    matrix = csc_matrix((np.ones(len(place)), place, starts), shape=(len(rows), len(sizes)))
    relaxed = linprog(costs, A_eq=matrix, b_eq=np.ones(len(rows)), bounds=(0, None), method="highs")
    if relaxed.status != 0:
        return None
    worth = 1e-9 * max(cost, 1e-300)
    left = cost - relaxed.fun
    if left <= worth:
        return None
    reduced = costs - matrix.T @ relaxed.eqlin.marginals
    useful = np.flatnonzero(reduced < left)
    useful = np.sort(useful[np.argsort(reduced[useful], kind="stable")[:_COLUMNS]])
    chosen = np.flatnonzero(relaxed.x > 0.5)
    if np.abs(relaxed.x - np.rint(relaxed.x)).max() > 1e-6:
        solved = milp(
            costs[useful],
            constraints=LinearConstraint(matrix[:, useful], 1, 1),
            integrality=np.ones(len(useful)),
            bounds=Bounds(0, 1),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )
        if solved.x is None:
            return None
        chosen = useful[solved.x > 0.5]
    groups_found = [members[starts[c] : starts[c + 1]] for c in chosen]
    if costs[chosen].sum() >= cost - worth or len(np.concatenate(groups_found)) != len(rows):
        return None
    return groups_found
