"""Combine: a partition put together from groups that many searches have seen.

No single search has all the good groups, but together they have: the linear relaxation on the groups of some hundred
short searches comes within 0.1 percent of that on all groups there are. So it says which groups belong together. A
partition is drawn from it by diving: take the groups that the relaxation takes whole and a tenth of the others, those
with the largest shares; drop what overlaps them; solve the relaxation of what is left, and so on. The last records, or
all of a tiny table, are left to an integer program. HiGHS (through scipy) solves both. The effort is limited in nodes,
never in seconds, so that the same search gives the same result; where the time of a search is over, nothing is drawn.

A few records end in no group. They join the nearest groups that have room, and the groups around them, the window, are
annealed once more.

Source of diving: C. Joncour, S. Michel, R. Sadykov, D. Sverdlov and F. Vanderbeck, Column generation based primal
heuristics, Electronic Notes in Discrete Mathematics 36, 2010.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.seen_groups import SeenGroups, matrix_of, relax, trim

_MOST = 12  # times n: groups from which those that cost too much are dropped
_WHOLE = 0.999  # share from which a group counts as taken whole
_TENTH = 0.1  # part of the other groups with a share that is taken too
_MIXED = 0.003  # by how much chance changes the order of shares
_APART = 3.0  # times the cost of the dearest group: what a record costs that is in no group
LAST = 60  # records that are left to an integer program
_FEW, _NODES = 600, 20  # its limits
_AROUND = 20  # neighbours of a record that was left whose groups are in the window


class Drawn(NamedTuple):
    """A partition made of groups seen, -1 for records in none, and these groups, without those that cost too much."""

    groups: Ints
    seen: SeenGroups


def draw(
    seen: SeenGroups, n: int, rng: np.random.Generator, noise: float = 0.0, until: float | None = None
) -> Drawn | None:
    """Draw a partition of n records from groups seen; None where the relaxation was not solved.

    ``noise`` is the part of its cost by which chance changes each group's, so that other partitions are drawn. What is
    drawn is of no use after the moment ``until`` of the monotonic clock.
    """
    costs = seen.costs * (1.0 + noise * rng.normal(size=len(seen)))
    matrix = matrix_of(seen, n)
    by_row = matrix.tocsr()
    apart = _APART * float(costs.max())
    rows, live, chosen = np.arange(n), np.arange(len(seen)), []
    kept = seen
    while len(rows) and len(live):
        part = by_row[rows][:, live].tocsc()
        if len(rows) <= LAST:
            chosen.append(live[_best_of_few(part, costs[live], apart)])
            break
        relaxed = relax(_with_slack(part), np.concatenate([costs[live], np.full(len(rows), apart)]), until)
        if relaxed is None or (until is not None and time.monotonic() > until):
            return None
        if len(rows) == n:
            kept = trim(seen, relaxed.prices, _MOST * n)
        taken = live[_largest_shares(part, relaxed.shares[: len(live)], rng)]
        if len(taken) == 0:
            break
        chosen.append(taken)
        used = np.asarray(matrix[:, taken].sum(axis=1)).ravel() > 0
        rows = rows[~used[rows]]
        live = live[np.asarray(matrix[:, live].T @ used.astype(np.float64)).ravel() == 0.0]
    groups = np.full(n, -1, dtype=np.int64)
    for g, c in enumerate(np.concatenate(chosen) if chosen else []):
        groups[seen.rows[seen.starts[c] : seen.starts[c + 1]]] = g
    return Drawn(groups, kept)


def _with_slack(matrix: Any) -> Any:
    """Add a group for each record alone."""
    from scipy.sparse import hstack, identity

    return hstack([matrix, identity(matrix.shape[0], format="csc")], format="csc")


def _largest_shares(matrix: Any, shares: Floats, rng: np.random.Generator) -> Ints:
    """Return groups that do not overlap: those taken whole and some of those with the largest shares."""
    whole = np.flatnonzero(shares > _WHOLE)
    used = np.asarray(matrix[:, whole].sum(axis=1)).ravel() > 0
    parts = np.flatnonzero((shares <= _WHOLE) & (shares > 1e-6))
    parts = parts[np.argsort(-shares[parts] - _MIXED * rng.uniform(size=len(parts)), kind="stable")]
    taken: list[int] = []
    for c in parts:
        if len(taken) >= max(1, int(_TENTH * len(parts))):
            break
        rows = matrix.indices[matrix.indptr[c] : matrix.indptr[c + 1]]
        if not used[rows].any():
            used[rows] = True
            taken.append(int(c))
    return np.concatenate([whole, np.array(taken, dtype=np.int64)])


def _best_of_few(matrix: Any, costs: Floats, apart: float) -> Ints:
    """Return the groups of the best partition of a few records that the integer program finds."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    matrix = _with_slack(matrix)
    few = len(costs)
    costs = np.concatenate([costs, np.full(matrix.shape[0], apart)]) / (float(costs.mean()) or 1.0)
    relaxed = relax(matrix, costs)
    if relaxed is None:
        return np.zeros(0, dtype=np.int64)
    reduced = costs[:few] - matrix[:, :few].T @ relaxed.prices
    useful = np.sort(np.argsort(reduced, kind="stable")[:_FEW])
    useful = np.concatenate([useful, np.arange(few, len(costs))])
    solved = milp(
        costs[useful],
        constraints=LinearConstraint(matrix[:, useful], 1, 1),
        integrality=np.ones(len(useful)),
        bounds=Bounds(0, 1),
        options={"node_limit": _NODES, "mip_rel_gap": 0.0},
    )
    if solved.x is None:
        return np.zeros(0, dtype=np.int64)
    chosen: Ints = useful[solved.x > 0.5]
    return chosen[chosen < few]


def fill(part: Problem, groups: Ints, near: Ints) -> tuple[Ints, Ints] | None:
    """Put records of no group (-1) into the nearest ones with room; return groups, and the rows of the window.

    ``near`` (n, m) are rows near each row. None where there is no room.
    """
    left = np.flatnonzero(groups < 0)
    if len(left) == len(groups):
        return None
    groups = groups.copy()
    values = part.values
    sizes = np.bincount(groups[groups >= 0]).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups[groups >= 0], values[groups >= 0])
    for row in left:
        joining = ((values[row] - sums / sizes[:, None]) ** 2).sum(axis=1) * sizes / (sizes + 1.0)
        joining[sizes >= 2 * part.k - 1] = np.inf
        home = int(joining.argmin())
        if not np.isfinite(joining[home]):
            return None
        groups[row] = home
        sizes[home] += 1.0
        sums[home] += values[row]
    window = np.zeros(len(sizes), dtype=bool)
    window[groups[left]] = True
    window[groups[near[left, :_AROUND]].ravel()] = True
    return groups, np.flatnonzero(window[groups])
