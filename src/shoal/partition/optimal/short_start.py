"""Start of a table for which there is little time: the groups of MDAV, improved by going to near groups.

MDAV with large groups takes two microseconds a record, and finding the neighbours of a record takes three. The near
groups of a group are found in no time, since there are few: a record is given a member of each of those near its own
instead of neighbours, and takes improvements only, for as long as there is time.

Cost: O(n m d) for m near groups, and the proposals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.group_sums import group_sums
from shoal.kernels.numbering import number_keys
from shoal.kernels.pool import open_pool
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.expected_work import DESCENT, SLACKS, of_descending, of_near_groups, of_neighbours
from shoal.partition.optimal.improve import find_neighbours
from shoal.partition.optimal.large import FIRST, anneal_table
from shoal.partition.optimal.large_table import LargeTable, Outlook, affordable
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.pace import Lengths, Pace, TellCycle
from shoal.partition.search.searchable import TellCost

_NEAR = 10  # groups near a group
_LOOKING = 0.3  # part of the seconds allowed that finding them may take
_SEARCHING = 0.55  # part of the seconds that are left
_CHUNK = 20_000  # records at a time, which fit into the fast memory


def improve_in_short(
    problem: Problem, outlook: Outlook, groups: Ints, threads: int, tell: TellCost | None = None
) -> Ints:
    """Return better groups (n,) of the places of a table in the seconds that are allowed beside MDAV."""
    values, k = np.ascontiguousarray(problem.points[outlook.order]), problem.k
    n, d = values.shape
    groups = number_keys(groups)[0]  # near groups have near numbers
    near, looking, slack = near_members(values, groups, problem.blocks[outlook.order], _LOOKING * outlook.allowed)
    left = _SEARCHING * (outlook.allowed - of_near_groups(n, d, looking))
    passes = int(np.clip(left / of_descending(n, d, k), DESCENT, FIRST))
    table = LargeTable(outlook, values, near, np.ones(n), k, slack)
    progress: TellCycle | None = None
    if tell:
        cost = float(errors_of_groups(values, None, *group_rows(groups), k).sum())
        progress = lambda part, saved: tell(cost - saved)  # noqa: E731 - a function only where somebody listens
    pace = Pace(None, Lengths(DESCENT))
    found = anneal_table(table, groups, passes, (0,), hottest=0.0, threads=threads, pace=pace, progress=progress)
    assert found is not None  # there is no time that could run out
    return number_keys(found)[0]


def near_members(values: Floats, groups: Ints, blocks: Ints, seconds: float) -> tuple[NDArray[np.int32], float, int]:
    """Return a member (n, m) of each of the groups that are near each record, the nearest group first.

    And the seconds that finding near groups takes, at most so many if a slack allows it, and which slack that is.
    Groups of another block, which ``blocks`` (n,) tell apart, stand for the record itself.
    """
    sums, sizes = group_sums(values, groups)
    centroids = np.ascontiguousarray(sums / sizes[:, None])
    rows, starts = group_rows(groups)
    counts = np.diff(starts)
    near = np.zeros((len(counts), max(1, min(_NEAR, len(counts) - 1))), dtype=np.int32)
    pool = open_pool(centroids)
    looking = of_neighbours(pool, near.shape[1])
    slack = affordable(looking, seconds)
    if len(counts) > 1:
        find_neighbours(pool, 0, len(counts), near, np.empty(len(counts)), 1, SLACKS[slack])
    members = np.empty((len(values), near.shape[1]), dtype=np.int32)
    for first in range(0, len(values), _CHUNK):
        own = np.arange(first, min(first + _CHUNK, len(values)))
        others = near[groups[own]]
        squares = ((centroids[others] - values[own, None, :]) ** 2).sum(axis=2)
        others = np.take_along_axis(others, np.argsort(squares, axis=1, kind="stable"), axis=1)
        found = rows[starts[others] + own[:, None] % counts[others]]
        members[own] = np.where(blocks[found] == blocks[own, None], found, own[:, None])
    return members, float(looking[slack]), slack
