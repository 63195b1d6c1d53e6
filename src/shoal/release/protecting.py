"""From a plan that fits to released values: block, partition, keep rules, aggregate, check; of a table or one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.aggregate.sets import Aggregation, aggregate_sets
from shoal.blocking.blocks import cut_blocks
from shoal.kernels.arrays import Ints
from shoal.kernels.progress import show_progress
from shoal.release.clock import Clock
from shoal.release.confidential import check_possible, reached_conditions
from shoal.release.declaring import Declared
from shoal.release.grouping import Grouped, complete_groups, form_groups
from shoal.release.own_values import own_values
from shoal.release.promises import check_release
from shoal.release.ruled import Forming, Ruled, keep_at_least_loss
from shoal.release.run import Run
from shoal.release.searching import long_search
from shoal.release.strata import strata_of_sets, stratify
from shoal.rules.accounting import account_for
from shoal.rules.guard import RuleGuard, guard_rules
from shoal.tables.files import Source
from shoal.tables.table import Table


@dataclass(frozen=True)
class Protected:
    """What came out of all steps: the table of the release, what the steps made of it, and what guards its rules."""

    data: Any
    run: Run
    guard: RuleGuard | None


def protect_records(
    declared: Declared,
    table: Table,
    source: Source | None,
    clock: Clock,
    *,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
    written: bool = False,
) -> Protected:
    """Take the records of a table through the steps that a plan asks for, and check what comes out.

    A release that will be ``written`` has its edit rules checked on the file, not here.
    """
    plan, sets = declared.plan, declared.sets
    editing = guard = None
    if declared.rules:
        by_column = declared.method.name if declared.method.by_column else ""
        editing, guard = guard_rules(
            declared.rules, sets, plan, table, source, by_column=by_column, whole=declared.ruled
        )
        sets = [quasi.with_aggregators(editing.aggregators) for quasi in sets]
        clock.lap("prepare rules")
    unruled, declared = declared, replace(declared, sets=sets)
    strata = stratify(declared, table)
    check_possible(declared.told, strata.codes)
    shown, apart = strata_of_sets(declared, strata)
    how = Aggregation(plan.k, declared.weights, plan.combinations == "observed")

    def form(by: Declared, inside: Sequence[Ints]) -> Grouped:
        blocks = [cut_blocks(quasi, codes, plan.k, plan.blocking) for quasi, codes in zip(shown, inside, strict=True)]
        clock.lap("block")
        with show_progress(len(table) * len(sets), progress, ahead=long_search(by, len(table))) as advance:
            grouped = form_groups(
                replace(by, sets=shown),
                table,
                strata,
                apart=inside,
                blocks=blocks,
                report=advance,
                threads=threads,
            )
        clock.lap("partition")
        return grouped

    def regroup(by: Declared, made: Grouped, groups: list[Ints]) -> Grouped:
        return complete_groups(made, groups, replace(by, sets=shown), table, strata, threads=threads)

    ruled = Ruled()
    if editing:
        grouped, protected, ruled = keep_at_least_loss(
            declared,
            unruled,
            editing,
            table,
            apart=apart,
            forming=Forming(form, regroup),
            how=how,
            threads=threads,
        )
        clock.lap("keep rules")
    else:
        grouped = form(declared, apart)
        protected = aggregate_sets(grouped.sets, grouped.groups, how, threads)
        protected = [replace(part, quasi=quasi) for part, quasi in zip(protected, sets, strict=True)]
        clock.lap("aggregate")
    data = check_release(plan, table, strata.codes, protected, grouped.conditions)
    conditions = reached_conditions(declared.told, protected, plan.missing_patterns == "counted")
    if guard:
        ruled = ruled.checked(guard.check_table(data, written))
    clock.lap("check")
    # what is suppressed for patterns of missing cells is no cost of a rule
    as_shown = [replace(part, quasi=quasi) for part, quasi in zip(protected, shown, strict=True)]
    rules = account_for(editing, ruled.kept, as_shown, how, ruled.without) if editing else None
    own = [own_values(declared, table, part) for part in protected]
    without = None
    if grouped.without and not editing:
        released = aggregate_sets(grouped.without.sets, grouped.without.groups, how, threads)
        without = [replace(part, quasi=quasi) for part, quasi in zip(released, sets, strict=True)]
    done = Run(declared, strata, grouped, protected, rules, ruled, source, own, conditions, without)
    return Protected(data, done, guard)
