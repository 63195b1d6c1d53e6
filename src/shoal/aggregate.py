"""Groups to released values: the representative of each group, column by column.

A missing value stays missing. Where some but fewer than k values of a group are observed, the column is
suppressed in that group: their representative would stand for fewer than k records. Every representative lies
between the smallest and the largest value of its group, and equals them where all are equal.

With sampling weights every aggregator uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Flags, Floats, Ints
from shoal.encode import Column
from shoal.errors import DataError


@dataclass(frozen=True)
class Runs:
    """Observed values of a column, sorted by group and, within a group, by value.

    Attributes
    ----------
    values, weights : float64 (m,)
        Values and their weights (1 where there are none).
    starts, counts : int64 (g,)
        Where the run of each group starts, and how many values it has; groups without values are not there.
    origin : float
        What was taken off every value.
    """

    values: Floats
    weights: Floats
    starts: Ints
    counts: Ints
    origin: float

    @property
    def group(self) -> Ints:
        """Number of the run that each value belongs to."""
        return np.repeat(np.arange(len(self.starts)), self.counts)

    def total(self, x: Floats) -> Floats:
        """Sum numbers, one for each value, within the runs."""
        sums: Floats = np.add.reduceat(x, self.starts)
        return sums


def _mean(runs: Runs) -> Floats:
    """Weighted mean, taken from the smallest value of the group so that nothing is lost to large offsets."""
    low = runs.values[runs.starts]
    above = runs.values - low[runs.group]
    return low + runs.total(above * runs.weights) / runs.total(runs.weights)


def _median(runs: Runs) -> Floats:
    """Weighted median: the value where half of the weight is reached, or the middle of two where it is met exactly."""
    reached = np.cumsum(runs.weights)
    before = reached[runs.starts] - runs.weights[runs.starts]
    within = reached - before[runs.group]
    half = 0.5 * runs.total(runs.weights)
    slack = 1e-12 * half
    low = runs.starts + runs.total((within < (half - slack)[runs.group]).astype(np.float64)).astype(np.int64)
    high = runs.starts + runs.total((within <= (half + slack)[runs.group]).astype(np.float64)).astype(np.int64)
    last = runs.starts + runs.counts - 1
    low, high = np.minimum(low, last), np.minimum(high, last)
    middle: Floats = runs.values[low] + 0.5 * (runs.values[high] - runs.values[low])
    return middle


def _geometric_mean(runs: Runs) -> Floats:
    """Weighted geometric mean of the values themselves."""
    logs = np.log(runs.values + runs.origin)
    low = logs[runs.starts]
    above = runs.total((logs - low[runs.group]) * runs.weights) / runs.total(runs.weights)
    return np.exp(low + above) - runs.origin


def _trimmed_mean(runs: Runs) -> Floats:
    """Weighted mean without the lowest and highest tenth, at least one value each, of groups of three or more."""
    drop = np.where(runs.counts >= 3, -(-runs.counts // 10), 0)
    place = np.arange(len(runs.values)) - runs.starts[runs.group]
    keep = (place >= drop[runs.group]) & (place < (runs.counts - drop)[runs.group])
    counts = runs.counts - 2 * drop
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return _mean(Runs(runs.values[keep], runs.weights[keep], starts, counts, runs.origin))


def _mode(runs: Runs) -> Floats:
    """Value with the most weight; of equals the one nearest to the mean, then the lower."""
    first = np.ones(len(runs.values), dtype=bool)
    first[1:] = runs.values[1:] != runs.values[:-1]
    first[runs.starts] = True
    at = np.flatnonzero(first)
    weight, group = np.add.reduceat(runs.weights, at), runs.group[at]
    off = np.abs(runs.values[at] - _mean(runs)[group])
    best = np.lexsort((runs.values[at], off, -weight, group))
    chosen = best[np.concatenate([[True], group[best][1:] != group[best][:-1]])]
    modes: Floats = runs.values[at[chosen]]
    return modes


AGGREGATORS: dict[str, Callable[[Runs], Floats]] = {
    "mean": _mean,
    "weighted-mean": _mean,
    "median": _median,
    "geometric-mean": _geometric_mean,
    "trimmed-mean": _trimmed_mean,
    "mode": _mode,
}


def aggregator_mistake(column: Column, aggregator: str) -> str | None:
    """Say why a column cannot be aggregated in this way; None if it can."""
    if aggregator == "geometric-mean":
        bad = int(((column.values[column.observed] + column.origin) <= 0.0).sum())
        if bad:
            return (
                f"column '{column.name}': a geometric mean needs values above 0, and {bad} are not; "
                "choose another aggregator"
            )
    return None


def aggregate(
    column: Column, groups: Ints, k: int, aggregator: str, weights: Floats | None = None
) -> tuple[Floats, Flags]:
    """Replace each value by the representative of its group.

    Parameters
    ----------
    column : Column
        The original values.
    groups : int64 (n,)
        Group of each record.
    k : int
        Groups with some but fewer than k observed values are suppressed.
    aggregator : str
        A key of ``AGGREGATORS``.
    weights : float64 (n,), optional
        Sampling weights, above 0.

    Returns
    -------
    values : float64 (n,)
        Released values, from the column's origin; 0 where missing.
    observed : bool (n,)
        Which released values there are.

    Examples
    --------
    >>> column = Column("x", np.array([0.0, 1.0, 5.0]), np.array([True, True, True]))
    >>> aggregate(column, np.array([0, 0, 0]), 3, "mean")[0]
    array([2., 2., 2.])
    """
    mistake = aggregator_mistake(column, aggregator)
    if mistake:
        raise DataError(mistake)
    released, observed = np.zeros(len(groups)), np.zeros(len(groups), dtype=bool)
    seen = np.flatnonzero(column.observed)
    if len(seen) == 0:
        return released, observed
    order = seen[np.lexsort((column.values[seen], groups[seen]))]
    labels = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    counts = np.diff(np.append(starts, len(order)))
    w = np.ones(len(order)) if weights is None else weights[order]
    runs = Runs(column.values[order], w, starts, counts, float(column.origin))
    chosen = AGGREGATORS[aggregator](runs)
    # rounding may carry a mean past the values that it stands for
    chosen = np.clip(chosen, runs.values[starts], runs.values[starts + counts - 1])
    if column.whole:
        chosen = np.rint(chosen)
    released[order] = np.repeat(chosen, counts)
    observed[order] = np.repeat(counts >= k, counts)
    return np.where(observed, released, 0.0), observed
