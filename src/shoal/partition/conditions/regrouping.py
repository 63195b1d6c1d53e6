"""Groups anew: with values from all over a confidential column in every group, at little loss.

Every group has a record of each of some strata of the column: numbers by :mod:`.matched_cells`, records of any other
kind by :mod:`.strata_first`. Where groups may be a little off the table, t > 0, all of that is more than is asked. So
strata are cut by the rank of a value less a part of what the rank of values near by is: records of the ends of the
table go to groups whose values are a little lower or higher than those of the table. A distance between distributions
is at least that between their means, so that the part is cut at a share of t (``TILTS``), of which some are tried, with
groups of some sizes. That is done on a sample of a large table.

Cost: O(d n log n) for each way that is tried, of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.given_away import Limits, excesses
from shoal.kernels.mixed import Metric
from shoal.kernels.representatives import Grouping, group_rows
from shoal.partition.conditions.centres import Centres
from shoal.partition.conditions.confidential import limits_of_rows
from shoal.partition.conditions.distributions import Distribution
from shoal.partition.conditions.matched_cells import cells_of, matched_cells
from shoal.partition.conditions.strata_first import squared_distances, strata_first

TILTS = (0.0, 0.4, 0.6, 0.8, 0.95)  # shares of t by which groups may be off on purpose
_CELL = 64  # records near by, at most
_SAMPLE = 4_000  # records on which ways are tried
_MERGED = 5.0  # how much more a group that misses loses, once it is merged


@dataclass(frozen=True)
class Anew:
    """Records that are grouped anew: where they are, and what is asked of one confidential column.

    Attributes
    ----------
    space : Centres
        What groups are compared by.
    values, metric
        Records (n, d) and how far apart they are; Euclidean where nothing is said.
    column : Distribution
        The column.
    limits : Limits
        All that groups must keep.
    t : float
        How far a group may be off the table.
    """

    space: Centres
    values: Floats
    metric: Metric | None
    column: Distribution
    limits: Limits
    t: float

    def best(self, rows: Ints, sizes: Sequence[int]) -> Ints:
        """Return groups of some rows, numbered from 0, of one of some sizes: those that seem to lose least."""
        tilts = TILTS if self.t > 0.0 and self.column.ordered and self.metric is None else TILTS[:1]
        if len(rows) <= _SAMPLE or self.metric is not None:
            made = [self.groups(rows, *way) for way in product(sizes, tilts)]
            return made[int(np.argmin([self._loss(rows, found) for found in made]))]
        some = np.sort(np.random.default_rng(0).permutation(rows)[:_SAMPLE])
        size = sizes[-1]
        tilt = min(tilts, key=lambda tilt: self._loss(some, self.groups(some, size, tilt)))
        size = min(sizes, key=lambda size: self._loss(some, self.groups(some, min(size, _SAMPLE // 2), tilt)))
        return self.groups(rows, size, tilt)

    def groups(self, rows: Ints, size: int, tilt: float) -> Ints:
        """Return groups of some rows that have records of ``size`` strata, off on purpose by a share of t."""
        values, codes = np.ascontiguousarray(self.values[rows]), self.column.codes[rows]
        if self.metric is not None:
            centre = self.space.of(Grouping(rows, np.array([0, len(rows)])))[0]
            return strata_first(values, self.metric, centre, codes, size)
        ranks = _ranks(codes)
        if tilt > 0.0:
            cell = cells_of(values, _CELL)
            near = (np.bincount(cell, ranks) / np.bincount(cell))[cell]
            ranks = ranks - np.clip(near - 0.5, -tilt * self.t, tilt * self.t)
        return matched_cells(values, ranks, size)

    def _loss(self, rows: Ints, groups: Ints) -> float:
        """Return about what groups of some rows will lose: those that miss will be merged with others."""
        limits = limits_of_rows(self.limits, rows)
        assert limits is not None
        order, starts = group_rows(groups)
        missed = float((excesses(limits, order, starts) > 0.0).mean())
        centres = self.space.of(Grouping(rows[order], starts))
        return (1.0 + _MERGED * missed) * squared_distances(self.values[rows], self.metric, centres, groups)


def _ranks(codes: Ints) -> Floats:
    """Return the rank of each value as a part of all, in the middle of those that are equal."""
    counts = np.bincount(codes)
    middle = np.cumsum(counts) - 0.5 * counts
    found: Floats = middle[codes] / len(codes)
    return found
