"""The partition step of a method that searches: every set of quasi-identifiers as a whole, with one budget."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.columns import numbers
from shoal.declare import Declared
from shoal.encode import Records, encode
from shoal.engines.memory import Report, threads_of_each
from shoal.errors import PlanError
from shoal.partition.optimal import Budget
from shoal.partition.optimal.certificate import gap_of
from shoal.worker import search_set


@dataclass(frozen=True)
class Searched:
    """What the searches did.

    Attributes
    ----------
    steps : list of int
        Of each set.
    interrupted : bool
        Whether somebody ended them early.
    bound, gap : float or None
        What is proved about the loss on scaled columns, in percent: that it cannot be lower, and the share of what was
        reached that a better partition could save. None where no bound was asked for and none comes by itself.
    """

    steps: list[int]
    interrupted: bool
    bound: float | None
    gap: float | None


def search_sets(
    declared: Declared, blocks: list[Ints], report: Report, threads: int | None
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    With a time, the first set has a share of it by its number of columns, and the others take the steps that it made:
    so one number of steps repeats them all. After an interruption the sets that are left are only started.
    """
    plan, budget = declared.plan, Budget(**declared.options)
    widths = [len(columns) for columns in declared.sets]
    _check_sets(budget, len(widths))
    if budget.time is not None:
        budget = replace(budget, time=budget.time * widths[0] / sum(widths))
    groups, steps, interrupted, bound, gap = [], [], False, None, None
    for i, (chosen, cells) in enumerate(zip(declared.sets, blocks, strict=True)):
        columns = numbers(chosen)
        scales = [declared.scale_of[column.name] for column in columns]
        total = _total_squares(encode(columns, scales))

        def tell(
            part: float, cost: float, proved: float, i: int = i, total: float = total, n: int = len(cells)
        ) -> None:
            words = f"loss {100.0 * cost / total:.4f} %" if total > 0.0 else ""
            report(int((i + part) * n), f"{words}, gap {gap_of(cost, proved):.2f} %" if proved > 0.0 else words)

        found = search_set(
            columns,
            scales,
            plan.k,
            Budget(steps=0) if interrupted else budget,
            plan.seed,
            cells,
            [declared.aggregators[column.name] for column in columns],
            declared.weights,
            threads_of_each(1, threads),
            tell,
        )
        groups.append(found.groups)
        steps.append(found.steps)
        interrupted |= found.interrupted
        if budget.time is not None and not found.exact:
            budget = Budget(steps=found.steps)
        if found.bound is not None and len(widths) == 1:
            bound = 100.0 * found.bound / total if total > 0.0 else 0.0
            gap = gap_of(found.cost, found.bound)
    return groups, Searched(steps, interrupted, bound, gap)


def _check_sets(budget: Budget, sets: int) -> None:
    """Refuse a proof over several sets: their losses are not of one kind."""
    asked = [name for name in ("gap", "bound") if getattr(budget, name) is not None]
    if asked and sets > 1:
        raise PlanError(
            f"method 'optimal': option '{asked[0]}' needs a single set of quasi-identifiers, and there are {sets}; "
            "leave it out"
        )


def _total_squares(records: Records) -> float:
    """Return the sum of squares of the observed values about the means of their columns."""
    observed: Floats = np.ones_like(records.values) if records.observed is None else records.observed.astype(float)
    means = (records.values * observed).sum(axis=0) / np.maximum(observed.sum(axis=0), 1.0)
    return float((((records.values - means) * observed) ** 2).sum())
