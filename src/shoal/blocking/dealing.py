"""Blocks that cannot be cut by their values: dealt out by row numbers, so that none is larger than a worker can hold.

A block of more than twice L records is left where more than L of them are equal in all bits of the blocking columns, or
where an interval has as many. Equal records need no distances to find their neighbours: any k of them are a group. So
such a block is dealt out into pieces of at most L records by a hash of the row numbers, which has nothing to do with
the values. One pass counts the hashes, in so many classes that a piece has some 64 of them; neighbouring classes are
put together while they have at most L records, and a last piece of fewer than k joins the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.blocking.counting import Counts, Cut
from shoal.blocking.univariate import fuse_neighbours
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.hashing import mixed_rows

_CLASSES = 64  # of hashes in a piece


@dataclass(frozen=True)
class Dealt:
    """Blocks, the large ones dealt out into pieces.

    Attributes
    ----------
    cut : Cut
        The blocks before.
    classes : int64 (blocks,)
        Classes of hashes of each block; 0 where it stays whole.
    first : int64 (blocks,)
        Where the classes of each start in ``home``.
    home : int64 (classes,)
        The block of each class.
    sizes : int64 (blocks and pieces,)
        How many records each has; blocks that were dealt out have none.
    """

    cut: Cut
    classes: Ints
    first: Ints
    home: Ints
    sizes: Ints

    def blocks(self, values: Floats, roots: Ints, rows: Ints) -> Ints:
        """Return the block of each record of a batch, with the row numbers."""
        found = self.cut.blocks(values, roots)
        large = self.classes[found] > 0
        if self.home.size and large.any():
            found = found.copy()
            found[large] = self.home[class_of(found[large], rows[large], self.classes, self.first)]
        return found


def class_of(blocks: Ints, rows: Ints, classes: Ints, first: Ints) -> Ints:
    """Return the class of the hash of each row, counted over all blocks that are dealt out."""
    share = mixed_rows(rows)
    found: Ints = first[blocks] + (share * classes[blocks]).astype(np.int64)
    return found


def classes_of(sizes: Ints, size: int) -> tuple[Ints, Ints]:
    """Return into how many classes blocks of these sizes are dealt out, and where they start; 0 where not at all.

    >>> classes_of(np.array([10, 100]), 10)[0].tolist()
    [0, 640]
    """
    classes = np.where(sizes > 2 * size, -(-sizes // size) * _CLASSES, 0)
    return classes, np.cumsum(classes) - classes


def deal(cut: Cut, counts: Counts | None, k: int, size: int) -> Dealt:
    """Return blocks of which none has more than twice ``size`` records, from how many records each class has."""
    classes, first = classes_of(cut.sizes, size)
    home = np.empty(int(classes.sum()), dtype=np.int64)
    held = np.zeros(len(home), dtype=np.int64)
    if counts is not None:
        held[counts.keys] = counts.counts
    sizes = [np.where(classes > 0, 0, cut.sizes)]
    block = len(cut.sizes)
    for own in np.flatnonzero(classes).tolist():
        part = slice(int(first[own]), int(first[own] + classes[own]))
        pieces = _filled(held[part], size)
        joined = fuse_neighbours(np.bincount(pieces, held[part]).astype(np.int64), k)[pieces]
        home[part] = block + joined
        sizes.append(np.bincount(joined, held[part]).astype(np.int64))
        block += len(sizes[-1])
    return Dealt(cut, classes, first, home, np.concatenate(sizes))


def _filled(counts: Ints, size: int) -> Ints:
    """Return the piece of each class: from the first on, while a piece has at most ``size`` records."""
    pieces = np.empty(len(counts), dtype=np.int64)
    piece = held = 0
    for place, count in enumerate(counts.tolist()):
        if held and held + count > size:
            piece, held = piece + 1, 0
        pieces[place] = piece
        held += count
    return pieces
