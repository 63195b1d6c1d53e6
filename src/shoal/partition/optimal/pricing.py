"""Pricing: for each record the group of k that undercuts the prices of its members by most, found exactly.

Every record has a price. The reduced cost of a group is its sum of squares, the sum of the squared distances of its
pairs over its size, less the prices of its members. Its root is the member with the highest price, of equal ones the
last. Beside its root a group has q = k - 1 members, chosen among the records of a lower rank.

A lower bound on that choice: halve the weight of each pair, its distance over k, between its two members. Each
candidate has a score, its own weight with the root less its price and its shares of the q - 1 pairs with the least
shares; no choice is below the sum of the q least scores. How a pair is shared is free: where a candidate counts a pair
that its partner does not count, its share grows and that of the partner shrinks, which raises the bound (Lagrangian
relaxation of y_ij = y_ji, by subgradients). A candidate with which the bound passes what was found already is dropped.
Where candidates are left, one of them is taken, all that is possible with it is looked at in the same way, and then it
is dropped, too. A root that has had its number of such branches keeps the bound that it has.

Larger groups need no pricing: where no k records cost less than their prices, no more than k do, see :mod:`.bound`.

Cost: exponential in k at worst; a few branches for each root where the prices are near the best ones.

Source of the bound: A. Billionnet and F. Calmels, Linear programming for the 0-1 quadratic knapsack problem, European
Journal of Operational Research 92, 1996; A. Caprara, D. Pisinger and P. Toth, Exact solution of the quadratic knapsack
problem, INFORMS Journal on Computing 11, 1999.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.watch import DONE, STOP
from shoal.partition.optimal.candidates import candidates_of, cheapest, least_sum
from shoal.partition.optimal.choices import cheapest_few, copy_candidates, held_of

_LOOK = 16  # bounds between two looks at the watch
_FIRST, _LATER = 60, 10  # rounds of subgradients at a root, and at each branch
_BEYOND = 0.02  # part of the price of the root by which the bound aims at more than is needed
_VAIN = 3  # rounds without a gain after which the steps are halved
MANY = 2500  # candidates of a root from which only the first bound is taken: their pairs are held


@kernel
def price_roots(  # noqa: PLR0915 - a search loop in one piece
    distances: Floats,
    crowd: Floats,
    prices: Floats,
    rank: Ints,
    home: Ints,
    most: Ints,
    size: int,
    roots: Ints,
    limit: int,
    least: Floats,
    found: Ints,
    counts: Ints,
    watch: Ints,
) -> None:
    """Lower ``least`` (m,) to a lower bound on the reduced costs of groups of a size of each of ``roots`` (m,).

    It is exact where a root needs at most ``limit`` branches. ``distances`` is (n, n), ``crowd`` (n,) the sum of the
    distances of a record to the size - 2 nearest others, ``prices`` (n,), ``rank`` (n,) the places of records by price,
    ``home`` (n,) the set that each is in, -1 for none; of a set c a group has at most ``most[c]`` members. ``found``
    (m, t, size) and ``counts`` (m,), 0 before, take the t last improvements of each, the best first. Returns early
    where the watch says so: nothing is then known about those that are not finished.
    """
    n, k = len(prices), size
    rows, linear = np.empty(n, np.int64), np.empty(n)
    allowed, inside = np.empty(n, np.bool_), np.empty(n, np.bool_)
    width = 0
    weights, split, alone = np.empty((k, 0, 0)), np.empty((k, 0, 0)), np.empty((k, 0))
    members, picks, scores = np.empty((k, 0), np.int64), np.empty((k, 0, k), np.int64), np.empty((k, 0))
    alive, stale = np.empty((k, 0), np.bool_), np.empty((k, 0), np.bool_)
    count, branch, base = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    high = np.zeros(k, np.int64)
    chosen, taken = np.empty(k, np.int64), np.empty(k, np.int64)
    looks = 0
    for number in range(len(roots)):
        root, best = roots[number], least[number]
        base[0], high[0] = -prices[root], most[home[root]] - 1 if home[root] >= 0 else 0
        for j in range(n):
            inside[j] = home[root] >= 0 and home[j] == home[root]
            allowed[j] = rank[j] < rank[root]
        m, first = candidates_of(
            distances, crowd, prices, allowed, inside, k, high[0], root, base[0], best, rows, linear
        )
        if m < k - 1 or m > MANY:
            least[number] = best if m < k - 1 else min(best, first)
            watch[DONE] += 1
            continue
        # the first bound has room for all candidates, the branches only for those that it leaves
        pairs = np.empty((m, m))
        for a in range(m):
            for b in range(m):
                pairs[a, b] = distances[rows[a], rows[b]] / k
        shares = 0.5 * pairs
        living, old = np.ones(m, np.bool_), np.ones(m, np.bool_)
        points, picked = np.empty(m), np.empty((m, k), np.int64)
        beyond = _BEYOND * abs(prices[root])
        bound = _ascend(
            shares, linear, living, old, points, picked, rows, inside, m, k - 1, high[0], base[0], best, _FIRST,
            beyond, taken,
        )  # fmt: skip
        if bound >= best:
            watch[DONE] += 1
            continue
        left = 0
        for a in range(m):
            left += living[a]
        if left > width:
            width = left
            weights, split, alone = np.empty((k, width, width)), np.empty((k, width, width)), np.empty((k, width))
            members, scores = np.empty((k, width), np.int64), np.empty((k, width))
            picks = np.empty((k, width, k), np.int64)
            alive, stale = np.empty((k, width), np.bool_), np.empty((k, width), np.bool_)
        count[0] = copy_candidates(
            rows,
            linear,
            pairs,
            shares,
            living,
            home,
            m,
            -1,
            -2,
            members[0],
            alone[0],
            weights[0],
            split[0],
            alive[0],
            stale[0],
        )
        chosen[0] = root
        level, branches, whole = 0, 0, bound
        while level >= 0:
            looks += 1
            if looks % _LOOK == 0 and watch[STOP] != 0:
                return
            q = k - 1 - level
            branches += 1
            if branches > limit:
                break
            bound = _ascend(
                split[level], alone[level], alive[level], stale[level], scores[level], picks[level], members[level],
                inside, count[level], q, high[level], base[level], best, _LATER, beyond, taken,
            )  # fmt: skip
            if level == 0:
                whole = max(whole, bound)
            if bound < best:
                better = cheapest_few(
                    alone[level], weights[level], alive[level], members[level], home, most, chosen[: level + 1],
                    count[level], q, base[level], taken,
                )  # fmt: skip
                if better < best:
                    best = better
                    for t in range(q):
                        chosen[level + 1 + t] = members[level, taken[t]]
                    keep_group(found[number], counts, number, chosen)
                if q > 2:
                    b = taken[0]
                    for t in range(q):
                        if scores[level, taken[t]] < scores[level, b]:
                            b = taken[t]
                    branch[level] = b
                    chosen[level + 1] = members[level, b]
                    base[level + 1] = base[level] + alone[level, b]
                    high[level + 1] = high[level] - int(inside[members[level, b]])
                    closed = home[members[level, b]]
                    if closed < 0 or held_of(home, chosen[: level + 2], closed) < most[closed]:
                        closed = -2
                    count[level + 1] = copy_candidates(
                        members[level], alone[level], weights[level], split[level], alive[level], home, count[level],
                        b, closed, members[level + 1], alone[level + 1], weights[level + 1], split[level + 1],
                        alive[level + 1], stale[level + 1],
                    )  # fmt: skip
                    level += 1
                    continue
            level -= 1
            if level >= 0:
                _drop(branch[level], alive[level], stale[level], picks[level], count[level], k - 2 - level)
        least[number] = best if level < 0 else min(best, whole)
        watch[DONE] += 1


@kernel
def _ascend(
    split: Floats,
    linear: Floats,
    alive: Flags,
    stale: Flags,
    scores: Floats,
    picks: Ints,
    rows: Ints,
    inside: Flags,
    m: int,
    q: int,
    high: int,
    base: float,
    best: float,
    rounds: int,
    beyond: float,
    taken: Ints,
) -> float:
    """Return a lower bound on ``base`` and the cheapest choice of q candidates, infinite where it passes the best.

    ``split`` (m, m) is the share of each candidate in its pairs, ``linear`` (m,) what it costs alone; ``stale`` (m,)
    says whose ``scores`` (m,) and ``picks`` (m, k) are to be made anew. Candidates that cannot be in anything below the
    best are no longer ``alive``. ``taken`` (k,) are the q with the least scores, at most ``high`` of them ``inside`` a
    set.
    """
    highest, step, vain = -np.inf, 1.0, 0
    order, smallest = np.empty((2, q), np.int64), np.empty((2, q))
    for turn in range(rounds):
        _score(split, linear, alive, stale, scores, picks, m, q - 1)
        smallest[:] = np.inf
        for j in range(m):
            if alive[j]:
                _insert(order, smallest, int(inside[rows[j]]), q, scores[j], j)
        held, bound = cheapest(smallest, high, q)
        bound += base
        if bound >= best:
            return np.inf
        for t in range(q):
            taken[t] = order[1, t] if t < held else order[0, t - held]
        without = base + least_sum(smallest, high, q - 1)
        within = base + least_sum(smallest, high - 1, q - 1)
        for j in range(m):
            if alive[j] and scores[j] + (within if inside[rows[j]] else without) >= best:
                _drop(j, alive, stale, picks, m, q - 1)
        if bound > highest:
            highest, vain = bound, 0
        else:
            vain += 1
            if vain == _VAIN:
                step, vain = step / 2, 0
        if q <= 2 or turn == rounds - 1:
            break
        apart = 0
        for t in range(q):
            for e in range(q - 1):
                apart += not _mutual(taken, picks, q, taken[t], picks[taken[t], e])
        if apart == 0:
            break
        length = step * (best - bound + beyond) / apart
        for t in range(q):
            j = taken[t]
            for e in range(q - 1):
                c = picks[j, e]
                if not _mutual(taken, picks, q, j, c):
                    split[j, c] += length
                    split[c, j] -= length
                    stale[j] = stale[c] = True
    return highest


@kernel
def _insert(order: Ints, smallest: Floats, row: int, count: int, key: float, j: int) -> None:
    """Keep the ``count`` smallest keys of a row of ``smallest``, sorted, and whose they are in ``order``."""
    if key >= smallest[row, count - 1]:
        return
    c = count - 1
    while c > 0 and smallest[row, c - 1] > key:
        smallest[row, c], order[row, c] = smallest[row, c - 1], order[row, c - 1]
        c -= 1
    smallest[row, c], order[row, c] = key, j


@kernel
def _mutual(taken: Ints, picks: Ints, q: int, j: int, c: int) -> bool:
    """Whether candidate c is taken and counts its pair with j."""
    for t in range(q):
        if taken[t] == c:
            for e in range(q - 1):  # noqa: SIM110 - a generator is no part of a kernel
                if picks[c, e] == j:
                    return True
            return False
    return False


@kernel
def _score(
    split: Floats, linear: Floats, alive: Flags, stale: Flags, scores: Floats, picks: Ints, m: int, needed: int
) -> None:
    """Write the scores that are stale: what a candidate costs alone and its least shares of ``needed`` pairs."""
    for j in range(m):
        if not alive[j] or not stale[j]:
            continue
        stale[j] = False
        filled, highest = 0, np.inf
        if needed > 0:
            for c in range(m):
                share = split[j, c]
                if share < highest and alive[c] and c != j:
                    t = filled if filled < needed else needed - 1
                    filled = min(filled + 1, needed)
                    while t > 0 and split[j, picks[j, t - 1]] > share:
                        picks[j, t] = picks[j, t - 1]
                        t -= 1
                    picks[j, t] = c
                    if filled == needed:
                        highest = split[j, picks[j, needed - 1]]
        scores[j] = linear[j]
        for t in range(needed):
            scores[j] += split[j, picks[j, t]] if filled == needed else np.inf


@kernel
def _drop(b: int, alive: Flags, stale: Flags, picks: Ints, m: int, needed: int) -> None:
    """Drop a candidate; the scores of those that count a pair with it are stale."""
    alive[b] = False
    for j in range(m):
        if alive[j] and not stale[j]:
            for t in range(needed):
                if picks[j, t] == b:
                    stale[j] = True
                    break


@kernel
def keep_group(found: Ints, counts: Ints, root: int, chosen: Ints) -> None:
    """Write a group into the first slot of ``found`` (t, k), and move the others on."""
    for slot in range(len(found) - 1, 0, -1):
        found[slot] = found[slot - 1]
    found[0] = chosen
    counts[root] = min(counts[root] + 1, len(found))
