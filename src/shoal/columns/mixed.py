"""Records of any kind in one distance, the equal ones counted instead of repeated.

The distance of two records is the mean of the distances of their cells, weighted by column (after Gower 1971; for
hierarchies Martinez, Sanchez and Valls 2012)::

    d(x, y) = sum_j w_j d_j(x_j, y_j) / sum_j w_j

d_j is |x - y| over the standard deviation of a column of numbers or dates, or over what else ``scaling`` asks for (its
range is Gower's); the steps over all steps for an ordinal column, 0 or 1 for a nominal one, and the distance of the
hierarchy for a semantic one. A missing cell is 0 away from another, 1 from a category, and from a number as far as is
to be expected (:mod:`shoal.kernels.mixed`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.scaling import Scale
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.box_tree import sort_keys
from shoal.kernels.mixed import EQUAL, NUMBER, TABLE, Metric
from shoal.kernels.numbering import number_keys

_TABULATED = 512  # values of a nominal column from which equal or not is asked instead of looked up


@dataclass(frozen=True)
class Mixed:
    """Distinct records with their frequencies, and what is needed for distances between them.

    Attributes
    ----------
    values : float64 (m, d)
        The distinct records by first appearance: scaled numbers and codes of categories; NaN where missing.
    counts : int64 (m,)
        How many records are equal to each.
    record : int64 (n,)
        Which of them each record is.
    metric : Metric
        The columns; centres are found from what is released.
    order, mixed_order : float64 (m, d)
        What columns are sorted by, in post-order or in the mixed traversal of their hierarchies; NaN where missing.
    semantic : bool (d,)
        Which columns have a hierarchy.
    threads : int
        How many threads a method may use; no result depends on it.
    """

    values: Floats
    counts: Ints
    record: Ints
    metric: Metric
    order: Floats
    mixed_order: Floats
    semantic: Flags
    threads: int = 1

    def __len__(self) -> int:
        return len(self.record)

    @property
    def by_distance(self) -> Metric:
        """The columns, with centres that are found from the distances whatever is released."""
        return self.metric._replace(centring=self.metric.tables)

    def equal_or_not(self) -> Mixed:
        """Return the records with the categories of a hierarchy as equal or not."""
        kinds = np.where(self.semantic, EQUAL, self.metric.kinds)
        return replace(self, metric=self.metric._replace(kinds=kinds))

    def apart(self, codes: Ints) -> tuple[Mixed, Ints]:
        """Return the records with equal ones distinct where they have other ``codes`` (columns, n), and a row of each.

        >>> from shoal.columns.categories import Factor, nominal
        >>> sex = nominal("sex", Factor(np.zeros(3, dtype=np.int64), np.ones(3, dtype=bool), ["f"]))
        >>> mix([sex], [None], [1.0]).apart(np.array([[7, 7, 5]]))[0].counts.tolist()
        [2, 1]
        """
        record, first, counts = number_keys(self.record)
        for own in codes:
            numbered, seen, _ = number_keys(own)
            record, first, counts = number_keys(record * len(seen) + numbered)
        was = self.record[first]
        now = replace(
            self,
            values=np.ascontiguousarray(self.values[was]),
            counts=counts,
            record=record,
            order=self.order[was],
            mixed_order=self.mixed_order[was],
        )
        return now, first

    @cached_property
    def rows(self) -> tuple[Ints, Ints]:
        """Rows sorted by their distinct record, in their order, and where those of each record start."""
        return np.argsort(self.record, kind="stable"), np.concatenate([[0], np.cumsum(self.counts)])

    @cached_property
    def keys(self) -> list[Floats]:
        """What the codes of each column are sorted by, in the neighbour index."""
        return sort_keys(self.values, self.order, self.metric)

    def spread(self, groups: Ints) -> Ints:
        """Give each record the group (m,) of the distinct record that it is."""
        return groups[self.record]

    def hand_out(self, record: Ints, group: Ints, amount: Ints) -> Ints:
        """Return the group of each record, where so many of a distinct record go to a group, earlier rows first."""
        by_record = np.argsort(record, kind="stable")
        order, _ = self.rows
        groups = np.empty(len(self), dtype=np.int64)
        groups[order] = np.repeat(group[by_record], amount[by_record])
        return groups


def mix(
    columns: Sequence[AnyColumn],
    scales: Sequence[Scale | None],
    weights: Sequence[float],
    threads: int = 1,
    squared: Collection[str] = (),
) -> Mixed:
    """Put columns of any kind side by side and count equal records; centres of those ``squared`` are by squares.

    >>> from shoal.columns.categories import Factor, nominal
    >>> there = np.ones(3, dtype=bool)
    >>> sex = nominal("sex", Factor(np.array([0, 1, 0]), there, ["f", "m"]))
    >>> mixed = mix([sex], [None], [1.0])
    >>> mixed.counts.tolist(), mixed.record.tolist()
    ([2, 1], [0, 1, 0])
    """
    record, first, counts = distinct_records([(column, column.values, column.observed) for column in columns])
    values = np.empty((len(first), len(columns)))
    order, mixed_order = np.empty_like(values), np.empty_like(values)
    kinds, width, tables, centring = [], [], [], []
    for j, (column, scale) in enumerate(zip(columns, scales, strict=True)):
        here = column.observed[first]
        if isinstance(column, Category):
            values[:, j] = np.where(here, column.values[first], np.nan)
            order[:, j] = np.where(here, column.order[column.values[first]], np.nan)
            mixed_order[:, j] = np.where(here, column.mixed_order[column.values[first]], np.nan)
            distances = column.distances
            if distances is None and len(column.names) <= _TABULATED:
                distances = 1.0 - np.eye(max(len(column.names), 1))
            kinds.append(EQUAL if distances is None else TABLE)
            width.append(max(len(column.names), 1))
            tables.append(np.zeros(0) if distances is None else distances.ravel())
            centring.append(tables[-1] ** 2 if column.name in squared else tables[-1])
        else:
            assert scale is not None
            values[:, j] = np.where(here, scale.compare(column.values[first]), np.nan)
            order[:, j] = mixed_order[:, j] = values[:, j]
            kinds.append(NUMBER)
            width.append(1)
            tables.append(np.zeros(0))
            centring.append(tables[-1])
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    share = np.asarray(weights, dtype=np.float64)
    widths = np.array(width, dtype=np.int64)
    metric = Metric(
        kinds=np.array(kinds, dtype=np.int64),
        tables=np.ascontiguousarray(np.concatenate([*tables, np.zeros(1)])),
        offset=np.cumsum(sizes) - sizes,
        width=widths,
        mean=np.array([scale.middle(False) if scale else 0.0 for scale in scales]),
        deviation=np.array([scale.deviation if scale else 1.0 for scale in scales]),
        start=np.concatenate([[0], np.cumsum(np.where(np.array(kinds) == NUMBER, 2, widths))]),
        weights=share / share.sum(),
        centring=np.ascontiguousarray(np.concatenate([*centring, np.zeros(1)])),
    )
    semantic = np.array([isinstance(column, Category) and column.hierarchy is not None for column in columns])
    return Mixed(values, counts, record, metric, order, mixed_order, semantic, threads)


def distinct_records(columns: Sequence[tuple[AnyColumn, Numbers, Flags]]) -> tuple[Ints, Ints, Ints]:
    """Number the distinct records of some columns by first appearance; a missing value is a value of its own.

    ``columns`` have their values, or what was released for them, and which there are. Returns the distinct record of
    each row, the first row of each distinct record in their order, and how often each occurs.
    """
    codes, sizes = [], []
    for column, values, observed in columns:
        if isinstance(column, Category):
            codes.append(np.where(observed, values + 1, 0).astype(np.int64))
            sizes.append(len(column.names) + 1)
        else:
            bits = np.ascontiguousarray(values + 0 if values.dtype.kind == "f" else values).view(np.int64)
            numbers, first, _ = number_keys(bits)
            codes.append(np.where(observed, numbers + 1, 0))
            sizes.append(len(first) + 1)
    keys, total = codes[0], sizes[0]
    for more, size in zip(codes[1:], sizes[1:], strict=True):
        if total * size >= 1 << 62:
            keys, seen_first, _ = number_keys(keys)
            total = len(seen_first)
        keys, total = keys * size + more, total * size
    return number_keys(keys)
