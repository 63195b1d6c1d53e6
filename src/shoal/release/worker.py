"""What runs on one block: pure functions of arrays, with everything that a remote executor needs to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shoal.aggregate.numbers import AGGREGATORS
from shoal.columns.mixed import Mixed
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import Scale
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.representatives import MEAN
from shoal.partition.methods import METHODS
from shoal.partition.optimal import Budget, solve
from shoal.partition.optimal.objective import released_as
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.search import Found, Tell
from shoal.partition.refine import refine
from shoal.partition.semantic_optimal import Found as MixedFound
from shoal.partition.semantic_optimal import Tell as MixedTell
from shoal.partition.semantic_optimal import solve as solve_mixed


@dataclass(frozen=True)
class BlockTask:
    """A block to be partitioned.

    Attributes
    ----------
    quasi : QuasiIdentifiers
        Its rows; scales are those of the whole table, so that blocks can be compared.
    method : str
        Name of the method.
    options : mapping
        All of its options.
    k : int
        Smallest group.
    seed : int
        For methods that draw random numbers.
    refined : bool
        Whether the groups are refined afterwards.
    threads : int
        Threads that this block has to itself.
    """

    quasi: QuasiIdentifiers
    method: str
    options: Mapping[str, object]
    k: int
    seed: int
    refined: bool = False
    threads: int = 1


def partition_block(task: BlockTask, watch: Ints) -> Ints:
    """Return the group of each row of a block, numbered from 0, refined where asked for."""
    method = METHODS[task.method]
    records = method.records(task.quasi, task.threads)
    drawn = {"seed": task.seed} if method.seeded else {}
    groups = method.function(records, task.k, watch, **task.options, **drawn)
    return refine(records, groups, task.k, watch) if task.refined else groups


def search_set(
    quasi: QuasiIdentifiers,
    k: int,
    budget: Budget,
    seed: int,
    cells: Ints,
    weights: Floats | None,
    threads: int,
    tell: Tell | None,
) -> Found:
    """Search for the groups of a set of quasi-identifiers that lose least when released with its aggregators.

    ``cells`` (n,) are blocks that groups may not cross. ``tell`` is told costs in percent of the sum of squares.
    """
    records = quasi.scaled()
    how, lift = [], []
    for column, scale, aggregator in zip(quasi.columns, quasi.scales, quasi.aggregators, strict=True):
        assert scale is not None
        assert isinstance(column, Column)
        how.append(AGGREGATORS[aggregator].searched if scale.spread > 0.0 else MEAN)
        lift.append(_lift(column, scale))
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
