"""The partition step of a method that searches: every set of quasi-identifiers as a whole, with one budget."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.arrays import Ints
from shoal.columns import numbers
from shoal.declare import Declared
from shoal.encode import encode
from shoal.engines.memory import Report, threads_of_each
from shoal.worker import search_set


@dataclass(frozen=True)
class Searched:
    """What the searches did: steps of each set, and whether they were interrupted."""

    steps: list[int]
    interrupted: bool


def search_sets(
    declared: Declared, blocks: list[Ints], report: Report, threads: int | None
) -> tuple[list[Ints], Searched]:
    """Return the groups of each set, and what the searches did.

    With a time, the first set has a share of it by its number of columns, and the others take the steps that it made:
    so one number of steps repeats them all. After an interruption the sets that are left are only started.
    """
    plan, options = declared.plan, dict(declared.options)
    widths = [len(columns) for columns in declared.sets]
    if options["time"] is not None:
        options["time"] *= widths[0] / sum(widths)
    groups, steps, interrupted = [], [], False
    for i, (part, cells) in enumerate(zip(declared.sets, blocks, strict=True)):
        columns = numbers(part)
        scales = [declared.scale_of[column.name] for column in columns]
        total = float((encode(columns, scales).values ** 2).sum())

        def tell(part: float, cost: float, i: int = i, total: float = total, records: int = len(cells)) -> None:
            report(int((i + part) * records), f"loss {100.0 * cost / total:.4f} %" if total > 0.0 else "")

        found = search_set(
            columns,
            scales,
            plan.k,
            {"steps": 0, "time": None} if interrupted else options,
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
        if options["time"] is not None and not found.exact:
            options = {"steps": found.steps, "time": None}
    return groups, Searched(steps, interrupted)
