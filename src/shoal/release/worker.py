"""What runs on one block: pure functions of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shoal.aggregate.categories import aggregate_category
from shoal.aggregate.numbers import AGGREGATORS, aggregate
from shoal.columns.categories import AnyColumn, Category
from shoal.columns.mixed import Mixed, mix
from shoal.columns.numbers import Column
from shoal.columns.scaling import Scale, encode
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import MEAN, Grouping
from shoal.partition import METHODS
from shoal.partition.optimal import Budget, solve
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.search import Found, Tell
from shoal.partition.refine import refine
from shoal.partition.semantic_optimal import Found as MixedFound
from shoal.partition.semantic_optimal import Tell as MixedTell
from shoal.partition.semantic_optimal import solve as solve_mixed


def partition_block(
    columns: list[Column],
    scales: list[Scale],
    k: int,
    method: str,
    options: Mapping[str, object],
    seed: int,
    refined: bool,
    threads: int,
    watch: Ints,
) -> Ints:
    """Encode the rows of a block and return their groups, numbered from 0, refined where asked for.

    Scales are those of the whole table, so that blocks can be compared. ``threads`` are those that this block has to
    itself.
    """
    records = replace(encode(columns, scales), threads=threads)
    found = METHODS[method]
    drawn = {"seed": seed} if found.seeded else {}
    groups = found.function(records, k, watch, **options, **drawn)
    return refine(records, groups, k, watch) if refined else groups


def partition_mixed_block(
    columns: list[AnyColumn],
    scales: list[Scale | None],
    shares: list[float],
    k: int,
    method: str,
    options: Mapping[str, object],
    seed: int,
    threads: int,
    watch: Ints,
) -> Ints:
    """Count the distinct records of a block and return the groups of its rows, numbered from 0.

    ``scales`` and ``shares``, how much each column counts, are those of the whole table.
    """
    found = METHODS[method]
    drawn = {"seed": seed} if found.seeded else {}
    return found.function(mix(columns, scales, shares, threads), k, watch, **options, **drawn)


def search_set(
    columns: list[Column],
    scales: list[Scale],
    k: int,
    budget: Budget,
    seed: int,
    cells: Ints,
    aggregators: list[str],
    weights: Floats | None,
    threads: int,
    tell: Tell | None,
) -> Found:
    """Search for the groups of a set of quasi-identifiers that lose least when released with these aggregators.

    ``cells`` (n,) are blocks that groups may not cross. ``tell`` is told costs in percent of the sum of squares.
    """
    records = encode(columns, scales)
    how = [
        AGGREGATORS[name].searched if scale.spread > 0.0 else MEAN
        for name, scale in zip(aggregators, scales, strict=True)
    ]
    lift = [_lift(column, scale) for column, scale in zip(columns, scales, strict=True)]
    objective = released_as(records.observed, records.values.shape, weights, how, lift)
    problem = Problem(records.values, records.observed, cells, objective, k)
    total = problem.total()

    def told(part: float, cost: float, bound: float) -> None:
        if tell and total > 0.0:
            tell(part, 100.0 * cost / total, 100.0 * bound / total)

    return replace(solve(problem, seed, budget, threads, told), total=total)


def search_mixed_block(
    records: Mixed,
    k: int,
    seed: int,
    passes: int | None,
    time: float | None,
    split: bool,
    middle: Floats,
    tell: MixedTell | None,
) -> tuple[Ints, MixedFound]:
    """Search for the groups of the rows of a block that lose least, and say what the search did.

    ``middle`` is the centre of the whole table.
    """
    found = solve_mixed(records, k, seed, passes, time, split, middle, tell)
    return records.hand_out(*found.portions), found


def _lift(column: Column, scale: Scale) -> float:
    """Return what to add to scaled values to make them proportional to the values themselves."""
    if scale.spread == 0.0:
        return 0.0
    return ((scale.base + column.origin) / scale.unit + scale.location) / scale.spread


def aggregate_column(
    column: AnyColumn, grouping: Grouping, k: int, aggregator: str, weights: Floats | None, watch: Ints
) -> tuple[Numbers, Flags]:
    """Return the released values of a column, and which of them there are."""
    if isinstance(column, Category):
        return aggregate_category(column, grouping, k, aggregator, weights)
    return aggregate(column, grouping, k, aggregator, weights)
