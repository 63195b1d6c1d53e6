"""What runs on one block: pure functions of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shoal.aggregate import AGGREGATORS, aggregate
from shoal.arrays import Flags, Floats, Ints, Numbers
from shoal.encode import Column, Scale, encode
from shoal.kernels.representatives import Grouping
from shoal.partition import METHODS
from shoal.partition.optimal import Budget, solve
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.search import Found, Tell
from shoal.partition.refine import refine


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

    ``cells`` (n,) are blocks that groups may not cross.
    """
    records = encode(columns, scales)
    how = [AGGREGATORS[name] if scale.spread > 0.0 else 0 for name, scale in zip(aggregators, scales, strict=True)]
    lift = [_lift(column, scale) for column, scale in zip(columns, scales, strict=True)]
    objective = released_as(records.observed, records.values.shape, weights, how, lift)
    problem = Problem(records.values, records.observed, cells, objective, k)
    return solve(problem, seed, budget, threads, tell)


def _lift(column: Column, scale: Scale) -> float:
    """Return what to add to scaled values to make them proportional to the values themselves."""
    if scale.spread == 0.0:
        return 0.0
    return ((scale.base + column.origin) / scale.unit + scale.location) / scale.spread


def aggregate_column(
    column: Column, grouping: Grouping, k: int, aggregator: str, weights: Floats | None, watch: Ints
) -> tuple[Numbers, Flags]:
    """Return the released values of a column, and which of them there are."""
    return aggregate(column, grouping, k, aggregator, weights)
