"""k counts persons: a group has at least k of them, however many records each has.

The records of one person hide nobody: five of hers in a group of five release her mean, and whoever knows one of them
knows the group. Where somebody's identifier is missing, she could be any of the others: all records of a group whose
identifier is missing count as one person together.

Cost: O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.kernels.arrays import Flags, Ints
from shoal.kernels.contributions import count_distinct
from shoal.kernels.representatives import Grouping


@dataclass(frozen=True)
class EnoughPersons:
    """At least k persons in every group, and behind every released value.

    Attributes
    ----------
    name : str
        The identifier that tells persons apart.
    person : int64 (n,)
        Number of each record's person, from 0.
    k : int
        Fewest persons of a group.
    observed : sequence of bool (n,)
        For each column with missing values, which there are: where k or more values of a group are released, they are
        those of k persons.
    kind : {"person", "household"}
        What the persons are.
    """

    name: str
    person: Ints
    k: int
    observed: Sequence[Flags] = ()
    kind: str = "person"

    def failing(self, groups: Grouping) -> Flags:
        """Return which of some groups have fewer than k persons."""
        everybody = np.ones(1, dtype=bool)
        failing: Flags = self._persons(groups, everybody) < self.k
        for there in self.observed:
            values = np.add.reduceat(there[groups.order].astype(np.int64), groups.starts[:-1])
            failing |= (values >= self.k) & (self._persons(groups, there) < self.k)
        return failing

    def unmet(self) -> str:
        """Say what is wrong where all records together have fewer than k persons."""
        if self.kind == "household":
            return (
                f"k = {self.k} counts households ('{self.name}'), and a part of the table that stays by itself has "
                "fewer, or fewer with a value of some column; choose a smaller k or larger strata, or let sizes of "
                "households share groups (household.size: merged or ignored)"
            )
        return (
            f"k = {self.k} counts the persons of identifier '{self.name}', which repeats, and a part of the table that "
            "stays by itself has fewer, or fewer with a value of some column; choose a smaller k or larger strata, or "
            "say which identifiers tell persons apart (persons, or --persons, which may be none)"
        )

    def _persons(self, groups: Grouping, there: Flags) -> Ints:
        """Return how many persons each group has, among the rows that are there."""
        return count_distinct(self.person, there, *groups, self._size)

    @cached_property
    def _size(self) -> int:
        return int(self.person.max(initial=0)) + 1
