"""No group gives away much of the confidential columns: their values are diverse, and near to those of the table.

l-diversity: A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, ACM TKDD 1(1), 2007; p-sensitivity:
T. M. Truta and B. Vinay, ICDE Workshops 2006; t-closeness: N. Li, T. Li and S. Venkatasubramanian, ICDE 2007. What each
asks for is in :mod:`shoal.kernels.given_away`, which counts records: weights play no part, since whoever finds a group
sees its records. The union of groups that meet these conditions meets them, too: a distance is convex, and so on. So
groups can always be merged.

Cost: O(n log m) to look at all groups, for m values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.kernels.arrays import Flags, Ints
from shoal.kernels.given_away import Limits, excesses
from shoal.kernels.representatives import Grouping
from shoal.partition.conditions.distributions import Distribution
from shoal.partition.conditions.least_size import least_size
from shoal.plan.conditions import ConfidentialCondition


@dataclass(frozen=True)
class LittleGivenAway:
    """What every group keeps of confidential columns.

    Attributes
    ----------
    columns : sequence of Distribution
        The columns, on the whole table.
    asked : sequence of ConfidentialCondition
        What is asked of each.
    """

    columns: Sequence[Distribution]
    asked: Sequence[ConfidentialCondition]

    def failing(self, groups: Grouping) -> Flags:
        """Return which of some groups give away too much."""
        found: Flags = excesses(self.limits, *groups) > 0.0
        return found

    def unmet(self) -> str:
        """Say what is wrong where all records that may be together give away too much."""
        return "conditions: " + self.why_impossible([True] * len(self.columns))

    def why_impossible(self, which: Sequence[bool]) -> str:
        """Say that some columns' conditions cannot be met, and what to do."""
        pairs = [
            pair for pair, failing in zip(zip(self.columns, self.asked, strict=True), which, strict=True) if failing
        ]
        told = "; ".join(f"'{column.name}' ({asked.in_words()})" for column, asked in pairs)
        return (
            f"no groups meet what is asked of {told}: not even all records that may be together do as one group; ask "
            "for less, or leave out strata that differ in it"
        )

    def alone(self, place: int) -> LittleGivenAway:
        """Return the conditions of one of the columns."""
        return LittleGivenAway([self.columns[place]], [self.asked[place]])

    @cached_property
    def least_sizes(self) -> list[int]:
        """For each column a size that no group is below."""
        return [least_size(*pair) for pair in zip(self.columns, self.asked, strict=True)]

    @cached_property
    def limits(self) -> Limits:
        """What is asked, as kernels see it."""
        share, prefix, parent, base, start = [], [], [], [], [0]
        for column in self.columns:
            own = column.shares()
            nodes = len(column.counts) + 1 if column.ordered else len(own)
            share.append(np.concatenate([own, np.ones(nodes - len(own))]))
            if column.ordered:
                sums = np.concatenate([[0.0], np.cumsum(own)])
                prefix.append(np.concatenate([sums, np.zeros(nodes - len(sums))]))
                parts = np.searchsorted(own, np.arange(len(own) + 1) / max(len(own), 1))
                parent.append(np.concatenate([parts, np.zeros(nodes - len(parts), np.int64)]))
            else:
                prefix.append(column.length)
                parent.append(column.parent)
            base.append(0.0 if column.ordered else float((column.length * own).sum()))
            start.append(start[-1] + nodes)
        pairs = [one.recursive or (0.0, 0) for one in self.asked]
        return Limits(
            codes=np.ascontiguousarray(np.stack([column.codes for column in self.columns])),
            start=np.array(start, dtype=np.int64),
            known=np.array([column.known for column in self.columns], dtype=np.int64),
            ordered=np.array([column.ordered for column in self.columns]),
            share=np.concatenate(share),
            prefix=np.concatenate(prefix),
            parent=np.concatenate(parent).astype(np.int64),
            base=np.array(base),
            distinct=np.array([one.distinct or 0 for one in self.asked], dtype=np.int64),
            entropy=np.array([np.log(one.entropy) if one.entropy else 0.0 for one in self.asked]),
            factor=np.array([float(c) for c, _ in pairs]),
            place=np.array([place for _, place in pairs], dtype=np.int64),
            t=np.array([-1.0 if one.t is None else one.t for one in self.asked]),
            least=max(self.least_sizes),
        )


def limits_of_rows(limits: Limits | None, rows: Ints) -> Limits | None:
    """Return what is asked of groups of some of the rows; the shares stay those of the whole table."""
    return None if limits is None else limits._replace(codes=np.ascontiguousarray(limits.codes[:, rows]))
