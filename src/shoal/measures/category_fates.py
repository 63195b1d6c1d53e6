"""What became of categories: kept, generalised to a name above theirs, replaced by another value, or suppressed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.measures.pairs import MISSING, CategoryPair, SemanticPair


@dataclass(frozen=True)
class Fates:
    """What became of the cells of a column that were there.

    Attributes
    ----------
    kept : int
        The same as before.
    generalised : int
        Replaced by a name above theirs; ``to_root`` are those of them that became the root, which says nothing.
    replaced : int
        Replaced by another value that is not above theirs: what was there is suppressed.
    suppressed : int
        Missing now.
    """

    kept: int
    generalised: int
    to_root: int
    replaced: int
    suppressed: int


def fates(pair: CategoryPair) -> Fates:
    """Count what became of the cells of a column.

    >>> fates(CategoryPair("y", np.array([0, 0, 1]), np.array([0, -1, 0]), 2))
    Fates(kept=1, generalised=0, to_root=0, replaced=1, suppressed=1)
    """
    there = pair.original != MISSING
    original, released = pair.original[there], pair.released[there]
    gone = released == MISSING
    other = ~gone & (original != released)
    above = np.zeros(len(original), dtype=bool)
    root = above
    if isinstance(pair, SemanticPair):
        above[other] = pair.measured.hierarchy.covers(released[other], original[other])
        root = above & (released == pair.measured.hierarchy.root)
    return Fates(
        kept=int((~gone & ~other).sum()),
        generalised=int(above.sum()),
        to_root=int(root.sum()),
        replaced=int((other & ~above).sum()),
        suppressed=int(gone.sum()),
    )
