"""Special uniques: records that few columns are enough to single out, scored in the manner of SUDA.

Elliot, Manning and Ford 2002. A minimal sample unique (MSU) of a record is a set of columns in which it is unique
and none of whose parts makes it unique. The fewer columns, the easier it is found: an MSU of s columns of d
scores (d - s)! / (d - M)!, M being the largest size that is looked at, and a record the sum over its MSUs.

As in SUDA2 (Manning, Haglin and Keane 2008) the search goes down into ever smaller parts of the table and never looks
at a set that cannot be minimal. A record is alive in a set of columns where it is unique in all columns together but
not in these. What makes it unique in a set and in no part of it is found among the records alive in every set of one
column less; beside them only the records are kept that agree with one of them there. Sets are taken size by size, so
that the records of the next size are counted before it is begun: the search ends before the size that would cost too
much.

A record that is unique in some columns is unique in all of them, so that a table whose keys are all shared needs no
search. Cost: the records that agree with one that is alive, for each set of columns in which one is; at worst O(n d^M).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import perm
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.numbering import number_keys as number_values
from shoal.measures.keys import number_keys

LARGEST = 3  # columns of the largest MSUs looked at where nothing is said
WORK = 2e7  # records that are looked at by default, over all sets of columns
MOST_WORK = 2e9  # the same where a size was asked for: minutes
_A_SET = 300  # what a set of columns costs beside its records, in records

Columns = tuple[int, ...]


class SpecialUniques(NamedTuple):
    """What the search found.

    Attributes
    ----------
    scores : float64 (n,)
        Score of each record.
    by_column : float64 (d,)
        Sum of the scores of the MSUs that a column is part of.
    by_size : int64 (size,)
        Number of MSUs of 1, 2, ... columns.
    size : int
        Columns of the largest MSUs that were looked at.
    """

    scores: Floats
    by_column: Floats
    by_size: Ints
    size: int


@dataclass(frozen=True)
class _Part:
    """The part of a table that is left in a set of columns.

    Attributes
    ----------
    rows : int64 (m,)
        The different records that agree in the set with one that is alive, and these.
    agree : int64 (m,)
        A number for each, the same for those that agree.
    alive : int64
        The records that are alive, in order.
    """

    rows: Ints
    agree: Ints
    alive: Ints


def special_uniques(
    codes: Sequence[Ints], largest: int | None = None, work: float | None = None, sizes: Ints | None = None
) -> SpecialUniques:
    """Search columns of codes for minimal sample uniques of at most ``largest`` columns.

    By default that is 3. Sizes that would take the records looked at above ``work`` are left out, but 1 never is.
    ``sizes`` says how many records each row of codes stands for, where all rows differ; scores are then of these rows.

    >>> found = special_uniques([np.array([0, 0, 1]), np.array([0, 1, 1])])
    >>> found.by_size, found.scores
    (array([2, 1]), array([1., 1., 1.]))
    """
    d = len(codes)
    most = min(d, LARGEST if largest is None else largest)
    left = (WORK if largest is None else MOST_WORK) if work is None else work
    keys = None if sizes is not None else number_keys([column.astype(np.float64) for column in codes])
    values = codes if keys is None else [column[keys.first] for column in codes]  # the different records, each once
    alone: Flags = np.asarray(sizes if keys is None else keys.sizes) == 1
    different = len(values[0])
    found = np.zeros((different, most), dtype=np.int64)  # MSUs of each record by size
    in_column = np.zeros((d, most), dtype=np.int64)
    whole = _Part(np.arange(different), np.zeros(different, dtype=np.int64), np.flatnonzero(alone))
    parts: dict[Columns, _Part] = {(): whole}
    size = most
    for s in range(1, most + 1):
        wanted = list(_next_sets(parts, d, s))
        left -= sum(len(parts[chosen[:-1]].rows) + _A_SET for chosen in wanted)
        if left < 0.0 and s > 1:
            size = s - 1
            break
        deeper: dict[Columns, _Part] = {}
        for chosen in wanted:
            unique, part = _look(parts, chosen, values, alone)
            found[unique, s - 1] += 1
            in_column[list(chosen), s - 1] += len(unique)
            if len(part.alive):
                deeper[chosen] = part
        parts = deeper
    weights = np.array([float(perm(d - s, size - s)) for s in range(1, size + 1)])
    scores = found[:, :size] @ weights  # a record that is there twice has none
    scores = scores if keys is None else scores[keys.of]
    return SpecialUniques(scores, in_column[:, :size] @ weights, found[:, :size].sum(axis=0), size)


def _next_sets(parts: dict[Columns, _Part], d: int, size: int) -> Iterator[Columns]:
    """Return the sets of some size in all of whose parts a record is alive."""
    if size == 1:
        yield from ((j,) for j in range(d) if len(parts[()].alive))
        return
    for before in parts:
        for j in range(before[-1] + 1, d):
            chosen = (*before, j)
            if all(part in parts for part in combinations(chosen, size - 1)):
                yield chosen


def _look(parts: dict[Columns, _Part], chosen: Columns, values: Sequence[Ints], alone: Flags) -> tuple[Ints, _Part]:
    """Return the records that a set of columns makes unique and no part of it does, and what is left in the set."""
    before = parts[chosen[:-1]]
    last = values[chosen[-1]]
    candidates = before.alive
    for less in combinations(chosen, len(chosen) - 1):
        candidates = np.intersect1d(candidates, parts[less].alive, assume_unique=True)
    agree = number_values(before.agree * (int(last.max()) + 1) + last[before.rows])[0]
    several = (
        np.bincount(agree, np.where(alone[before.rows], 1.0, 2.0)) > 1.0
    )  # a record that is there twice has company
    places = np.searchsorted(before.rows, candidates)  # the rows are in order
    shared = several[agree[places]]
    alive = candidates[shared]
    stays = np.zeros(len(several), dtype=bool)
    stays[agree[places[shared]]] = True
    kept = stays[agree]
    return candidates[~shared], _Part(before.rows[kept], agree[kept], alive)
