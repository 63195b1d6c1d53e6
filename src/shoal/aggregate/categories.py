"""Groups to released categories: one for each group and column, or combinations that occur in the original.

A missing category stays missing, and where some but fewer than k are observed in a group, the column is suppressed in
that group, as for numbers. With sampling weights every aggregator uses them. Cost: O(n), and O(v c) more for a centroid
of v distinct values in a hierarchy of c nodes.

Sources: centroid and distances, Martinez, Sanchez and Valls 2012; plurality, median and convex median, J.
Domingo-Ferrer and V. Torra, Aggregation techniques for statistical confidentiality, in Aggregation Operators, 2002;
least common subsumer, MOSAICrOWN D5.5, 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.aggregate.order_statistics import ORDER_STATISTICS, order_statistic
from shoal.columns.categories import Category
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.category_representatives import (
    CENTROID,
    CONVEX_MEDIAN,
    MEDIAN,
    MODE,
    category_representatives,
)
from shoal.kernels.representatives import Grouping
from shoal.plan.roles import CATEGORIES, Kind

_PIECE = 1 << 22  # cells of a table of groups by combinations that are filled at a time
_DECIDES = 1e-6  # weight of distances beside frequencies: they decide where those are equal


@dataclass(frozen=True)
class CategoryAggregator:
    """How the categories of a group become one.

    Attributes
    ----------
    kinds : tuple of Kind
        Kinds of columns that it suits.
    of_groups : callable
        ``of_groups(column, grouping, weights)`` returns the code of each group, and how many observed values it stands
        for.
    needs_weights : bool
        Whether it is an error without a column of weights.
    """

    kinds: tuple[Kind, ...]
    of_groups: Callable[[Category, Grouping, Floats | None], tuple[Ints, Ints]]
    needs_weights: bool = False


def aggregate_category(
    column: Category, grouping: Grouping, k: int, aggregator: str, weights: Floats | None = None
) -> tuple[Ints, Flags]:
    """Replace each category by the representative of its group.

    Parameters are those of :func:`shoal.aggregate.numbers.aggregate`; ``aggregator`` is one of
    ``CATEGORY_AGGREGATORS`` that suits the kind of the column.

    Returns
    -------
    values : int64 (n,)
        Released codes; 0 where missing.
    observed : bool (n,)
        Which released values there are.

    Examples
    --------
    >>> from shoal.columns.categories import Factor, nominal
    >>> from shoal.kernels.representatives import group_rows
    >>> sex = nominal("sex", Factor(np.array([0, 1, 1]), np.ones(3, dtype=bool), ["f", "m"]))
    >>> aggregate_category(sex, group_rows(np.array([0, 0, 0])), 3, "mode")[0]
    array([1, 1, 1])
    """
    chosen, counts = CATEGORY_AGGREGATORS[aggregator].of_groups(column, grouping, weights)
    return _handed_out(column, grouping, chosen, counts >= k)


def _handed_out(column: Category, grouping: Grouping, chosen: Ints, enough: Flags) -> tuple[Ints, Flags]:
    """Give each record what was chosen for its group, where enough values of the group are observed."""
    sizes = np.diff(grouping.starts)
    observed = np.zeros(len(column.values), dtype=bool)
    observed[grouping.order] = np.repeat(enough, sizes)
    observed &= column.observed
    values = np.empty(len(column.values), dtype=np.int64)
    values[grouping.order] = np.repeat(chosen, sizes)
    return np.where(observed, values, 0), observed


def _subsumers(column: Category, grouping: Grouping, _: Floats | None) -> tuple[Ints, Ints]:
    """Return the code of the least common subsumer of each group: in pre-order, that of its first and last node."""
    assert column.hierarchy is not None
    groups = len(grouping.starts) - 1
    of_row = np.empty(len(column.values), dtype=np.int64)
    of_row[grouping.order] = np.repeat(np.arange(groups), np.diff(grouping.starts))
    seen, node = of_row[column.observed], column.nodes[column.values[column.observed]]
    low, high = np.full(groups, len(column.hierarchy)), np.full(groups, -1)
    np.minimum.at(low, seen, node)
    np.maximum.at(high, seen, node)
    empty = high < 0
    if not column.hierarchy.is_tree:
        members = np.split(node[np.argsort(seen, kind="stable")], np.cumsum(np.bincount(seen, minlength=groups))[:-1])
        common = np.array([column.hierarchy.subsumer_of(own) if len(own) else 0 for own in members])
    else:
        common = column.hierarchy.least_common_subsumer(np.where(empty, 0, low), np.where(empty, 0, high))
    by_node = np.argsort(column.nodes, kind="stable")
    return by_node[np.searchsorted(column.nodes[by_node], common)], np.bincount(seen, minlength=groups)


def _by_kernel(how: int, kinds: tuple[Kind, ...], squared: bool = False, **more: Any) -> CategoryAggregator:
    """Return an aggregator that the kernels know; ``squared`` is for the distances that a centroid has the least of."""

    def of_groups(column: Category, grouping: Grouping, weights: Floats | None) -> tuple[Ints, Ints]:
        distances = np.zeros((1, 1)) if column.distances is None else column.distances
        return category_representatives(
            column.values,
            column.observed,
            np.ones(1) if weights is None else weights,
            *grouping,
            distances**2 if squared else distances,
            len(column.names),
            how,
        )

    return CategoryAggregator(kinds, of_groups, **more)


def _order_statistic(part: float) -> CategoryAggregator:
    """Return an aggregator that picks the category at which a part of the records is reached in its order."""

    def of_groups(column: Category, grouping: Grouping, weights: Floats | None) -> tuple[Ints, Ints]:
        rows, counts = order_statistic(column.values, column.observed, weights, grouping, part)
        return np.where(counts > 0, column.values[rows], 0), counts

    return CategoryAggregator((Kind.ORDINAL,), of_groups)


CATEGORY_AGGREGATORS: dict[str, CategoryAggregator] = {
    "centroid": _by_kernel(CENTROID, (Kind.SEMANTIC,)),
    "least-squares": _by_kernel(CENTROID, (Kind.SEMANTIC,), squared=True),
    "median": _by_kernel(MEDIAN, (Kind.ORDINAL,)),
    "convex-median": _by_kernel(CONVEX_MEDIAN, (Kind.ORDINAL,)),
    **{name: _order_statistic(part) for name, part in ORDER_STATISTICS.items()},
    "mode": _by_kernel(MODE, CATEGORIES),
    "weighted-plurality": _by_kernel(MODE, CATEGORIES, needs_weights=True),
    "least-common-subsumer": CategoryAggregator((Kind.SEMANTIC,), _subsumers),
}


def aggregate_combinations(
    columns: Sequence[Category], shares: Sequence[float], grouping: Grouping, k: int, weights: Floats | None = None
) -> list[tuple[Ints, Flags]]:
    """Replace the categories of each group by the combination, of those that occur in the table, that is nearest to it.

    The nearest has the least summed distance, with the columns weighted by ``shares``. Only complete combinations are
    looked at. A column that is suppressed in a group plays no part there; ties go to the combination that occurs first.
    """
    groups = len(grouping.starts) - 1
    of_row = np.empty(len(columns[0].values), dtype=np.int64)
    of_row[grouping.order] = np.repeat(np.arange(groups), np.diff(grouping.starts))
    complete = np.logical_and.reduce([column.observed for column in columns])
    codes = np.column_stack([column.values[complete] for column in columns])
    enough = [np.bincount(of_row[column.observed], minlength=groups) >= k for column in columns]
    if not len(codes):  # no record is complete: nothing occurs in combination
        return [
            _handed_out(c, grouping, np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=bool)) for c in columns
        ]
    combinations, first = np.unique(codes, axis=0, return_index=True)
    combinations = combinations[np.argsort(first)]
    chosen = np.zeros(groups, dtype=np.int64)
    step = max(1, _PIECE // len(combinations))
    sums = [summed_distances(column, of_row, groups, weights) for column in columns]
    for start in range(0, groups, step):
        piece = slice(start, min(start + step, groups))
        total = np.zeros((piece.stop - start, len(combinations)))
        for j, share in enumerate(shares):
            total += share * np.where(enough[j][piece, None], sums[j][piece][:, combinations[:, j]], 0.0)
        slack = 1e-9 * np.maximum(total.max(axis=1, keepdims=True), 1.0)
        chosen[piece] = (total <= total.min(axis=1, keepdims=True) + slack).argmax(axis=1)
    return [_handed_out(column, grouping, combinations[chosen, j], enough[j]) for j, column in enumerate(columns)]


def summed_distances(
    column: Category, of_row: Ints, groups: int, weights: Floats | None, aggregator: str = "centroid"
) -> Floats:
    """Return the summed distance of the values of each group from each code, (groups, codes).

    Distances are those that an aggregator has the least of: squared for ``least-squares``, and 0 or 1 for a mode, with
    the distances of the column to decide between values that are as frequent.
    """
    codes = len(column.names) if column.distances is None else len(column.distances)
    seen = column.observed
    counts = np.zeros((groups, codes))
    np.add.at(counts, (of_row[seen], column.values[seen]), 1.0 if weights is None else weights[seen])
    if column.distances is None:
        return np.asarray(counts.sum(axis=1, keepdims=True) - counts)
    if aggregator == "least-squares":
        return np.asarray(counts @ column.distances**2)
    sums = np.asarray(counts @ column.distances)
    if aggregator in ("mode", "weighted-plurality"):
        every = counts.sum(axis=1, keepdims=True)
        sums = every + _DECIDES * sums
        sums[:, :codes] -= counts
    return sums
