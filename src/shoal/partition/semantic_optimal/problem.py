"""What is searched: the distinct records of a block, and what their groups cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.columns.mixed import Mixed
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import Limits
from shoal.kernels.mixed import Metric, add_sums, cell_distance, centre_of
from shoal.partition.semantic_optimal.state import Setting, cost_of_portions

Portions = tuple[Ints, Ints, Ints]  # distinct record, its group, how many
INFORMATION, RECORDS = "information", "records"


class Objective(NamedTuple):
    """What is lowered, by the centre (d,) of the table: its parts (d,) in the loss of records, or of information.

    ``total`` is what there is to lose: what the centre of the table in the place of every record costs.
    """

    middle: Floats
    of_records: Floats
    of_columns: Floats
    total: float


@dataclass(frozen=True)
class Problem:
    """Distinct records, the smallest group, whether equal records may be separated, and what is lowered.

    ``weights`` (m,) are the means of the sampling weights of equal records, 1 where there are none. Where
    it is ``alike``, a column is released only for groups of which all records have it. Unless it is ``weighed``, equal
    records have different weights and may be separated, and what a group costs is what it would with those means.
    ``limits`` are what groups must keep of confidential columns, by distinct record: equal records with other values of
    these are distinct.
    """

    records: Mixed
    k: int
    split: bool
    objective: Objective
    weights: Floats
    alike: bool = False
    weighed: bool = True
    limits: Limits | None = None

    def __len__(self) -> int:
        return len(self.records.counts)

    @property
    def setting(self) -> Setting:
        """What does not change while groups are searched."""
        middle, of_records, of_columns, _ = self.objective
        metric = self.records.metric
        return Setting(self.records.values, self.weights, metric, middle, self.k, self.alike, of_records, of_columns)

    def costs(self, portions: Portions) -> Floats:
        """Return what each group costs."""
        record, group, amount = portions
        return cost_of_portions(self.setting, record, group, amount, int(group.max()) + 1)


def problem_of(
    records: Mixed,
    k: int,
    split: bool,
    *,
    objective: Objective | None = None,
    weights: Floats | None = None,
    alike: bool = False,
    limits: Limits | None = None,
) -> Problem:
    """Return the problem of some records with sampling weights (n,).

    ``objective`` is that of the table where they are a part of it; the codes of ``limits`` are those of the records.
    """
    objective = objective_of(records) if objective is None else objective
    if limits is not None:
        records, first = records.apart(limits.codes)
        limits = limits._replace(codes=np.ascontiguousarray(limits.codes[:, first]))
    if weights is None:
        return Problem(records, k, split, objective, np.ones(len(records.counts)), alike, limits=limits)
    # which of several equal records is in which group is not searched: each counts with their mean weight
    each = np.bincount(records.record, weights / weights.mean()) / records.counts
    weighed = not split or np.allclose(each[records.record], weights / weights.mean(), rtol=1e-12, atol=0.0)
    return Problem(records, k, split, objective, each, alike, weighed, limits)


def objective_of(records: Mixed, lower: str = INFORMATION) -> Objective:
    """Return what is lowered of a whole table: the information loss, or the loss of records."""
    middle, metric = centre_of_all(records), records.metric
    off = _distances_of_cells(records.values, middle, metric)
    if lower == RECORDS:
        total = float(records.counts @ (off @ metric.weights) ** 2)
        return Objective(middle, metric.weights, np.zeros(len(middle)), total)
    spread, cells = records.counts @ off**2, records.counts @ ~np.isnan(records.values)
    varies = spread > 0.0
    shares = np.where(varies, metric.weights * cells / np.where(varies, spread, 1.0), 0.0)
    return Objective(middle, np.zeros(len(middle)), shares, float((metric.weights * cells)[varies].sum()))


@kernel
def _distances_of_cells(values: Floats, centre: Floats, metric: Metric) -> Floats:
    """Distances (m, d) of the cells of records from those of a centre (d,); 0 where they are missing."""
    off = np.zeros(values.shape)
    for i in range(len(values)):
        for j in range(len(centre)):
            if not np.isnan(values[i, j]):
                off[i, j] = cell_distance(values[i, j], centre[j], metric, j)
    return off


def centre_of_all(records: Mixed) -> Floats:
    """Return the centre (d,) of all records."""
    return _centre_of(records.values, records.counts, records.by_distance)


@kernel
def _centre_of(values: Floats, counts: Ints, metric: Metric) -> Floats:
    """Centre (d,) of distinct records (m, d), each so many times (m,)."""
    d = len(metric.kinds)
    sums, seen, centre = np.zeros(metric.start[d]), np.zeros(d), np.empty(d)
    for i in range(len(values)):
        add_sums(values[i], float(counts[i]), metric, sums, seen)
    centre_of(metric, sums, seen, centre)
    return centre
