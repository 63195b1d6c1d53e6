"""Rows that name other rows, and the way back: by whom a row is named, in a doubly linked list.

``names`` (n, k) are the rows that each row names. Entry e = row * k + t stands for "names[row, t]"; the entries that
name the same row form a list: ``first`` (n,) of each row that is named, ``after`` and ``before`` (n * k,) of each
entry, -1 where there is none. Entering and leaving take O(k).
"""

from __future__ import annotations

from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel


@kernel
def link(row: int, names: Ints, first: Ints, after: Ints, before: Ints) -> None:
    """Enter a row into the lists of those that it names."""
    k = names.shape[1]
    for t in range(k):
        entry, named = row * k + t, names[row, t]
        after[entry], before[entry] = first[named], -1
        if first[named] >= 0:
            before[first[named]] = entry
        first[named] = entry


@kernel
def unlink(row: int, names: Ints, first: Ints, after: Ints, before: Ints) -> None:
    """Take a row out of the lists of those that it names."""
    k = names.shape[1]
    for t in range(k):
        entry = row * k + t
        if before[entry] >= 0:
            after[before[entry]] = after[entry]
        else:
            first[names[row, t]] = after[entry]
        if after[entry] >= 0:
            before[after[entry]] = before[entry]
