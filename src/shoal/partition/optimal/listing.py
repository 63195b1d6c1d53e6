"""All groups that a partition better than a limit could be made of, and branches in which no others count.

Where no group costs less than its prices less its penalties, a partition costs what these prove and the reduced costs
of its groups, or more. So one that costs less than a limit has no group whose reduced cost is above what is missing to
that limit. Where little is missing these groups are few enough to be listed, by the search of :mod:`.penalised` that
keeps all it finds. Then nothing has to be priced in branches: their linear problems are solved on the list, in a
moment each, and what they prove holds for every partition that costs less than the limit. So the limit is proved, or
what the lowest branch comes to.

Source: R. Baldacci, N. Christofides and A. Mingozzi, An exact algorithm for the vehicle routing problem based on the
set partitioning formulation with additional cuts, Mathematical Programming 115, 2008.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.threads import run_watched
from shoal.kernels.watch import DONE, STOP, new_watch
from shoal.partition.optimal.bound import Bound, lowered, ranked
from shoal.partition.optimal.candidates import into_smallest
from shoal.partition.optimal.cuts import broken_cuts, counts_of, cuts_of_records, join_cuts, take_cuts
from shoal.partition.optimal.cutting import Cutting, Node, rounding_of
from shoal.partition.optimal.penalised import first_candidates, join, leave, narrow
from shoal.partition.optimal.program import Program
from shoal.partition.optimal.seen_groups import SeenGroups, add_found, matrix_of, no_groups, take_groups

if TYPE_CHECKING:
    from shoal.partition.optimal.near_groups import PairTable

MOST = 100_000  # groups of a list; beyond them branches are priced
_ROOM = 10_000  # groups of a task, which is some roots and a size
_CHUNK = 64  # roots of a task
_LOOK = 256  # branches between two looks at the watch
_VAIN = 3  # times in a row that new cuts may raise a branch by less than the following part of it
_GAIN = 1e-6
_ROOM_TO_CHECK = 1e-6  # part of the cost known by which groups may be above what is missing and still count


def list_groups(own: Cutting, proved: Bound, limit: float) -> SeenGroups | None:
    """Return all groups that can be in a partition that costs less than a limit; None where they are too many.

    ``proved`` is a bound of all partitions below the limit, with the prices and cuts that prove it.
    """
    n, k = len(own.values), own.k
    cuts, multipliers, prices = proved.cuts, proved.multipliers, proved.prices
    missing = missing_to(own, proved, limit)
    order, rank = ranked(prices)
    table: PairTable = own.table
    shared = (table.distances, table.near, prices, rank, *cuts_of_records(cuts, n), cuts.starts, cuts.rows, cuts.steps)
    watch, jobs, tasks = new_watch(), [], []
    for size in range(k, min(2 * k - 1, n) + 1):
        for c in range(-(-n // _CHUNK)):
            roots = np.ascontiguousarray(order[c :: -(-n // _CHUNK)])
            found, counts = np.empty((_ROOM, size), dtype=np.int64), np.zeros(1, dtype=np.int64)
            jobs.append((found, counts))
            tasks.append(partial(_list, *shared, multipliers, size, roots, missing, found, counts, watch))
    if run_watched(tasks, [watch], own.threads, own.over) is None or watch[STOP] != 0:
        return None
    groups = [found[: counts[0]] for found, counts in jobs if counts[0] > 0]
    if sum(map(len, groups)) > MOST:
        return None
    return add_found(no_groups(), own.values, groups, k)


def missing_to(own: Cutting, proved: Bound, limit: float) -> float:
    """Return the reduced cost from which no group is in a partition below a limit, and a little more.

    Prices of a branch say nothing of a group that is not listed there, so a check of them whose rounding is coarser
    must not list any more: it has some room.
    """
    rounding = rounding_of(own, proved.prices, proved.cuts, proved.multipliers)
    return limit - proved.value + max(2.0 * rounding, _ROOM_TO_CHECK * own.known)


def that_count(own: Cutting, seen: SeenGroups, proved: Bound, limit: float) -> SeenGroups:
    """Return those of some groups that can be in a partition that costs less than a limit."""
    return take_groups(seen, np.flatnonzero(reduced_costs(seen, proved) < missing_to(own, proved, limit)))


def reduced_costs(seen: SeenGroups, proved: Bound) -> Floats:
    """Return what groups (m,) cost and pay less their prices."""
    n = len(proved.prices)
    paid = counts_of(proved.cuts, seen, n).T @ proved.multipliers
    reduced: Floats = seen.costs - matrix_of(seen, n).T @ proved.prices + paid
    return reduced


def raised_in_list(own: Cutting, node: Node, limit: float) -> Node:
    """Raise the bound of a branch by cuts, where its groups seen are all that count below a limit."""
    n, proved, cuts, seen = len(own.values), node.bound, node.cuts, node.bound.seen
    basis, vain, highest, last = node.basis, 0, 0.0, None
    held = matrix_of(seen, n)
    alone = np.full(n, own.known)
    while not own.over():
        program = Program(seen, cuts, alone, basis)
        relaxed = program.solve(own.until)
        if relaxed is None:
            break
        basis = program.basis()
        reduced = seen.costs - held.T @ relaxed.prices + counts_of(cuts, seen, n).T @ relaxed.multipliers
        # a partition has n / k groups at most, each of which may be below 0 by as much as the solver's tolerance
        below = max(0.0, -float(reduced.min())) if len(seen) else 0.0
        rounding = rounding_of(own, relaxed.prices, cuts, relaxed.multipliers)
        feasible = lowered(relaxed.prices, np.full(n, -below), own.k) - rounding / n
        value = min(limit, math.fsum(feasible) - math.fsum(relaxed.multipliers * cuts.most))
        if value > proved.value:
            active = np.flatnonzero(relaxed.multipliers > 0.0)
            proved = replace(
                proved,
                value=value,
                prices=feasible,
                cuts=take_cuts(cuts, active),
                multipliers=relaxed.multipliers[active],
            )
        if proved.value >= limit:
            break
        vain = vain + 1 if relaxed.value < highest * (1 + _GAIN) else 0
        highest = max(highest, relaxed.value)
        more = broken_cuts(seen, relaxed.shares, cuts, own.k)
        if len(more) == 0 or vain >= _VAIN:
            last = relaxed
            break
        cuts = join_cuts(cuts, more)
    return Node(node.decisions, replace(proved, complete=last is not None), cuts, last, basis)


@kernel
def _list(
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
    size: int,
    roots: Ints,
    limit: float,
    found: Ints,
    counts: Ints,
    watch: Ints,
) -> None:
    """Write all groups of ``size`` of some roots whose reduced cost is below a limit to ``found`` (t, size).

    ``counts`` (1,) is how many there are; where they are more than t the watch is told to stop. The others are as in
    ``price_penalised``.
    """
    n = len(prices)
    rows, own, keys = np.empty((size, n), np.int64), np.empty((size, n)), np.empty((size, n))
    count, base, member = np.zeros(size, np.int64), np.zeros(size), np.empty(size, np.int64)
    held, smallest = np.zeros(len(steps), np.int64), np.empty(size)
    place, penalty, looked = np.full(n, -1), np.zeros(n), np.zeros(len(steps), np.int64)
    looks = 0
    for root in roots:
        held[:] = 0
        member[0] = root
        base[0] = join(root, of_records, of_cuts, steps, multipliers, held) - prices[root]
        count[0] = first_candidates(distances, prices, rank, member[:1], size, rows[0], own[0])
        level, fresh = 0, True
        while level >= 0:
            left = size - 1 - level
            if fresh:
                looks += 1
                if looks % _LOOK == 0 and watch[STOP] != 0:
                    return
                count[level] = narrow(
                    distances, near, of_records, of_cuts, cut_starts, cut_rows, steps, multipliers, held, looked,
                    member[: level + 1], rows[level], own[level], keys[level], count[level], left, base[level], limit,
                    smallest, place, penalty,
                )  # fmt: skip
                fresh = False
            first = -1
            if left == 1:
                for a in range(count[level]):
                    if base[level] + keys[level, a] < limit:
                        if counts[0] == len(found):
                            watch[STOP] = 1
                            return
                        member[size - 1] = rows[level, a]
                        found[counts[0]] = member
                        counts[0] += 1
            elif count[level] >= left:
                smallest[:left] = np.inf
                for a in range(count[level]):
                    into_smallest(smallest, left, keys[level, a])
                    if first < 0 or keys[level, a] < keys[level, first]:
                        first = a
                if base[level] + smallest[:left].sum() >= limit:
                    first = -1
            if first < 0:
                if level > 0:
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
            level, fresh = level + 1, True
        watch[DONE] += 1
