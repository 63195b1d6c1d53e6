"""What a release does to categories: how far they were moved by their meaning, and in which way.

Martinez, Sanchez and Valls 2012, as in Veltmann 2022. The distance of two records is the mean of the distances of their
m categories, and::

    SSE = sum over records of d(original, released)^2      SST = sum over records of d(original, centre)^2
    L = 100 SSE / SST

The centre has, in each column, the node of the hierarchy whose distances from all values add up to the least; of a
column without a hierarchy, where a distance is 0 or 1, the mode. Over the observed cells of the original. A suppressed
cell has lost everything: it counts as if it were replaced by the centre.

O(n) a column with the number of its distinct values before and after in the place of n for distances; the centre costs
the distinct values times these and their ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.columns.hierarchy import NodeDistances
from shoal.kernels.arrays import Floats, Ints
from shoal.measures.pairs import MISSING, CategoryPair, SemanticPair

_PIECE = 256  # candidates whose distances from all values are held at a time


@dataclass(frozen=True)
class MeaningLost:
    """Sums of squared distances, and the loss in percent."""

    sse: float
    sst: float
    loss: float


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


def centre_of(measured: NodeDistances, codes: Ints) -> int:
    """Return the node whose distances from all values add up to the least; the lowest code where several do.

    Only values and their ancestors can be it, see :meth:`shoal.columns.hierarchy.Hierarchy.pruned`.
    """
    values, counts = np.unique(codes, return_counts=True)
    candidates = measured.hierarchy.closure(values)
    sums = np.concatenate(
        [
            measured.matrix(candidates[start : start + _PIECE], values) @ counts
            for start in range(0, len(candidates), _PIECE)
        ]
    )
    # sums that differ by rounding alone are equal, so that the order of the values does not matter
    best = sums <= sums.min() * (1.0 + 1e-12)
    return int(candidates[np.argmax(best)])


def cell_distances(pair: CategoryPair) -> tuple[Floats, Floats]:
    """Return how far each cell was moved, and how far it is from the centre; 0 where it was not there before.

    >>> moved, spread = cell_distances(CategoryPair("y", np.array([0, 0, 1]), np.array([0, 0, 0]), 2))
    >>> moved.tolist(), spread.tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    """
    there = pair.original != MISSING
    if not there.any():
        return np.zeros(len(there)), np.zeros(len(there))
    original = pair.original[there]
    measured = pair.measured if isinstance(pair, SemanticPair) else None
    centre = centre_of(measured, original) if measured else int(np.bincount(original).argmax())
    released = np.where(pair.released[there] == MISSING, centre, pair.released[there])
    moved, spread = np.zeros(len(there)), np.zeros(len(there))
    moved[there] = _between(measured, original, released)
    spread[there] = _between(measured, original, np.full_like(original, centre))
    return moved, spread


def _between(measured: NodeDistances | None, a: Ints, b: Ints) -> Floats:
    """Return distances pair by pair; each different pair is looked up once."""
    if measured is None:
        return np.asarray(a != b, dtype=np.float64)
    nodes = len(measured.hierarchy)
    keys, of = np.unique(a * nodes + b, return_inverse=True)
    return np.asarray(measured.between(keys // nodes, keys % nodes)[of.reshape(-1)])


def meaning_lost(pairs: Sequence[CategoryPair]) -> MeaningLost:
    """Return the loss of whole records: the squared mean distance of their categories.

    >>> one = CategoryPair("a", np.array([0, 1]), np.array([0, 0]), 2)
    >>> two = CategoryPair("b", np.array([0, 1]), np.array([0, 1]), 2)
    >>> meaning_lost([one, two])
    MeaningLost(sse=0.25, sst=1.0, loss=25.0)
    """
    moved, spread = (np.zeros(len(pairs[0].original)) for _ in range(2))
    for pair in pairs:
        own, whole = cell_distances(pair)
        moved += own / len(pairs)
        spread += whole / len(pairs)
    sse, sst = float((moved**2).sum()), float((spread**2).sum())
    return MeaningLost(sse, sst, 100.0 * sse / sst if sst > 0.0 else 0.0)


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
