"""Groups to released values: the representative of each group, column by column.

A missing value stays missing. Where some but fewer than k values of a group are observed, the column is
suppressed in that group: their representative would stand for fewer than k records. Every representative lies
between the smallest and the largest value of its group, and equals them where all are equal. Whole numbers are
added up from the group's own first value, so that even 64-bit integers lose no digit, and exactly where they are too
far apart for that (:mod:`.far_apart`); halves go to the even number. Floats that have a fixed number of decimals are
rounded to it in the same way.

With sampling weights every aggregator uses them. Cost: O(n) for a mean, O(n log k) for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.aggregate.far_apart import EXACT, exact_representative
from shoal.aggregate.order_statistics import ORDER_STATISTICS, order_statistic
from shoal.columns.numbers import Column
from shoal.errors import DataError, counted
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import (
    GEOMETRIC,
    MEAN,
    MEDIAN,
    MODE,
    TRIMMED,
    Grouping,
    first_observed,
    representatives,
)

_STEPS = 2.0**52  # of the last decimal: more are not told apart by a float


@dataclass(frozen=True)
class Aggregator:
    """How the numbers of a group become one.

    Attributes
    ----------
    of_groups : callable
        ``of_groups(values, observed, weights, grouping, lift)`` returns the representative of each group, and how many
        observed values it stands for. Values are those above the first of their group where they are whole numbers;
        ``lift`` (groups,) is what to add to get the values themselves. Without sampling weights ``weights`` has one
        entry.
    searched : int
        What a search for the least loss supposes to be released: a number of ``kernels/representatives.py``.
    mistake : callable, optional
        ``mistake(column)`` says why a column cannot be aggregated in this way; None if it can.
    dates : bool
        Whether it makes sense for dates.
    needs_weights : bool
        Whether it is an error without a column of weights.
    part : float, optional
        Of an order statistic: part of the records that is at or below it.
    """

    of_groups: Callable[[Floats, Flags, Floats, Grouping, Floats], tuple[Floats, Ints]]
    searched: int = MEAN
    mistake: Callable[[Column], str | None] | None = None
    dates: bool = True
    needs_weights: bool = False
    part: float | None = None


def _by_kernel(how: int, **more: Any) -> Aggregator:
    """Return an aggregator that the kernels know."""

    def of_groups(
        values: Floats, observed: Flags, weights: Floats, grouping: Grouping, lift: Floats
    ) -> tuple[Floats, Ints]:
        return representatives(values, observed, weights, *grouping, how, lift)

    return Aggregator(of_groups, how, **more)


def _order_statistic(part: float) -> Aggregator:
    """Return an aggregator that picks the value at which a part of the records is reached."""

    def of_groups(
        values: Floats, observed: Flags, weights: Floats, grouping: Grouping, _: Floats
    ) -> tuple[Floats, Ints]:
        rows, counts = order_statistic(values, observed, weights if len(weights) > 1 else None, grouping, part)
        return np.where(counts > 0, values[rows], 0.0), counts

    return Aggregator(of_groups, part=part)


def _not_positive(column: Column) -> str | None:
    bad = int(((column.values[column.observed] + float(column.origin)) <= 0.0).sum())
    if not bad:
        return None
    return (
        f"column '{column.name}': a geometric mean needs values above 0, and {counted(bad, 'value')} "
        f"{'is' if bad == 1 else 'are'} not; choose another aggregator"
    )


AGGREGATORS: dict[str, Aggregator] = {
    "mean": _by_kernel(MEAN),
    "weighted-mean": _by_kernel(MEAN, needs_weights=True),
    "median": _by_kernel(MEDIAN),
    "geometric-mean": _by_kernel(GEOMETRIC, mistake=_not_positive, dates=False),
    "trimmed-mean": _by_kernel(TRIMMED),
    "mode": _by_kernel(MODE),
    **{name: _order_statistic(part) for name, part in ORDER_STATISTICS.items()},
}


def aggregator_mistake(column: Column, aggregator: str) -> str | None:
    """Say why a column cannot be aggregated in this way; None if it can."""
    mistake = AGGREGATORS[aggregator].mistake
    return mistake(column) if mistake else None


def aggregate(
    column: Column, grouping: Grouping, k: int, aggregator: str, weights: Floats | None = None
) -> tuple[Numbers, Flags]:
    """Replace each value by the representative of its group.

    Parameters
    ----------
    column : Column
        The original values.
    grouping : Grouping
        Rows by group.
    k : int
        Groups with some but fewer than k observed values are suppressed.
    aggregator : str
        A key of ``AGGREGATORS``.
    weights : float64 (n,), optional
        Sampling weights, above 0.

    Returns
    -------
    values : int64 or float64 (n,)
        Released values, of the type and from the origin of the column's; 0 where missing.
    observed : bool (n,)
        Which released values there are.

    Examples
    --------
    >>> from shoal.kernels.representatives import group_rows
    >>> column = Column("x", np.array([0.0, 1.0, 5.0]), np.array([True, True, True]))
    >>> aggregate(column, group_rows(np.array([0, 0, 0])), 3, "mean")[0]
    array([2., 2., 2.])
    """
    mistake = aggregator_mistake(column, aggregator)
    if mistake:
        raise DataError(mistake)
    sizes = np.diff(grouping.starts)
    part = AGGREGATORS[aggregator].part
    if part is not None:  # picked, not computed: exact whatever the type
        rows, counts = order_statistic(column.values, column.observed, weights, grouping, part)
        picked, shown = np.empty_like(column.values), np.zeros(len(column.values), dtype=bool)
        picked[grouping.order] = np.repeat(column.values[rows], sizes)
        shown[grouping.order] = np.repeat(counts >= k, sizes)
        shown &= column.observed
        return np.where(shown, picked, 0), shown
    bases = np.zeros_like(column.values, shape=len(sizes))
    if column.whole:
        first_observed(column.values, column.observed, grouping.order, grouping.starts, bases)
    base_of = np.empty_like(column.values)
    base_of[grouping.order] = np.repeat(bases, sizes)
    w = np.ones(1) if weights is None else weights
    differences = column.values - base_of
    chosen, counts = AGGREGATORS[aggregator].of_groups(
        differences.astype(np.float64),
        column.observed,
        w,
        grouping,
        bases.astype(np.float64) + float(column.origin),
    )
    observed = np.zeros(len(column.values), dtype=bool)
    observed[grouping.order] = np.repeat(counts >= k, sizes)
    observed &= column.observed
    if column.whole:
        odd = (bases % 2 + column.origin // column.step % 2) % 2  # halves go to the even number, not difference
        released = base_of.copy()
        far = column.observed & ((differences > EXACT) | (differences < -EXACT))
        exact = _exactly(column, grouping, far, AGGREGATORS[aggregator].searched, weights, chosen) if far.any() else {}
        chosen[list(exact)] = 0.0
        whole = (np.rint(chosen + odd) - odd).astype(np.int64)
        for g, value in exact.items():
            whole[g] = value - bases[g]
        released[grouping.order] += np.repeat(whole, sizes)
        return np.where(observed, released, 0), observed
    if column.decimals is not None:
        chosen = rounded(chosen, column.decimals)
    real = np.empty(len(column.values))
    real[grouping.order] = np.repeat(chosen, sizes)
    return np.where(observed, real, 0.0), observed


def rounded(numbers: Floats, decimals: int) -> Floats:
    """Return the floats nearest to numbers of so many decimals, halves to the even one; very large ones as they are.

    >>> rounded(np.array([42712.015999999996, 0.125]), 2)
    array([4.271202e+04, 1.200000e-01])
    """
    unit = 10.0**decimals
    steps = np.rint(numbers * unit)
    return np.where(np.abs(steps) < _STEPS, steps / unit, numbers)


def _exactly(
    column: Column, grouping: Grouping, far: Flags, how: int, weights: Floats | None, rough: Floats
) -> dict[int, int]:
    """Return the representatives of the groups with a record that is ``far`` from the others, as ``column.values``."""
    group_of = np.repeat(np.arange(len(grouping.starts) - 1), np.diff(grouping.starts))
    lift = column.origin // column.step  # so that it is the number itself that is rounded to an even one
    exact = {}
    for g in np.unique(group_of[far[grouping.order]]).tolist():
        rows = grouping.order[grouping.starts[g] : grouping.starts[g + 1]]
        rows = rows[column.observed[rows]]
        numbers = [value + lift for value in column.values[rows].tolist()]
        own = [1.0] * len(rows) if weights is None else weights[rows].tolist()
        exact[g] = exact_representative(numbers, own, how, rough[g] + numbers[0]) - lift
    return exact
