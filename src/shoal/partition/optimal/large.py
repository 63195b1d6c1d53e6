"""A large table, or large groups: one annealing of all of it at a time, in regions whose borders move.

In five columns a region of two thousand records is nearly all border: searched in such regions, twenty thousand records
lose as much with 3000 proposals each as they lose with 400 without borders. So a cycle is one annealing of the table in
place (``large_annealing``), longer than all cycles before it together, and every independent part that got better is
kept. Groups seen are not combined: relaxations of that size take longer than what they gain, and where groups are large
hardly any is seen twice.

Memory: some 100 n bytes for the groups, beside those of the neighbours (``large_table``).
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.draws import open_stream
from shoal.kernels.exchange import open_cells
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import DONE, new_watch
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.expected_work import (
    DESCENT,
    allowed,
    cells_refined,
    of_proposal,
    of_refining,
    tried_of,
)
from shoal.partition.optimal.improve import renumbered
from shoal.partition.optimal.large_annealing import Levels, Partition, anneal_region, enter_all
from shoal.partition.optimal.large_table import LargeTable
from shoal.partition.optimal.neighbour_counts import founds_groups
from shoal.partition.refine import Surroundings, open_surroundings, refine
from shoal.partition.search.pace import Lengths, Pace, TellCycle
from shoal.partition.search.searchable import join_blocks

FIRST = 100  # proposals for each record in the first cycle
_FIRST_STEPS = 3e6  # proposals in it at most
_GROWTH = 8
_MOST_PASSES = 3000  # by default
_SEARCHING = 0.75  # part of the seconds that are left after laying a table out
_REFINING, _BESIDE = 0.2, 0.03  # part of the seconds allowed, and of those of a cycle, that refining may take
_WHOLE, _REGION = 50_000, 100_000  # records of a table that is one region, and of a region of a huge one
_HALF = 0.56  # part of a table between these that is a region: two cores, and as little border as that leaves
_TURNS = 4  # proposals for a record in a row
_PHASES = 12  # times that regions are cut in a cycle
_QUENCH = 0.1  # part of the proposals at the end that take improvements only
_COLDEST = 0.04  # times the square of the distance to the k-th neighbour


def lengths(records: int, columns: int, k: int) -> Lengths:
    """Return how long cycles are: the first of a huge table is to take a second or so.

    Those after which large groups are refined have a time of their own for it.
    """
    refined = np.inf if founds_groups(records, k) else FIRST + 1
    first = int(np.clip(_FIRST_STEPS / records, DESCENT, FIRST))
    return Lengths(
        first,
        combined=refined,
        combining=min(_REFINING * allowed(records, columns, k), of_refining(records, columns, k)),
        beside=_BESIDE * records * of_proposal(records, columns, k),
        growth=_GROWTH,
    )


def usual_passes(table: LargeTable, left: float) -> int:
    """Return the proposals for each record with which a search takes at most a second more than MDAV twice.

    There are so many seconds ``left`` for it. Groups are refined after a longer cycle than the first, where there is
    time for both.
    """
    (n, d), k = table.values.shape, table.k
    passes = _passes_in(table, left)
    if founds_groups(n, k) or passes <= FIRST:
        return passes
    return max(FIRST, _passes_in(table, left - min(_REFINING * table.outlook.allowed, of_refining(n, d, k))))


def _passes_in(table: LargeTable, left: float) -> int:
    """Return the proposals for each record of a search that has so many seconds, after those of a descent.

    Some of those that are left after laying the table out are spared: what was done since may have taken these.
    """
    n, d = table.values.shape
    seconds = min(left, _SEARCHING * table.outlook.left)
    passes = DESCENT + seconds / n / of_proposal(n, d, table.k)
    return int(np.clip(passes, DESCENT, _MOST_PASSES))


def cells_to_refine(table: LargeTable, passes: int) -> int:
    """Return how many cells are looked at to refine large groups after a cycle.

    It takes a part of the time of a search of the usual length, or of that of a long cycle; after a first one, none.
    """
    (n, d), k = table.values.shape, table.k
    if founds_groups(n, k) or passes <= FIRST:
        return 0
    seconds = max(_REFINING * table.outlook.allowed, _BESIDE * passes * n * of_proposal(n, d, k))
    return cells_refined(n, d, seconds)


def blocks_to_refine(values: Floats, parts: list[Ints], k: int) -> list[Surroundings]:
    """Return what is near the records of each block, of which ``parts`` has the rows: nothing is known yet."""
    return [open_surroundings(np.ascontiguousarray(values[rows]), k) for rows in parts]


def refine_blocks(blocks: list[Surroundings], parts: list[Ints], groups: Ints, k: int, cells: Ints) -> Ints:
    """Refine the groups of each block, of which ``parts`` has the rows, as long as there are ``cells`` (1,) for it.

    A block has its share of what is left by its records, so that the last is refined as far as the first. Where one
    was not done with its share, none is left.
    """
    labels, rows_left, ended = [], len(groups), False
    for rows, block in zip(parts, blocks, strict=True):
        share = int(cells[0]) * len(rows) // rows_left
        rows_left -= len(rows)
        own = open_cells(share)
        labels.append(refine(Records(block.pool.values), renumbered(groups[rows]), k, new_watch(), own, block))
        cells[0] -= share - own[0]
        ended |= own[0] <= 0
    if ended:
        cells[0] = min(cells[0], 0)
    return join_blocks(parts, labels)


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
    start = number_keys(groups[table.order])[0]  # near groups have near numbers
    found = anneal_table(table, start, passes, seeds, hottest=hottest, threads=threads, pace=pace, progress=progress)
    if found is None:
        return None
    chosen = better_parts(table.values, None, start, renumbered(found), table.k)
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
