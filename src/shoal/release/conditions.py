"""The conditions of a plan on groups, beyond their size, and the step in which groups grow until all hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.threads import threads_of_each
from shoal.partition.conditions.centres import centres_of
from shoal.partition.conditions.condition import Condition
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import Distribution
from shoal.partition.conditions.dominance import NotDominated, NotOutweighed
from shoal.partition.conditions.growing import grow_groups
from shoal.partition.conditions.persons import EnoughPersons
from shoal.partition.conditions.repairing import repair_groups
from shoal.partition.missing_patterns import number_patterns
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.plan import Plan
from shoal.plan.roles import Kind
from shoal.release.declaring import Declared
from shoal.tables.persons import Persons
from shoal.tables.table import Table

_MEANS = ("mean", "weighted-mean", "trimmed-mean")  # aggregators that add values up


def dates_among(table: Table, names: Collection[str]) -> set[str]:
    """Return which columns are dates or times, whose totals mean nothing."""
    return {name for name in names if table.kind(name) is Kind.DATE}


def conditions_of(declared: Declared, table: Table, persons: Sequence[Persons]) -> list[list[Condition]]:
    """Return what the groups of each set must meet.

    Little given away of confidential columns, enough persons, and no dominance where groups are to grow.
    """
    plan = declared.plan
    return [
        [
            *([declared.told] if declared.told else ()),
            *(_enough(one, quasi, plan) for one in persons),
            *(dominance_of(quasi, plan, declared.weights, table) if plan.dominance.action == "grow" else ()),
        ]
        for quasi in declared.sets
    ]


def dominance_of(quasi: QuasiIdentifiers, plan: Plan, weights: Floats | None, table: Table) -> list[Condition]:
    """Return what it takes that no record dominates a group in any column that is released as a mean."""
    dates = dates_among(table, quasi.names)
    found: list[Condition] = [
        NotDominated(
            column, plan.k, plan.dominance, weights, aggregator == "trimmed-mean", plan.missing_patterns == "counted"
        )
        for column, aggregator in zip(quasi.columns, quasi.aggregators, strict=True)
        if isinstance(column, Column) and aggregator in _MEANS and column.name not in dates
    ]
    if weights is not None and any(isinstance(column, Column) for column in quasi.columns):
        found.append(NotOutweighed(weights))
    return found


def repair_sets(
    declared: Declared,
    groups_of_sets: Sequence[Ints],
    within: Sequence[Sequence[Ints]],
    persons: Sequence[Persons],
    threads: int | None,
    patterns: bool = False,
) -> list[Ints]:
    """Return the groups of each set in which records have changed places until little is given away.

    Where there are ``patterns``, only records that lack the same cells change places.
    """
    if declared.told is None:
        return list(groups_of_sets)
    told = counting_persons(declared.told, persons, declared.plan.k)
    repaired = []
    for quasi, groups, parts in zip(declared.sets, groups_of_sets, within, strict=True):
        holes = [~column.observed for column in quasi.columns if not column.observed.all()] if patterns else []
        alike = number_patterns(np.column_stack(holes), np.zeros(len(groups), np.int64))[0] if holes else None
        each = threads_of_each(1, threads)
        now = repair_groups(quasi, groups, parts, told, declared.plan.k, alike=alike, threads=each)
        repaired.append(groups if now is groups else number_keys(now)[0])
    return repaired


def counting_persons(told: LittleGivenAway, persons: Sequence[Persons], k: int) -> LittleGivenAway:
    """Return the conditions on confidential columns with that of enough persons: k different ones."""
    keys = [
        Distribution(
            one.name, "equal", one.codes, np.bincount(one.codes), one.count, *_flat(int(one.codes.max(initial=0)) + 1)
        )
        for one in persons
    ]
    return replace(
        told,
        columns=[*told.columns, *keys],
        asked=[*told.asked, *(ConfidentialCondition(distinct=k) for _ in keys)],
    )


def _flat(values: int) -> tuple[Ints, Floats]:
    return np.full(values, -1), np.full(values, 0.5)


def grow_sets(
    declared: Declared,
    groups_of_sets: Sequence[Ints],
    within: Sequence[Sequence[Ints]],
    conditions: Sequence[Sequence[Condition]],
    threads: int | None,
) -> list[Ints]:
    """Return the groups of each set after those that fail a condition have grown, numbered by first appearance.

    ``within`` are the parts in which the groups of each set may be merged, from the finest.
    """
    grown = []
    for quasi, groups, parts, own in zip(declared.sets, groups_of_sets, within, conditions, strict=True):
        now = grow_groups(groups, parts, own, partial(centres_of, quasi, threads_of_each(1, threads)))
        grown.append(groups if now is groups else number_keys(now)[0])
    return grown


def _enough(persons: Persons, quasi: QuasiIdentifiers, plan: Plan) -> EnoughPersons:
    incomplete = [column.observed for column in quasi.columns if not column.observed.all()]
    # where patterns count, a column is released for the whole group or not at all
    there = incomplete if plan.missing_patterns == "ignored" else ()
    return EnoughPersons(persons.name, persons.codes, plan.k, there, persons.kind)
