"""Special uniques: records that few columns are enough to single out, scored in the manner of SUDA.

Elliot, Manning and Ford 2002. A minimal sample unique (MSU) of a record is a set of columns in which it is unique
and none of whose parts makes it unique. The fewer columns, the easier it is found: an MSU of s columns of d
scores (d - s)! / (d - M)!, M being the largest size that is looked at, and a record the sum over its MSUs.

A record that is unique in some columns is unique in all of them, so that a table whose keys are all shared needs no
search. Cost: one count of keys for each set of up to M columns, O(n d^M) in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, perm
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.measures.keys import number_keys

LARGEST = 3  # columns of the largest MSUs looked at
_WORK = 2e7  # records times sets of columns that are looked at


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


def special_uniques(codes: Sequence[Ints], largest: int | None = None) -> SpecialUniques:
    """Search columns of codes for minimal sample uniques of at most ``largest`` columns.

    By default that is 3, or fewer where the table is so large that it would take minutes.

    >>> found = special_uniques([np.array([0, 0, 1]), np.array([0, 1, 1])])
    >>> found.by_size, found.scores
    (array([2, 1]), array([1., 1., 1.]))
    """
    d, n = len(codes), len(codes[0])
    size = min(d, LARGEST if largest is None else largest)
    values = [column.astype(np.float64) for column in codes]
    alone = np.flatnonzero(number_keys(values).frequencies == 1)
    if largest is None:
        while size > 1 and len(alone) and n * sum(comb(d, s) for s in range(1, size + 1)) > _WORK:
            size -= 1
    scores, by_column, by_size = np.zeros(n), np.zeros(d), np.zeros(size, dtype=np.int64)
    unique_in: dict[tuple[int, ...], Flags] = {}
    for s in range(1, size + 1):
        weight = float(perm(d - s, size - s))
        for chosen in combinations(range(d), s):
            if not len(alone):
                break
            unique = number_keys([values[j] for j in chosen]).frequencies[alone] == 1
            unique_in[chosen] = unique
            minimal = unique.copy()
            for part in combinations(chosen, s - 1) if s > 1 else ():
                minimal &= ~unique_in[part]
            scores[alone[minimal]] += weight
            by_size[s - 1] += int(minimal.sum())
            by_column[list(chosen)] += weight * float(minimal.sum())
    return SpecialUniques(scores, by_column, by_size, size)
