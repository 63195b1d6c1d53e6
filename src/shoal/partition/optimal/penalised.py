"""Pricing where cuts have multipliers: groups that cost less than the prices of their members less their penalties.

The reduced cost of a group is its sum of squares less the prices of its members, and the multiplier of a cut
(:mod:`.cuts`) for each time that it counts. It is looked for by depth-first search from a first member, or several. A
candidate for one of the t places that are left has a key: its distances to the members over the size s less its price;
half of its distances to the t - 1 nearest candidates over s; and, of each cut for which one more record counts, a share
of its multiplier. Where r candidates are records of that cut, those of them that join, at most min(t, r), make it
count at least once for every q of them, so a share of 1 / min(t, r, q) is never too much. No choice is below the sum of
the t least keys: candidates with which that is too much are dropped, the keys are made anew until none is, then one
candidate is taken, all that is possible with it is looked at, and after that it is dropped.

Cost: O(n) for each first member and O(m^2) for the m candidates that are left, at each of some branches; k up to 6.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.watch import DONE, STOP
from shoal.partition.optimal.candidates import into_smallest
from shoal.partition.optimal.pricing import keep_group

_LOOK = 256  # branches between two looks at the watch


@kernel
def price_penalised(  # noqa: PLR0915 - a search loop in one piece
    distances: Floats,
    near: Floats,
    prices: Floats,
    rank: Ints,
    of_records: Ints,
    of_cuts: Ints,
    cut_starts: Ints,
    cut_rows: Ints,
    steps: Ints,
    multipliers: Floats,
    mates: Ints,
    size: int,
    firsts: Ints,
    least: Floats,
    found: Ints,
    counts: Ints,
    watch: Ints,
) -> None:
    """Lower ``least`` (m,) to the reduced cost of the cheapest group of ``size`` with each of ``firsts`` (m, w).

    With one first member, w = 1, the others have a lower ``rank`` (n,); with several they are any. ``distances`` is
    (n, n), ``near`` (n, size) the sum of the distances to the 0, 1, ... nearest others, ``prices`` (n,). Cuts of
    record i are ``of_cuts[of_records[i]:of_records[i + 1]]``; ``cut_starts``, ``cut_rows`` and ``steps`` are those of
    cuts, with their ``multipliers``; ``mates`` (n,) is the next record that has to be with each, itself where there is
    none. ``found`` (m, t, size) and ``counts`` (m,), 0 before, take the t last improvements
    of each. Returns early where the watch says so: nothing is then known about those that are not finished.
    """
    n, w = len(prices), firsts.shape[1]
    rows, own, keys = np.empty((size, n), np.int64), np.empty((size, n)), np.empty((size, n))
    count, base, member = np.zeros(size, np.int64), np.zeros(size), np.empty(size, np.int64)
    held, smallest = np.zeros(len(steps), np.int64), np.empty(size)
    place, penalty, looked = np.full(n, -1), np.zeros(n), np.zeros(len(steps), np.int64)
    looks = 0
    for number in range(len(firsts)):
        best, level = least[number], w - 1
        base[level], held[:] = 0.0, 0
        for t in range(w):
            member[t] = firsts[number, t]
            base[level] += join(member[t], of_records, of_cuts, steps, multipliers, held) - prices[member[t]]
            for s in range(t):
                base[level] += distances[member[s], member[t]] / size
        count[level] = first_candidates(distances, prices, rank, member[:w], size, rows[level], own[level])
        fresh = True
        while level >= w - 1:
            left = size - 1 - level
            if fresh:
                looks += 1
                if looks % _LOOK == 0 and watch[STOP] != 0:
                    return
                count[level] = narrow(
                    distances, near, of_records, of_cuts, cut_starts, cut_rows, steps, multipliers, held, looked,
                    member[: level + 1], rows[level], own[level], keys[level], count[level], left, base[level], best,
                    smallest, place, penalty,
                )  # fmt: skip
                fresh = False
            first, missing = -1, _missing(mates, member[: level + 1])
            if count[level] >= left:
                smallest[:left] = np.inf
                for a in range(count[level]):
                    into_smallest(smallest, left, keys[level, a])
                    if not _fits(mates, member[: level + 1], rows[level, a], missing, left):
                        continue
                    if first < 0 or keys[level, a] < keys[level, first]:
                        first = a
                total = smallest[:left].sum() if left > 1 or first < 0 else keys[level, first]
                if base[level] + total >= best:
                    first = -1
            if first < 0 or left == 1:
                if first >= 0:  # the last place: its key is what it adds
                    best = base[level] + keys[level, first]
                    member[size - 1] = rows[level, first]
                    keep_group(found[number], counts, number, member)
                if level >= w:
                    leave(member[level], of_records, of_cuts, held)
                level -= 1
                continue
            taken, adds = rows[level, first], own[level, first]
            count[level] -= 1
            last = count[level]
            rows[level, first], own[level, first], keys[level, first] = (
                rows[level, last], own[level, last], keys[level, last],
            )  # fmt: skip
            member[level + 1] = taken
            base[level + 1] = base[level] + adds + join(taken, of_records, of_cuts, steps, multipliers, held)
            for a in range(last):
                rows[level + 1, a] = rows[level, a]
                own[level + 1, a] = own[level, a] + distances[taken, rows[level, a]] / size
            count[level + 1] = last
            if missing >= 0:
                count[level] = 0  # nothing without it
            level += 1
            fresh = True
        least[number] = best
        watch[DONE] += 1


@kernel
def _missing(mates: Ints, members: Ints) -> int:
    """Return a record that has to be with the members and is not yet, or -1."""
    for i in members:
        if mates[i] != i:
            there = False
            for j in members:
                there |= j == mates[i]
            if not there:
                return mates[i]
    return -1


@kernel
def _fits(mates: Ints, members: Ints, row: int, missing: int, left: int) -> bool:
    """Whether a record may be the next: the missing one where there is one, and the last leaves none missing."""
    if missing >= 0 and row != missing:
        return False
    if left > 1:
        return True
    for i in members:
        there = mates[i] == row
        for j in members:
            there |= j == mates[i]
        if not there:
            return False
    there = mates[row] == row
    for j in members:
        there |= j == mates[row]
    return there


@kernel
def first_candidates(
    distances: Floats, prices: Floats, rank: Ints, members: Ints, size: int, rows: Ints, own: Floats
) -> int:
    """Write the records that may join the first members, and what they add; return how many."""
    m = 0
    for j in range(len(prices)):
        allowed = rank[j] < rank[members[0]] or len(members) > 1
        adds = -prices[j]
        for i in members:
            allowed &= i != j
            adds += distances[i, j] / size
        if allowed:
            rows[m], own[m] = j, adds
            m += 1
    return m


@kernel
def narrow(
    distances: Floats,
    near: Floats,
    of_records: Ints,
    of_cuts: Ints,
    cut_starts: Ints,
    cut_rows: Ints,
    steps: Ints,
    multipliers: Floats,
    held: Ints,
    looked: Ints,
    members: Ints,
    rows: Ints,
    own: Floats,
    keys: Floats,
    m: int,
    left: int,
    base: float,
    best: float,
    smallest: Floats,
    place: Ints,
    penalty: Floats,
) -> int:
    """Write the keys of candidates, and drop those that cannot be in a group below the best; return how many stay."""
    size = len(members) + left
    turn = 0
    while m >= left:
        for a in range(m):
            place[rows[a]] = a
            penalty[a] = 0.0
        for i in members:
            for e in range(of_records[i], of_records[i + 1]):
                c = of_cuts[e]
                if looked[c] == 0 and (held[c] + 1) % steps[c] == 0:
                    looked[c] = 1
                    cut = cut_rows[cut_starts[c] : cut_starts[c + 1]]
                    _share_out(cut, multipliers[c], steps[c], left, place, penalty)
        for i in members:
            for e in range(of_records[i], of_records[i + 1]):
                looked[of_cuts[e]] = 0
        for a in range(m):
            place[rows[a]] = -1
        for a in range(m):
            keys[a] = own[a] + penalty[a]
            if turn == 0:
                keys[a] += near[rows[a], left - 1] / (2 * size)
            elif left > 1:
                smallest[: left - 1] = np.inf
                for b in range(m):
                    if b != a:
                        into_smallest(smallest, left - 1, distances[rows[a], rows[b]])
                keys[a] += smallest[: left - 1].sum() / (2 * size)
        smallest[:left] = np.inf
        for a in range(m):
            into_smallest(smallest, left, keys[a])
        total = base + smallest[:left].sum()
        if total >= best:
            return 0
        highest = best - (total - smallest[left - 1])
        kept = 0
        for a in range(m):
            if keys[a] < highest:
                rows[kept], own[kept], keys[kept] = rows[a], own[a], keys[a]
                kept += 1
        if left == 1 or (kept == m and turn > 0):
            return kept
        m = kept
        turn += 1
    return 0


@kernel
def _share_out(records: Ints, multiplier: float, step: int, left: int, place: Ints, penalty: Floats) -> None:
    """Add to the penalty of each candidate that is a record of a cut its share of the multiplier."""
    there = 0
    for i in records:
        there += place[i] >= 0
    if there > 0:
        share = multiplier / min(left, there, step)
        for i in records:
            if place[i] >= 0:
                penalty[place[i]] += share


@kernel
def join(i: int, of_records: Ints, of_cuts: Ints, steps: Ints, multipliers: Floats, held: Ints) -> float:
    """Count record i in its cuts; return the multipliers of those for which it made the group count once more."""
    paid = 0.0
    for e in range(of_records[i], of_records[i + 1]):
        held[of_cuts[e]] += 1
        if held[of_cuts[e]] % steps[of_cuts[e]] == 0:
            paid += multipliers[of_cuts[e]]
    return paid


@kernel
def leave(i: int, of_records: Ints, of_cuts: Ints, held: Ints) -> None:
    """Count record i in its cuts no longer."""
    for e in range(of_records[i], of_records[i + 1]):
        held[of_cuts[e]] -= 1
