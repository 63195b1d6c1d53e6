"""A proved lower bound on the sum of squares of any partition into groups of at least k, by column generation.

Prices, one for each record, that no group of at least k records costs less than: every partition then costs at least
the sum of all prices. The best such prices are a solution of the linear relaxation of choosing groups that hold every
record once.

Groups of k records are enough. The mean sum of squares of the subsets of k of a group of s is (k - 1) / (s - 1) of its
own, since every pair of records is in equally many of them, and the mean of their prices is k / s of its own. So where
no k records cost less than their prices, a group of s costs at least (s - 1) k / ((k - 1) s) >= 1 times its prices
where these are positive, and at least 0 anyway.

The linear problem on the groups seen so far gives prices; pricing finds groups that cost less than the prices of their
members; they are added, and so on. Prices may not go far from the best ones so far (the box of Marsten, Hogan and
Blankenship), which saves most of the rounds. Rounds are fast and find only some groups (:mod:`.near_groups`) until
there are no more; then prices are priced exactly (:mod:`.pricing`).

What exact pricing says of any prices is a bound: each group has one root, its member with the highest price, and no
group of k has a lower reduced cost than the least one, -e, of its root. With t = e / k, for e the (n / k)-th highest,
all prices are lowered by t, and those of roots with a higher e by e - k t more: no group of k costs less than its
prices then. So every round that was priced exactly gives a bound, whatever the linear solver did, and the best one is
kept. A round that was stopped gives none.

Rounding: distances, reduced costs and sums are made of at most 4 k^2 + d + n additions and products of numbers that are
together below the cost of the partition known and n times the largest price. A share of a pair in pricing changes up to
60 + 10 k times, by at most 2 k times the largest price, and its rounding errors count for k / 2 pairs of each record.
With u = 2^-53 the bound is lowered by 8 (4 k^2 + d + n + (60 + 10 k)^2 k^2) u times that.

Sources: O. du Merle, P. Hansen, B. Jaumard and N. Mladenovic, An interior point algorithm for minimum sum-of-squares
clustering, SIAM J. Sci. Comput. 21, 2000 (the linear relaxation); R. E. Marsten, W. W. Hogan and J. W. Blankenship, The
boxstep method for large-scale optimization, Operations Research 23, 1975.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.partition.optimal.cuts import Cuts, cuts_of
from shoal.partition.optimal.near_groups import pair_table, settle
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.seen_groups import SeenGroups, add_found, add_partitions, relax_near, trim
from shoal.partition.optimal.set_pricing import price_smallest
from shoal.partition.univariate import cut_along

LARGEST = 6000  # records of the largest table that a bound is computed for: distances of all pairs are held
_CLOSE = 1e-5  # part of the relaxation's value by which the bound may miss it when it is called complete
_NEGLECT = 1e-7  # part of the cost that reduced costs too small to be looked for may add up to
_SLACK = 4e-3  # four times the same in the first exact round; a quarter of it in each one after that
_STALL = 3e-4  # part of the cost within which fast rounds have done what they can
_BOX = (0.01, 0.3, 1.0)  # least, first and largest part of its price by which one may change in a round
_GOOD = 0.3  # part of what the linear problem promises from which the next box is larger
_BRANCHES = (100, 20_000)  # of a root in the first exact round, and in later ones
_TINY = 1e-9  # part of the mean price that a reduced cost must be below 0 to count
_KEPT = 4  # groups of each root that are added
_MOST = 12  # times n: groups of the linear problem from which those that cost too much are dropped


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
    prices : float64 (n,)
        What proves it: no k records cost less than their prices, and the value is the sum of these. Zeros where it is
        easy: one group, one column, or nothing to lose.
    cuts, multipliers : Cuts, float64 (m,)
        Where there are any (:mod:`.cutting`): no group costs less than its prices less the multipliers of cuts that it
        counts for, and the value is the sum of the prices less what the multipliers come to.
    """

    value: float
    rounds: int
    complete: bool
    seen: SeenGroups
    prices: Floats
    cuts: Cuts = field(default_factory=lambda: cuts_of([], []))
    multipliers: Floats = field(default_factory=lambda: np.zeros(0))


KeepBound = Callable[[Bound], object]  # is given every bound that is higher than those before


def untold(_: object) -> None:
    """Keep nothing: nobody wants to know of bounds on the way."""


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
    keep: KeepBound = untold,
) -> Bound:
    """Return a lower bound on the sum of squares of every partition of ``values`` (n, d) into groups of at least k.

    ``seen`` are groups to begin with, ``groups`` is a partition known. It ends when the bound is complete or reaches
    ``enough``, after a number of rounds or at a moment of the monotonic clock, with the best bound so far, which
    is given to ``keep`` whenever it has risen.

    >>> from shoal.partition.optimal.seen_groups import no_groups
    >>> x = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    >>> found = lower_bound(x, 2, no_groups(), np.array([0, 1, 0, 1]))
    >>> round(found.value, 4), found.complete
    (1.0, True)
    """
    n, d = values.shape
    seen = add_partitions(seen, values, None, [groups], k)
    known = float(errors_of_groups(values, None, *group_rows(groups), k).sum())
    operations = 4 * k * k + d + n
    easy = _easy(values, k, known)
    if easy is not None:
        return Bound(easy * (1 - 8 * operations * 2.0**-53), 0, True, seen, np.zeros(n))
    rounding = 8 * (operations + (60 + 10 * k) ** 2 * k * k) * 2.0**-53
    proved = Bound(0.0, 0, False, seen, np.zeros(n))
    if n > LARGEST:
        return proved

    def over() -> bool:
        return until is not None and time.monotonic() >= until

    if over():
        return proved
    table = pair_table(values, k)
    centre = _first_prices(values, groups)
    box, stall, slack, branches, done, began, taken = _BOX[1], _STALL, _SLACK, _BRANCHES[0], 0, time.monotonic(), 0.0
    while done < rounds and not over():
        seen = trim(seen, centre, _MOST * n)
        centre = lowered(centre, _least_of(seen, centre), k)
        near = relax_near(seen, n, centre, box, until)
        if near is None:
            break
        height, before = float(centre.sum()), len(seen)
        seen = add_found(seen, values, [_fast(values, near.prices, seen, k, threads)], k)
        done, news = done + 1, len(seen) - before
        trial = lowered(near.prices, _least_of(seen, near.prices), k)
        gain = float(trial.sum()) - height
        centre = trial if gain > 0.0 else lowered(centre, _least_of(seen, centre), k)
        box *= 1.5 if gain > _GOOD * (near.value - height) else 0.7 if gain < 0.0 else 1.0
        box = min(max(box, _BOX[0]), _BOX[2])
        height = float(centre.sum())
        if not (
            (news == 0 and (near.free or gain <= 0.0))
            or (near.free and near.value - height <= stall * known)
            or (enough is not None and height >= enough)
            or (height > proved.value * (1 + _CLOSE) and _pressed(began, until, taken, proved.value > 0.0))
        ):
            continue
        if done == rounds:
            break
        stall, slack, started = stall / 4, slack / 4, time.monotonic()
        neglect = max(_NEGLECT, slack) * known / (n // k)
        how: dict[str, Any] = {
            "threads": threads,
            "over": over,
            "neglect": neglect,
            "branches": branches,
            "kept": _KEPT,
        }
        priced = price_smallest(table, centre, ranked(centre)[1], cuts_of([], []), k, **how)
        if priced is None:
            break
        done, branches, taken = done + 1, _BRANCHES[1], time.monotonic() - started
        feasible = lowered(centre, priced.least, k)
        value = math.fsum(feasible) - rounding * (known + n * float(np.abs(feasible).max()))
        if value > proved.value:
            complete = near.free and value >= near.value * (1 - _CLOSE)
            proved = Bound(value, done, complete, seen, feasible - (math.fsum(feasible) - value) / n)
            keep(proved)
        if proved.complete or (enough is not None and proved.value >= enough):
            break
        if len(priced.found[0]) == 0:
            if slack < _NEGLECT and news == 0 and near.free:
                break  # the solver's tolerance is reached
            slack = 0.0
        seen = add_found(seen, values, priced.found, k)
    return replace(proved, rounds=done, seen=seen)


def _pressed(began: float, until: float | None, taken: float, proved: bool) -> bool:
    """Whether there is just time for an exact round, or a quarter of it has gone by without any."""
    if until is None:
        return False
    now = time.monotonic()
    return until - now < 2.0 * taken if proved else now - began > (until - began) / 4


def _easy(values: Floats, k: int, known: float) -> float | None:
    """Return the least cost where it needs no search: one group, one column, or nothing to lose."""
    if len(values) < 2 * k or known == 0.0:
        return known
    if values.shape[1] == 1:
        return cut_along(Records(values), np.argsort(values[:, 0], kind="stable"), k)[1]
    return None


def lowered(prices: Floats, least: Floats, k: int) -> Floats:
    """Lower prices until no group costs less than they say, by the least reduced cost of each root, at most 0.

    >>> lowered(np.array([3.0, 2.0, 1.0, 1.0]), np.array([-1.0, 0.0, 0.0, 0.0]), 2)
    array([2., 2., 1., 1.])
    """
    below = -least
    common = float(np.sort(below)[-(len(prices) // k)])
    lower: Floats = prices - common / k - np.maximum(0.0, below - common)
    return lower


def _first_prices(values: Floats, groups: Ints) -> Floats:
    """Return the squared distance of each record to the mean of its group."""
    order, starts = group_rows(groups)
    means = np.add.reduceat(values[order], starts[:-1], axis=0) / np.diff(starts)[:, None]
    return ((values - means[groups]) ** 2).sum(axis=1)


def ranked(prices: Floats) -> tuple[Ints, Ints]:
    """Return the records by price, and the place of each."""
    order = np.argsort(prices, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(prices))
    return order, rank


def _least_of(seen: SeenGroups, prices: Floats) -> Floats:
    """Return the least reduced cost (n,) of the groups seen of each root, at most 0."""
    order, rank = ranked(prices)
    roots = order[np.maximum.reduceat(rank[seen.rows], seen.starts[:-1])]
    least = np.zeros(len(prices))
    np.minimum.at(least, roots, seen.costs - np.add.reduceat(prices[seen.rows], seen.starts[:-1]))
    return least


def _fast(values: Floats, prices: Floats, seen: SeenGroups, k: int, threads: int) -> Ints:
    """Return groups (m, k) that cost less than their prices, some of those that there are."""
    reduced = seen.costs - np.add.reduceat(prices[seen.rows], seen.starts[:-1])
    best = np.argsort(reduced, kind="stable")[: len(values)]
    means = np.add.reduceat(values[seen.rows], seen.starts[:-1], axis=0) / np.diff(seen.starts)[:, None]
    centres = np.concatenate([values, means[best]])
    found, reduced = np.empty((len(centres), k), dtype=np.int64), np.empty(len(centres))
    parts = np.array_split(np.arange(len(centres)), min(threads, len(centres)))
    tasks = [
        partial(
            settle, values, prices, centres[part], k, found[part[0] : part[-1] + 1], reduced[part[0] : part[-1] + 1]
        )
        for part in parts
        if len(part)
    ]
    run_watched(tasks, [], threads)
    return found[reduced < -_TINY * float(np.abs(prices).mean())]
