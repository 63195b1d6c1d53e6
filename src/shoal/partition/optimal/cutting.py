"""A higher lower bound by cuts: column generation on the linear relaxation with what it does not satisfy added to it.

With multipliers of cuts (:mod:`.cuts`) beside prices, no partition costs less than the sum of all prices less that of
the multipliers, each times what its cut allows, where no group costs less than the prices of its members less its
penalties. That must be so for groups of any size up to 2k - 1; larger ones are two groups, which cost less.

Groups of k are priced from every root, as without cuts (:mod:`.bound`). Of larger ones only those need pricing that
hold more than q records of a cut. Take a group of s that holds q of a cut at most, so that it pays its multiplier
once or not. Its subsets of k cost (k - 1) / (s - 1) of what it costs on the mean and have k / s of its prices, and
where none of them costs less than its prices less its penalties, neither does the group: the part of them that pays
the multiplier, those that hold the same q records, is at most k (k - 1) / (s (s - 1)), and (s - 1) / (k - 1) times
that is below 1. So larger groups are looked for from pairs and triples of records of cuts with a multiplier, one of
which each group holds that holds more than q (:mod:`.penalised`). What is found below 0 lowers prices as it does
without cuts: each group counts for its root, or for the first record of its pair. Larger groups are priced when those
of k are nearly done.

Where k is above 6 cuts are those of sets alone, in another way (:mod:`.set_cutting`).

Each round solves the linear problem on the groups seen and prices its solution, which gives a bound. When that is about
as high as the solution, cuts are added that the shares break, and those that had no multiplier for a while are dropped.
It ends where none is broken, or where adding more has not helped for some rounds.

All this is done in a branch, too, where some pairs of records are together or apart (:mod:`.decisions`): there only
groups count that keep that. A larger group that holds a pair that is together is looked for from it, as its subsets of
k may not keep it; all subsets of others do.

Rounding: a reduced cost is the sum of at most 4 k^2 distances over the size, 2 k prices and 2 k m multipliers, of m
cuts, that are together below the cost of the partition known, n times the largest price and the sum of the multipliers;
with d products in a distance the bound is lowered by 8 (16 k^2 + d + n + 2 k m) 2^-53 times that. Where shares of pairs
change in pricing, as they do for sets, (60 + 20 k)^2 4 k^2 is added as in :mod:`.bound`, for groups of up to 2 k.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import new_watch
from shoal.partition.optimal.bound import Bound, KeepBound, lowered, ranked, untold
from shoal.partition.optimal.cuts import (
    Cuts,
    broken_cuts,
    cores_of,
    cuts_of,
    cuts_of_records,
    join_cuts,
    take_cuts,
)
from shoal.partition.optimal.decisions import Decisions, Pair, kept_apart, mates_of
from shoal.partition.optimal.near_groups import PairTable, pair_table
from shoal.partition.optimal.objective import errors_of_groups
from shoal.partition.optimal.penalised import price_penalised
from shoal.partition.optimal.program import Basis, Program
from shoal.partition.optimal.seen_groups import Relaxed, add_found, trim
from shoal.partition.optimal.set_pricing import Priced

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.kernels.arrays import Floats, Ints

LARGEST_K = 6  # groups that are priced with cuts: the search is exponential in k
CLOSE = 2e-5  # part of the cost within which a bound is as high as the solution
_PART = 0.1  # part of the gap that is left within which it is high enough to add cuts
_NEGLECT = 1e-6  # part of the cost that reduced costs too small to be looked for may add up to
_IDLE = 6  # times in a row without a multiplier after which a cut is dropped
_VAIN = 8  # times in a row that new cuts raised the relaxation by less than the following part of it
_GAIN = 2e-6
_ALONE = 3.0  # times its price and the mean price: what a record costs that is in no group, at first
_DEARER = 4.0  # times that, as long as there are such records
_PART_LEFT = 1e-6  # of a record, from which one is in no group
_KEPT = 6  # groups of each root that are added
_MOST = 15  # times n: groups of the linear problem from which those that cost too much are dropped
_CHUNK = 16  # roots of a task


@dataclass(frozen=True)
class Node:
    """A branch and what is proved in it.

    Attributes
    ----------
    decisions : Decisions
        What is decided in it.
    bound : Bound
        What no partition that keeps the decisions costs less than, and what proves it. Its groups seen keep them.
    cuts : Cuts
        All cuts of its linear problem.
    relaxed : Relaxed or None
        The solution of that, of which no cut is broken that could be found, or new ones help little. None where the
        time was over.
    basis : Basis or None
        Where the next linear problem starts from.
    """

    decisions: Decisions
    bound: Bound
    cuts: Cuts
    relaxed: Relaxed | None = None
    basis: Basis | None = None


@dataclass(frozen=True)
class Cutting:
    """A table that is bounded with cuts: scaled values (n, d), k, what its pricing looks up, a cost known, threads."""

    values: Floats
    k: int
    table: PairTable
    known: float
    threads: int = 1
    until: float | None = None

    def over(self) -> bool:
        """Whether the time is over."""
        return self.until is not None and time.monotonic() >= self.until


def cutting_of(values: Floats, k: int, groups: Ints, threads: int = 1, until: float | None = None) -> Cutting:
    """Return a table to be bounded with cuts, of which a partition is known, until a moment of the monotonic clock."""
    known = float(errors_of_groups(values, None, *group_rows(groups), k).sum())
    return Cutting(values, k, pair_table(values, k), known, threads, until)


def root_of(proved: Bound) -> Node:
    """Return the branch in which nothing is decided, with what is proved without cuts."""
    return Node(Decisions(), proved, cuts_of([], []))


def raised(  # noqa: PLR0915 - a loop in one piece
    own: Cutting,
    node: Node,
    *,
    enough: float | None = None,
    patience: tuple[int, float] = (_VAIN, 0.0),
    keep: KeepBound = untold,
) -> Node:
    """Raise the bound of a branch by column generation and cuts, until it is enough or no cut helps.

    ``patience`` is how often in a row new cuts may raise it by less than a part of what is missing to what is enough.
    """
    n = len(own.values)
    k, known, proved, cuts, decisions = own.k, own.known, node.bound, node.cuts, node.decisions
    idle, seen, vain, highest = np.zeros(len(cuts), dtype=np.int64), proved.seen, 0, 0.0
    table = PairTable(kept_apart(decisions, own.table.distances), own.table.near)
    mates, last, basis, alone = mates_of(decisions, n), None, node.basis, _alone(node, known)
    while not own.over():
        program = Program(seen, cuts, alone, basis)
        relaxed = program.solve(own.until)
        if relaxed is None:
            break
        basis = program.basis()
        how: dict[str, Any] = {
            "threads": own.threads,
            "over": own.over,
            "neglect": _NEGLECT * known / (n // k),
            "decided": (mates, decisions.together),
        }
        priced = _price(table, relaxed.prices, cuts, relaxed.multipliers, k, **how)
        if priced is None:
            break
        before = len(seen)
        seen = add_found(seen, own.values, priced.found, k)
        close = max(CLOSE * known, _PART * (known - relaxed.value))
        below = float(relaxed.prices.sum() - lowered(relaxed.prices, priced.least, k).sum())
        if below > close and len(seen) > before:
            continue  # far from the solution: what larger groups would add can wait
        larger = _price(table, relaxed.prices, cuts, relaxed.multipliers, k, larger=True, **how)
        if larger is None:
            break
        seen = add_found(seen, own.values, larger.found, k)
        least = np.minimum(priced.least, larger.least)
        feasible = lowered(relaxed.prices, least, k)
        spent = math.fsum(relaxed.multipliers * cuts.most)
        rounding = rounding_of(own, feasible, cuts, relaxed.multipliers)
        value = math.fsum(feasible) - spent - rounding
        if value > proved.value:
            active = np.flatnonzero(relaxed.multipliers > 0.0)
            proved = replace(
                proved,
                value=value,
                prices=feasible - rounding / n,
                cuts=take_cuts(cuts, active),
                multipliers=relaxed.multipliers[active],
            )
            keep(proved)
        if enough is not None and proved.value >= enough:
            break
        if relaxed.value - value > close and len(seen) > before:
            continue
        if program.left > _PART_LEFT and (alone < known).any():
            alone = np.minimum(known, _DEARER * alone)
            continue
        missing = max(0.0, (enough or known) - relaxed.value)
        vain = vain + 1 if relaxed.value < highest * (1 + _GAIN) + patience[1] * missing else 0
        highest = max(highest, relaxed.value)
        idle = np.where(relaxed.multipliers > 0.0, 0, idle + 1)
        kept = np.flatnonzero(idle < _IDLE)
        cuts, idle = take_cuts(cuts, kept), idle[kept]
        shares = np.concatenate([relaxed.shares, np.zeros(len(seen) - before)])
        more = broken_cuts(seen, shares, cuts, k)
        if len(more) == 0 or vain >= patience[0]:
            if relaxed.value - value > CLOSE * known and len(seen) > before:
                continue  # groups that were found now raise the bound to the solution
            last = replace(relaxed, shares=shares)
            break
        cuts, idle = join_cuts(cuts, more), np.concatenate([idle, np.zeros(len(more), dtype=np.int64)])
        seen = trim(seen, relaxed.prices, _MOST * n)
    return Node(decisions, replace(proved, seen=seen, complete=last is not None), cuts, last, basis)


def rounding_of(own: Cutting, prices: Floats, cuts: Cuts, multipliers: Floats) -> float:
    """Return more than the rounding errors of a bound by prices and multipliers, see above."""
    (n, d), k = own.values.shape, own.k
    scale = own.known + n * float(np.abs(prices).max()) + float(multipliers.sum())
    operations = 16 * k * k + d + n + 2 * k * len(cuts) + (4 * (60 + 20 * k) ** 2 * k * k if k > LARGEST_K else 0)
    return 8 * operations * 2.0**-53 * scale


def _alone(node: Node, known: float) -> Floats:
    """Return what a record alone costs (n,): in a branch groups seen may make no partition.

    At most as much as a partition known, so that a branch that has none is above it. Where it is that much from the
    beginning, prices are so high that pricing takes long.
    """
    prices = np.maximum(0.0, node.bound.prices)
    if not node.decisions.together and not node.decisions.apart:
        return np.full(len(prices), known)
    return np.minimum(known, _ALONE * (prices + prices.mean()))


def _price(
    table: PairTable,
    prices: Floats,
    cuts: Cuts,
    multipliers: Floats,
    k: int,
    *,
    threads: int,
    over: Callable[[], bool],
    neglect: float,
    larger: bool = False,
    decided: tuple[Ints, tuple[Pair, ...]] | None = None,
) -> Priced | None:
    """Price groups of k from all roots, or larger ones from cores of cuts; None where it was stopped.

    ``decided`` are the mates of records and the pairs that are together.
    """
    n = len(prices)
    order, rank = ranked(prices)
    active = np.flatnonzero(multipliers > 0.0)
    cuts, multipliers = take_cuts(cuts, active), multipliers[active]
    own = (table.distances, table.near, prices, rank, *cuts_of_records(cuts, n), cuts.starts, cuts.rows, cuts.steps)
    mates, together = decided or (np.arange(n), ())
    sizes, starts = range(k, k + 1), [order[::-1, None]]
    if larger:
        pairs, triples = cores_of(cuts, k)
        pairs = np.unique(np.concatenate([pairs, np.sort(np.reshape(together, (-1, 2)).astype(np.int64))]), axis=0)
        sizes, starts = range(k + 1, min(2 * k - 1, n) + 1), [pairs, triples]
    watch, jobs, tasks = new_watch(), [], []
    for size, firsts in itertools.product(sizes, starts):
        for c in range(-(-len(firsts) // _CHUNK)):
            # roots with high prices take longest: every chunk has some of each
            chunk = np.ascontiguousarray(firsts[c :: -(-len(firsts) // _CHUNK)])
            least, counts = np.full(len(chunk), -neglect), np.zeros(len(chunk), dtype=np.int64)
            found = np.empty((len(chunk), _KEPT, size), dtype=np.int64)
            jobs.append((chunk[:, 0], least, found, counts))
            tasks.append(partial(price_penalised, *own, multipliers, mates, size, chunk, least, found, counts, watch))
    if run_watched(tasks, [watch], threads, over) is None:
        return None
    all_least, groups = np.full(n, -neglect), []
    for first, least, found, counts in jobs:
        np.minimum.at(all_least, first, least)
        groups.append(found[np.arange(_KEPT) < counts[:, None]])
    return Priced(all_least, groups)
