"""Choices among the candidates of a root: what a few of them cost, and who is left once one of them is a member.

Of a set of records a group may have only so many members, see :mod:`.set_pricing`.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel


@kernel
def cheapest_few(
    linear: Floats,
    weights: Floats,
    alive: Flags,
    rows: Ints,
    home: Ints,
    most: Ints,
    chosen: Ints,
    m: int,
    q: int,
    base: float,
    taken: Ints,
) -> float:
    """Return what the candidates taken cost, or the cheapest one or two where no more are to be taken.

    Infinite where they are too many of a set together with those ``chosen``; any one of them is not.
    """
    if q > 2:
        total = base
        for t in range(q):
            total += linear[taken[t]]
            own = home[rows[taken[t]]]
            held = 1
            for s in range(t):
                total += weights[taken[t], taken[s]]
                held += home[rows[taken[s]]] == own
            if own >= 0 and held + held_of(home, chosen, own) > most[own]:
                return np.inf
        return total
    lowest = np.inf
    for j in range(m):
        if not alive[j]:
            continue
        if q == 1:
            if base + linear[j] < lowest:
                lowest, taken[0] = base + linear[j], j
            continue
        for c in range(j):
            total = base + linear[j] + linear[c] + weights[j, c]
            if alive[c] and total < lowest:
                own = home[rows[j]]
                if own < 0 or home[rows[c]] != own or held_of(home, chosen, own) + 2 <= most[own]:
                    lowest, taken[0], taken[1] = total, j, c
    return lowest


@kernel
def held_of(home: Ints, chosen: Ints, own: int) -> int:
    """Return how many of the chosen are in a set."""
    held = 0
    for row in chosen:
        held += home[row] == own
    return held


@kernel
def copy_candidates(
    rows: Ints,
    linear: Floats,
    weights: Floats,
    split: Floats,
    alive: Flags,
    home: Ints,
    m: int,
    without: int,
    closed: int,
    new_rows: Ints,
    new_linear: Floats,
    new_weights: Floats,
    new_split: Floats,
    new_alive: Flags,
    new_stale: Flags,
) -> int:
    """Copy the candidates alive, once candidate ``without`` is a member, or all where it is -1; return how many.

    Those in the set ``closed`` are left, of which a group can have no more.
    """
    a = 0
    for j in range(m):
        if not alive[j] or j == without or home[rows[j]] == closed:
            continue
        new_rows[a], new_linear[a] = rows[j], linear[j] + (weights[without, j] if without >= 0 else 0.0)
        new_alive[a] = new_stale[a] = True
        b = 0
        for c in range(m):
            if alive[c] and c != without and home[rows[c]] != closed:
                new_weights[a, b], new_split[a, b] = weights[j, c], split[j, c]
                b += 1
        a += 1
    return a
