"""The aggregate step: every column of a set of quasi-identifiers, or its categories in combination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from shoal.aggregate.categories import aggregate_category, aggregate_combinations
from shoal.aggregate.numbers import aggregate
from shoal.columns.categories import AnyColumn, Category
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats, Ints, Masked
from shoal.kernels.representatives import Grouping, group_rows
from shoal.kernels.threads import run_tasks


@dataclass(frozen=True)
class ProtectedSet:
    """A set of quasi-identifiers after protection: the group of each record, and what each column is released as."""

    quasi: QuasiIdentifiers
    groups: Ints
    released: list[Masked]

    def columns(self) -> list[tuple[AnyColumn, Masked]]:
        """Return each column with what is released for it."""
        return list(zip(self.quasi.columns, self.released, strict=True))

    def with_released(self, released: Sequence[Masked]) -> ProtectedSet:
        """Return the set with other released values."""
        return replace(self, released=list(released))


@dataclass(frozen=True)
class Aggregation:
    """What all sets are aggregated by: the least number of values, sampling weights, and whether combinations occur.

    Attributes
    ----------
    k : int
        Groups with some but fewer observed values of a column are suppressed in it.
    weights : float64 (n,) or None
        Sampling weights.
    observed_combinations : bool
        Whether released categories are combined only as they occur together in the original.
    """

    k: int
    weights: Floats | None = None
    observed_combinations: bool = False


def aggregate_sets(
    sets: Sequence[QuasiIdentifiers], groups_of_sets: Sequence[Ints], how: Aggregation, threads: int | None
) -> list[ProtectedSet]:
    """Replace the values of every column of every set by those of their groups."""
    tasks = []
    chosen: list[dict[str, Masked]] = []
    for quasi, groups in zip(sets, groups_of_sets, strict=True):
        grouping = group_rows(groups)
        found = _combined(quasi, grouping, how) if how.observed_combinations else {}
        chosen.append(found)
        for column, aggregator in zip(quasi.columns, quasi.aggregators, strict=True):
            if column.name not in found:
                tasks.append(partial(aggregate_column, column, grouping, aggregator, how))
    results = iter(run_tasks(tasks, None, threads) if tasks else [])
    return [
        ProtectedSet(quasi, groups, [found[name] if name in found else next(results) for name in quasi.names])
        for quasi, groups, found in zip(sets, groups_of_sets, chosen, strict=True)
    ]


def aggregate_column(
    column: AnyColumn, grouping: Grouping, aggregator: str, how: Aggregation, watch: Ints | None = None
) -> Masked:
    """Return the released values of a column, and which of them there are."""
    if isinstance(column, Category):
        return Masked(*aggregate_category(column, grouping, how.k, aggregator, how.weights))
    return Masked(*aggregate(column, grouping, how.k, aggregator, how.weights))


def _combined(quasi: QuasiIdentifiers, grouping: Grouping, how: Aggregation) -> dict[str, Masked]:
    """Return the released categories of a set in combinations that occur, by name; nothing where there is only one."""
    together = [(c, share) for c, share in zip(quasi.columns, quasi.shares, strict=True) if isinstance(c, Category)]
    if len(together) < 2:
        return {}
    columns, shares = zip(*together, strict=True)
    released = aggregate_combinations(columns, shares, grouping, how.k, how.weights)
    return {column.name: Masked(*pair) for column, pair in zip(columns, released, strict=True)}
