"""Numbers for the distinct values of a column of keys, in the order in which they appear: a hash table in a kernel."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel


@kernel
def number_keys(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the number (n,) of each key, the first row of each number, and how often it occurs; in O(n).

    >>> [part.tolist() for part in number_keys(np.array([7, 3, 7, 7, 9]))]
    [[0, 1, 0, 0, 2], [0, 1, 4], [3, 1, 1]]
    """
    numbers = np.empty(len(keys), np.int64)
    room = 1 << 10
    slots = np.full(room, -1)
    first, counts = np.empty(room, np.int64), np.empty(room, np.int64)
    found = 0
    for row in range(len(keys)):
        key = keys[row]
        at = _place(key, room)
        while slots[at] >= 0 and keys[first[slots[at]]] != key:
            at = (at + 1) & (room - 1)
        if slots[at] < 0:
            slots[at] = found
            first[found], counts[found] = row, 0
            found += 1
        numbers[row] = slots[at]
        counts[slots[at]] += 1
        if 2 * found >= room:
            room *= 4
            slots = np.full(room, -1)
            more_first, more_counts = np.empty(room, np.int64), np.empty(room, np.int64)
            more_first[:found], more_counts[:found] = first[:found], counts[:found]
            first, counts = more_first, more_counts
            for number in range(found):
                at = _place(keys[first[number]], room)
                while slots[at] >= 0:
                    at = (at + 1) & (room - 1)
                slots[at] = number
    return numbers, first[:found].copy(), counts[:found].copy()


@kernel
def _place(key: int, room: int) -> int:
    """Where to look for a key in a table whose room is a power of two: its bits well mixed."""
    z = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    z ^= z >> np.uint64(29)
    return int(np.int64(z & np.uint64(room - 1)))
