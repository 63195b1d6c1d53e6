"""Groups anew: with values from all over a confidential column in every group, at little loss.

Every group has a record of each of some strata of the column: numbers by :mod:`.matched_cells`, records of any other
kind by :mod:`.strata_first`. Where groups may be a little off the table, t > 0, all of that is more than is asked. So
strata are cut by the rank of a value less a part of what the rank of values near by is: records of the ends of the
table go to groups whose values are a little lower or higher than those of the table. A distance between distributions
is at least that between their means, so that the part is cut at a share of t (``TILTS``), of which some are tried, with
groups of some sizes. That is done on a sample of a large table.

Cost: O(d n log n) for each way that is tried, of numbers; of any other kind O(d n) times some thousands.
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
_TOGETHER = 20_000  # records that are grouped together where they are no numbers, or twice as many
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
        if len(rows) <= _SAMPLE:
            made = [self.groups(rows, *way) for way in product(sizes, tilts)]
            return made[int(np.argmin([self._loss(rows, found) for found in made]))]
        some = np.sort(np.random.default_rng(0).permutation(rows)[:_SAMPLE])
        size = sizes[-1]
        tilt = min(tilts, key=lambda tilt: self._loss(some, self.groups(some, size, tilt)))
        size = min(sizes, key=lambda size: self._loss(some, self.groups(some, min(size, _SAMPLE // 2), tilt)))
        return self.groups(rows, size, tilt)

    def groups(self, rows: Ints, size: int, tilt: float) -> Ints:
        """Return groups of some rows that have records of ``size`` strata, off on purpose by a share of t."""
        if self.metric is not None:
            return self._of_any_kind(rows, size)
        values, ranks = np.ascontiguousarray(self.values[rows]), _ranks(self.column.codes[rows])
        if tilt > 0.0:
            cell = cells_of(values, _CELL)
            near = (np.bincount(cell, ranks) / np.bincount(cell))[cell]
            ranks = ranks - np.clip(near - 0.5, -tilt * self.t, tilt * self.t)
        return matched_cells(values, ranks, size)

    def _of_any_kind(self, rows: Ints, size: int) -> Ints:
        """Return groups of records of any kind; many are dealt into parts at random, whose values are as in all."""
        parts = np.array_split(np.random.default_rng(0).permutation(len(rows)), max(len(rows) // _TOGETHER, 1))
        groups, made = np.empty(len(rows), dtype=np.int64), 0
        for own in map(np.sort, parts):
            some = rows[own]
            centre = self.space.of(Grouping(some, np.array([0, len(some)])))[0]
            found = strata_first(
                np.ascontiguousarray(self.values[some]), self.metric, centre, self.column.codes[some], size
            )
            groups[own] = made + found
            made += int(found.max()) + 1
        return groups

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
