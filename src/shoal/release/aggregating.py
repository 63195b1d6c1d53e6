"""The aggregate step: every column of every set of quasi-identifiers, or the categories of a set in combination."""

from __future__ import annotations

from functools import partial

from shoal.aggregate.categories import aggregate_combinations
from shoal.aggregate.protected import ProtectedSet
from shoal.columns.categories import Category
from shoal.kernels.arrays import Flags, Ints, Numbers
from shoal.kernels.representatives import group_rows
from shoal.kernels.threads import run_tasks
from shoal.release.declaring import Declared
from shoal.release.worker import aggregate_column


def aggregate_sets(declared: Declared, groups_of_sets: list[Ints], threads: int | None) -> list[ProtectedSet]:
    """Replace the values of every column of every set by those of their groups."""
    plan = declared.plan
    tasks = []
    chosen: list[dict[str, tuple[Numbers, Flags]]] = []
    for columns, groups in zip(declared.sets, groups_of_sets, strict=True):
        grouping = group_rows(groups)
        together = [column for column in columns if isinstance(column, Category)]
        found: dict[str, tuple[Numbers, Flags]] = {}
        if plan.combinations == "observed" and len(together) > 1:
            shares = [plan.column_weights.get(column.name, 1.0) for column in together]
            released = aggregate_combinations(together, shares, grouping, plan.k, declared.weights)
            found = {column.name: pair for column, pair in zip(together, released, strict=True)}
        chosen.append(found)
        for column in columns:
            if column.name not in found:
                how = declared.aggregators[column.name]
                tasks.append(partial(aggregate_column, column, grouping, plan.k, how, declared.weights))
    results = iter(run_tasks(tasks, None, threads) if tasks else [])
    return [
        ProtectedSet(columns, groups, [found[c.name] if c.name in found else next(results) for c in columns])
        for columns, groups, found in zip(declared.sets, groups_of_sets, chosen, strict=True)
    ]
