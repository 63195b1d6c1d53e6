"""Look for a group that costs less than the prices of its records say: all of them, in whole numbers.

A set of k is looked for from its member with the highest price. A candidate for the other q places has a key: what it
adds with the members so far, half of the distances to the q - 1 nearest candidates, and its share of each multiplier
that is due with one more record: of those that join, at most every "every"-th and at least the first makes it due. No
choice is below the sum of the q least keys, so a candidate with which that is not negative is dropped, and the keys are
made anew until none is. What is left is tried as a member, with its distances to the others in full. Then one candidate
is taken, and what is left is done in the same way, and after that it is dropped.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy import ndarray


@numba.njit
def cheaper(  # noqa: PLR0915 - a search loop in one piece
    distances: ndarray,
    prices: ndarray,
    cut_rows: ndarray,
    cut_starts: ndarray,
    every: ndarray,
    fines: ndarray,
    mates: ndarray,
    size: int,
    first: ndarray,
    after: int,
    above: int,
    found: ndarray,
) -> int:
    """Return how many sets of ``size`` records, the ``first`` and later ones, cost less than their prices less fines.

    Or less than that and ``above``. It ends with the last that ``found`` (m, size) has room for. All is in distances
    over the size: their sum is compared with ``size`` times the prices less the fines. With a record goes the next of
    ``mates``, which is itself where none has to.
    """
    n = len(prices)
    member = np.empty(size, np.int64)
    rows = np.empty((size, n), np.int64)
    own = np.empty((size, n), np.int64)  # what a candidate adds with the members so far
    keys = np.empty((size, n), np.int64)
    count, base, paid = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    due = np.zeros(n, np.int64)
    bottom, seen = len(first) - 1, 0
    base[bottom] = -size * above
    for t in range(len(first)):
        member[t] = first[t]
        base[bottom] -= size * prices[first[t]]
        for s in range(t):
            base[bottom] += distances[first[s], first[t]]
    for c in range(after, n):
        adds, new = -size * prices[c], True
        for i in first:
            adds += distances[i, c]
            new &= i != c
        if new:
            rows[bottom, count[bottom]], own[bottom, count[bottom]] = c, adds
            count[bottom] += 1
    level, entered = bottom, True
    while level >= bottom:
        q = size - 1 - level
        if entered:
            paid[level] = size * fined(
                cut_rows, cut_starts, every, fines, member[: level + 1], rows[level, : count[level]], q, due, size
            )
            count[level] = settle(
                distances, rows[level], own[level], keys[level], count[level], q, base[level] + paid[level], due
            )
            entered = False
        awaited = absent(mates, member[: level + 1])
        if q == 0 and awaited < 0 and base[level] + paid[level] < 0:
            found[seen] = member
            seen += 1
            if seen == len(found):
                return seen
        if q == 0 or count[level] < q:
            level -= 1
            continue
        # the candidate with the least key is taken, or the one that has to be, and will not be there afterwards
        least = -1
        for c in range(count[level]):
            if rows[level, c] == awaited or (awaited < 0 and (least < 0 or keys[level, c] < keys[level, least])):
                least = c
        if least < 0:
            level -= 1
            continue
        member[level + 1], adds = rows[level, least], own[level, least]
        count[level] -= 1
        last = count[level]
        rows[level, least], own[level, least], keys[level, least] = (
            rows[level, last],
            own[level, last],
            keys[level, last],
        )
        base[level + 1] = base[level] + adds
        count[level + 1] = last
        for c in range(last):
            rows[level + 1, c] = rows[level, c]
            own[level + 1, c] = own[level, c] + distances[member[level + 1], rows[level, c]]
        if awaited >= 0:
            count[level] = 0  # there is no group without it
        level, entered = level + 1, True
    return seen


@numba.njit
def absent(mates: ndarray, members: ndarray) -> int:
    """Return a record that has to be in a group with its members and is not, -1 where there is none."""
    for i in members:
        found = False
        for j in members:
            found |= mates[i] == j
        if not found:
            return mates[i]
    return -1


@numba.njit
def fined(
    cut_rows: ndarray,
    cut_starts: ndarray,
    every: ndarray,
    fines: ndarray,
    members: ndarray,
    candidates: ndarray,
    q: int,
    due: ndarray,
    size: int,
) -> int:
    """Return the fines of the members, and write twice the share of each candidate in those due with one more."""
    paid = 0
    for a in candidates:
        due[a] = 0
    for c in range(len(fines)):
        held, there = 0, 0
        records = cut_rows[cut_starts[c] : cut_starts[c + 1]]
        for i in records:
            for j in members:
                held += i == j
        paid += held // every[c] * fines[c]
        if q == 0 or (held + 1) % every[c] != 0:
            continue
        for i in records:
            for a in candidates:
                there += i == a
        for i in records:
            for a in candidates:
                if i == a:
                    due[a] += 2 * size * fines[c] // min(q, there, every[c])
    return paid


@numba.njit
def settle(
    distances: ndarray, rows: ndarray, own: ndarray, keys: ndarray, count: int, q: int, base: int, due: ndarray
) -> int:
    """Drop candidates that cannot be among q that, with what there is, sum up to less than 0; return how many stay.

    ``due`` is twice what each record would be fined at least.
    """
    least, nearest, nearer = np.empty(q, np.int64), np.empty(q, np.int64), np.zeros(count, np.int64)
    for a in range(count):
        keys[a] = 2 * own[a] + due[rows[a]]
    turn = 0
    while count >= q > 0:
        filled = 0
        for a in range(count):
            filled = insert(least, filled, q, keys[a])
        total = 2 * base
        for t in range(q):
            total += least[t]
        if total >= 0:
            return 0
        kept = 0
        for a in range(count):
            if total - least[q - 1] + keys[a] < 0:
                rows[kept], own[kept], keys[kept], nearer[kept] = rows[a], own[a], keys[a], nearer[a]
                kept += 1
        if q == 1:
            return kept
        if kept == count and turn > 0:
            kept = partners(distances, rows, own, keys, nearer, count, q, base)
            if kept == count:
                return count
        count = kept
        for a in range(count):
            near = 0
            for b in range(count):
                if b != a:
                    near = insert(nearest, near, q - 1, distances[rows[a], rows[b]])
            if near == q - 1:
                nearer[a] = nearest[: q - 2].sum()
                keys[a] = 2 * own[a] + due[rows[a]] + nearer[a] + nearest[q - 2]
        turn += 1
    return 0


@numba.njit
def partners(
    distances: ndarray, rows: ndarray, own: ndarray, keys: ndarray, nearer: ndarray, count: int, q: int, base: int
) -> int:
    """Drop candidates that are too much once their distances to the others count in full; return how many stay.

    ``nearer`` are the distances of a candidate to the q - 2 nearest others.
    """
    least, dropped = np.empty(q, np.int64), np.zeros(count, np.bool_)
    for a in range(count):
        filled = 0
        for b in range(count):
            if b != a and not dropped[b]:
                filled = insert(least, filled, q - 1, 2 * own[b] + 2 * distances[rows[a], rows[b]] + nearer[b])
        dropped[a] = filled < q - 1 or 2 * (base + own[a]) + least[: q - 1].sum() >= 0
    kept = 0
    for a in range(count):
        if not dropped[a]:
            rows[kept], own[kept], keys[kept] = rows[a], own[a], keys[a]
            kept += 1
    return kept


@numba.njit
def insert(smallest: ndarray, filled: int, most: int, number: int) -> int:
    """Keep the smallest numbers, sorted; return how many there are."""
    if filled == most and number >= smallest[most - 1]:
        return filled
    t = filled if filled < most else most - 1
    while t > 0 and smallest[t - 1] > number:
        smallest[t] = smallest[t - 1]
        t -= 1
    smallest[t] = number
    return min(filled + 1, most)
