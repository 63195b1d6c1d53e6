"""Pricing where cuts are of sets of records that share none: of each set one group holds more than half.

Such a cut (:mod:`.cuts`) is of k to 2k - 1 records, and q is one more than half of them, so that at most one group
holds q. It closes what the relaxation leaves where records lie in clusters: of twelve that are far from all others it
takes 1.2 groups of ten.

Groups that hold q records of a set are looked for set by set (:mod:`.paying`), at any size and whatever they may pay
for another set: what they undercut their prices by raises the multiplier. All others pay nothing, and nor do their
subsets, so it is enough to price groups of k (:mod:`.bound`), with fewer than q records of each set (:mod:`.pricing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.paying import price_paying
from shoal.partition.optimal.pricing import price_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.kernels.arrays import Floats, Ints
    from shoal.partition.optimal.cuts import Cuts
    from shoal.partition.optimal.near_groups import PairTable

_STEPS = 300_000  # in which others are put together with records of a set
_KEPT = 6  # groups of each root or set that are added
_CHUNK = 16  # roots of a task


@dataclass(frozen=True)
class Priced:
    """Least reduced cost of the groups that count for each root or set, at most 0, and groups below 0, by size."""

    least: Floats
    found: list[Ints]


def price_sets(
    table: PairTable, prices: Floats, cuts: Cuts, multipliers: Floats, k: int, *, threads: int, neglect: float
) -> Priced:
    """Price the groups that hold q records of a set, for each set."""
    rows = np.split(cuts.rows, cuts.starts[1:-1]) if len(cuts) else []
    least = np.full((len(cuts), 1), -neglect)
    found, sizes = np.empty((len(cuts), _KEPT, 2 * k - 1), dtype=np.int64), np.zeros((len(cuts), _KEPT), dtype=np.int64)
    tasks = [
        partial(
            price_paying, table.distances, prices, rows[c], int(cuts.steps[c]), float(multipliers[c]), k, _STEPS,
            least[c], found[c], sizes[c],
        )
        for c in range(len(cuts))
    ]  # fmt: skip
    counts = np.array(run_watched(tasks, [], threads), dtype=np.int64).reshape(-1, 1)
    there = np.arange(_KEPT) < counts
    by_size = [found[there & (sizes == size), :size] for size in range(k, 2 * k)]
    return Priced(least[:, 0], [groups for groups in by_size if len(groups)])


def price_smallest(
    table: PairTable,
    prices: Floats,
    rank: Ints,
    cuts: Cuts,
    k: int,
    *,
    threads: int,
    over: Callable[[], bool],
    neglect: float,
    branches: int,
    kept: int = _KEPT,
) -> Priced | None:
    """Price groups of k with fewer than q records of each set, for each root; None where it was stopped.

    ``rank`` (n,) are the places of records by price. A root keeps the bound that it has after so many branches.
    """
    n = len(prices)
    home = np.full(n, -1)
    home[cuts.rows] = np.repeat(np.arange(len(cuts)), np.diff(cuts.starts))
    order, crowd = np.argsort(-rank), np.ascontiguousarray(table.near[:, k - 2])
    watch, jobs, tasks, pieces = new_watch(), [], [], -(-n // _CHUNK)
    for c in range(pieces):
        # roots with high prices take longest: every chunk has some of each
        roots = np.ascontiguousarray(order[c::pieces])
        least, counts = np.full(len(roots), -neglect), np.zeros(len(roots), dtype=np.int64)
        found = np.empty((len(roots), kept, k), dtype=np.int64)
        jobs.append((roots, least, found, counts))
        own = (table.distances, crowd, prices, rank, home, cuts.steps - 1, k, roots, branches)
        tasks.append(partial(price_roots, *own, least, found, counts, watch))
    if run_watched(tasks, [watch], threads, over) is None:
        return None
    all_least, groups = np.empty(n), []
    for roots, least, found, counts in jobs:
        all_least[roots] = least
        groups.append(found[np.arange(kept) < counts[:, None]])
    return Priced(all_least, [np.concatenate(groups)])
