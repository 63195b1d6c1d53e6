"""Groups that fail a condition grow: each is merged with the nearest one, until no group fails.

In a round every failing group joins the group with the nearest centre among those that it may share records with, or
waits where that one has a failing group to join already. A group that has failed for long takes an eighth of what it
has swallowed at a time, so that one that needs thousands of others has them in few rounds. Only groups that changed are
looked at again.

Groups only grow, so every one keeps its k records. Each round merges at least two groups; where a failing group has
nobody left to join, no merging could help, and it is refused.

Cost: that of looking at all groups once where none fails; otherwise O(d g) for each merge among g groups, or a search
in an index for many at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.blocking.blocks import rows_of_blocks
from shoal.errors import DataError
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.representatives import Grouping, group_rows
from shoal.partition.conditions.centres import Centres, nearest_centres
from shoal.partition.conditions.condition import Condition, failing_any

_PACE = 8  # groups that a failing group has swallowed for each one more that it takes at a time


def grow_groups(
    groups: Ints,
    within: Sequence[Ints],
    conditions: Sequence[Condition],
    centres: Callable[[], Centres],
    rounds: int | None = None,
) -> Ints:
    """Return groups (n,) that meet all conditions, made by merging those that do not; some numbers are gone then.

    Parameters
    ----------
    groups : int64 (n,)
        The group of each record, from 0, without gaps; returned as it is where all meet the conditions.
    within : sequence of int64 (n,)
        Parts of the table in which groups are merged, from the finest: records with different numbers stay apart where
        the part can meet the conditions, and in the last, the coarsest, in any case.
    conditions : sequence of Condition
        What groups must meet.
    centres : callable
        Returns what groups are compared by; called where a group fails.
    rounds : int or None
        How often groups that fail may join others; until none fails where nothing is said.

    Raises
    ------
    DataError
        Where not even a whole part of the last kind meets a condition.

    Examples
    --------
    >>> from shoal.partition.conditions.centres import NumberCentres
    >>> from shoal.partition.conditions.persons import EnoughPersons
    >>> x, person = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]]), np.array([0, 0, 1, 1, 2, 3])
    >>> two_each = EnoughPersons("id", person, 2)
    >>> grow_groups(np.array([0, 0, 1, 1, 2, 2]), [np.zeros(6, np.int64)], [two_each], lambda: NumberCentres(x))
    array([1, 1, 1, 1, 2, 2])
    """
    if not conditions:
        return groups
    rows = group_rows(groups)
    failing = failing_any(conditions, rows)
    if not failing.any():
        return groups
    growing = _Growing(rows, failing, conditions, centres())
    for codes in within[:-1]:
        if np.array_equal(codes, within[-1]):
            continue
        for members in growing.parts(codes):
            if growing.can_meet(members):
                growing.grow(members, rounds)
    for members in growing.parts(within[-1]):
        growing.grow(members, rounds)
    return growing.homes()[groups]


class _Growing:
    """Groups that are being merged."""

    def __init__(self, rows: Grouping, failing: Flags, conditions: Sequence[Condition], space: Centres) -> None:
        self._into = np.arange(len(failing))  # the group that has absorbed each, or itself
        self._rows = rows
        self._failing = failing
        self._conditions = conditions
        self._space = space
        self._centres: Floats = space.of(rows)
        self._swallowed = np.zeros(len(failing), dtype=np.int64)
        self._merged: dict[int, Ints] = {}  # rows of the groups that have changed

    def parts(self, codes: Ints) -> list[Ints]:
        """Return the groups of each part of the table in which one fails."""
        alive = np.flatnonzero(self._into == np.arange(len(self._into)))
        part = codes[self._rows.order[self._rows.starts[alive]]]
        return [alive[own] for own in rows_of_blocks(part) if self._failing[alive[own]].any()]

    def can_meet(self, alive: Ints) -> bool:
        """Whether the records of some groups meet the conditions as one group."""
        rows = np.concatenate([self._rows_of(one) for one in alive.tolist()])
        return not failing_any(self._conditions, Grouping(rows, np.array([0, len(rows)])))[0]

    def grow(self, alive: Ints, rounds: int | None) -> None:
        """Merge groups of one part of the table until none of them fails, or for some rounds."""
        while len(failing := alive[self._failing[alive]]) and rounds != 0:
            if len(alive) == 1:
                self._refuse(int(alive[0]))
            self._round(alive, failing)
            alive = alive[self._into[alive] == alive]
            rounds = None if rounds is None else rounds - 1

    def homes(self) -> Ints:
        """Return the group that the records of each are in now."""
        homes = self._into
        while ((further := homes[homes]) != homes).any():
            homes = further
        return homes

    def _round(self, alive: Ints, failing: Ints) -> None:
        """Let every failing group that can join others."""
        centres = self._centres[alive]
        places = np.searchsorted(alive, failing)
        partners = alive[self._space.partners(places, centres)]
        waiting = set(failing.tolist())
        joined: dict[int, list[int]] = {}
        home: dict[int, int] = {}
        for one, place, partner in zip(failing.tolist(), places.tolist(), partners.tolist(), strict=True):
            if one in home:
                continue
            more = int(self._swallowed[one]) // _PACE
            wanted = alive[nearest_centres(self._space, place, centres, more)].tolist() if more > 1 else [partner]
            # a failing group that has somebody to join already is left to it
            free = [other for other in wanted if other not in home or other not in waiting]
            if not free:
                continue
            into = home.get(free[0], free[0])
            for other in (one, *free):
                if other in home or other == into:
                    continue
                home[other] = into
                joined.setdefault(into, [into]).append(other)
            home[into] = into
        self._into[list(home)] = list(home.values())
        self._merge(joined)

    def _merge(self, joined: dict[int, list[int]]) -> None:
        """Put the rows of groups together and look at what came of it."""
        changed = np.array(sorted(joined), dtype=np.int64)
        for into in changed.tolist():
            self._swallowed[into] = sum(int(self._swallowed[one]) + 1 for one in joined[into]) - 1
            self._merged[into] = np.concatenate([self._rows_of(one) for one in joined[into]])
        parts = [self._merged[into] for into in changed.tolist()]
        now = Grouping(np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])]))
        self._failing[changed] = failing_any(self._conditions, now)
        self._centres[changed] = self._space.of(now)

    def _rows_of(self, one: int) -> Ints:
        return self._merged.get(one, self._rows.order[self._rows.starts[one] : self._rows.starts[one + 1]])

    def _refuse(self, one: int) -> None:
        rows = self._rows_of(one)
        alone = Grouping(rows, np.array([0, len(rows)]))
        raise DataError([condition.unmet() for condition in self._conditions if condition.failing(alone)[0]])
