"""Rules of dominance: no record makes up so much of its group that the group's mean gives it away.

A mean times the size of its group is a total, and where one value is nearly all of it, the total is that value. The
rules of statistical offices for the cells of tables are asked of groups here (Hundepool et al., Statistical Disclosure
Control, Wiley 2012, chapter 4). With contributions c1 >= c2 >= ... of a group's records to its total,

- (n, k) rule: c1 + ... + cn is more than k % of the total;
- p % rule: the total without c1 and c2 is less than p % of c1: so close the owner of c2, who takes her own from the
  total, comes to c1. In a group of two either always finds the other, whatever the values are, and k = 2 accepts that:
  there the rule asks what an outsider learns, whether c2 is less than p % of c1.

A contribution is the value without its sign times the weight of its record, so that losses dominate as gains do; zeros
contribute nothing, and a group of zeros is not dominated. Only what is in a mean contributes: no missing value, and
nothing that a trimmed mean leaves out.

Cost: O(n) for the total and the largest value of each group, which clear most groups; the others are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.columns.numbers import Column
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.representatives import Grouping
from shoal.plan.dominance import Dominance

HEAVY = 0.9  # part of a group's weight above which its representatives are nearly those of one record
_NOT_DOMINATED = 1e-9  # slack of the first look, which rounding must not end


@dataclass(frozen=True)
class NotDominated:
    """No few records dominate the mean of a column in any group.

    Attributes
    ----------
    column : Column
        The numbers.
    k : int
        Groups with fewer observed values release none.
    rule : Dominance
        When a group is dominated.
    weights : float64 (n,) or None
        Sampling weights.
    trimmed : bool
        Whether the smallest and largest tenth of each group are left out.
    """

    column: Column
    k: int
    rule: Dominance
    weights: Floats | None = None
    trimmed: bool = False

    def failing(self, groups: Grouping) -> Flags:
        """Return which of some groups are dominated in this column."""
        sizes = np.diff(groups.starts)
        contributions, counts = self._contributions(groups, sizes)
        first = groups.starts[:-1]
        total, largest = np.add.reduceat(contributions, first), np.maximum.reduceat(contributions, first)
        released = np.add.reduceat(self.column.observed[groups.order].astype(np.int64), first) >= self.k
        maybe = np.zeros(len(sizes), dtype=bool)
        if self.rule.p is not None:
            maybe |= total < (2.0 + self.rule.p / 100.0 + _NOT_DOMINATED) * largest
        if self.rule.n is not None and self.rule.share is not None:
            maybe |= self.rule.n * largest * (1.0 + _NOT_DOMINATED) > self.rule.share / 100.0 * total
        failing = maybe & released & (largest > 0.0)
        chosen = np.flatnonzero(failing)
        if len(chosen):
            inside = np.repeat(failing, sizes)
            failing[chosen] = _dominated(contributions[inside], sizes[chosen], counts[chosen], self.rule)
        return failing

    def unmet(self) -> str:
        """Say what is wrong where the column is dominated in all records together."""
        return (
            f"column '{self.column.name}' is dominated even where all records that may be together are one group "
            f"({'; '.join(self.rule.rules())}): cap its largest values, choose a milder rule, or have dominated groups "
            "noted only (dominance.action: note, or --dominance-action note)"
        )

    def _contributions(self, groups: Grouping, sizes: Ints) -> tuple[Floats, Ints]:
        """Return what each row adds to the total of its group, in a unit in which sums fit, and how many rows do."""
        column, rows = self.column, groups.order
        there = column.observed[rows]
        if self.trimmed:
            there = _kept_by_trimming(column.values[rows], there, groups.starts, sizes)
        values = np.where(there, np.abs(column.values[rows] + column.origin / column.step), 0.0)
        values /= max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        if self.weights is not None:
            values *= self.weights[rows] / self.weights.max()
        return values, np.add.reduceat(there.astype(np.int64), groups.starts[:-1])


@dataclass(frozen=True)
class NotOutweighed:
    """No record has nearly all of the weight of its group, which would release its own values as weighted means.

    Attributes
    ----------
    weights : float64 (n,)
        Sampling weights.
    """

    weights: Floats

    def failing(self, groups: Grouping) -> Flags:
        """Return in which of some groups a record has more than nine tenths of the weight."""
        weights, first = self.weights[groups.order], groups.starts[:-1]
        return np.maximum.reduceat(weights, first) > HEAVY * np.add.reduceat(weights, first)

    def unmet(self) -> str:
        """Say what is wrong where a record outweighs all others together."""
        return (
            f"a record has more than {100 * HEAVY:g} % of the weight of all records that may be together: cap the "
            "weights, or have such groups noted only (dominance.action: note, or --dominance-action note)"
        )


def _dominated(contributions: Floats, sizes: Ints, counts: Ints, rule: Dominance) -> Flags:
    """Return which groups are dominated; rows come by group, ``counts`` are those of each that contribute."""
    starts = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(sizes)), sizes)
    c = contributions[np.lexsort((-contributions, group))]
    rank = np.arange(len(c)) - starts[group]
    found = np.zeros(len(sizes), dtype=bool)
    if rule.p is not None:
        known = np.where(counts == 2, 1, 2)[group]  # what is subtracted from the total: the largest, and one's own
        found |= np.add.reduceat(np.where(rank >= known, c, 0.0), starts) < rule.p / 100.0 * c[starts]
    if rule.n is not None and rule.share is not None:
        most = np.add.reduceat(np.where(rank < rule.n, c, 0.0), starts)
        found |= most > rule.share / 100.0 * np.add.reduceat(c, starts)
    return found


def _kept_by_trimming(values: Ints | Floats, there: Flags, starts: Ints, sizes: Ints) -> Flags:
    """Return which rows a trimmed mean keeps, given which have a value; rows come by group."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((values, ~there, group))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - starts[:-1][group[order]]
    counts = np.add.reduceat(there.astype(np.int64), starts[:-1])
    drop = np.where(counts >= 3, (counts + 9) // 10, 0)
    return there & (rank >= drop[group]) & (rank < (counts - drop)[group])
