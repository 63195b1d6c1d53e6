"""What a plan asks of confidential columns: read from the table, whether it can be met, and what a release reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import nominal
from shoal.columns.mixed import distinct_records
from shoal.errors import BrokenPromise, DataError, counted
from shoal.kernels.arrays import Ints
from shoal.kernels.given_away import SLACK
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows
from shoal.measures.anonymity import category_closeness, diversity, ordered_closeness, recursive_factor, tree_closeness
from shoal.measures.keys import Keys
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.conditions.distributions import Distribution, distribution_of
from shoal.plan.conditions import ConfidentialCondition
from shoal.plan.plan import Plan
from shoal.plan.roles import Kind
from shoal.release.quasi_identifiers import column_of
from shoal.release.whole_distributions import WholeDistribution
from shoal.tables.table import Table


@dataclass(frozen=True)
class ConditionSummary:
    """What was asked of a confidential column, and what the release keeps.

    Attributes
    ----------
    column : str
        Its name.
    distance : {"ordered", "equal", "hierarchy"}
        How far apart its values are, for t.
    asked : dict
        ``distinct``, ``entropy``, ``recursive`` and ``t`` as asked for.
    reached : dict
        The same of the groups that are farthest off; of ``recursive`` the c that holds with the l asked for.
    least_group : int
        A number of records that no group meeting this is below.
    """

    column: str
    distance: str
    asked: dict[str, Any]
    reached: dict[str, float]
    least_group: int


def confidential_of(
    table: Table, plan: Plan, near: Mapping[str, WholeDistribution] | None = None
) -> LittleGivenAway | None:
    """Return what a plan asks of confidential columns; raises DataError where a column is not of a kind for it.

    Where the table is a part of a larger one, ``near`` has what t compares with, by column.
    """
    if not plan.conditions:
        return None
    found, reasons = [], []
    for name, asked in plan.conditions.items():
        try:
            whole = (near or {}).get(name)
            found.append(whole.of(table) if whole else distribution_of(_column(table, name, asked, plan)))
        except DataError as error:
            reasons += [f"conditions: {mistake}" for mistake in error.mistakes]
    if reasons:
        raise DataError(reasons)
    return LittleGivenAway(found, list(plan.conditions.values()))


def _column(table: Table, name: str, asked: ConfidentialCondition, plan: Plan) -> Any:
    if table.kind(name) is Kind.OTHER:
        raise DataError(f"column '{name}' has type {table.frame[name].dtype}, whose values are not compared")
    return nominal(name, table.factor(name)) if asked.t is None else column_of(table, name, plan)


def check_possible(told: LittleGivenAway | None, strata: Ints) -> None:
    """Refuse what no groups inside strata can meet, before any work.

    Groups that meet a condition do so together, too. So it can be met where every stratum meets it as one group.
    """
    if told is None:
        return
    whole = group_rows(strata)
    failing = [told.alone(place).failing(whole) for place in range(len(told.columns))]
    if not any(one.any() for one in failing):
        return
    message = told.why_impossible([bool(one.any()) for one in failing])
    strata_failing = int(np.logical_or.reduce(failing).sum())
    where = f" ({counted(strata_failing, 'stratum', 'strata')} of {len(whole.starts) - 1})" if strata.any() else ""
    raise DataError(f"conditions: {message}{where}")


def reached_conditions(
    told: LittleGivenAway | None, protected: Sequence[ProtectedSet], patterns: bool
) -> list[ConditionSummary]:
    """Measure what a release keeps of confidential columns, by the records that share their released values.

    Unless k counts ``patterns`` of missing cells, these do not tell records of a group apart. This shares no code with
    what formed the groups. Raises BrokenPromise where a condition is missed.
    """
    if told is None:
        return []
    found = []
    keys_of_sets = [_keys(part, patterns) for part in protected]
    for column, asked, least in zip(told.columns, told.asked, told.least_sizes, strict=True):
        each = [_reached(keys, column, asked) for keys in keys_of_sets]
        worst = {name: _worst(name)(one[name] for one in each) for name in asked.asked()}
        if not _met(asked, worst):
            raise BrokenPromise(f"a group misses a condition of column '{column.name}': {asked.in_words()}")
        found.append(ConditionSummary(column.name, column.distance, _plain(asked), worst, least))
    return found


def _worst(name: str) -> Any:
    return max if name in ("t", "recursive") else min


def add_conditions(parts: Sequence[Sequence[ConditionSummary]]) -> list[ConditionSummary]:
    """Put together what blocks, or sets, reached of the same conditions: the worst of each.

    >>> one, other = (ConditionSummary("c", "equal", {"distinct": 2}, {"distinct": x}, 2) for x in (2, 3))
    >>> add_conditions([[one], [other]])[0].reached
    {'distinct': 2}
    """
    return [
        replace(
            same[0],
            reached={name: _worst(name)(one.reached[name] for one in same) for name in same[0].reached},
            least_group=min(one.least_group for one in same),
        )
        for same in zip(*parts, strict=True)
    ]


def _keys(part: ProtectedSet, patterns: bool) -> Keys:
    released = [(column, *now) for column, now in part.columns()]
    of, first, sizes = distinct_records(released) if patterns else number_keys(part.groups)
    return Keys(of, sizes, first)


def _reached(keys: Keys, column: Distribution, asked: ConfidentialCondition) -> dict[str, float]:
    reached: dict[str, float] = {}
    if asked.distinct is not None or asked.entropy is not None:
        own = diversity(keys, column.codes)
        reached |= {"distinct": own.distinct, "entropy": own.entropy}
    if asked.recursive is not None:
        reached["recursive"] = recursive_factor(keys, column.codes, asked.recursive[1])
    if asked.t is not None and column.ordered:
        reached["t"] = ordered_closeness(keys, column.codes, column.counts[: column.known])
    elif asked.t is not None and column.distance == "equal":
        reached["t"] = category_closeness(keys, column.codes, column.counts)
    elif asked.t is not None:
        reached["t"] = tree_closeness(keys, column.codes, column.counts, column.parent, column.length)
    return reached


def _met(asked: ConfidentialCondition, reached: dict[str, float]) -> bool:
    return not (
        (asked.distinct is not None and reached["distinct"] < asked.distinct)
        or (asked.entropy is not None and np.log(reached["entropy"]) < np.log(asked.entropy) - 2 * SLACK)
        or (asked.recursive is not None and reached["recursive"] >= asked.recursive[0])
        or (asked.t is not None and reached["t"] > asked.t + 2 * SLACK)
    )


def _plain(asked: ConfidentialCondition) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asked.asked().items()}
