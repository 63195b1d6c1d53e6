"""Start of a large table: the fast methods race, and the best is made better before the annealing begins.

No fast method wins everywhere: ``hdf`` on evenly spread records, ``mst`` and ``tfrp`` on clusters, ``k-ward`` where
groups are large, MDAV among outliers. What counts is not how little its groups lose but how little they do after a
short descent. All are tried on the whole of a table of up to some ten thousand records. Of a larger one they are tried
on two samples, each a place with all the records there, and the winner partitions the table, a huge one in parts. MDAV
is made of the whole table in any case: what the search returns never loses more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.density import hdf
from shoal.partition.k_ward import k_ward
from shoal.partition.large_groups import cut_large_groups
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.mst import mst
from shoal.partition.optimal.large import (
    FIRST,
    QUICK,
    LargeTable,
    anneal_table,
    by_place,
    hottest_of,
    lay_out,
)
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem, problem_of_rows
from shoal.partition.refine import refine
from shoal.partition.search.pace import Lengths, Pace
from shoal.partition.search.searchable import join_blocks
from shoal.partition.tfrp import tfrp

_PART = 150_000  # records that the winner of the race partitions together: what is left last, at borders, is costly
_ALL = 16_384  # records up to which all methods partition the whole table
_SAMPLE = 3000  # records of a sample
_SMALL = 16  # k up to which hdf is quick
_REFINED = 150_000  # records times k up to which refining takes a moment; it moves whole clusters of fewer than k
_DESCENT = 20  # proposals for each record that judge a start

Fast = Callable[[Records, int, Ints], Ints]


def start_large(problem: Problem, threads: int) -> tuple[Ints, LargeTable]:
    """Return groups of k to 2k - 1 records, which lose no more than MDAV of each block, and the table laid out."""
    order = np.concatenate([rows[by_place(problem.points[rows])] for rows in _blocks(problem)])
    table = lay_out(problem, order, threads)
    parts = _parts(problem.blocks[order])
    fast: list[Fast] = [hdf if problem.k <= _SMALL else k_ward, mst, tfrp]
    if len(problem) > _ALL:
        fast = [_winner(problem, order, fast, threads)]
    # a huge table in the order of its places, which is twice as fast: only ties are broken in another way
    huge = len(problem) > _PART
    tasks: list[Callable[[], Ints]] = [partial(_mdav, problem_of_rows(problem, order) if huge else problem)]
    for method in fast:
        tasks += [partial(_partition, method, table.values[rows], problem.k) for rows in parts]
    made = run_watched(tasks, [], threads)
    assert made is not None
    by_mdav = made[0] if huge else made[0][order]
    best, least = by_mdav, _cost(table, by_mdav)
    for i in range(len(fast)):
        tried = _descend(table, join_blocks(parts, made[1 + i * len(parts) : 1 + (i + 1) * len(parts)]), threads)
        cost = _cost(table, tried)
        if cost < least:
            best, least = tried, cost
    if len(fast) > 1 or best is by_mdav:
        tried = _descend(table, by_mdav, threads)
        best = tried if _cost(table, tried) < least else best
    if problem.k > _SMALL and len(problem) * problem.k <= _REFINED and len(parts) == 1:
        refined = [refine(Records(table.values), start, problem.k, new_watch()) for start in (best, by_mdav)]
        best = min([best, *refined], key=partial(_cost, table))
    groups = np.empty_like(best)
    groups[order] = best
    return groups, table


def _blocks(problem: Problem) -> list[Ints]:
    """Return the rows of each block, blocks by their numbers: what is drawn depends on the order."""
    order = np.argsort(problem.blocks, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(problem.blocks[order])) + 1)


def _parts(blocks: Ints) -> list[Ints]:
    """Return places that are partitioned together: blocks, which follow each other, in equal parts."""
    parts = []
    for rows in np.split(np.arange(len(blocks)), np.flatnonzero(np.diff(blocks)) + 1):
        parts += np.array_split(rows, -(-len(rows) // _PART))
    return parts


def _winner(problem: Problem, order: Ints, fast: list[Fast], threads: int) -> Fast:
    """Return the method that loses least on two samples."""
    lost = np.zeros(len(fast))
    for at in (len(order) // 4, 5 * len(order) // 8):
        rows = order[at : at + _SAMPLE]
        sample = problem_of_rows(problem, rows)
        sample = Problem(sample.values, None, np.zeros_like(sample.blocks), None, problem.k)
        table = lay_out(sample, np.arange(len(rows)), threads)
        made = run_watched([partial(_partition, method, table.values, problem.k) for method in fast], [], threads)
        assert made is not None
        lost += [sample.cost(_descend(table, groups, threads)) for groups in made]
    return fast[int(np.argmin(lost))]


def _mdav(problem: Problem) -> Ints:
    """MDAV of each block, in the order of the rows: ties are broken as MDAV does."""
    blocks = _blocks(problem)
    return join_blocks(blocks, [_partition(mdav, problem.points[rows], problem.k) for rows in blocks])


def _partition(method: Fast, values: Floats, k: int) -> Ints:
    """Return groups of k to 2k - 1 records."""
    if len(values) < 2 * k:
        return np.zeros(len(values), dtype=np.int64)
    records = Records(np.ascontiguousarray(values))
    return cut_large_groups(records, method(records, k, new_watch()), k, mdav_single)


def _descend(table: LargeTable, groups: Ints, threads: int) -> Ints:
    """Take improvements only, for a moment.

    Where groups are so large that none is ever founded, it matters how many there are: few quick groups are annealed.
    """
    pace = Pace(None, Lengths(_DESCENT))
    start = number_keys(groups)[0]  # near groups have near numbers
    few = table.k > table.neighbours.shape[1] and len(groups) * table.k <= QUICK
    passes, hottest = (FIRST, hottest_of(FIRST)) if few else (_DESCENT, 0.0)
    found = anneal_table(table, start, passes, (0,), hottest=hottest, threads=threads, pace=pace)
    assert found is not None
    found = number_keys(found)[0]
    return found if _cost(table, found) < _cost(table, start) else start


def _cost(table: LargeTable, groups: Ints) -> float:
    return float(errors_of_groups(table.values, None, *group_rows(groups), table.k).sum())
