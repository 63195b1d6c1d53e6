"""A large table, or large groups: one annealing of all of it at a time, in regions whose borders move.

In five columns a region of two thousand records is nearly all border: searched in such regions, twenty thousand records
lose as much with 3000 proposals each as they lose with 400 without borders. So a cycle is one annealing of the table in
place (``large_annealing``), longer than all cycles before it together, and every independent part that got better is
kept. Groups seen are not combined: relaxations of that size take longer than what they gain, and where groups are large
hardly any is seen twice.

Memory: 4 m n bytes for m neighbours of each record, and some 100 n for the groups.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.draws import open_stream
from shoal.kernels.numbering import number_keys
from shoal.kernels.pool import Pool, open_pool
from shoal.kernels.representatives import group_rows
from shoal.kernels.tree import open_tree_pool
from shoal.kernels.watch import DONE, new_watch
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.expected_work import (
    SLACKS,
    allowed,
    of_neighbours,
    of_proposal,
    of_refining,
    tried_of,
)
from shoal.partition.optimal.improve import find_neighbours, renumbered
from shoal.partition.optimal.large_annealing import Levels, Partition, anneal_region, enter_all
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.pace import Lengths, Pace, TellCycle

FIRST = 100  # proposals for each record in the first cycle
_FIRST_STEPS = 3e6  # proposals in it at most
_GROWTH = 8
_MOST_PASSES = 3000  # by default
_RECORD, _COLUMN = 4e-6, 5e-7  # seconds of the start for each record, and for each of its columns
_SEARCHING = 0.6  # part of the seconds that are left after it
_REFINING, _BESIDE = 0.65, 0.3  # part of the seconds allowed, and of those of a cycle, that refining may take
_DESCENT = 10  # the fewest proposals that gain something
_LOOKING, _BETTER = 0.4, 0.1  # part of the seconds allowed, and of those of a cycle, that neighbours may take
_SOONER = 1.3  # times the seconds of a lesser slack, from which a larger one saves enough
_WHOLE, _REGION = 50_000, 100_000  # records of a table that is one region, and of a region of a huge one
_HALF = 0.56  # part of a table between these that is a region: two cores, and as little border as that leaves
_TURNS = 4  # proposals for a record in a row
_PHASES = 12  # times that regions are cut in a cycle
_QUENCH = 0.1  # part of the proposals at the end that take improvements only
_MORE, _MOST = 5, 64  # neighbours of a record: so many more than k at least, and at most
_SPARSE = 24  # neighbours where k is above that, and no group can be founded by neighbours
_MANY = (
    1_000_000  # records times k from which that is so for all large k: finding neighbours would take most of the time
)
_LARGE = 16  # k from which other groups are beyond the nearest neighbours
QUICK = 500_000  # records times k up to which more neighbours than that are found in a moment
_COLDEST = 0.04  # times the square of the distance to the k-th neighbour
_LEAST, _GREATEST = 0.01, 1e6  # times the median square: nearer and farther neighbours count as that far


@dataclass(frozen=True)
class LargeTable:
    """A table in an order in which neighbours follow each other.

    Attributes
    ----------
    order : int64 (n,)
        The row of the table at each place.
    values : float64 (n, d)
        The records in that order.
    neighbours : int32 (n, m)
        Places near each place, nearest first, of its own block.
    scales : float64 (n,)
        Squared distance to the k-th neighbour.
    k : int
        Smallest group.
    slack : int
        By how much neighbours may be off, one of ``SLACKS``.
    looking : float64 (slacks,)
        Seconds that finding neighbours takes with each slack.
    """

    order: Ints
    values: Floats
    neighbours: NDArray[np.int32]
    scales: Floats
    k: int
    slack: int
    looking: Floats


def lengths(records: int) -> Lengths:
    """Return how long cycles are: the first of a huge table is to take a second or so."""
    return Lengths(int(np.clip(_FIRST_STEPS / records, _DESCENT, FIRST)), growth=_GROWTH)


def usual_passes(records: int, columns: int, k: int) -> int:
    """Return the number of proposals for each record with which a search takes at most a second more than MDAV twice.

    >>> usual_passes(8000, 5, 3) > usual_passes(100_000, 5, 3) > usual_passes(1_000_000, 5, 3)
    True
    """
    left = allowed(records, columns, k) - (_RECORD + _COLUMN * columns) * records
    refining = of_refining(records, columns, k)
    if k > _width(records, k) and refining <= _REFINING * allowed(records, columns, k):
        left -= refining
    left *= _SEARCHING
    return int(np.clip(left / records / of_proposal(records, columns, k), _DESCENT, _MOST_PASSES))


def by_place(points: Floats) -> Ints:
    """Return rows in the order of the leaves of a tree: near ones follow each other."""
    tree = open_tree_pool(points)
    return np.argsort(tree.slots[tree.place_of], kind="stable")


def lay_out(problem: Problem, order: Ints, threads: int, passes: int = 0) -> LargeTable:
    """Put a table into an order, in which blocks follow each other, and find the neighbours of its records.

    They are as near as there is time for in a search of the usual length, or in a cycle of so many ``passes``.
    """
    values, k = np.ascontiguousarray(problem.points[order]), problem.k
    n, d = values.shape
    width = _width(n, k)
    starts = np.flatnonzero(np.diff(problem.blocks[order], prepend=-1, append=-1)).tolist()
    pools = [open_pool(values[start:stop]) for start, stop in pairwise(starts)]
    reaches = [_reach(len(pool.values), k, width) for pool in pools]
    looking = np.sum([of_neighbours(pool, reach) for pool, reach in zip(pools, reaches, strict=True)], axis=0)
    slack = _affordable(looking, _seconds(n, d, k, passes) if passes else _usual_seconds(n, d, k, looking))
    neighbours, scales = np.empty((n, width), dtype=np.int32), np.zeros(n)
    for start, pool, reach in zip(starts, pools, reaches, strict=False):
        stop = start + len(pool.values)
        near = np.zeros((stop - start, max(1, reach)), dtype=np.int32)  # a single record is its own neighbour
        if reach:
            _find(pool, near, scales[start:stop], min(k, reach), SLACKS[slack], threads)
        if reach > width:  # every one of the nearest, and some of those beyond, where other groups are
            half = width // 2
            beyond = np.linspace(half, reach - 1, width - half).astype(np.int64)
            near = near[:, np.concatenate([np.arange(half), beyond])]
        # a block smaller than that has its records several times
        neighbours[start:stop] = np.tile(near, (1, -(-width // near.shape[1])))[:, :width] + start
    usual = scales[(scales > 0.0) & np.isfinite(scales)]
    median = float(np.median(usual)) if len(usual) else 1.0
    scales = np.clip(scales, _LEAST * median, _GREATEST * median)
    return LargeTable(order, values, neighbours, scales, k, slack, looking)


def with_nearer_neighbours(problem: Problem, table: LargeTable, passes: int, threads: int) -> LargeTable:
    """Return a table whose neighbours are as near as there is time for in a cycle: the longer it is, the nearer."""
    n, d = table.values.shape
    seconds = _seconds(n, d, table.k, passes)
    if _affordable(table.looking, seconds) >= table.slack:
        return table
    return lay_out(problem, table.order, threads, passes)


def refined_after(records: int, columns: int, k: int, passes: int) -> bool:
    """Whether groups are refined after a cycle: those so large that no annealing founds or dissolves one.

    There must be time for it, in a search of the usual length or beside the cycle.
    """
    most = max(_REFINING * allowed(records, columns, k), _BESIDE * passes * records * of_proposal(records, columns, k))
    return k > _width(records, k) and passes > FIRST and of_refining(records, columns, k) <= most


def _width(records: int, k: int) -> int:
    """Return how many neighbours of a record are kept."""
    dense = k < _LARGE or (k <= _MOST and records * k <= _MANY)
    return min(k + max(_MORE, k // 2), _MOST if dense else _SPARSE)


def _reach(records: int, k: int, width: int) -> int:
    """Return how many neighbours are looked for in a block."""
    beyond = k >= _LARGE and records * k <= QUICK
    return min(max(width, 3 * k) if beyond else width, records - 1)


def _affordable(looking: Floats, seconds: float) -> int:
    """Return which slack is the least with which neighbours are found in so many seconds, the exact ones left out.

    One that saves little time beside a lesser one is not taken: groups of far neighbours are a bad start.
    """
    enough = np.flatnonzero(looking[1:] <= seconds)
    soonest = looking[1 + enough[0]] if len(enough) else looking[-1]
    return 1 + int(np.flatnonzero(looking[1:] <= _SOONER * soonest)[0])


def _seconds(n: int, d: int, k: int, passes: int) -> float:
    """Return the seconds that neighbours may take in a cycle."""
    return _BETTER * passes * n * of_proposal(n, d, k)


def _usual_seconds(n: int, d: int, k: int, looking: Floats) -> float:
    """Return those of the start: MDAV finds the exact neighbours of every k-th record, of half of them on the mean."""
    return _LOOKING * max(allowed(n, d, k), allowed(0, d, k) + looking[0] / (2 * k))


def _find(pool: Pool, neighbours: NDArray[np.int32], scales: Floats, rank: int, slack: float, threads: int) -> None:
    """Fill in the neighbours of all rows, and the squared distances to those of a rank."""

    def find(pool: Pool, start: int, stop: int) -> None:
        find_neighbours(pool, start, stop, neighbours, scales, rank, np.float32(slack))

    search_in_chunks(pool, find, len(neighbours), threads)


def hottest_of(passes: int) -> float:
    """Return the temperature at which a record has its first turns, times the square of its distance to others.

    The longer an annealing, the more of the groups it may forget.
    """
    return float(np.clip(0.3 * (max(passes, 1) / 1000.0) ** (1.0 / 6.0), 0.15, 0.5))


def levels_of(scales: Floats, passes: int, hottest: float, coldest: float = _COLDEST) -> Levels:
    """Return the levels of an annealing with so many proposals for each record; from 0 it takes improvements only.

    >>> levels = levels_of(np.array([1.0, 1.0]), 100, 0.5)
    >>> int(levels.proposals.sum()), int(levels.proposals[levels.temperatures == 0.0].sum())
    (100, 10)
    """
    quench = max(1, round(_QUENCH * passes)) if hottest > 0.0 else passes
    cooling = passes - quench
    own = max(1, -(-cooling // _TURNS))  # levels at which a record has its turns
    temperatures, count = np.zeros(0), 0
    if cooling:
        fall = np.log(hottest / coldest) / own
        count = own + int(np.ceil(np.log(scales.max() / scales.min()) / fall))
        temperatures = hottest * scales.max() * np.exp(-fall * (np.arange(count) + 0.5))
    still = -(-quench // _TURNS)
    return Levels(
        np.concatenate([temperatures, np.zeros(still)]),
        np.concatenate([_shared(cooling, own, count), _shared(quench, still, still)]),
        hottest,
        coldest,
    )


def _shared(proposals: int, levels: int, count: int) -> Ints:
    """Return proposals for each of ``count`` levels, of which any ``levels`` in a row have about as many as asked."""
    return np.diff(np.arange(count + 1) * proposals // max(1, levels)).astype(np.int64)


def cycle_of_table(
    table: LargeTable,
    groups: Ints,
    passes: int,
    seeds: tuple[int, int],
    *,
    hottest: float,
    threads: int,
    pace: Pace,
    progress: TellCycle | None,
) -> Ints | None:
    """Anneal the whole table and keep what got better; None where time ran out."""
    began = time.monotonic()
    start = number_keys(groups[table.order])[0]  # near groups have near numbers
    found = anneal_table(table, start, passes, seeds, hottest=hottest, threads=threads, pace=pace, progress=progress)
    if found is None:
        return None
    chosen = better_parts(table.values, None, start, renumbered(found), table.k)
    pace.measured(passes, time.monotonic() - began)
    better = np.empty_like(chosen)
    better[table.order] = chosen
    return better


def anneal_table(
    table: LargeTable,
    groups: Ints,
    passes: int,
    seeds: tuple[int, ...],
    *,
    hottest: float,
    threads: int,
    pace: Pace,
    progress: TellCycle | None = None,
) -> Ints | None:
    """Return the groups (n,) of places after an annealing; None where time ran out."""
    n, k = len(groups), table.k
    most = n // k
    partition = Partition(
        groups.copy(),
        np.empty((most, 2 * k), dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros((most, table.values.shape[1])),
    )
    enter_all(table.values, partition)
    levels = levels_of(table.scales, passes, hottest)
    watch, saved, began = new_watch(), np.zeros(1), time.monotonic()
    rng = np.random.default_rng(seeds)
    largest = max(_WHOLE, min(int(_HALF * n), _REGION))
    phases = 1 if n <= largest else int(np.clip(passes // 10, 2, _PHASES))
    before = _error(table.values, partition) if progress else 0.0
    for own in np.array_split(np.arange(len(levels.temperatures)), phases):
        regions = _regions_of_groups(partition, largest, rng)
        region_of = regions[partition.groups]
        rows, starts = group_rows(region_of)
        free = np.array_split(np.flatnonzero(partition.counts == 0), len(starts) - 1)
        part = levels._replace(temperatures=levels.temperatures[own], proposals=levels.proposals[own])
        tasks = [
            partial(
                anneal_region,
                table.values,
                partition,
                table.neighbours,
                table.scales,
                region_of,
                rows[starts[r] : starts[r + 1]],
                _with_room(free[r], int((starts[r + 1] - starts[r]) // k)),
                k,
                tried_of(k),
                part,
                open_stream(int(rng.integers(2**63))),
                watch,
            )
            for r in range(len(starts) - 1)
        ]
        if pace.run(tasks, watch, threads, n * passes, progress, saved, began=began) is None:
            return None
        if progress:
            saved[0] = max(0.0, before - _error(table.values, partition))
    watch[DONE] = n * passes
    return partition.groups


def _with_room(free: Ints, more: int) -> Ints:
    """Return numbers of free groups, and -1 for as many that may become free."""
    return np.concatenate([free, np.full(more, -1)])


def _regions_of_groups(partition: Partition, largest: int, rng: np.random.Generator) -> Ints:
    """Return the region of each group: cut in two at random places and in random directions while it is too large."""
    counts = partition.counts
    regions, used = np.zeros(len(counts), dtype=np.int64), 0
    centroids = partition.sums / np.maximum(counts, 1)[:, None]
    waiting = [np.flatnonzero(counts)]
    while waiting:
        part = waiting.pop()
        if counts[part].sum() <= largest:
            regions[part] = used
            used += 1
            continue
        own = centroids[part]
        along = own @ (own.std(axis=0) * rng.normal(size=own.shape[1]))
        cut = int(rng.uniform(0.45, 0.55) * len(part))
        halves = np.argpartition(along, cut)
        waiting += [part[np.sort(halves[:cut])], part[np.sort(halves[cut:])]]
    return regions


def _error(values: Floats, partition: Partition) -> float:
    """Return what the groups cost."""
    means = partition.sums / np.maximum(partition.counts, 1)[:, None]
    return float(((values - means[partition.groups]) ** 2).sum())
