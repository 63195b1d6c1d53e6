"""The 2^d-tree: every axis is halved, again and again, until no leaf holds more than L records.

The limits of the root are the smallest and largest value of each blocking column; a leaf with more than L
records is split at the midpoint of every column into 2^d leaves, of which only those that hold records exist.
Leaves with fewer than k records are fused with the leaf of the nearest centroid until none is left.

Halving an interval again and again is reading the bits of a scaled coordinate from the top, so a leaf is a prefix
of the interleaved bits. One pass over the records writes as many levels as a word of 64 bits holds into the code of
each, one group-by counts the codes, and the leaves follow from that table by their prefixes: any engine that can
group by a number can cut the same blocks. Where a code is shared by more than L records, the next word of these
records is read in the same way, down to ``_BITS`` levels; records that coincide in every bit stay together, even if
they are more than L.

Source: A. Solanas, A. Martinez-Balleste, J. Domingo-Ferrer, S. Bujalance and J. M. Mateo-Sanz, A 2^d-tree-based
blocking method for microaggregating very large data sets.

Cost: O(d n + n log n) a word, and O(c log c) for fusing c leaves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.blocking.fusing import fuse_small_blocks
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel

Words = NDArray[np.uint64]

_BITS = 30  # levels of halving before records count as coinciding
_WORD = 64


def two_d_tree(values: Floats, k: int, size: int) -> Ints:
    """Number the block of each record, a row of ``values`` (n, d): at least k and, unless fused, at most ``size``.

    >>> two_d_tree(np.array([[0.0], [0.1], [0.9], [1.0]]), 2, 2)
    array([0, 0, 1, 1])
    """
    leaves = split_leaves(values, size)
    return fuse_small_blocks(values, leaves, k)


def split_leaves(values: Floats, size: int) -> Ints:
    """Number the leaf of each record before small leaves are fused; those of a higher level come first."""
    n, d = values.shape
    low, high = values.min(axis=0), values.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    leaves, count = np.zeros(n, dtype=np.int64), 1
    crowded = np.arange(n) if n > size else np.empty(0, dtype=np.int64)
    step = max(1, _WORD // d)
    for level in range(0, _BITS, step):
        if len(crowded) == 0:
            break
        levels = min(step, _BITS - level)
        words = _read_bits(values, crowded, low, width, level, levels)
        parents, codes, records, entry = _count_codes(leaves[crowded], words)
        found, full = leaves_of_codes(parents, codes, records, levels, d if words.shape[1] == 1 else 0, size)
        leaves[crowded] = found[entry] + count
        count += int(found.max()) + 1
        crowded = crowded[full[entry]]
    return _close_gaps(leaves, count)


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


def _count_codes(parents: Ints, words: Words) -> tuple[Ints, Words, Ints, Ints]:
    """Group records by parent and words (n, m): the sorted table of parents, codes and counts, and the entry of each.

    Where a level takes more than one word, the code is the rank of the words.
    """
    if words.shape[1] == 1 and (parents == parents[0]).all():
        codes, entry, records = np.unique(words[:, 0], return_inverse=True, return_counts=True)
        return np.full(len(codes), parents[0]), codes, records, entry
    order = np.lexsort([*words.T[::-1], parents])
    new = (np.diff(words[order], axis=0) != 0).any(axis=1) | (np.diff(parents[order]) != 0)
    numbers = np.concatenate([[0], np.cumsum(new)])
    entry = np.empty(len(order), dtype=np.int64)
    entry[order] = numbers
    firsts = order[np.flatnonzero(np.concatenate([[True], new]))]
    codes = words[firsts, 0] if words.shape[1] == 1 else np.arange(len(firsts), dtype=np.uint64)
    return parents[firsts], codes, np.bincount(numbers), entry


@kernel
def _read_bits(values: Floats, rows: Ints, low: Floats, width: Floats, level: int, levels: int) -> Words:
    """Interleave the bits of some levels of the places of some rows: words (rows, ceil(levels * d / 64))."""
    d = values.shape[1]
    words = np.zeros((len(rows), (levels * d + _WORD - 1) // _WORD), np.uint64)
    places = np.empty(d, np.uint64)
    for a in range(len(rows)):
        for j in range(d):
            place = int((values[rows[a], j] - low[j]) / width[j] * 2.0**_BITS)
            places[j] = min(place, 2**_BITS - 1)
        at = 0
        for shift in range(_BITS - 1 - level, _BITS - 1 - level - levels, -1):
            for j in range(d):
                bit = (places[j] >> np.uint64(shift)) & np.uint64(1)
                words[a, at // _WORD] = (words[a, at // _WORD] << np.uint64(1)) | bit
                at += 1
    return words
