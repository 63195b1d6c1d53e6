"""The lower bound of a table: groups do not cross blocks, so the bounds of the blocks add up."""

from __future__ import annotations

import time

import numpy as np

from shoal.kernels.arrays import Ints
from shoal.partition.optimal.bound import LARGEST, Bound, lower_bound
from shoal.partition.optimal.cutting import LARGEST_K, cut
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.seen_groups import SeenGroups, no_groups
from shoal.partition.search.found import Penalty, Proved
from shoal.partition.search.searchable import TellBound


def why_no_bound(problem: Problem) -> str | None:
    """Say why no bound can be proved; None if it can."""
    if problem.objective is not None or problem.observed is not None:
        return "it is proved for complete columns released as means, without sampling weights"
    largest = int(np.bincount(problem.blocks).max())
    if largest > LARGEST and problem.values.shape[1] > 1:
        return f"it is proved for up to {LARGEST} records that are partitioned together, and here they are {largest}"
    return None


def prove(
    problem: Problem,
    groups: Ints,
    until: float,
    threads: int,
    *,
    enough: float | None = None,
    tell: TellBound = float,
    seen: list[SeenGroups] | None = None,
) -> Proved:
    """Return a lower bound, and the prices that prove it, until a moment of the monotonic clock.

    Blocks share the time by the squares of their sizes; in each the bound of the plain relaxation is raised by cuts,
    for at least half of the time, where k is small. ``enough`` is a bound at which to end where there is one block,
    ``seen`` the groups that a search has seen in each.
    """
    rows_of_blocks = [np.flatnonzero(problem.blocks == block) for block in np.unique(problem.blocks)]
    shares = np.array([len(rows) ** 2 for rows in rows_of_blocks], dtype=np.float64)
    proved, complete, prices, penalties = 0.0, True, np.zeros(len(problem)), []
    alone = len(rows_of_blocks) == 1
    for i, rows in enumerate(rows_of_blocks):
        now = time.monotonic()
        end = now + (until - now) * float(shares[i] / shares[i:].sum())
        cutting = problem.k <= LARGEST_K
        values = np.ascontiguousarray(problem.values[rows])
        labels = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
        found = lower_bound(
            values,
            problem.k,
            seen[i] if seen else no_groups(),
            labels,
            until=(now + end) / 2 if cutting else end,
            threads=threads,
            enough=enough if alone else None,
            tell=tell if alone else float,
        )
        reached = alone and enough is not None and found.value >= enough
        if cutting and found.rounds > 0 and not reached:
            found = cut(
                values,
                problem.k,
                found,
                labels,
                until=end,
                threads=threads,
                enough=enough if alone else None,
                tell=tell if alone else float,
            )
        proved, complete = proved + found.value, complete and found.complete
        prices[rows] = found.prices
        penalties += penalties_of(found, rows)
    return Proved(proved, complete, prices, tuple(penalties))


def penalties_of(found: Bound, rows: Ints) -> list[Penalty]:
    """Return the cuts of a bound with their multipliers, in rows of the whole table."""
    sets = zip(found.cuts.sets(), found.cuts.steps, found.multipliers, strict=True)
    return [Penalty(rows[list(own)], int(every), float(multiplier)) for own, every, multiplier in sets]
