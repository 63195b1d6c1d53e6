"""The method ``optimal``: the groups that lose least, found by a search that can go on for as long as it may.

Start from fast methods, anneal, keep every independent part that got better, and put groups seen on the way together
as a set-partitioning problem. The modules tell the story in this order: ``start``, ``annealing``, ``improve``,
``crossover``, ``seen_groups``, ``combine``; ``whole`` does it for small tables; ``large``, ``large_start`` and
``large_annealing`` for large tables and large groups, and ``regions`` where groups do not cost by formula;
``numeric_search`` puts it together for :mod:`shoal.partition.search`, which runs it; ``bound``, ``pricing`` and
``certificate`` prove how far from the optimum the result can still be. The cost that is lowered is the squared error of
what will be released (``objective``). One complete column is cut optimally (Hansen & Mukherjee 2003).

Cost: O(d) for each step, whatever n and k; the start costs as much as MDAV-single.

Every group has at least k records: the start's have, and every change keeps them between k and 2k - 1, or 3k - 1 where
what is released is not the mean of complete records. All partitions of a dozen records are looked at.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.aggregate.numbers import AGGREGATORS
from shoal.columns.numbers import Column
from shoal.columns.scaling import Records, Scale
from shoal.kernels.arrays import Ints
from shoal.kernels.representatives import MEAN
from shoal.partition.optimal.numeric_search import NumericSearch, not_by_formula
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.problem import Problem
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.searchable import SearchTask


def optimal(
    records: Records,
    k: int,
    watch: Ints,
    *,
    seed: int = 0,
    steps: int | None = None,
    time: float | None = None,
    gap: float | None = None,
    bound: float | None = None,
) -> Ints:
    """Partition records into groups with the least sum of squares that a search finds."""
    d = records.values.shape[1]
    objective = released_as(records.observed, records.values.shape, None, [0] * d, [0.0] * d)
    blocks = np.zeros(len(records), dtype=np.int64)
    problem = Problem(records.values, records.observed, blocks, objective, k)
    return search(NumericSearch(problem), seed, Budget(steps, time, gap, bound), records.threads).groups


def search_numbers(task: SearchTask) -> NumericSearch:
    """Return the search for the groups of a set that lose least when they are released with its aggregators."""
    quasi = task.quasi
    records = quasi.scaled()
    how, lift = [], []
    for column, scale, aggregator in zip(quasi.columns, quasi.scales, quasi.aggregators, strict=True):
        assert scale is not None
        assert isinstance(column, Column)
        how.append(AGGREGATORS[aggregator].searched if scale.spread > 0.0 else MEAN)
        lift.append(_lift(column, scale))
    observed = records.observed
    objective = released_as(observed, records.values.shape, task.weights, how, lift, task.alike)
    filled = None if observed is None else quasi.points().values
    problem = Problem(records.values, observed, task.blocks, objective, task.k, filled, task.limits)
    if objective is not None and objective.plain and not_by_formula(problem) == 0.0:
        problem = replace(problem, objective=None)
    return NumericSearch(problem, begin=task.begin)


def _lift(column: Column, scale: Scale) -> float:
    """Return what to add to scaled values to make them proportional to the values themselves."""
    if scale.spread == 0.0:
        return 0.0
    return ((scale.base + column.origin) / scale.unit + scale.location) / scale.spread
