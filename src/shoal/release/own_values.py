"""Released values that are one record's own, or nearly: by dominance, by weight, or by what the aggregator picks.

A mean stands for all values of its group. A median, another order statistic, a mode or a trimmed mean of few may be the
value of one record to the last digit, which an intruder who finds the group then has. It is not hers alone where
another record of the group has the same value. Categories are not looked at: what is released for them is a category by
nature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.aggregate.order_statistics import ORDER_STATISTICS
from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn
from shoal.columns.numbers import Column
from shoal.errors import counted
from shoal.kernels.arrays import Ints, Masked
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.dominance import HEAVY, NotDominated, NotOutweighed
from shoal.plan.plan import Plan
from shoal.release.conditions import dominance_of
from shoal.release.declaring import Declared
from shoal.tables.table import Table

_PICKING = ("median", "mode", "trimmed-mean", *ORDER_STATISTICS)  # aggregators that may release one of the values
_LISTED = 5  # columns that a note names


@dataclass(frozen=True)
class OwnValues:
    """Where released values are those of one record.

    Attributes
    ----------
    groups : dict of int
        How many groups there are in the set of each column.
    dominated : dict of int
        Groups whose mean a few records dominate, by column; columns without any are left out.
    outweighed : int
        Groups in which a record has nearly all of the weight.
    exact : dict of int
        Groups whose representative is the value of exactly one record, by column; columns without any are left out.
    picked : dict of str
        The aggregator of each column of ``exact``.
    """

    groups: dict[str, int]
    dominated: dict[str, int]
    outweighed: int
    exact: dict[str, int]
    picked: dict[str, str]


def own_values(declared: Declared, table: Table, part: ProtectedSet) -> OwnValues:
    """Count the groups of a set in which a released number or date is that of one record."""
    groups: dict[str, int] = {}
    dominated: dict[str, int] = {}
    exact: dict[str, int] = {}
    picked: dict[str, str] = {}
    outweighed = 0
    rows = group_rows(part.groups)
    # what a column does not release in a group is nobody's
    shown = replace(part.quasi, columns=[_released(column, now) for column, now in part.columns()])
    for condition in dominance_of(shown, declared.plan, declared.weights, table):
        failing = int(condition.failing(rows).sum())
        if isinstance(condition, NotOutweighed):
            outweighed += failing
        elif isinstance(condition, NotDominated) and failing:
            dominated[condition.column.name] = failing
    for (column, now), aggregator in zip(part.columns(), part.quasi.aggregators, strict=True):
        groups[column.name] = len(rows.starts) - 1
        own = _picked(column, now, part.groups) if aggregator in _PICKING else 0
        if own:
            exact[column.name], picked[column.name] = own, aggregator
    return OwnValues(groups, dominated, outweighed, exact, picked)


def add_own_values(parts: Sequence[OwnValues]) -> OwnValues:
    """Put together what was counted in several sets, or in blocks of one."""

    def added(counts: Sequence[dict[str, int]]) -> dict[str, int]:
        names = dict.fromkeys(name for one in parts for name in one.groups)  # in the order of the columns
        found = {name: sum(own.get(name, 0) for own in counts) for name in names}
        return {name: count for name, count in found.items() if count}

    return OwnValues(
        added([part.groups for part in parts]),
        added([part.dominated for part in parts]),
        sum(part.outweighed for part in parts),
        added([part.exact for part in parts]),
        {name: aggregator for part in parts for name, aggregator in part.picked.items()},
    )


def own_value_notes(own: OwnValues, plan: Plan) -> list[str]:
    """Say how many groups release what is one record's own."""
    notes = []
    if own.dominated:
        notes.append(
            f"a few records dominate {_by_column(own.dominated, own.groups)} ({'; '.join(plan.dominance.rules())}): "
            "the mean times the size of the group comes near the largest value; let such groups grow "
            "(dominance.action: grow, or --dominance-action grow), or cap large values before"
        )
    if own.outweighed:
        notes.append(
            f"one record has more than {100 * HEAVY:g} % of the weight in {counted(own.outweighed, 'group')}, and "
            "weighted values are nearly its own there; let such groups grow (dominance.action: grow, or "
            "--dominance-action grow), or cap the weights"
        )
    for aggregator in dict.fromkeys(own.picked.values()):
        where = _by_column({name: n for name, n in own.exact.items() if own.picked[name] == aggregator}, own.groups)
        notes.append(f"'{aggregator}' releases the exact value of one record in {where}; 'mean' does not")
    return notes


def _released(column: AnyColumn, now: Masked) -> AnyColumn:
    return replace(column, observed=now.observed)


def _picked(column: AnyColumn, now: Masked, groups: Ints) -> int:
    """Return in how many groups what is released is the value of exactly one record."""
    if not isinstance(column, Column):
        return 0
    equal = now.observed & (now.values == column.values)
    return int((np.bincount(groups[equal], minlength=1) == 1).sum())


def _by_column(counts: Mapping[str, int], groups: Mapping[str, int]) -> str:
    """Return ``3 of 40 groups of 'income' and 1 of 40 groups of 'tax'``."""
    parts = [f"{count} of {counted(groups[name], 'group')} of '{name}'" for name, count in counts.items()]
    if len(parts) > _LISTED:
        parts = [*parts[:_LISTED], f"some of {counted(len(parts) - _LISTED, 'more column')}"]
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
