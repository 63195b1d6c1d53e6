"""Pricing where cuts are of sets of records that share none: how many groups of at least k a set holds.

Such a cut (:mod:`.cuts`, with q = k) says that at most floor(|S| / k) groups hold k records of a set S or more. It
closes what the relaxation leaves where records lie in clusters: of twelve that are far from all others it takes 1.2
groups of ten. As sets share no record, a group of up to 2k - 1 holds k records of one of them at most: it pays one
multiplier or none.

A group of k pays if all its members are in one set. So a root in a set is priced twice, with members of its set alone
and the multiplier, and with at least one other member and without. A larger group is looked for if it holds more than k
records of a set, from the one with the highest price of these; for the others see :mod:`.cutting`. All this is the
search of :mod:`.pricing`, which works for groups of ten as cuts of other kinds do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.cuts import Cuts, take_cuts
from shoal.partition.optimal.pricing import price_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.kernels.arrays import Floats, Ints
    from shoal.partition.optimal.near_groups import PairTable

_BRANCHES = (20_000, 300)  # of a root, for groups of k and for larger ones
_KEPT = 6  # groups of each root that are added
_CHUNK = 16  # roots of a task


@dataclass(frozen=True)
class Priced:
    """Least reduced cost of the groups that count for each record, at most 0, and groups of each size below 0."""

    least: Floats
    found: list[Ints]


@dataclass(frozen=True)
class _Asked:
    """Groups of a size to be priced: roots (m,), least and most others of the set of each, and what they cost more."""

    size: int
    roots: Ints
    lows: Ints
    highs: Ints
    extras: Floats


def price_sets(
    table: PairTable,
    prices: Floats,
    rank: Ints,
    cuts: Cuts,
    multipliers: Floats,
    k: int,
    *,
    threads: int,
    over: Callable[[], bool],
    neglect: float,
    larger: bool = False,
) -> Priced | None:
    """Price groups of k, or larger ones, where cuts are of disjoint sets; None where it was stopped.

    ``rank`` (n,) are the places of records by price.
    """
    n = len(prices)
    active = np.flatnonzero(multipliers > 0.0)
    cuts, multipliers = take_cuts(cuts, active), multipliers[active]
    home = np.full(n, -1)
    home[cuts.rows] = np.repeat(np.arange(len(cuts)), np.diff(cuts.starts))
    watch, jobs, tasks = new_watch(), [], []
    for asked in _larger(home, rank, multipliers, k, n) if larger else _smallest(home, rank, multipliers, k):
        crowd = np.ascontiguousarray(table.near[:, asked.size - 2])
        pieces = -(-len(asked.roots) // _CHUNK)
        for c in range(pieces):
            # roots with high prices take longest: every chunk has some of each
            part = np.arange(c, len(asked.roots), pieces)
            roots, limits = asked.roots[part], (asked.lows[part], asked.highs[part], asked.extras[part])
            least, counts = np.full(len(roots), -neglect), np.zeros(len(roots), dtype=np.int64)
            found = np.empty((len(roots), _KEPT, asked.size), dtype=np.int64)
            jobs.append((roots, least, found, counts))
            own = (table.distances, crowd, prices, rank, home, asked.size, roots, *limits)
            tasks.append(partial(price_roots, *own, _BRANCHES[larger], least, found, counts, watch))
    if run_watched(tasks, [watch], threads, over) is None:
        return None
    all_least, groups = np.full(n, -neglect), []
    for roots, least, found, counts in jobs:
        np.minimum.at(all_least, roots, least)
        groups.append(found[np.arange(_KEPT) < counts[:, None]])
    return Priced(all_least, groups)


def _smallest(home: Ints, rank: Ints, multipliers: Floats, k: int) -> list[_Asked]:
    """Return what to ask of groups of k: those that pay nothing of all roots, and those inside a set."""
    order = np.argsort(-rank)
    own = order[home[order] >= 0]
    highs = np.where(home[order] >= 0, k - 2, 0)
    inside = np.full(len(own), k - 1)
    return [
        _Asked(k, order, np.zeros_like(order), highs, np.zeros(len(order))),
        _Asked(k, own, inside, inside, multipliers[home[own]]),
    ]


def _larger(home: Ints, rank: Ints, multipliers: Floats, k: int, n: int) -> list[_Asked]:
    """Return what to ask of larger groups: those with more than k records of a set, by the first of these."""
    order = np.argsort(-rank)
    own = order[home[order] >= 0]
    own = own[[int((rank[home == home[root]] < rank[root]).sum()) >= k for root in own]] if len(own) else own
    return [
        _Asked(size, own, np.full(len(own), k), np.full(len(own), size - 1), multipliers[home[own]])
        for size in range(k + 1, min(2 * k - 1, n) + 1)
    ]
