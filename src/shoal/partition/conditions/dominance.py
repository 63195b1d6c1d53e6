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

Cost: O(n), and O(n log k) for trimmed means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.columns.numbers import Column
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.contributions import largest_contributions
from shoal.kernels.representatives import Grouping
from shoal.plan.dominance import Dominance

HEAVY = 0.9  # part of a group's weight above which its representatives are nearly those of one record


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
    uniform : bool
        Whether a column is released only for groups of which all records have it.
    """

    column: Column
    k: int
    rule: Dominance
    weights: Floats | None = None
    trimmed: bool = False
    uniform: bool = False

    def failing(self, groups: Grouping) -> Flags:
        """Return which of some groups are dominated in this column."""
        column, there = self.column, self.column.observed
        least: Ints | int = np.diff(groups.starts) if self.uniform else self.k
        if self.trimmed:
            counts = np.add.reduceat(there[groups.order].astype(np.int64), groups.starts[:-1])
            there = np.zeros(len(there), dtype=bool)
            there[groups.order] = _kept_by_trimming(column, groups, counts) & np.repeat(
                counts >= least, np.diff(groups.starts)
            )
            least = 1
        weights = np.ones(1) if self.weights is None else self.weights
        many = self.rule.n or 1
        largest, others, most, total, counts = largest_contributions(
            column.values, there, weights, *groups, column.origin / column.step, self._unit, many
        )
        failing = counts < 0
        if self.rule.p is not None:
            failing |= others < self.rule.p / 100.0 * largest
        if self.rule.n is not None and self.rule.share is not None:
            failing |= most > self.rule.share / 100.0 * total
        return failing & (counts >= least)

    def unmet(self) -> str:
        """Say what is wrong where the column is dominated in all records together."""
        return (
            f"column '{self.column.name}' is dominated even where all records that may be together are one group "
            f"({'; '.join(self.rule.rules())}): cap its largest values, choose a milder rule, or have dominated groups "
            "noted only (dominance.action: note, or --dominance-action note)"
        )

    @cached_property
    def _unit(self) -> float:
        """Largest value and weight, so that sums of contributions fit."""
        column = self.column
        values = column.values[column.observed]
        ends = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        largest = max(abs(end + column.origin / column.step) for end in ends)
        if not largest:
            return 1.0
        return largest if self.weights is None else largest * min(float(self.weights.max()), 1e300 / largest)


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


def _kept_by_trimming(column: Column, groups: Grouping, counts: Ints) -> Flags:
    """Return which rows of the groups a trimmed mean keeps, given how many have a value."""
    sizes = np.diff(groups.starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    there = column.observed[groups.order]
    order = np.lexsort((column.values[groups.order], ~there, group))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - groups.starts[:-1][group[order]]
    drop = np.where(counts >= 3, (counts + 9) // 10, 0)
    kept: Flags = there & (rank >= drop[group]) & (rank < (counts - drop)[group])
    return kept
