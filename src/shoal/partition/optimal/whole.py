"""A table that is searched whole: many short annealings of each cell, and what they saw put together.

One annealing that is ten times as long finds groups that are a little better; ten short ones find other groups each,
and combining takes the best of all of them. So a cycle anneals every cell several times, all but one from far above
the temperature at which groups form, and adds the groups to those seen before. Then it draws partitions from all of
them, anneals what did not fit, and keeps every independent part that got better.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.columns import Columns, add_columns, no_columns
from shoal.partition.optimal.combine import LAST, Drawn, draw, fill
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.improve import Neighbours, improve, neighbours_of, renumbered
from shoal.partition.optimal.pace import COMBINED, LONG, Pace, run
from shoal.partition.optimal.problem import Problem, problem_of_rows

_SHORT = 250  # times k: proposals a record of an annealing whose groups are for combining
_ROUND = 4  # short annealings in a row in the longest cycle
_TRIES = 2  # annealings of each cell that a cycle makes at the same time, one for each of two cores
_DRAWN = 2  # partitions drawn in a cycle
_NOISE = 0.005  # part of the cost of columns by which every second draw changes it
_MENDED = 3000  # proposals a record, at most, for what a partition drawn left over
_HEATS = (0.05, 0.15, 0.4, 1.0)  # first temperatures for that


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its rows, the problem of these, their neighbours, and the groups seen so far."""

    rows: Ints
    part: Problem
    neighbours: Neighbours
    columns: Columns


def cells_of(problem: Problem) -> list[Cell]:
    """Return the cells of a table; nothing has been seen yet."""
    cells = []
    for cell in np.unique(problem.cells):
        rows = np.flatnonzero(problem.cells == cell)
        part = problem_of_rows(problem, rows)
        cells.append(Cell(rows, part, neighbours_of(part), no_columns()))
    return cells


def lengths(problem: Problem) -> tuple[int, int]:
    """Return the proposals a record of the shortest cycle that is useful when much was seen, and of the longest."""
    short = _SHORT * problem.k
    return short, _ROUND * short


def cycle_of_cells(
    cells: list[Cell],
    groups: Ints,
    passes: int,
    seeds: tuple[int, int],
    threads: int,
    pace: Pace,
    progress: Callable[[float], None] | None,
) -> tuple[Ints, list[Cell]] | None:
    """Anneal all cells several times and combine what was seen; None where time ran out."""
    short = max(1, passes // (_SHORT * cells[0].part.k))
    tries = _TRIES * short
    best = [renumbered(groups[cell.rows]) for cell in cells]
    watch = new_watch()
    tasks = [
        partial(
            improve,
            cell.part,
            best[number],
            cell.neighbours,
            passes // short,
            1.0 if passes < LONG or i == tries - 1 else None,
            (*seeds, number, i),
            watch,
        )
        for number, cell in enumerate(cells)
        for i in range(tries)
    ]
    began = time.monotonic()
    annealed = run(tasks, watch, threads, pace, progress, len(groups) * tries * (passes // short))
    if annealed is None:
        return None
    between = time.monotonic()
    found = [annealed[number * tries : (number + 1) * tries] for number in range(len(cells))]
    best = [_best(cell, best[i], found[i]) for i, cell in enumerate(cells)]
    if passes >= COMBINED:
        cells = [_seen(cell, [*found[i], best[i]]) for i, cell in enumerate(cells)]
        cells, best = _combine(cells, best, min(passes, _MENDED), seeds, threads)
    pace.measured(passes, between - began, time.monotonic() - between)
    together, first = np.empty_like(groups), 0
    for cell, labels in zip(cells, best, strict=True):
        together[cell.rows] = labels + first
        first += int(labels.max()) + 1
    return together, cells


def _best(cell: Cell, groups: Ints, others: list[Ints]) -> Ints:
    """Return the best independent parts of several partitions of a cell."""
    for labels in others:
        groups = better_parts(cell.part.values, cell.part.objective, groups, labels, cell.part.k)
    return groups


def _seen(cell: Cell, partitions: list[Ints]) -> Cell:
    columns = add_columns(cell.columns, cell.part.values, cell.part.objective, partitions, cell.part.k)
    return replace(cell, columns=columns)


def _combine(
    cells: list[Cell], best: list[Ints], passes: int, seeds: tuple[int, int], threads: int
) -> tuple[list[Cell], list[Ints]]:
    """Draw partitions of each cell, mend them, and keep what got better; the groups of all of them count as seen."""
    drawing = [(number, i) for number, cell in enumerate(cells) for i in range(_draws_of(cell, best[number]))]
    draws = [partial(_draw, cells[number], (*seeds, number, i, 1), _NOISE * i) for number, i in drawing]
    drawn = run(draws, new_watch(), threads)
    assert drawn is not None
    cells, found = list(cells), [[labels] for labels in best]
    mending, owner, watch = [], [], new_watch()
    for (number, i), result in zip(drawing, drawn, strict=True):
        if result is None:
            continue
        cell = cells[number]
        if i == 0:
            cells[number] = replace(cell, columns=result.columns)
        filled = fill(cell.part, result.groups, cell.neighbours[0])
        if filled is None:
            continue
        found[number].append(renumbered(filled[0]))
        if (result.groups < 0).any():
            for heat in _HEATS:
                own = (*seeds, number, i, int(100 * heat))
                mending.append(partial(_mend, cell.part, *filled, passes, heat, own, watch))
                owner.append(number)
    for number, labels in zip(owner, run(mending, watch, threads) or [], strict=True):
        found[number].append(labels)
    best = [_best(cell, found[i][0], found[i][1:]) for i, cell in enumerate(cells)]
    return [_seen(cell, [*found[i], best[i]]) for i, cell in enumerate(cells)], best


def _draw(cell: Cell, seeds: tuple[int, ...], noise: float) -> Drawn | None:
    return draw(cell.columns, len(cell.rows), np.random.default_rng(seeds), noise)


def _draws_of(cell: Cell, best: Ints) -> int:
    """Return how many partitions to draw: none where nothing but the best was seen, one where chance has no part."""
    if len(cell.columns) == int(best.max()) + 1:
        return 0
    return 1 if len(cell.rows) <= LAST else _DRAWN


def _mend(
    part: Problem, groups: Ints, window: Ints, passes: int, heat: float, seeds: tuple[int, ...], watch: Ints
) -> Ints:
    """Anneal the groups of a window, which are whole groups, and return all groups."""
    labels = improve(problem_of_rows(part, window), groups[window], None, passes, heat, seeds, watch)
    mended = groups.copy()
    mended[window] = labels + len(groups)
    return renumbered(mended)
