"""A proved lower bound on the sum of squares of any partition into groups of at least k, by column generation.

A group of 2k or more splits into two of at least k without a higher sum of squares, so groups of k to 2k - 1 records
are enough. The linear relaxation of choosing groups that hold every record once, on the groups seen so far, gives a
price for each record; pricing finds groups that cost less than the prices of their members; they are added, and so on.

The bound, for any prices: what a partition costs is the sum of all prices and of the reduced costs of its groups. Each
group has one root, its member with the highest price, these are distinct and at most n / k many, and no group has a
lower reduced cost than the least one of its root; so no partition costs less than the sum of all prices and of the
n / k lowest of those, as far as they are negative. So every round that was priced exactly gives a bound, whatever the
linear solver did, and the best one is kept. A round that was stopped gives none. As roots are distinct and groups are
counted in whole numbers, the bound can be higher than the value of the linear relaxation.

Prices are drawn towards those of the best bound (Wentges' smoothing), which saves most of the rounds. Early rounds look
only at groups of near neighbours; nothing is claimed from them.

Rounding: distances, reduced costs and sums are made of at most 4 k^2 + d + n additions and products of numbers that
are together below the cost of the partition known and n times the largest price; with u = 2^-53 the bound is lowered by
8 (4 k^2 + d + n) u times that.

Sources: O. du Merle, P. Hansen, B. Jaumard and N. Mladenovic, An interior point algorithm for minimum sum-of-squares
clustering, SIAM J. Sci. Comput. 21, 2000 (the linear relaxation); P. Wentges, Weighted Dantzig-Wolfe decomposition for
linear mixed-integer programming, Int. Trans. Oper. Res. 4, 1997 (smoothing).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.pricing import price_roots, squared_distances
from shoal.partition.optimal.seen_groups import SeenGroups, add_groups, add_partitions, matrix_of, relax, trim
from shoal.partition.univariate import cut_along

LARGEST = 6000  # records of the largest table that a bound is computed for: distances of all pairs are held
_CLOSE = 1e-5  # part of the relaxation's value by which the bound may miss it when it is called complete
_NEGLECT = 1e-7  # part of the cost that reduced costs too small to be looked for may add up to
_SMOOTH = 0.7  # share of the prices of the best bound
_NEAR = 12  # times k: neighbours that early rounds look at
_HINT = 1e-3  # gap, of near neighbours alone, from which rounds are exact
_CLIMB = 150  # rounds of subgradients at most
_FLAT, _PATIENCE = 0.02, 5  # the least step, and rounds without a gain after which it is halved
_KEPT = 4  # groups of each root that are added
_MOST = 12  # times n: groups of the linear problem from which those that cost too much are dropped
_CHUNK = 32  # roots of a task


@dataclass(frozen=True)
class Bound:
    """A proved lower bound.

    Attributes
    ----------
    value : float
        No partition into groups of at least k has a lower sum of squares. 0 where nothing was proved.
    rounds : int
        Rounds of pricing that were finished.
    complete : bool
        Whether it reached what it can be expected to: the value of the linear relaxation, or the optimum itself.
    seen : SeenGroups
        The groups of the last linear problem, for combining.
    """

    value: float
    rounds: int
    complete: bool
    seen: SeenGroups


def lower_bound(  # noqa: PLR0915 - a loop in one piece
    values: Floats,
    k: int,
    seen: SeenGroups,
    groups: Ints,
    *,
    until: float | None = None,
    rounds: int = 1000,
    threads: int = 1,
    enough: float | None = None,
    tell: Callable[[float], object] = float,
) -> Bound:
    """Return a lower bound on the sum of squares of every partition of ``values`` (n, d) into groups of at least k.

    ``seen`` are groups to begin with, ``groups`` is a partition known. It ends when the bound is complete or reaches
    ``enough``, after a number of rounds or at a moment of the monotonic clock, with the best bound so far; ``tell`` is
    told whenever that has risen.

    >>> from shoal.partition.optimal.seen_groups import no_groups
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    >>> found = lower_bound(x, 2, no_groups(), np.array([0, 1, 0, 1]))
    >>> round(found.value, 5), found.complete
    (1.0, True)
    """
    n, d = values.shape
    seen = add_partitions(seen, values, None, [groups], k)
    known = float(errors_of_groups(values, None, *group_rows(groups), k).sum())
    rounding = 8 * (4 * k * k + d + n) * 2.0**-53
    easy = _easy(values, k, known)
    if easy is not None:
        return Bound(easy * (1 - rounding), 0, True, seen)
    if n > LARGEST:
        return Bound(0.0, 0, False, seen)

    def over() -> bool:
        return until is not None and time.monotonic() >= until

    def proved(prices: Floats, priced: _Priced) -> float:
        return _of_prices(prices, priced.least, k) - rounding * (known + n * float(np.abs(prices).max()))

    if over():
        return Bound(0.0, 0, False, seen)
    table = _table(values, k)
    neglect = _NEGLECT * known / (n // k)
    centre, centre_value, seen, done = _climb(
        table, values, k, groups, seen, known=known, rounds=rounds, threads=threads, over=over
    )
    best, complete, exact, smooth = 0.0, False, False, _SMOOTH
    first = (
        _price(table, centre, k, threads, over, exact=True, neglect=neglect) if done < rounds and not over() else None
    )
    if first is not None:  # a bound soon, some percent below what the linear problems will give
        best, done = max(0.0, proved(centre, first)), done + 1
        seen = _with(seen, first, values, k)
        tell(best)
    while done < rounds and not over():
        solved = relax(matrix_of(seen, n), seen.costs, until)
        if solved is None:
            break
        value = solved.value
        seen = trim(seen, solved.prices, _MOST * n)
        prices = smooth * centre + (1.0 - smooth) * solved.prices
        priced = _price(table, prices, k, threads, over, exact=exact, neglect=neglect)
        if priced is None:
            break
        done += 1
        bound = proved(prices, priced)
        if exact and bound > best:
            best = bound
            tell(best)
        if bound > centre_value:
            centre, centre_value = prices, bound
        if exact and best >= value * (1 - _CLOSE):
            complete = True
            break
        if enough is not None and best >= enough:
            break
        before = len(seen)
        seen = _with(seen, priced, values, k)
        news = len(seen) - before
        if not exact and (value - centre_value < _HINT * value or (news == 0 and smooth == 0.0)):
            # what near neighbours said about the prices of the centre was no bound: any exact one is better
            exact, centre_value, smooth = True, best, _SMOOTH
        elif news:
            smooth = _SMOOTH
        elif smooth > 0.0:
            # the prices of the centre are too far from those of the linear problem
            smooth = max(0.0, smooth - _SMOOTH / 2)
        else:
            break  # the solver's tolerance is reached
    return Bound(best, done, complete, seen)


def _easy(values: Floats, k: int, known: float) -> float | None:
    """Return the least cost where it needs no search: one group, one column, or nothing to lose."""
    if len(values) < 2 * k or known == 0.0:
        return known
    if values.shape[1] == 1:
        return cut_along(Records(values), np.argsort(values[:, 0], kind="stable"), k)[1]
    return None


def _of_prices(prices: Floats, least: Floats, k: int) -> float:
    """Return the bound that prices give, with the least reduced cost of each root."""
    return math.fsum(prices) + math.fsum(np.sort(least)[: len(prices) // k])


def _climb(
    table: _Table,
    values: Floats,
    k: int,
    groups: Ints,
    seen: SeenGroups,
    *,
    known: float,
    rounds: int,
    threads: int,
    over: Callable[[], bool],
) -> tuple[Floats, float, SeenGroups, int]:
    """Return good prices, what near neighbours say about them, groups seen, and the rounds made: by subgradients.

    A record that is in none of the groups that the bound counts gets a higher price, one that is in several a lower
    one (Polyak's steps). This is far from exact, but it needs no linear problem, which is slow with bad prices.
    """
    n = len(values)
    order, starts = group_rows(groups)
    centroids = (np.add.reduceat(values[order], starts[:-1], axis=0) / np.diff(starts)[:, None])[groups]
    prices = ((values - centroids) ** 2).sum(axis=1)
    centre, centre_value, step, direction, failed, done = prices, -np.inf, 1.0, np.zeros(n), 0, 0
    while done < min(rounds, _CLIMB) and step > _FLAT and known - centre_value > _HINT * known and not over():
        priced = _price(table, prices, k, threads, over, exact=False)
        if priced is None:
            break
        done += 1
        bound = _of_prices(prices, priced.least, k)
        if bound > centre_value:
            centre, centre_value, failed = prices, bound, 0
        else:
            failed += 1
            if failed == _PATIENCE:
                step, failed, prices, direction = step / 2, 0, centre, np.zeros(n)
                continue
        seen = _with(seen, priced, values, k)
        counted = np.argsort(priced.least, kind="stable")[: n // k]
        counted = counted[priced.sizes[counted, 0] > 0]
        inside = np.arange(2 * k - 1) < priced.sizes[counted, 0, None]
        slope = 1.0 - np.bincount(priced.found[counted, 0][inside], minlength=n)
        direction = 0.5 * direction + 0.5 * slope
        prices = prices + step * (known - bound) / max(1.0, float(direction @ direction)) * direction
    seen = add_partitions(trim(seen, centre, _MOST * n), values, None, [groups], k)
    return centre, centre_value, seen, done


@dataclass(frozen=True)
class _Table:
    """What pricing looks up: distances of pairs, sums over nearest records, and near neighbours."""

    distances: Floats
    crowd: Floats
    near: Ints


def _table(values: Floats, k: int) -> _Table:
    n = len(values)
    distances = squared_distances(values)
    width = min(_NEAR * k, n - 1)
    near, crowd = np.empty((n, width), dtype=np.int64), np.zeros((n, 2 * k - 1))
    for row in range(n):
        order = np.argsort(distances[row], kind="stable")[: max(width, 2 * k - 2) + 1]
        order = order[order != row]
        near[row] = order[:width]
        nearest = distances[row, order[: 2 * k - 2]]
        crowd[row, 1 : len(nearest) + 1] = np.cumsum(nearest)
        # where there are not that many others such groups do not exist
        crowd[row, len(nearest) + 1 :] = crowd[row, len(nearest)]
    return _Table(distances, crowd, near)


@dataclass(frozen=True)
class _Priced:
    """Least reduced cost of each root, and groups with negative ones: members (n, t, 2k - 1) and sizes (n, t)."""

    least: Floats
    found: Ints
    sizes: Ints


def _price(
    table: _Table, prices: Floats, k: int, threads: int, over: Callable[[], bool], *, exact: bool, neglect: float = 0.0
) -> _Priced | None:
    """Price all roots on threads; None where that was stopped."""
    n = len(prices)
    near = np.empty((n, 0), dtype=np.int64) if exact else table.near
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(prices, kind="stable")] = np.arange(n)
    found, sizes = np.empty((n, _KEPT, 2 * k - 1), dtype=np.int64), np.zeros((n, _KEPT), dtype=np.int64)
    least = np.full(n, -np.inf)
    watch = new_watch()
    # roots with high prices take longest: every chunk has some of each
    chunks = [np.argsort(-prices, kind="stable")[c :: -(-n // _CHUNK)] for c in range(-(-n // _CHUNK))]
    tasks = [
        partial(
            price_roots,
            table.distances, table.crowd, prices, rank, near, k, roots, -neglect, least, found, sizes, watch,
        )
        for roots in chunks
    ]  # fmt: skip
    if run_watched(tasks, [watch], threads, over) is None:
        return None
    return _Priced(least, found, sizes)


def _with(seen: SeenGroups, priced: _Priced, values: Floats, k: int) -> SeenGroups:
    """Add the groups found to those seen."""
    sizes = priced.sizes.ravel()
    members = priced.found.reshape(-1, 2 * k - 1)
    inside = np.arange(2 * k - 1) < sizes[:, None]
    rows, sizes = members[inside], sizes[sizes > 0]
    costs = errors_of_groups(values, None, rows, np.concatenate([[0], np.cumsum(sizes)]), k)
    return add_groups(seen, [rows], [sizes], [costs], len(values))
