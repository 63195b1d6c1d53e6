"""The partition step of a method that searches: every set of quasi-identifiers as a whole, with one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.kernels.threads import Report, threads_of_each
from shoal.partition.optimal import Budget
from shoal.partition.optimal.certificate import gap_of
from shoal.release.declaring import Declared
from shoal.release.worker import search_set


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
    again : int or None
        The option ``steps`` that repeats them, where the plan itself does not: after a time, a gap or an interruption.
        None too where an interruption left some behind the others, which no single number repeats.
    """

    steps: list[int]
    interrupted: bool
    bound: float | None
    gap: float | None
    again: int | None


def steps_again(made: set[int], free: bool) -> int | None:
    """Return the steps that repeat all searches that were not settled at once, from what these made.

    There is such a number where it is the same for all, and need for it where a search was ``free`` to end at any time.
    """
    return next(iter(made)) if free and len(made) == 1 else None


def search_sets(
    declared: Declared, blocks: Sequence[Ints], report: Report, threads: int | None
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    With a time, the first set has a share of it by its number of columns, and the others take the steps that it made:
    so one number of steps repeats them all. After an interruption the sets that are left are only started.
    """
    plan, budget = declared.plan, Budget(**declared.options)
    widths = [len(quasi) for quasi in declared.sets]
    _check_sets(budget, len(widths))
    if budget.time is not None:
        budget = replace(budget, time=budget.time * widths[0] / sum(widths))
    free = budget.time is not None or budget.gap is not None
    groups, steps, interrupted, bound, gap = [], [], False, None, None
    made: set[int] = set()
    for i, (quasi, cells) in enumerate(zip(declared.sets, blocks, strict=True)):

        def tell(part: float, loss: float, proved: float, i: int = i, n: int = len(cells)) -> None:
            words = f"loss {loss:.4f} %"
            report(int((i + part) * n), f"{words}, gap {gap_of(loss, proved):.2f} %" if proved > 0.0 else words)

        found = search_set(
            quasi,
            plan.k,
            Budget(steps=0) if interrupted else budget,
            plan.seed,
            cells,
            declared.weights,
            threads_of_each(1, threads),
            tell,
        )
        groups.append(found.groups)
        steps.append(found.steps)
        made |= set() if found.exact else {found.steps}
        interrupted |= found.interrupted
        if budget.time is not None and not found.exact:
            budget = Budget(steps=found.steps)
        if found.bound is not None and len(widths) == 1:
            bound = 100.0 * found.bound / found.total if found.total > 0.0 else 0.0
            gap = gap_of(found.cost, found.bound)
    return groups, Searched(steps, interrupted, bound, gap, steps_again(made, free or interrupted))


def _check_sets(budget: Budget, sets: int) -> None:
    """Refuse a proof over several sets: their losses are not of one kind."""
    asked = [name for name in ("gap", "bound") if getattr(budget, name) is not None]
    if asked and sets > 1:
        raise PlanError(
            f"method 'optimal': option '{asked[0]}' needs a single set of quasi-identifiers, and there are {sets}; "
            "leave it out"
        )
