"""What a group costs: the squared error of the values that will be released for it.

For complete records released as means this is the sum of squares about the centroid, which changes by a formula when
a record comes or goes. Everything else is taken from the released value itself, column by column: weighted means,
medians and other aggregators, and missing values. A column that not all records of the group have is suppressed, or one
with some but fewer than k observed values where patterns of missing cells are ignored; that costs as much as the mean
of the whole table, 0 on scaled values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.representatives import representative


class Released(NamedTuple):
    """How values are released, where that is not by the mean of complete records.

    ``observed`` (n, d), ``weights`` (n,), ``how`` (d,) from ``kernels.representatives``, and ``lift`` (d,): what to add
    to scaled values to make them proportional to the values themselves, for geometric means. Where it is ``alike``, a
    column is released only for groups of which all records have it, and otherwise for those with k values of it.
    """

    observed: Flags
    weights: Floats
    how: Ints
    lift: Floats
    alike: bool = False

    @property
    def plain(self) -> bool:
        """Whether plain means are released, and only for groups whose records all have the column."""
        return self.alike and not self.how.any() and bool((self.weights == 1.0).all())


Objective: TypeAlias = Released | None  # None: means of complete records


def take(objective: Objective, rows: Ints) -> Objective:
    """Return the objective for some of the records: None where all lack the same cells and means are released."""
    if objective is None:
        return None
    part = objective._replace(
        observed=np.ascontiguousarray(objective.observed[rows]), weights=np.ascontiguousarray(objective.weights[rows])
    )
    # what all lack adds nothing to what a group costs
    return None if part.plain and (part.observed == part.observed[:1]).all() else part


@kernel
def released_error(
    values: Floats, observed: Flags, weights: Floats, how: Ints, lift: Floats, rows: Ints, least: int
) -> float:
    """Squared error of a group with these rows; a column with fewer values than ``least`` is suppressed."""
    total = 0.0
    x, w = np.empty(len(rows)), np.empty(len(rows))
    for j in range(values.shape[1]):
        m = 0
        squares = 0.0
        for row in rows:
            if observed[row, j]:
                x[m] = values[row, j]
                w[m] = weights[row]
                squares += x[m] * x[m]
                m += 1
        if m < least:
            total += squares
            continue
        centre = representative(x, w, m, how[j], lift[j])
        for t in range(m):
            total += (x[t] - centre) ** 2
    return total


@kernel
def centroid_error(values: Floats, rows: Ints) -> float:
    """Sum of squares of rows about their centroid."""
    total = 0.0
    for j in range(values.shape[1]):
        above = 0.0
        for row in rows:
            above += values[row, j] - values[rows[0], j]
        centre = values[rows[0], j] + above / len(rows)
        for row in rows:
            total += (values[row, j] - centre) ** 2
    return total


@kernel
def group_error(values: Floats, objective: Objective, rows: Ints, k: int) -> float:
    """What a group with these rows costs."""
    if objective is None:
        return centroid_error(values, rows)
    least = len(rows) if objective.alike else k
    return released_error(values, objective.observed, objective.weights, objective.how, objective.lift, rows, least)


@kernel
def errors_of_groups(values: Floats, objective: Objective, order: Ints, starts: Ints, k: int) -> Floats:
    """What each group costs; rows by group as in ``group_rows``."""
    errors = np.empty(len(starts) - 1)
    for g in range(len(errors)):
        errors[g] = group_error(values, objective, order[starts[g] : starts[g + 1]], k)
    return errors


def released_as(
    observed: Flags | None,
    shape: tuple[int, int],
    weights: Floats | None,
    how: Sequence[int],
    lift: Sequence[float],
    alike: bool = False,
) -> Objective:
    """Return the objective of a release: None where nothing is missing and all is released as plain means."""
    if observed is None and weights is None and not any(how):
        return None
    return Released(
        np.ones(shape, dtype=np.bool_) if observed is None else observed,
        np.ones(shape[0]) if weights is None else weights,
        np.array(how, dtype=np.int64),
        np.array(lift, dtype=np.float64),
        alike,
    )
