"""A higher lower bound for large groups: column generation with cuts of sets of records alone.

It is for k above 6 what :mod:`.cutting` is for small groups. Cuts are of sets that share no record, and are priced in a
way of their own (:mod:`.set_pricing`): what groups that pay for a set undercut their prices by is added to its
multiplier, and what all others do lowers prices as it does without cuts (:mod:`.bound`).

The solution of the linear problem is one of many, and its prices are far from those of the last one, where many groups
undercut them. So what is priced lies between the best prices and multipliers that are proved and those of the solution
(the smoothing of Wentges); where that finds no group, it goes nearer to the solution.

Rounding: as in :mod:`.cutting`, and with shares of pairs that change in pricing, as in :mod:`.bound`.

Source: P. Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming, International
Transactions in Operational Research 4, 1997.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.partition.optimal.bound import Bound, KeepBound, lowered, ranked, untold
from shoal.partition.optimal.cuts import Cuts, broken_sets, clusters_of, join_cuts, take_cuts
from shoal.partition.optimal.cutting import CLOSE, Cutting, Node, rounding_of
from shoal.partition.optimal.program import Program
from shoal.partition.optimal.seen_groups import add_found, trim
from shoal.partition.optimal.set_pricing import price_sets, price_smallest

if TYPE_CHECKING:
    from shoal.kernels.arrays import Floats, Ints

_PART = 0.1  # part of the gap that is left within which a bound is high enough to add cuts
_NEGLECT = 1e-6  # part of the cost that reduced costs too small to be looked for may add up to
_VAIN = 3  # times in a row that new cuts raised the relaxation by less than the following part of it
_GAIN = 1e-4
_STILL = 0.5  # part of the way that prices stay behind those of the linear problem, at first
_LAST = 0.1  # and from which on they stay behind no more
_BRANCHES = 1000  # of a root
_MOST = 15  # times n: groups of the linear problem from which those that cost too much are dropped


def raised_by_sets(own: Cutting, node: Node, *, enough: float | None = None, keep: KeepBound = untold) -> Node:
    """Raise the bound of a table by column generation and cuts of sets, until it is enough or no cut helps."""
    n, k, known = len(own.values), own.k, own.known
    proved, seen, cuts, basis, last = node.bound, node.bound.seen, node.cuts, node.basis, None
    clusters, still, vain, highest = clusters_of(own.values, k), _STILL, 0, 0.0
    while not own.over():
        program = Program(seen, cuts, np.full(n, known), basis)
        relaxed = program.solve(own.until)
        if relaxed is None:
            break
        basis, before = program.basis(), len(seen)
        if len(cuts):
            prices = still * proved.prices + (1.0 - still) * relaxed.prices
            multipliers = still * _multipliers_of(cuts, proved) + (1.0 - still) * relaxed.multipliers
            priced = _price(own, prices, cuts, multipliers, proved)
            if priced is None:
                break
            bound, found = priced
            seen = add_found(seen, own.values, found, k)
            if bound.value > proved.value:
                proved = bound
                keep(bound)
            if enough is not None and proved.value >= enough:
                break
            far = relaxed.value - proved.value > max(CLOSE * known, _PART * (known - relaxed.value))
            if far and (len(seen) > before or still > 0.0):
                still = _STILL if len(seen) > before else still / 2 if still > _LAST else 0.0
                continue
        still = _STILL
        vain = vain + 1 if relaxed.value < highest * (1.0 + _GAIN) else 0
        highest = max(highest, relaxed.value)
        shares = np.concatenate([relaxed.shares, np.zeros(len(seen) - before)])
        more = broken_sets(seen, shares, cuts, clusters, k, n)
        if len(more) == 0 or vain >= _VAIN:
            last = replace(relaxed, shares=shares)
            break
        # sets share no record: a new one takes the place of those that it meets, and of those that do not count
        new = set(more.rows.tolist())
        kept = [c for c, rows in enumerate(cuts.sets()) if relaxed.multipliers[c] > 0.0 and not new & set(rows)]
        cuts = join_cuts(take_cuts(cuts, np.array(kept, dtype=np.int64)), more)
        seen = trim(seen, relaxed.prices, _MOST * n)
    return Node(node.decisions, replace(proved, seen=seen, complete=last is not None), cuts, last, basis)


def _price(
    own: Cutting, prices: Floats, cuts: Cuts, multipliers: Floats, proved: Bound
) -> tuple[Bound, list[Ints]] | None:
    """Return what prices and multipliers prove, and groups that undercut them; None where the time was over."""
    n, k = len(prices), own.k
    active = np.flatnonzero(multipliers > 0.0)
    cuts, multipliers, neglect = take_cuts(cuts, active), multipliers[active], _NEGLECT * own.known / (n // k)
    paying = price_sets(own.table, prices, cuts, multipliers, k, threads=own.threads, neglect=neglect)
    others = price_smallest(
        own.table,
        prices,
        ranked(prices)[1],
        cuts,
        k,
        threads=own.threads,
        over=own.over,
        neglect=neglect,
        branches=_BRANCHES,
    )
    if others is None:
        return None
    lower, higher = lowered(prices, others.least, k), multipliers - paying.least
    rounding = rounding_of(own, lower, cuts, higher)
    value = math.fsum(lower) - math.fsum(higher * cuts.most) - rounding
    bound = replace(proved, value=value, prices=lower - rounding / n, cuts=cuts, multipliers=higher)
    return bound, [*paying.found, *others.found]


def _multipliers_of(cuts: Cuts, proved: Bound) -> Floats:
    """Return the multiplier of each cut in what is proved, 0 where it is new."""
    known = dict(zip(proved.cuts.sets(), proved.multipliers.tolist(), strict=True))
    return np.array([known.get(rows, 0.0) for rows in cuts.sets()])
