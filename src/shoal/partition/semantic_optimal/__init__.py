"""The method ``semantic-optimal``: the groups that lose least, for columns of any kind, found by a search.

Start from the best of SA-MDAV and the Mondrian methods, and anneal over moves, swaps, and groups that are founded,
joined or dissolved, of distinct records with their frequencies. Few records are put together in every way there is. The
modules: ``problem``, ``start``, ``neighbours``, ``state``, ``annealing``, ``exact``; ``mixed_search`` puts it
together for :mod:`shoal.partition.search`, which runs it.

The cost that is lowered is the loss of records of :mod:`shoal.measures.loss`, of what is released with the usual
aggregators.

Cost: O(codes + portions of two groups) for each step, whatever n; the start costs as much as SA-MDAV for some thousands
of distinct records, and as Mondrian for more.

Every group has at least k records: the start's have, and no change is made that leaves fewer.
"""

from __future__ import annotations

import numpy as np

from shoal.blocking.blocks import rows_of_blocks
from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.partition.conditions.confidential import limits_of_rows
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.searchable import SearchTask
from shoal.partition.semantic_optimal.mixed_search import MixedSearch
from shoal.partition.semantic_optimal.problem import INFORMATION, objective_of, problem_of


def semantic_optimal(
    records: Mixed,
    k: int,
    watch: Ints,
    *,
    seed: int = 0,
    steps: int | None = None,
    time: float | None = None,
    gap: float | None = None,
    bound: float | None = None,
    split: bool = True,
    lower: str = INFORMATION,
) -> Ints:
    """Partition records into groups with the least loss that a search finds."""
    return search(
        search_of(records, k, split, lower=lower), seed, Budget(steps, time, gap, bound), records.threads
    ).groups


def search_of(
    records: Mixed, k: int, split: bool, weights: Floats | None = None, lower: str = INFORMATION
) -> MixedSearch:
    """Return the search of some records, with sampling weights (n,), that are all in one block."""
    problem = problem_of(records, k, split, objective=objective_of(records, lower), weights=weights)
    return MixedSearch(problem, [np.arange(len(records))], [problem])


def search_mixed(task: SearchTask) -> MixedSearch:
    """Return the search for the groups of a set; scales, weights and centre are those of the whole table."""
    k, split = task.k, task.options["split"]
    weights = task.weights
    records = task.quasi.counted()
    objective = objective_of(records, task.options["lower"])
    whole = problem_of(records, k, split, objective=objective, weights=weights, alike=task.alike, limits=task.limits)
    rows = rows_of_blocks(task.blocks)
    if len(rows) == 1:
        return MixedSearch(whole, rows, [whole], task.begin)
    parts = [
        problem_of(
            task.quasi.take(own).counted(),
            k,
            split,
            objective=objective,
            weights=None if weights is None else weights[own],
            alike=task.alike,
            limits=limits_of_rows(task.limits, own),
        )
        for own in rows
    ]
    return MixedSearch(whole, rows, parts, task.begin)
