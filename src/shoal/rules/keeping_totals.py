"""Rules about totals on their way through the pipeline: released values rounded so that each total is what it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.numbers import Column
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Flags, Floats, Ints, Masked
from shoal.rules.classify import Classified
from shoal.rules.expression import Unchanged
from shoal.rules.keeping import AGGREGATED, CONSTRUCTED, WAYS, Account
from shoal.rules.observations import read_observations
from shoal.rules.totals import Rounding, round_to_total, same_total, total_of, whole_weights
from shoal.rules.tuples import released_observations
from shoal.tables.table import Table

_EXACT = 2**52  # whole numbers above this are not told apart by the means of floats


def totalled(rules: Sequence[Classified]) -> dict[str, Classified]:
    """Return the rules about totals by their column.

    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> list(totalled([classify(parse_rule("sum(A) unchanged")), classify(parse_rule("A <= B"))]))
    ['A']
    """
    return {r.rule.condition.name: r for r in rules if isinstance(r.rule.condition, Unchanged)}


def keep_totals(
    rules: Sequence[Classified],
    protected: Sequence[ProtectedSet],
    accounts: list[Account],
    table: Table,
    weights: Floats | None,
) -> tuple[list[ProtectedSet], list[Account]]:
    """Round released values so that the totals that rules ask for are kept; raises DataError where they cannot be."""
    asked = totalled(rules)
    if not asked:
        return list(protected), accounts
    mistakes: list[str] = []
    result = []
    for part in protected:
        released = list(part.released)
        for j, (column, now) in enumerate(part.columns()):
            if column.name not in asked:
                continue
            rule = asked[column.name]
            others = [r.name for r in rules if r is not rule and column.name in r.variables]
            try:
                released[j], moved = _with_total(column, now, part.groups, table, weights, bool(others))
            except _NoTotal as reason:
                beside = f" beside {', '.join(repr(name) for name in others)}" if others else ""
                mistakes.append(f"rule '{rule.name}' ({rule.rule.place}) cannot be kept{beside}: {reason}")
                continue
            ways: Ints = np.zeros(len(WAYS), dtype=np.int64)
            ways[CONSTRUCTED], ways[AGGREGATED] = moved, int(part.groups.max()) + 1 - moved
            accounts = [*accounts, Account((rule.name,), (column.name,), ways, {})]
        result.append(part.with_released(released))
    if mistakes:
        raise DataError(mistakes)
    return result, accounts


class _NoTotal(Exception):  # noqa: N818 - becomes a DataError with the rule
    """Why a total cannot be kept, as the end of a sentence."""


def _with_total(
    column: object, now: Masked, groups: Ints, table: Table, weights: Floats | None, tied: bool
) -> tuple[Masked, int]:
    """Return released values with the total of the original, and how many groups were rounded the other way."""
    if not isinstance(column, Column) or table.kind(column.name) == "date":
        raise _NoTotal("the column has no numbers, and so no total; leave the rule out")
    lost = int((column.observed & ~now.observed).sum())
    if lost:
        raise _NoTotal(
            f"{counted(lost, 'cell')} of the column would be suppressed; choose another k, or leave the rule out"
        )
    decimals = 0 if column.whole else table.decimals(column.name)
    original = read_observations(table, [column.name])[column.name]
    after = released_observations(column, original, *now)
    exact = weights is None or decimals is None  # a weighted total of whole numbers is looked at in whole numbers
    if exact and same_total(total_of(original, weights), total_of(after, weights)):
        return now, 0
    if tied:
        raise _NoTotal("the released values that keep the other rules have another total; leave one out")
    if decimals is None:
        raise _NoTotal("the aggregator of the column does not keep totals, which means do; choose mean")
    scale = 1 if column.whole else 10**decimals
    before, given = ((np.rint(v * scale) if scale > 1 else v).astype(np.int64) for v in (column.values, now.values))
    found = _rounded(before, given, column.observed, groups, weights)
    values = np.where(now.observed, found.values[groups], 0)
    return Masked(values / scale if column.values.dtype.kind == "f" else values, now.observed), found.moved


def _rounded(before: Ints, given: Ints, seen: Flags, groups: Ints, weights: Floats | None) -> Rounding:
    """Return whole numbers for groups that have the total of the whole numbers before."""
    often = whole_weights(weights, len(groups))
    if often is None:
        raise _NoTotal("the sampling weights have too many decimals for a weighted total to be exact; leave it out")
    count = int(groups.max()) + 1
    counts, now = np.zeros(count, dtype=np.int64), np.zeros(count)
    np.add.at(counts, groups[seen], often[seen])
    total = sum((before[seen].astype(object) * often[seen].astype(object)).tolist())
    if abs(total) >= _EXACT:
        raise _NoTotal("the total is too large to be computed exactly")
    sums = np.bincount(groups[seen], before[seen].astype(np.float64) * often[seen], minlength=count)
    means = sums / np.maximum(counts, 1)
    now[groups[seen]] = given[seen]
    if bool((np.abs(now - means) > 1.0)[counts > 0].any()):
        raise _NoTotal("the aggregator of the column does not keep totals, which means do; choose mean")
    found = round_to_total(means, counts, int(total), int(before[seen].min()), int(before[seen].max()))
    if found is None:
        raise _NoTotal(
            "no numbers that are the same for all records of a group have this total at the precision of the column, "
            "since the sizes of the groups have a common divisor, or weights leave too few ways; choose another k, or "
            "leave the rule out"
        )
    return found
