"""A table that is searched whole: many short annealings of each block, and what they saw put together.

One annealing that is ten times as long finds groups that are a little better; ten short ones find other groups each,
and combining takes the best of all of them. So a cycle anneals every block several times, all but one from far above
the temperature at which groups form, and adds the groups to those seen before. Then it draws partitions from all of
them, anneals what did not fit, and keeps every independent part that got better.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.given_away import excesses
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.combine import LAST, Drawn, draw, fill
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.improve import LONG, Neighbours, improve, neighbours_of, renumbered
from shoal.partition.optimal.problem import Problem, blocks_by_number, problem_of_rows
from shoal.partition.optimal.seen_groups import SeenGroups, add_partitions, no_groups
from shoal.partition.search.pace import Lengths, Pace, TellCycle
from shoal.partition.search.searchable import join_blocks

COMBINED = 600  # proposals a record from which it pays to combine
_SHORT = 250  # times k: proposals a record of an annealing whose groups are for combining
_ROUND = 4  # short annealings in a row in the longest cycle
_TRIES = 2  # annealings of each block that a cycle makes at the same time, one for each of two cores
_DRAWN = 2  # partitions drawn in a cycle
_NOISE = 0.005  # part of the cost of groups seen by which every second draw changes it
_MENDED = 3000  # proposals a record, at most, for what a partition drawn left over
_HEATS = (0.05, 0.15, 0.4, 1.0)  # first temperatures for that
_TWICE = 1910  # proposals a record from which a search combines twice
_SECONDS = 1.6  # of two cores, which share the work, that a search may take where nothing is said
# seconds of a proposal in all annealings at the same time, for each column, and k of it
_PROPOSED = 7.2e-8, 3.6e-9, 4.5e-10
_FIRST, _SECOND, _DEAREST = 3e-5, 8e-5, 4.2  # of combining once, and once more: a record, and a column over k squared


@dataclass(frozen=True)
class Block:
    """A block of a table: its rows, the problem of these, their neighbours, and the groups seen so far."""

    rows: Ints
    part: Problem
    neighbours: Neighbours
    seen: SeenGroups


def blocks_of(problem: Problem) -> list[Block]:
    """Return the blocks of a table; nothing has been seen yet."""
    blocks = []
    for rows in blocks_by_number(problem.blocks):
        part = problem_of_rows(problem, rows)
        blocks.append(Block(rows, part, neighbours_of(part), no_groups()))
    return blocks


def lengths(first: int, k: int) -> Lengths:
    """Return how long cycles are: they end to grow."""
    return Lengths(first, longest=_ROUND * _SHORT * k, hot=LONG, combined=COMBINED)


def usual_passes(n: int, d: int, k: int, most: float) -> int:
    """Return the proposals for each record, at most so many, that there is time for where nothing is said.

    To combine a second time takes longest, and gains so much that other proposals are spared for it where they can be.

    >>> [usual_passes(n, d, 3, 3000) for n, d in ((1000, 10), (2000, 10), (2200, 10))]
    [3000, 2282, 1909]
    """
    proposal, column, member = _PROPOSED
    each = n * (proposal + d * (column + k * member))
    first = _FIRST * n
    second = _SECOND * n * (n / 1000) ** 0.4 * max(2.0, _DEAREST * d / k**2)
    twice = (_SECONDS - first - second) / each
    return int(min(most, twice if twice >= _TWICE else min((_SECONDS - first) / each, _TWICE - 1)))


def cycle_of_blocks(
    blocks: list[Block],
    groups: Ints,
    passes: int,
    seeds: tuple[int, int],
    *,
    threads: int,
    pace: Pace,
    progress: TellCycle | None,
) -> tuple[Ints, list[Block]] | None:
    """Anneal all blocks several times and combine what was seen; None where time ran out."""
    short = max(1, passes // (_SHORT * blocks[0].part.k))
    tries = _TRIES * short
    best = [renumbered(groups[block.rows]) for block in blocks]
    watch, saved = new_watch(), np.zeros(len(blocks))
    tasks = [
        partial(
            _anneal,
            block,
            best[number],
            passes=passes // short,
            heat=1.0 if passes < LONG or i == tries - 1 else None,
            seeds=(*seeds, number, i),
            watch=watch,
            saved=saved[number : number + 1] if progress else None,
        )
        for number, block in enumerate(blocks)
        for i in range(tries)
    ]
    began = time.monotonic()
    annealed = pace.run(tasks, watch, threads, len(groups) * tries * (passes // short), progress, saved)
    if annealed is None:
        return None
    between = time.monotonic()
    found = [annealed[number * tries : (number + 1) * tries] for number in range(len(blocks))]
    best = [_best(block, best[i], found[i]) for i, block in enumerate(blocks)]
    if passes >= COMBINED:
        blocks = [_seen(block, [*found[i], best[i]]) for i, block in enumerate(blocks)]
        combined = _combine(blocks, best, min(passes, _MENDED), seeds, threads, pace)
        if combined is None:
            return None
        blocks, best = combined
    pace.measured(passes, between - began, time.monotonic() - between)
    return join_blocks([block.rows for block in blocks], best), blocks


def _anneal(
    block: Block,
    groups: Ints,
    *,
    passes: int,
    heat: float | None,
    seeds: tuple[int, ...],
    watch: Ints,
    saved: Floats | None,
) -> Ints:
    """Anneal the groups of a block; ``saved`` (1,) is raised to what that saved, where anybody wants to know."""
    labels = improve(block.part, groups, block.neighbours, passes=passes, heat=heat, seeds=seeds, watch=watch)
    if saved is not None:
        saved[0] = max(saved[0], block.part.cost(groups) - block.part.cost(labels))
    return labels


def _best(block: Block, groups: Ints, others: list[Ints]) -> Ints:
    """Return the best independent parts of several partitions of a block."""
    for labels in others:
        groups = better_parts(block.part.values, block.part.objective, groups, labels, block.part.k)
    return groups


def _seen(block: Block, partitions: list[Ints]) -> Block:
    seen = add_partitions(block.seen, block.part.values, block.part.objective, partitions, block.part.k)
    return replace(block, seen=seen)


def _combine(
    blocks: list[Block], best: list[Ints], passes: int, seeds: tuple[int, int], threads: int, pace: Pace
) -> tuple[list[Block], list[Ints]] | None:
    """Draw partitions of each block, mend them, and keep what got better; the groups of all of them count as seen.

    None where time ran out.
    """
    drawing = [(number, i) for number, block in enumerate(blocks) for i in range(_draws_of(block, best[number]))]
    draws = [partial(_draw, blocks[number], (*seeds, number, i, 1), _NOISE * i, pace.deadline) for number, i in drawing]
    drawn = run_watched(draws, [], threads, pace.over)
    if drawn is None or pace.over():
        return None
    blocks, found = list(blocks), [[labels] for labels in best]
    mending, owner, watch = [], [], new_watch()
    for (number, i), result in zip(drawing, drawn, strict=True):
        if result is None:
            continue
        block = blocks[number]
        if i == 0:
            blocks[number] = replace(block, seen=result.seen)
        filled = fill(block.part, result.groups, block.neighbours[0])
        if filled is None or not _meets(block.part, filled[0]):
            continue
        found[number].append(renumbered(filled[0]))
        if (result.groups < 0).any():
            for heat in _HEATS:
                own = (*seeds, number, i, int(100 * heat))
                mending.append(partial(_mend, block.part, *filled, passes=passes, heat=heat, seeds=own, watch=watch))
                owner.append(number)
    mended = run_watched(mending, [watch], threads, pace.over)
    if mended is None or pace.over():
        return None
    for number, labels in zip(owner, mended, strict=True):
        found[number].append(labels)
    best = [_best(block, found[i][0], found[i][1:]) for i, block in enumerate(blocks)]
    return [_seen(block, [*found[i], best[i]]) for i, block in enumerate(blocks)], best


def _draw(block: Block, seeds: tuple[int, ...], noise: float, until: float | None) -> Drawn | None:
    return draw(block.seen, len(block.rows), np.random.default_rng(seeds), noise, until)


def _meets(part: Problem, groups: Ints) -> bool:
    """Whether groups meet what is asked of them."""
    return part.limits is None or not (excesses(part.limits, *group_rows(groups)) > 0.0).any()


def _draws_of(block: Block, best: Ints) -> int:
    """Return how many partitions to draw: none where nothing but the best was seen, one where chance has no part."""
    if len(block.seen) == int(best.max()) + 1:
        return 0
    return 1 if len(block.rows) <= LAST else _DRAWN


def _mend(
    part: Problem, groups: Ints, window: Ints, *, passes: int, heat: float, seeds: tuple[int, ...], watch: Ints
) -> Ints:
    """Anneal the groups of a window, which are whole groups, and return all groups."""
    inside = problem_of_rows(part, window)
    labels = improve(inside, groups[window], None, passes=passes, heat=heat, seeds=seeds, watch=watch)
    mended = groups.copy()
    mended[window] = labels + len(groups)
    return renumbered(mended)
