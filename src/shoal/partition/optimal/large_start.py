"""Start of a large table, or of large groups: quick groups that annealing makes good, and never worse ones than MDAV.

All start from the densest groups (``dense_first``), for which the neighbours serve that annealing needs anyway: where
groups are small it does not matter after a hundred proposals for each record which fast method came first. Large groups
move as wholes or not at all: ``mst`` and ``k-ward``, where there is time for them (``expected_work``), find those that
fill clusters. What counts is how little their groups lose after a short annealing, or after some refining where groups
are so large that annealing founds none. MDAV is made of the whole table in any case: what the search returns never
loses more.

A table of which MDAV is done sooner than neighbours are found is not laid out at the start (``short_start``). Of large
groups it starts from ``mst`` where that groups some of the records better than MDAV.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.exchange import open_cells
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.k_ward import k_ward
from shoal.partition.large_groups import cut_large_groups
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.mst import mst
from shoal.partition.optimal.dense_first import dense_first
from shoal.partition.optimal.expected_work import (
    DESCENT,
    SLACKS,
    cells_refined,
    of_cells,
    of_descending,
    of_k_ward,
    of_proposal,
    of_spanning_tree,
)
from shoal.partition.optimal.large import FIRST, anneal_table, blocks_to_refine, hottest_of, refine_blocks
from shoal.partition.optimal.large_table import LargeTable, Outlook, lay_out, look_ahead
from shoal.partition.optimal.neighbour_counts import QUICK, founds_groups
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.problem import Problem, blocks_by_number, problem_of_rows
from shoal.partition.optimal.short_start import improve_in_short
from shoal.partition.search.pace import Lengths, Pace
from shoal.partition.search.searchable import TellCost, join_blocks

_HUGE = 150_000  # records from which the order in which they are looked at matters
_SOME = 50_000  # records up to which groups so large that none is founded are annealed at the start
_SMALL = 16  # k up to which it does not matter where to start
_RACING, _ANNEALING = 0.25, 0.2  # part of the seconds allowed for what is tried there, and for annealing each
_RACING_CLUSTERS, _RACING_TREE = 0.5, 0.7  # part of them where there are clusters, and for a tree, which finds these
_NEAR, _NEAR_GROUP = 2000, 20  # near records, and the size of groups of them, that tell whether there are clusters
_REFINED, _REFINED_CLUSTERS = 0.2, 0.75  # part of them for refining what is tried there, and where there are clusters
_TURNS = 48  # parts of that: the first turn of each that is refined, before the better ones have longer turns

Fast = Callable[[Records, int, Ints], Ints]


class Start(NamedTuple):
    """Groups of k to 2k - 1 records, which lose no more than MDAV of each block, and these.

    The table is laid out, unless there was no time for it; ``left`` are the seconds that are left of those allowed.
    """

    groups: Ints
    by_mdav: Ints
    outlook: Outlook
    table: LargeTable | None
    left: float


class _Racing(NamedTuple):
    """Groups that are refined, what they cost, and whether nothing more is gained."""

    cost: float
    groups: Ints
    ended: bool = False


def start_large(problem: Problem, threads: int, tell: TellCost | None = None) -> Start:
    """Return where to start, as if the means of complete records were released; it is told what groups cost so far.

    It takes no longer beside MDAV than it may; where that is too short for laying the table out, groups of MDAV are
    improved.
    """
    outlook = look_ahead(problem)
    if outlook.left <= 0.0:
        by_mdav = _mdav_by_place(problem, outlook.order)
        quick, taken = _quick_in_short(problem, outlook, by_mdav)
        spared = outlook._replace(allowed=outlook.allowed - taken)
        groups = improve_in_short(problem, spared, quick, threads, tell)
        return Start(_by_row(groups, outlook.order), _by_row(by_mdav, outlook.order), outlook, None, 0.0)
    laid_out: list[LargeTable] = []

    def beside() -> Ints:
        laid_out.append(lay_out(problem, outlook, max(1, threads - 1)))
        return outlook.order

    tasks: list[Callable[[], Ints]] = [partial(_mdav_by_place, problem, outlook.order), beside]
    made = run_watched(tasks, [], threads)
    assert made is not None
    if tell:
        tell(_cost(laid_out[0], made[0]))
    best, taken = _best_quick(problem, laid_out[0], made[0], threads)
    by_row, by_mdav = (_by_row(groups, outlook.order) for groups in (best, made[0]))
    return Start(by_row, by_mdav, outlook, laid_out[0], outlook.left - taken)


def _quick_in_short(problem: Problem, outlook: Outlook, by_mdav: Ints) -> tuple[Ints, float]:
    """Return the groups of a spanning tree where these lose less and there is time for them, and what they take."""
    n, d = problem.points.shape
    seconds = _seconds_of(problem, of_spanning_tree)
    if problem.k <= _SMALL or seconds + DESCENT * of_descending(n, d, problem.k) > outlook.allowed:
        return by_mdav, 0.0
    if not _has_clusters(problem, outlook.order):
        return by_mdav, 0.0
    parts = blocks_by_number(problem.blocks)
    labels = [_partition(mst, problem.points[rows], problem.k) for rows in parts]
    by_tree = join_blocks(parts, labels)[outlook.order]
    in_order = problem_of_rows(problem, outlook.order)
    return min([by_tree, by_mdav], key=in_order.cost), seconds


def start_again(problem: Problem, outlook: Outlook, groups: Ints, threads: int) -> tuple[Ints, LargeTable]:
    """Return groups that lose no more than those that are there already, and the table laid out."""
    table = lay_out(problem, outlook, threads)
    best, _ = _best_quick(problem, table, number_keys(groups[table.order])[0], threads)
    return _by_row(best, table.order), table


def _best_quick(problem: Problem, table: LargeTable, known: Ints, threads: int) -> tuple[Ints, float]:
    """Return quick groups of the places, or those that are ``known`` where these lose less.

    And the seconds that this takes beside laying the table out and making the densest groups.
    """
    taken = 0.0
    if problem.k <= _SMALL:
        dense = table.outlook.densest <= table.outlook.allowed - table.outlook.laying_out
        quick = _descend(table, _of_blocks(problem, table, None) if dense else known, threads)
    else:
        quick, taken = _race(problem, table, known, threads)
    return min([quick, known], key=partial(_cost, table)), taken


def _by_row(groups: Ints, order: Ints) -> Ints:
    """Return the group of each row from that of each place."""
    by_row = np.empty_like(groups)
    by_row[order] = groups
    return by_row


def _mdav_by_place(problem: Problem, order: Ints) -> Ints:
    """Return the groups (n,) of MDAV at each place.

    A huge table is partitioned in the order of its places, which is twice as fast: only ties are broken in another way.
    """
    return _mdav(problem_of_rows(problem, order)) if len(problem) > _HUGE else _mdav(problem)[order]


def _of_blocks(problem: Problem, table: LargeTable, method: Fast | None) -> Ints:
    """Return the groups of a fast method, or the densest where there is none, of each block."""
    parts, k = blocks_by_number(problem.blocks[table.order]), problem.k  # places of a block follow each other
    values, near = table.values, table.neighbours
    if method:
        return join_blocks(parts, [_partition(method, values[own], k) for own in parts])
    slack = SLACKS[table.slack]
    return join_blocks(parts, [dense_first(values[own], near[own] - np.int32(own[0]), k, slack) for own in parts])


def _race(problem: Problem, table: LargeTable, by_mdav: Ints, threads: int) -> tuple[Ints, float]:
    """Return the groups that lose least of those of the fast methods there is time for, and the seconds it takes.

    They are annealed for a moment, and refined where annealing alone does not get their number right. Where groups are
    large, MDAV is as good a start for many records as the densest groups, and there already.
    """
    (n, d), k, most = table.values.shape, problem.k, table.outlook.allowed
    descending = _descent_of(table)[0] * n * of_proposal(n, d, k)
    clusters = _has_clusters(problem, table.order)
    fast, taken = _tried(problem, table, descending, clusters)
    made = run_watched([partial(_of_blocks, problem, table, method) for method in fast], [], threads)
    assert made is not None
    if not made or (not clusters and taken + descending <= _RACING * most):
        made.append(by_mdav)
        taken += descending
    starts = [_descend(table, groups, threads) for groups in made]
    if not founds_groups(n, k):
        others = made if made[-1] is by_mdav else [*made, by_mdav]
        best, seconds = _refined(problem, table, [*starts, *others], clusters=mst in fast)
        return best, taken + seconds
    return min(starts, key=partial(_cost, table)), taken


def _tried(problem: Problem, table: LargeTable, descending: float, clusters: bool) -> tuple[list[Fast | None], float]:
    """Return the methods there is time for, and the seconds of these, each with as many for ``descending``.

    None stands for the densest groups, which were told with laying the table out. A spanning tree finds clusters, and
    groups nothing else well: where there are some it comes first.
    """
    (n, d), most = table.values.shape, table.outlook.allowed
    fast: list[Fast | None] = [None] if n <= _SOME else []
    taken = len(fast) * descending - DESCENT * of_descending(n, d, problem.k)
    if clusters:
        room = most - table.outlook.laying_out
        with_tree = taken + _seconds_of(problem, of_spanning_tree) + descending
        if fast and with_tree > min(_RACING_CLUSTERS * most, room - table.outlook.densest):
            fast, with_tree = [], with_tree - descending
        if with_tree <= min(_RACING_TREE * most, room):
            fast, taken = [*fast, mst], with_tree
        elif n <= _SOME:
            fast = [None]
    merging = _seconds_of(problem, of_k_ward) + descending
    if taken + merging <= (_RACING_CLUSTERS if clusters else _RACING) * most:
        fast.append(k_ward)
        taken += merging
    return fast, taken


def _seconds_of(problem: Problem, of: Callable[[int, int], float]) -> float:
    """Return the seconds of a method for all blocks, each of which takes so many."""
    return sum(of(int(records), problem.points.shape[1]) for records in np.bincount(problem.blocks))


def _has_clusters(problem: Problem, order: Ints) -> bool:
    """Whether a spanning tree groups some near records better than MDAV does, as it does where they are in clusters.

    They are of the largest block, each of those that are equal once, and put into small groups: one that is larger than
    a cluster has parts of several, which a tree joins badly.
    """
    blocks = problem.blocks[order]
    largest = order[blocks == np.bincount(blocks).argmax()]
    start = max(0, (len(largest) - _NEAR) // 2)
    points = np.unique(problem.points[largest[start : start + _NEAR]], axis=0)
    k = min(problem.k, _NEAR_GROUP)
    near = Problem(points, None, np.zeros(len(points), dtype=np.int64), None, k)
    by_tree, by_mdav = (near.cost(_partition(method, near.points, k)) for method in (mst, mdav))
    return by_tree < by_mdav


def _refined(problem: Problem, table: LargeTable, starts: list[Ints], *, clusters: bool) -> tuple[Ints, float]:
    """Return the best of the starts, refined as long as that pays, and the seconds that it takes.

    What a start costs before it is refined says little: groups of ``mst`` that cost twice as much as others are the
    best when those that are too small have been dissolved. So all of them are refined for a turn, the better half for
    another one twice as long, and so on (successive halving), until one is left that goes on to the end.

    Source: Z. Karnin, T. Koren and O. Somekh, Almost optimal exploration in multi-armed bandits, ICML 2013.
    """
    n, d = table.values.shape
    parts = blocks_by_number(problem.blocks[table.order])
    blocks = blocks_to_refine(table.values, parts, problem.k)
    most = (_REFINED_CLUSTERS if clusters else _REFINED) * table.outlook.allowed
    left = cells_refined(n, d, most)
    turn = left // _TURNS
    racing = [_Racing(_cost(table, groups), groups) for groups in starts]
    while left > 0 and not all(one.ended for one in racing):
        for place, one in enumerate(racing):
            if left > 0 and not one.ended:
                cells = open_cells(min(turn, left))
                left -= int(cells[0])
                groups = refine_blocks(blocks, parts, one.groups, problem.k, cells)
                left += int(cells[0])
                racing[place] = _Racing(_cost(table, groups), groups, bool(cells[0] > 0))
        racing.sort(key=lambda one: one.cost)
        del racing[(len(racing) + 1) // 2 :]
        turn *= 2
    return racing[0].groups, most - of_cells(n, d, max(left, 0))


def _mdav(problem: Problem) -> Ints:
    """MDAV of each block, in the order of the rows: ties are broken as MDAV does."""
    blocks = blocks_by_number(problem.blocks)
    return join_blocks(blocks, [_partition(mdav, problem.points[rows], problem.k) for rows in blocks])


def _partition(method: Fast, values: Floats, k: int) -> Ints:
    """Return groups of k to 2k - 1 records."""
    if len(values) < 2 * k:
        return np.zeros(len(values), dtype=np.int64)
    records = Records(np.ascontiguousarray(values))
    return cut_large_groups(records, method(records, k, new_watch()), k, mdav_single)


def _descend(table: LargeTable, groups: Ints, threads: int) -> Ints:
    """Take improvements only, for a moment; some annealing where groups are so large that none is ever founded."""
    start = number_keys(groups)[0]  # near groups have near numbers
    passes, hottest = _descent_of(table)
    pace = Pace(None, Lengths(DESCENT))
    found = anneal_table(table, start, passes, (0,), hottest=hottest, threads=threads, pace=pace)
    assert found is not None
    found = number_keys(found)[0]
    return found if _cost(table, found) < _cost(table, start) else start


def _descent_of(table: LargeTable) -> tuple[int, float]:
    """Return proposals for each record, and the temperature to begin with.

    Where groups are so large that none is ever founded, it matters how many there are: they are annealed.
    """
    n, d = table.values.shape
    if table.k <= table.neighbours.shape[1] or n > _SOME:
        return DESCENT, 0.0
    most = int(_ANNEALING * table.outlook.allowed / n / of_proposal(n, d, table.k))
    passes = int(np.clip(most, DESCENT, FIRST if n * table.k <= QUICK else 3 * DESCENT))
    return passes, hottest_of(passes)


def _cost(table: LargeTable, groups: Ints) -> float:
    return float(errors_of_groups(table.values, None, *group_rows(groups), table.k).sum())
