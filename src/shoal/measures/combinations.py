"""Combinations of quasi-identifiers: how many there are before and after, which are new, and which are gone.

A combination that is new in the release does not exist, as far as the original tells: a reader may take it for a
fact. One that is gone was too rare to be told. O(d n) by hashing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.measures.keys import common_keys
from shoal.measures.pairs import Pair


@dataclass(frozen=True)
class Combinations:
    """Combinations before and after.

    Attributes
    ----------
    before, after : int
        Different combinations in the original and in the release.
    introduced, lost : int
        Combinations of the release that no original record has, and the other way round.
    records_introduced : int
        Released records with a combination that no original record has.
    records_changed : int
        Records whose released combination is not their own.
    """

    before: int
    after: int
    introduced: int
    lost: int
    records_introduced: int
    records_changed: int


def count_combinations(pairs: Sequence[Pair]) -> Combinations:
    """Count the combinations of some columns in both tables.

    >>> from shoal.measures.pairs import CategoryPair
    >>> count_combinations([CategoryPair("y", np.array([0, 1, 1]), np.array([1, 1, 2]), 3)])
    Combinations(before=2, after=2, introduced=1, lost=1, records_introduced=1, records_changed=2)
    """
    original, released = common_keys(pairs)
    size = int(max(original.max(), released.max())) + 1
    before, after = np.bincount(original, minlength=size), np.bincount(released, minlength=size)
    new = (after > 0) & (before == 0)
    return Combinations(
        before=int((before > 0).sum()),
        after=int((after > 0).sum()),
        introduced=int(new.sum()),
        lost=int(((before > 0) & (after == 0)).sum()),
        records_introduced=int(after[new].sum()),
        records_changed=int((original != released).sum()),
    )
