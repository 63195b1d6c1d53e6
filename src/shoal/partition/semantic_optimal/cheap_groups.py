"""All groups whose bounds (:mod:`least_costs`) are below the prices of their records, of any size from k on.

Those of k are found from each of their roots, the member with the highest price: members are added one by one, and a
set is given up when what it costs with the cheapest members that are left, each with its nearest, is not below the
prices. Those of one more are among these and any record, and so on until there are none, as a group of s has a
subset of s - 1 with such bounds. Equal records are one record, which a group can hold as often as it occurs.

Cost: as many sets as there are, times the records that are tried for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import STOP, new_watch
from shoal.partition.semantic_optimal.least_costs import PairBounds, below_prices, pair_bounds
from shoal.partition.semantic_optimal.state import Setting

_CHUNKS = 64  # tasks that the threads share
MOST = 6_000_000  # cells of all sets of a size that are held


class Neighbourhood:
    """What groups of k are found from: bounds of pairs in a group of k, and the other records by these."""

    def __init__(self, setting: Setting, counts: Ints) -> None:
        self.setting, self.counts = setting, counts
        self.pairs: PairBounds = pair_bounds(setting)
        self.k = k = setting.k
        pairs = self.pairs
        self.weights = pairs.spread / k + pairs.apart / (k - 1)
        self.order = np.argsort(self.weights, axis=1, kind="stable")
        self.near = np.zeros((len(counts), k))
        _add_up_nearest(self.weights, self.order, counts, self.near)


def cheap_groups(here: Neighbourhood, prices: Floats, threads: int, over: Callable[[], bool]) -> list[Ints] | None:
    """Return the sets of k, k + 1, ... records, as distinct records (sets, s), whose bounds are below their prices.

    None where there are too many of them, or the time is over.
    """
    found = _of_k(here, prices, threads, over)
    sizes: list[Ints] = []
    while found is not None and len(found):
        found = _below(here, prices, found, threads)
        sizes.append(found)
        found = _grown(here, prices, found, threads, over)
    return sizes if found is not None else None


def _below(here: Neighbourhood, prices: Floats, sets: Ints, threads: int) -> Ints:
    """Return the sets whose bound from all records is below their prices."""
    parts = np.array_split(sets, min(_CHUNKS, len(sets)))
    found = run_watched([partial(below_prices, here.setting, own, prices) for own in parts], [], threads)
    assert found is not None
    return sets[np.concatenate(found)]


def _of_k(here: Neighbourhood, prices: Floats, threads: int, over: Callable[[], bool]) -> Ints | None:
    """Return the sets of k; None where there are too many or the time is over."""
    m, k, watch = len(prices), here.k, new_watch()
    order = np.argsort(-prices, kind="stable")
    rank = np.empty(m, dtype=np.int64)
    rank[order] = np.arange(m)
    roots = [order[c::_CHUNKS] for c in range(min(_CHUNKS, m))]
    tasks = [partial(_from_roots, own, here.weights, here.near, here.counts, prices, rank, k, watch) for own in roots]
    return _together(run_watched(tasks, [watch], threads, over), k)


def _grown(here: Neighbourhood, prices: Floats, sets: Ints, threads: int, over: Callable[[], bool]) -> Ints | None:
    """Return the sets of one more record; None where there are too many or the time is over."""
    if not len(sets):
        return np.empty((0, sets.shape[1] + 1), dtype=np.int64)
    watch = new_watch()
    tasks = [
        partial(_with_one_more, own, *here.pairs, here.weights, here.order, here.counts, prices, here.k, watch)
        for own in np.array_split(sets, min(_CHUNKS, len(sets)))
    ]
    found = _together(run_watched(tasks, [watch], threads, over), sets.shape[1] + 1)
    return None if found is None else np.unique(found, axis=0)


def _together(found: list[tuple[Ints, bool]] | None, size: int) -> Ints | None:
    """Put what tasks found together; None where one was stopped or there are too many."""
    if found is None or not all(whole for _, whole in found):
        return None
    sets = np.concatenate([own for own, _ in found])
    return sets if sets.size <= MOST else None


@kernel
def _add_up_nearest(weights: Floats, order: Ints, counts: Ints, near: Floats) -> None:
    """Write what the t nearest other records of each add up to, at place t of ``near`` (m, k)."""
    m, k = near.shape
    for i in range(m):
        total, t = 0.0, 0
        for other in order[i]:
            there = counts[other] - 1 if other == i else counts[other]
            for _ in range(there):
                t += 1
                if t == k:
                    break
                total += weights[i, other]
                near[i, t] = total
            if t >= k:
                break
        for rest in range(t + 1, k):
            near[i, rest] = np.inf  # there are not so many


@kernel
def _from_roots(
    roots: Ints, weights: Floats, near: Floats, counts: Ints, prices: Floats, rank: Ints, k: int, watch: Ints
) -> tuple[Ints, bool]:
    """Sets (sets, k) of some roots with bounds below their prices, each sorted; and whether these are all."""
    m, most = len(counts), MOST // k
    sets, count = np.empty((64, k), np.int64), 0
    candidates = np.empty((k + 1, m), np.int64)  # of each depth, those that may still be added
    shares = np.empty((k + 1, m))  # and their bounds with the members so far, less their prices
    many, at = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    members, below = np.empty(k, np.int64), np.empty(k + 1)  # and bound less prices of the first so many
    cheapest = np.empty(k)
    for root in roots:
        many[1], at[1], depth = 0, 0, 1
        members[0], below[1] = root, -prices[root]
        for i in range(m):
            if rank[i] > rank[root] or (i == root and counts[i] > 1):
                candidates[1, many[1]], shares[1, many[1]] = i, weights[root, i] - prices[i]
                many[1] += 1
        many[1] = _keep(candidates[1], shares[1], many[1], below[1], near, counts, k - 1, cheapest)
        while depth > 0:
            if watch[STOP] != 0:
                return sets[:count], False
            if at[depth] >= many[depth]:
                depth -= 1
                continue
            place = at[depth]
            at[depth] += 1
            one = candidates[depth, place]
            used = 0
            for t in range(depth):
                used += members[t] == one
            if used >= counts[one]:
                continue
            members[depth] = one
            now = below[depth] + shares[depth, place]
            if depth + 1 == k:
                if now < 0.0:
                    if count == len(sets):
                        if 2 * count > most:
                            return sets[:count], False
                        larger = np.empty((2 * count, k), np.int64)
                        larger[:count] = sets
                        sets = larger
                    sets[count] = np.sort(members)
                    count += 1
                continue
            inner, kept = depth + 1, 0
            below[inner], at[inner] = now, 0
            for p in range(place, many[depth]):
                i = candidates[depth, p]
                candidates[inner, kept], shares[inner, kept] = i, shares[depth, p] + weights[one, i]
                kept += 1
            many[inner] = _keep(candidates[inner], shares[inner], kept, now, near, counts, k - inner, cheapest)
            depth = inner
    return sets[:count], True


@kernel
def _keep(
    candidates: Ints,
    shares: Floats,
    many: int,
    below: float,
    near: Floats,
    counts: Ints,
    missing: int,
    cheapest: Floats,
) -> int:
    """Keep the candidates with which a set that lacks some members can still be below its prices; how many."""
    cheapest[:] = np.inf  # scores of the best of those that are missing but one, sorted
    for p in range(many):
        i = candidates[p]
        score = shares[p] + 0.5 * near[i, missing - 1]
        for _ in range(min(counts[i], missing - 1)):
            if score >= cheapest[missing - 2]:
                break
            t = missing - 2
            while t > 0 and cheapest[t - 1] > score:
                cheapest[t] = cheapest[t - 1]
                t -= 1
            cheapest[t] = score
    others = 0.0
    for t in range(missing - 1):
        others += cheapest[t]
    kept = 0
    for p in range(many):
        i = candidates[p]
        if below + others + shares[p] + 0.5 * near[i, missing - 1] < 0.0:
            candidates[kept], shares[kept] = i, shares[p]
            kept += 1
    return kept


@kernel
def _with_one_more(
    sets: Ints,
    spread: Floats,
    apart: Floats,
    weights: Floats,
    order: Ints,
    counts: Ints,
    prices: Floats,
    k: int,
    watch: Ints,
) -> tuple[Ints, bool]:
    """Sets (sets, s + 1) that are one of some sets (sets, s) and a record; and whether these are all."""
    size = sets.shape[1]
    most = 4 * MOST // (size + 1)
    found, count = np.empty((64, size + 1), np.int64), 0
    highest = prices.max()
    for own in sets:
        if watch[STOP] != 0:
            return found[:count], False
        below = 0.0
        for a in range(size):
            below -= prices[own[a]]
            for b in range(a):
                below += spread[own[a], own[b]] / (size + 1) + apart[own[a], own[b]] / size
        for one in order[own[0]]:
            # pairs of a larger group weigh at least (k - 1) / s of those of a group of k
            if below + weights[own[0], one] * (k - 1) / size - highest >= 0.0:
                break
            now, used = below - prices[one], 0
            for a in range(size):
                now += spread[own[a], one] / (size + 1) + apart[own[a], one] / size
                used += own[a] == one
            if now >= 0.0 or used >= counts[one]:
                continue
            if count == len(found):
                if 2 * count > most:
                    return found[:count], False
                larger = np.empty((2 * count, size + 1), np.int64)
                larger[:count] = found
                found = larger
            found[count, :size], found[count, size] = own, one
            found[count].sort()
            count += 1
    return found[:count], True
