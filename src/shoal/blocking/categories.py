"""Blocks of categories: subtrees of a hierarchy, neighbours in an order, or codes, by how many records they have.

The categories of one column are laid on a line: those of a hierarchy in pre-order, so that a subtree is a piece of it,
ordinal ones in their order, nominal ones from the rarest on. A subtree with more than L records is cut into its own
name and its children, and neighbours among these are put together while they have at most L. Blocks with fewer than k
records join the next on the line, the last the one before it. Records without a value stand at the end of the line. A
category that has more than L records by itself is one block. Every stratum has a line of its own.

One pass counts the categories; the blocks follow from that table.

Cost: O(n) for the pass, O(c) for c categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.blocking.counting import Counts, Over
from shoal.blocking.univariate import fuse_neighbours
from shoal.columns.categories import Category
from shoal.kernels.arrays import Floats, Ints
from shoal.plan.roles import Kind


@dataclass(frozen=True)
class CategoryBlocks:
    """Blocks of the places on the line of categories.

    Attributes
    ----------
    home : int64 (strata, places)
        The block of each place, by stratum; -1 where there are no records.
    sizes : int64 (blocks,)
        How many records each block has.
    """

    home: Ints
    sizes: Ints

    def blocks(self, values: Floats, roots: Ints) -> Ints:
        """Return the block of each record of a batch, whose places are the first column of ``values``."""
        found: Ints = self.home[roots, values[:, 0].astype(np.int64)]
        return found


def places_on_line(column: Category) -> Floats:
    """Return the place (n, 1) of each record on the line of its categories; the last where it has none."""
    line = column.nodes if column.hierarchy is not None else column.order
    own = np.where(column.observed, line[column.values], len(line_ends(column)) - 1)
    return own.astype(np.float64)[:, None]


def line_ends(column: Category) -> Ints:
    """Return where the subtree of each place on the line ends; the last place is that of missing values.

    A place without children ends after itself, and where there is no hierarchy all do.
    """
    places = len(column.names) if column.hierarchy is None else len(column.hierarchy)
    own = np.arange(1, places + 1) if column.hierarchy is None else np.arange(places) + column.hierarchy.sizes
    return np.append(own, places + 1)


def cut_categories(over: Over, roots: int, k: int, size: int, ends: Ints) -> CategoryBlocks:
    """Return the blocks of records of so many strata: at least k and, unless equal or joined, at most ``size``.

    >>> places, none = np.array([[0.0], [0.0], [1.0], [2.0], [2.0]]), np.zeros(5, dtype=np.int64)
    >>> cut_categories(lambda part: part(places, none), 1, 2, 3, np.array([1, 2, 3])).blocks(places, none)
    array([0, 0, 0, 1, 1])
    """
    places = len(ends)
    table = over(lambda values, root: Counts.of(root.astype(np.int64) * places + values[:, 0].astype(np.int64)))
    counts = np.zeros(roots * places, dtype=np.int64)
    counts[table.keys] = table.counts
    home = np.full((roots, places), -1)
    sizes: list[Ints] = []
    first = 0
    for root, own in enumerate(counts.reshape(roots, places)):
        if not own.any():
            continue
        cuts = _pieces(own, size, ends)
        pieces = np.add.reduceat(own, cuts[:-1])
        joined = first + fuse_neighbours(pieces, k)
        home[root] = np.repeat(joined, np.diff(cuts))
        sizes.append(np.bincount(joined - first, pieces).astype(np.int64))
        first = int(joined.max()) + 1
    return CategoryBlocks(home, np.concatenate(sizes))


def _pieces(counts: Ints, size: int, ends: Ints) -> Ints:
    """Return where the line is cut: subtrees of at most ``size`` records, neighbours of one parent put together."""
    below = np.concatenate([[0], np.cumsum(counts)])
    cuts = [0]
    stack = [_siblings(0, len(counts), ends)]
    while stack:
        edges = stack.pop()
        held = 0
        for place, (start, stop) in enumerate(pairwise(edges)):
            own = int(below[stop] - below[start])
            if own > size and stop - start > 1:
                cuts.append(start)
                stack += [edges[place + 1 :], [start, *_siblings(start + 1, stop, ends)]]
                break
            if held + own > size:
                cuts.append(start)
                held = 0
            held += own
        else:
            cuts.append(edges[-1])
    return np.unique(cuts)


def _siblings(start: int, stop: int, ends: Ints) -> list[int]:
    """Return the edges of the subtrees side by side between two places."""
    edges = [start]
    while edges[-1] < stop:
        edges.append(int(ends[edges[-1]]))
    return edges


def category_of(columns: list[Category]) -> Category:
    """Return the column that blocks are cut by where none is named: the first with a hierarchy, or the first."""
    return next((column for column in columns if column.kind is Kind.SEMANTIC), columns[0])
