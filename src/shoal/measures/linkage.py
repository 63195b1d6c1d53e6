"""Distance-based record linkage (DBRL): how often the nearest released record is the right one.

Domingo-Ferrer and Torra 2001; Pagliuca and Seri 1999. An intruder who holds the original records links each to the
nearest released one. Numbers are compared as z-scores of the original, categories as equal or not (0 or 1). A cell that
is missing in one of two records is unknown and adds what is to be expected: z^2 + 1 for a number
(:mod:`shoal.kernels.missing_cells`), the chance 1 - sum p^2 that two values of the original differ for a category; one
that is missing in both adds nothing. So a released record of which little is left is far from everybody, not near.
Where t released records are equally near, up to a part in 10^9, and the right one is among them, the link counts 1 / t:
the chance of a guess.

Cost: equal released records are searched once. Tables with numbers go through the neighbour index of these, which
bounds the distance; others, and records in blocks, are compared one by one. No matrix of distances is held. Where the
search would take too long, a random sample of the original records is linked to all released ones, and the result has
the standard error of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.link_search import link_by_looking, link_in_tree
from shoal.kernels.missing_cells import filled_in
from shoal.kernels.tree import open_tree_pool
from shoal.measures.keys import key_columns, number_keys
from shoal.measures.pairs import CategoryPair, NumericPair, Pair

SAMPLE = 100_000  # original records that are searched in the index where there are more than twice as many
_WIDE = 16  # columns of numbers beyond which the index rules out few records
_LOOKS_IN_INDEX = 5e10  # columns of pairs of records that are compared then: some ten seconds
_LOOKS = 1e9  # columns of pairs of records that are compared where there is no index
_FEWEST = 500  # records in a sample, at least
_PART = 20_000  # records of a task

Task = Callable[[Ints], Floats]


@dataclass(frozen=True)
class Linked:
    """What an intruder can expect from linking.

    Attributes
    ----------
    percent : float
        Share of the records that are linked to the right one.
    error : float
        Standard error of that in points of percent; 0 where all records were linked.
    records : int
        How many were.
    """

    percent: float
    error: float
    records: int


def linkage_tasks(pairs: Sequence[Pair], blocks: tuple[Ints, Ints] | None = None, seed: int = 0) -> list[Task]:
    """Return tasks that give the chance of a right link for each record, or for each of a random sample.

    Each takes a watch, counts its records in it and stops where it says so. ``blocks`` is the block of each original
    and of each released record; only records of the same block are compared.
    """
    numbers = [pair for pair in pairs if isinstance(pair, NumericPair)]
    categories = [pair for pair in pairs if isinstance(pair, CategoryPair)]
    rows = len(pairs[0].original)
    parts = [part for pair in pairs for part in key_columns(pair)]
    released = number_keys(parts if blocks is None else [*parts, blocks[1].astype(np.float64)])
    first = released.first
    expected = np.array([mismatch(np.bincount(pair.original[pair.original >= 0])) for pair in categories])
    if numbers and blocks is None:
        values, codes = _side(numbers, categories, first, True)
        affordable = int(_LOOKS_IN_INDEX / values.size) if values.shape[1] > _WIDE else SAMPLE
        chosen = sample_rows(rows, min(SAMPLE, max(affordable, _FEWEST)), seed)
        pool = open_tree_pool(values)
        tasks: list[Task] = []
        for part in _parts(len(chosen)):
            points, point_codes = _side(numbers, categories, chosen[part], False)
            own = released.of[chosen[part]]
            tasks.append(partial(link_in_tree, pool, points, point_codes, codes, expected, own, released.sizes))
        return tasks
    of_original, of_released = blocks or (np.zeros(rows, np.int64), np.zeros(rows, np.int64))
    sorted_keys = np.argsort(of_released[first], kind="stable")
    place = np.empty(len(first), dtype=np.int64)
    place[sorted_keys] = np.arange(len(first))
    at = first[sorted_keys]
    widths = np.bincount(of_released[at], minlength=int(of_original.max()) + 1)
    starts = np.concatenate(([0], np.cumsum(widths)))
    looks = max(float(widths[of_original].mean()), 1.0) * len(pairs)
    chosen = sample_rows(rows, max(int(_LOOKS / looks), _FEWEST), seed)
    known = _side(numbers, categories, at, True)
    return [
        partial(
            link_by_looking,
            *_side(numbers, categories, chosen[part], False),
            *known,
            expected,
            place[released.of[chosen[part]]],
            released.sizes[sorted_keys],
            starts,
            of_original[chosen[part]],
        )
        for part in _parts(len(chosen))
    ]


def _side(
    numbers: Sequence[NumericPair], categories: Sequence[CategoryPair], rows: Ints, released: bool
) -> tuple[Floats, Ints]:
    """Return the numbers of some records of one table as points, and the codes of their categories."""
    d = len(numbers)
    values, seen = np.zeros((len(rows), d)), np.ones((len(rows), d), dtype=np.bool_)
    codes = np.empty((len(rows), len(categories)), dtype=np.int64)
    for j, number in enumerate(numbers):
        values[:, j] = (number.released if released else number.original)[rows]
        seen[:, j] = (number.kept if released else number.there)[rows]
    for j, category in enumerate(categories):
        codes[:, j] = (category.released if released else category.original)[rows]
    holes = [not number.both.all() for number in numbers]  # in either table, so that both have the same columns
    spread = np.array([0.0 if number.constant else 1.0 for number in numbers])
    return filled_in(values, seen, np.zeros(d), spread, holes), codes


def mismatch(counts: Ints) -> float:
    """Return the chance that two values differ, of categories that occur so often.

    >>> mismatch(np.array([1, 1]))
    0.5
    """
    return 1.0 - float(((counts / max(counts.sum(), 1)) ** 2).sum())


def linked(chances: Sequence[Floats], records: int) -> Linked:
    """Put the results of the tasks together; ``records`` is how many the table has.

    >>> linked([np.array([1.0, 0.5]), np.array([0.0, 0.5])], 4)
    Linked(percent=50.0, error=0.0, records=4)
    """
    every = np.concatenate(chances)
    n = len(every)
    error = 0.0
    if n < records:
        error = 100.0 * float(every.std(ddof=1)) * float(np.sqrt((1.0 - n / records) / n))
    return Linked(100.0 * float(every.mean()), error, n)


def sample_rows(rows: int, most: int, seed: int) -> Ints:
    """Return all rows, or a random sample in their order where there are more than twice as many as ``most``.

    >>> len(sample_rows(200, 100, 0)), len(sample_rows(201, 100, 0))
    (200, 100)
    """
    if rows <= 2 * most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def _parts(count: int) -> list[slice]:
    return [slice(start, start + _PART) for start in range(0, count, _PART)]
