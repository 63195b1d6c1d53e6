"""What is searched: the distinct records of a block, and what their groups cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.given_away import Limits
from shoal.kernels.mixed import add_sums, centre_of
from shoal.partition.semantic_optimal.state import Setting, cost_of_portions

Portions = tuple[Ints, Ints, Ints]  # distinct record, its group, how many


@dataclass(frozen=True)
class Problem:
    """Distinct records, the smallest group, whether equal records may be separated, the centre of the table.

    ``weights`` (m,) are the means of the sampling weights of equal records, 1 where there are none. Where
    it is ``alike``, a column is released only for groups of which all records have it. Unless it is ``weighed``, equal
    records have different weights and may be separated, and what a group costs is what it would with those means.
    ``limits`` are what groups must keep of confidential columns, by distinct record: equal records with other values of
    these are distinct.
    """

    records: Mixed
    k: int
    split: bool
    middle: Floats
    weights: Floats
    alike: bool = False
    weighed: bool = True
    limits: Limits | None = None

    def __len__(self) -> int:
        return len(self.records.counts)

    @property
    def setting(self) -> Setting:
        """What does not change while groups are searched."""
        return Setting(self.records.values, self.weights, self.records.metric, self.middle, self.k, self.alike)

    def costs(self, portions: Portions) -> Floats:
        """Return what each group costs."""
        record, group, amount = portions
        return cost_of_portions(self.setting, record, group, amount, int(group.max()) + 1)

    def total(self) -> float:
        """Return what there is to lose: the cost of all records in one group."""
        everything = (np.arange(len(self)), np.zeros(len(self), dtype=np.int64), self.records.counts)
        return float(self.costs(everything).sum())


def problem_of(
    records: Mixed,
    k: int,
    split: bool,
    *,
    middle: Floats | None = None,
    weights: Floats | None = None,
    alike: bool = False,
    limits: Limits | None = None,
) -> Problem:
    """Return the problem of some records with sampling weights (n,).

    ``middle`` is the centre of the table where they are a part of it; the codes of ``limits`` are those of the records.
    """
    middle = centre_of_all(records) if middle is None else middle
    if limits is not None:
        records, first = records.apart(limits.codes)
        limits = limits._replace(codes=np.ascontiguousarray(limits.codes[:, first]))
    if weights is None:
        return Problem(records, k, split, middle, np.ones(len(records.counts)), alike, limits=limits)
    # which of several equal records is in which group is not searched: each counts with their mean weight
    each = np.bincount(records.record, weights / weights.mean()) / records.counts
    weighed = not split or np.allclose(each[records.record], weights / weights.mean(), rtol=1e-12, atol=0.0)
    return Problem(records, k, split, middle, each, alike, weighed, limits)


def centre_of_all(records: Mixed) -> Floats:
    """Return the centre (d,) of all records."""
    metric = records.by_distance
    d = len(metric.kinds)
    sums, seen, centre = np.zeros(metric.start[d]), np.zeros(d), np.empty(d)
    for values, count in zip(records.values, records.counts, strict=True):
        add_sums(values, float(count), metric, sums, seen)
    centre_of(metric, sums, seen, centre)
    return centre
