"""The 2^d-tree: every axis is halved, again and again, until no leaf holds more than L records.

The limits of the root are the smallest and largest value of each blocking column; a leaf with more than L
records is split at the midpoint of every column into 2^d leaves, of which only those that hold records exist.
Leaves with fewer than k records are fused with the leaf of the nearest centroid until none is left. Every stratum is a
root of its own.

Halving an interval again and again is reading the bits of a scaled coordinate from the top, so a leaf is a prefix
of the interleaved bits. One pass over the records writes some levels into the code of each, one group-by counts the
codes, and the leaves follow from that table by their prefixes: any engine that can count numbers can cut the same
blocks, and no table has more than a million codes but where there are more records than that in leaves still to be cut.
Where a code is shared by more than L records, the next levels of these records are read in the same way, down to
``BITS`` of them; records that coincide in every bit stay together, even if they are more than L. Centroids are those
of the places on the grid of these bits, whose sums are whole numbers: nothing depends on the order of the records.

Source: A. Solanas, A. Martinez-Balleste, J. Domingo-Ferrer, S. Bujalance and J. M. Mateo-Sanz, A 2^d-tree-based
blocking method for microaggregating very large data sets.

Cost: O(d n + n log n) a pass, and O(c log c) for fusing c leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.blocking.counting import Counts, Over, Reach
from shoal.blocking.fusing import fuse_small_cells
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel

Words = NDArray[np.uint64]

BITS = 30  # levels of halving before records count as coinciding
_WORD = 64
_CODE = 20  # bits of a code that are read in a pass, where a level does not have more


def two_d_tree(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record, a row of ``values`` (n, d): at least k and, unless fused, at most ``size``.

    >>> two_d_tree(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    roots = np.zeros(len(values), dtype=np.int64)
    return grow_tree(lambda part: part(values, roots), 1, k, size).blocks(values, roots)


def split_leaves(values: Floats, size: int) -> Ints:
    """Number the leaf of each record before small leaves are fused; those of a higher level come first."""
    roots = np.zeros(len(values), dtype=np.int64)
    return _split(lambda part: part(values, roots), 1, size).leaves(values, roots)


@dataclass(frozen=True)
class Level:
    """What one pass read: the next levels of the leaves that were too large.

    Attributes
    ----------
    first, levels : int
        The first of the levels, and how many.
    crowded : int64 (c,)
        Leaves that were too large, sorted.
    keys : uint64 or bytes (m,)
        Place among the crowded leaves and next bits of the records that are there, sorted.
    numbers : int64 (m,)
        The leaf of each key.
    """

    first: int
    levels: int
    crowded: Ints
    keys: NDArray[Any]
    numbers: Ints


@dataclass(frozen=True)
class Tree:
    """The leaves of a tree.

    Attributes
    ----------
    reach : Reach
        Limits of the roots.
    passes : tuple of Level
        How the leaf of a record is found.
    alive : int64 (leaves,)
        Numbers of the leaves that there are, sorted.
    """

    reach: Reach
    passes: tuple[Level, ...]
    alive: Ints

    def leaves(self, values: Floats, roots: Ints) -> Ints:
        """Return the leaf of each record of a batch, numbered without gaps."""
        numbers: Ints = np.searchsorted(self.alive, self._numbers(values, roots)).astype(np.int64)
        return numbers

    def _numbers(self, values: Floats, roots: Ints) -> Ints:
        numbers, rows = roots.astype(np.int64), np.arange(len(roots))
        for one in self.passes:
            rows, keys = self._keys(values, roots, numbers[rows], rows, one)
            numbers[rows] = one.numbers[np.searchsorted(one.keys, keys)]
        return numbers

    def next_keys(self, values: Floats, roots: Ints, level: Level) -> NDArray[Any]:
        """Return the keys of the records of a batch that are in the crowded leaves of a level."""
        return self._keys(values, roots, self._numbers(values, roots), np.arange(len(roots)), level)[1]

    def _keys(self, values: Floats, roots: Ints, numbers: Ints, rows: Ints, level: Level) -> tuple[Ints, NDArray[Any]]:
        """Return those of some rows, in leaves of these numbers, that are in crowded ones, and their keys."""
        crowded, first, levels = level.crowded, level.first, level.levels
        at = np.searchsorted(crowded, numbers)
        inside = crowded[np.minimum(at, len(crowded) - 1)] == numbers
        rows, at = rows[inside], at[inside]
        words = _read_bits(values, rows, roots, self.reach.low, self.reach.width, first, levels)
        if words.shape[1] == 1 and _fits(len(crowded), levels * values.shape[1]):
            keys: NDArray[Any] = (at.astype(np.uint64) << np.uint64(levels * values.shape[1])) | words[:, 0]
            return rows, keys
        wide = np.column_stack([at.astype(np.uint64), words]).astype(">u8")  # big-endian bytes sort as numbers do
        return rows, np.ascontiguousarray(wide).view(f"S{8 * wide.shape[1]}")[:, 0]


@dataclass(frozen=True)
class FusedTree:
    """The blocks of a tree: its leaves, small ones fused."""

    tree: Tree
    home: Ints
    sizes: Ints

    def blocks(self, values: Floats, roots: Ints) -> Ints:
        """Return the block of each record of a batch."""
        found: Ints = self.home[self.tree.leaves(values, roots)]
        return found


def grow_tree(over: Over, roots: int, k: int, size: int) -> FusedTree:
    """Return the blocks of records of so many strata: at least k and, unless fused, at most ``size`` records."""
    tree, places = leaves_and_places(over, roots, size)
    root_of = places.roots
    home = np.empty(len(tree.alive), dtype=np.int64)
    first = 0
    for root in np.unique(root_of).tolist():
        own = np.flatnonzero(root_of == root)
        middle = places.sums[own] * (tree.reach.width[root] / 2.0**BITS)
        home[own] = first + fuse_small_cells(middle, places.counts[own].astype(np.float64), k)
        first = int(home[own].max()) + 1
    return FusedTree(tree, home, np.bincount(home, places.counts).astype(np.int64))


def leaves_and_places(over: Over, roots: int, size: int) -> tuple[Tree, Places]:
    """Return the leaves of at most ``size`` records, before small ones are fused, and where their records are."""
    tree = _split(over, roots, size)
    return tree, over(lambda values, root: Places.of(tree, values, root))


def _split(over: Over, roots: int, size: int) -> Tree:
    """Return the tree whose leaves have at most ``size`` records, or cannot be cut."""
    reach = over(lambda values, root: Reach.of(values, root, roots))
    d = reach.low.shape[1]
    alive, crowded = [np.flatnonzero((reach.counts > 0) & (reach.counts <= size))], np.flatnonzero(reach.counts > size)
    passes: list[Level] = []
    level, count = 0, roots
    while len(crowded) and level < BITS:
        levels = min(max(1, _CODE // d), BITS - level)
        tree = Tree(reach, tuple(passes), np.empty(0, dtype=np.int64))
        none = np.empty(0, dtype=np.int64)
        table = over(_Next(tree, Level(level, levels, crowded, none, none)))
        coded = _fits(len(crowded), levels * d)
        codes: Words = np.arange(len(table.keys), dtype=np.uint64)
        if coded:
            codes = table.keys.astype(np.uint64) & np.uint64(2 ** (levels * d) - 1)
        parents = _parents(table.keys, levels * d if coded else -1)
        found, full = leaves_of_codes(parents, codes, table.counts, levels, d if coded else 0, size)
        passes.append(Level(level, levels, crowded, table.keys, found + count))
        level += levels
        alive.append(np.unique(found[~full if level < BITS else slice(None)]) + count)
        crowded = np.unique(found[full]) + count
        count += int(found.max()) + 1
    return Tree(reach, tuple(passes), np.sort(np.concatenate(alive)))


@dataclass(frozen=True)
class _Next:
    """Counts the next bits of records in crowded leaves: the part of a pass, which may travel to another machine."""

    tree: Tree
    level: Level

    def __call__(self, values: Floats, roots: Ints) -> Counts:
        return Counts.of(self.tree.next_keys(values, roots, self.level))


@dataclass(frozen=True)
class Places:
    """Sums of the places of records on the grid of all bits, how many there are, and the root, by leaf."""

    sums: Ints
    counts: Ints
    roots: Ints

    @classmethod
    def of(cls, tree: Tree, values: Floats, roots: Ints) -> Places:
        """Add up the places of a batch of records."""
        leaves = tree.leaves(values, roots)
        sums = np.zeros((len(tree.alive), values.shape[1]), dtype=np.int64)
        _add_places(values, roots, tree.reach.low, tree.reach.width, leaves, sums)
        own = np.full(len(tree.alive), -1)
        own[leaves] = roots
        return cls(sums, np.bincount(leaves, minlength=len(tree.alive)), own)

    def __add__(self, other: Places) -> Places:
        return Places(self.sums + other.sums, self.counts + other.counts, np.maximum(self.roots, other.roots))


def _fits(parents: int, bits: int) -> bool:
    """Whether the place among so many leaves and so many bits fit into one word."""
    return int(parents).bit_length() + bits <= _WORD


def _parents(keys: NDArray[Any], bits: int) -> Ints:
    """Return which crowded leaf each key belongs to, by its place among them."""
    if bits >= 0:
        return (keys >> np.uint64(bits)).astype(np.int64)
    wide = np.frombuffer(keys.tobytes(), dtype=">u8").reshape(len(keys), -1)
    return wide[:, 0].astype(np.int64)


def leaves_of_codes(
    parents: Ints, codes: Words, records: Ints, levels: int, bits: int, size: int
) -> tuple[Ints, Flags]:
    """Cut a table of codes into leaves of at most ``size`` records.

    Parameters
    ----------
    parents, codes, records : int64, uint64, int64 (entries,)
        The table, sorted: the leaf that was too large, the next bits of its records, and how many records have them.
    levels, bits : int
        Levels in a code, and bits of a level: the first level is in the highest bits.
    size : int
        Most records of a leaf.

    Returns
    -------
    leaves : int64 (entries,)
        Number of each entry's leaf, those of a higher level first and in the order of the table.
    full : bool (entries,)
        Entries whose leaf has more than ``size`` records on the last level.

    Examples
    --------
    Codes of two levels of two bits: the three records of leaf 01 are more than two, and are cut once more.

    >>> table = np.array([0b0000, 0b0100, 0b0111, 0b1100], dtype=np.uint64)
    >>> leaves_of_codes(np.zeros(4, dtype=np.int64), table, np.array([1, 1, 2, 2]), 2, 2, 2)[0]
    array([0, 2, 3, 1])
    """
    leaves = np.zeros(len(codes), dtype=np.int64)
    still = np.arange(len(codes))
    count = 0
    for level in range(1, levels + 1):
        prefixes = codes[still] >> np.uint64((levels - level) * bits)
        new = (np.diff(prefixes) != 0) | (np.diff(parents[still]) != 0)
        numbers = np.concatenate([[0], np.cumsum(new)])
        held = np.bincount(numbers, records[still])
        leaves[still] = numbers + count
        count += int(numbers[-1]) + 1
        still = still[held[numbers] > size]
        if len(still) == 0:
            break
    full = np.zeros(len(codes), dtype=np.bool_)
    full[still] = True
    return _close_gaps(leaves, count), full


def _close_gaps(leaves: Ints, count: int) -> Ints:
    """Number leaves without gaps, in their order; all numbers are below ``count``."""
    there = np.zeros(count, dtype=np.int64)
    there[leaves] = 1
    numbers: Ints = (np.cumsum(there) - 1)[leaves]
    return numbers


@kernel
def _place(value: float, low: float, width: float) -> int:
    """Place of a value on the grid of all bits between the limits of its root."""
    place = int((value - low) / width * 2.0**BITS)
    return int(min(place, 2**BITS - 1))


@kernel
def _read_bits(values: Floats, rows: Ints, roots: Ints, low: Floats, width: Floats, level: int, levels: int) -> Words:
    """Interleave the bits of some levels of the places of some rows: words (rows, ceil(levels * d / 64)).

    ``values`` is (n, d), ``roots`` (n,), the limits of the roots are (roots, d).
    """
    d = values.shape[1]
    words = np.zeros((len(rows), (levels * d + _WORD - 1) // _WORD), np.uint64)
    places = np.empty(d, np.uint64)
    for a in range(len(rows)):
        root = roots[rows[a]]
        for j in range(d):
            places[j] = _place(values[rows[a], j], low[root, j], width[root, j])
        at = 0
        for shift in range(BITS - 1 - level, BITS - 1 - level - levels, -1):
            for j in range(d):
                bit = (places[j] >> np.uint64(shift)) & np.uint64(1)
                words[a, at // _WORD] = (words[a, at // _WORD] << np.uint64(1)) | bit
                at += 1
    return words


@kernel
def _add_places(values: Floats, roots: Ints, low: Floats, width: Floats, leaves: Ints, sums: Ints) -> None:
    """Add the places of the rows of ``values`` (n, d) to the sums (leaves, d) of their leaves (n,)."""
    for row in range(len(values)):
        for j in range(values.shape[1]):
            sums[leaves[row], j] += _place(values[row, j], low[roots[row], j], width[roots[row], j])
