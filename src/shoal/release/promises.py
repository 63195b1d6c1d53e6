"""Check that a result keeps its promises. A failure is a bug in shoal: nothing is released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn
from shoal.columns.mixed import distinct_records
from shoal.errors import BrokenPromise, counted, listed, one_or_many
from shoal.kernels.arrays import Flags, Ints, Numbers
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.condition import Condition, failing_any
from shoal.plan.plan import Plan
from shoal.tables.table import Table, open_table


def check_groups(groups: Ints, k: int, records: int) -> None:
    """Every record is in exactly one group, and every group has at least k."""
    if groups.shape != (records,) or (records and groups.min() < 0):
        raise BrokenPromise("a record has no group")
    sizes = np.bincount(groups)
    if sizes.min() < k:
        small = int((sizes < k).sum())
        raise BrokenPromise(f"{counted(small, 'group')} {one_or_many(small, 'has', 'have')} fewer than k = {k} records")


def check_strata_kept(groups: Ints, codes: Ints) -> None:
    """No group has records of two strata."""
    stratum = np.full(int(groups.max()) + 1, -1)
    stratum[groups] = codes
    if (stratum[groups] != codes).any():
        raise BrokenPromise("a group mixes strata")


def check_released(column: AnyColumn, values: Numbers, observed: Flags, groups: Ints, k: int) -> None:
    """Released values are the same for a whole group, stand for at least k, and nothing missing was invented."""
    if (observed & ~column.observed).any():
        raise BrokenPromise(f"column '{column.name}': a missing value was invented")
    representative = np.zeros(int(groups.max()) + 1, values.dtype)
    representative[groups[observed]] = values[observed]
    if not np.array_equal(representative[groups[observed]], values[observed]):
        raise BrokenPromise(f"column '{column.name}': a group has more than one value")
    counts = np.bincount(groups[observed], minlength=1)
    if ((counts > 0) & (counts < k)).any():
        raise BrokenPromise(f"column '{column.name}': a released value stands for fewer than k = {k} records")
    if (~np.isfinite(values[observed])).any():
        raise BrokenPromise(f"column '{column.name}': a released value is not finite")


def check_conditions(groups: Ints, conditions: Sequence[Condition]) -> None:
    """Every group meets the conditions of the plan."""
    if conditions and failing_any(conditions, group_rows(groups)).any():
        raise BrokenPromise("a group fails a condition of the plan: it has too few persons, or a record dominates it")


def check_keys(part: ProtectedSet, k: int) -> None:
    """Every combination of released values and missing cells of a set is that of at least k records."""
    counts = distinct_records([(column, *now) for column, now in part.columns()])[2]
    if counts.min(initial=k) < k:
        rare = int((counts < k).sum())
        raise BrokenPromise(
            f"{counted(rare, 'combination')} of {listed(part.quasi.names)}, missing cells included, "
            f"{'has' if rare == 1 else 'have'} fewer than k = {k} records"
        )


def check_table(
    before: Sequence[tuple[str, str]],
    after: Sequence[tuple[str, str]],
    dropped: set[str],
    records: tuple[int, int],
) -> None:
    """Rows, names, order and types of the columns are what went in, without the dropped columns."""
    if records[0] != records[1]:
        raise BrokenPromise(f"{counted(records[0], 'record')} went in and {records[1]} came out")
    expected = [(name, kind) for name, kind in before if name not in dropped]
    if expected != list(after):
        changed = sorted({name for name, _ in set(expected) ^ set(after)})
        raise BrokenPromise(f"names or types of columns changed: {', '.join(changed)}")


def check_release(
    plan: Plan,
    table: Table,
    strata: Ints,
    protected: Sequence[ProtectedSet],
    conditions: Sequence[Sequence[Condition]],
) -> Any:
    """Check every promise, with the conditions on the groups of each set, and return the table of the release."""
    released = {}
    for part, own in zip(protected, conditions, strict=True):
        check_conditions(part.groups, own)
        check_groups(part.groups, plan.k, len(table))
        check_strata_kept(part.groups, strata)
        if plan.missing_patterns == "counted":
            check_keys(part, plan.k)
        for column, (values, observed) in part.columns():
            check_released(column, values, observed, part.groups, plan.k)
            released[column.name] = (column, values, observed)
    data = table.replace(released, plan.identifiers)
    out = open_table(data)
    incomplete = {name for name, (_, _, observed) in released.items() if not observed.all()}
    check_table(table.types(incomplete), out.types(), set(plan.identifiers), (len(table), len(out)))
    return data
