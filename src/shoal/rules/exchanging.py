"""Records change places between groups, so that fewer groups need a repair, or theirs costs less.

A rule with an antecedent is repaired in every group in which some record satisfies it. Where few records do, and each
is in another group, all of these groups are dear. Three things are tried with a dear group:

1. *together*: its records that satisfy an antecedent change places with as many records of another dear group that do
   not, so that one of the two need not be repaired any more;
2. *dissolved*: each of its records joins the nearest group in which all satisfy the same antecedents as it does;
3. *partners*: a record that satisfies none changes places with one of a group near by that is nearer to what the dear
   group releases.

No group gets smaller but one that is dissolved, so that all have k records as before.

Each is done only where it lowers the sum of squares, given that a dear group goes on releasing the values to which its
repair has moved columns, and otherwise means. That is what repairs mostly do; the caller repairs the new groups and
looks whether they lose less.

Cost: O(k d) for each of at most 20 pairs of a dear group and for each exchange with partners, O(n d) for dissolving
one; at most 300 groups are looked at, the dearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.representatives import group_rows

_DEAREST = 300  # groups that are looked at
_NEAR = 20  # groups that one exchanges records with
_CANDIDATES = 60  # partners that are compared at a time
_TURNS = 200  # exchanges with partners in one group
_LESS = 1e-9  # by how much an exchange must lower the sum of squares


class Bound(NamedTuple):
    """An antecedent: the records (n,) that satisfy it, and the columns (d,) that its rules are about."""

    records: Flags
    columns: Flags


def exchange_records(
    points: Floats,
    groups: Ints,
    *,
    apart: Ints,
    released: Floats,
    changed: Flags,
    bound: Sequence[Bound],
    fixed: Flags,
) -> Ints:
    """Return other groups, in which repairs cost less; one that was dissolved has no rows any more.

    Parameters
    ----------
    points : float64 (n, d)
        Records, in units of the loss.
    groups : int64 (n,)
        Their groups, from 0.
    apart : int64 (n,)
        What is never mixed: only groups of one code exchange records.
    released : float64 (groups, d)
        What the groups release after repairs, in the same units.
    changed : bool (groups, d)
        Which of that the repairs have changed.
    bound : list of Bound
        The antecedents.
    fixed : bool (n,)
        Records that must stay where they are, and so must all of their groups.

    Examples
    --------
    Two records ask for 9, one in each group; together in one group they ask it of no other:

    >>> x = np.array([[9.0], [0.0], [9.0], [0.0]])
    >>> exchange_records(
    ...     x,
    ...     np.array([0, 0, 1, 1]),
    ...     apart=np.zeros(4, dtype=int),
    ...     released=np.full((2, 1), 9.0),
    ...     changed=np.ones((2, 1), dtype=bool),
    ...     bound=[Bound(x[:, 0] == 9.0, np.ones(1, dtype=bool))],
    ...     fixed=np.zeros(4, dtype=bool),
    ... ).tolist()
    [1, 0, 1, 0]
    """
    state = _Exchange(points, groups, apart=apart, released=released, changed=changed, bound=bound, fixed=fixed)
    for one in bound:
        state.bring_together(one)
    state.dissolve()
    state.find_partners()
    found = groups.copy()
    for g in state.touched:
        found[state.members[g]] = g
    return found


class _Exchange:
    """Groups as far as they have got: rows of each, and the sum of squares of those that are dear."""

    def __init__(
        self,
        points: Floats,
        groups: Ints,
        *,
        apart: Ints,
        released: Floats,
        changed: Flags,
        bound: Sequence[Bound],
        fixed: Flags,
    ) -> None:
        grouping = group_rows(groups)
        self.points, self.released, self.changed = points, released, changed
        self.members = np.split(grouping.order, grouping.starts[1:-1])
        self.sizes = np.diff(grouping.starts)
        sums = np.add.reduceat(points[grouping.order], grouping.starts[:-1], axis=0)
        self.means: Floats = sums / self.sizes[:, None]
        self.apart = apart[grouping.order[grouping.starts[:-1]]]
        self.bound = bound
        free = ~np.logical_or.reduceat(fixed[grouping.order], grouping.starts[:-1])
        moved = self.sizes * np.where(changed, (released - self.means) ** 2, 0.0).sum(axis=1)
        dearest = np.argsort(-moved, kind="stable")[:_DEAREST]
        self.dear: list[int] = [int(g) for g in dearest if moved[g] > _LESS and free[g]]
        self.partners = free & (moved <= _LESS)
        # what no antecedent of its records asks for is repaired for another reason, and whoever is in the group
        self.anyhow = {g: changed[g] & ~self.asked(self.members[g]) for g in self.dear}
        self.cost = {g: self.squares(g, self.members[g]) for g in self.dear}
        self.touched: set[int] = set()

    def squares(self, g: int, rows: Ints) -> float:
        """Return the sum of squares of a dear group with some rows."""
        points = self.points[rows]
        centre = points.mean(axis=0)
        found = float(((points - centre) ** 2).sum())
        repaired = self.anyhow[g] | (self.changed[g] & self.asked(rows))
        return found + len(rows) * float((((self.released[g] - centre) ** 2)[repaired]).sum())

    def asked(self, rows: Ints) -> Flags:
        """Return the columns (d,) that the antecedents of some records are about."""
        nothing = np.zeros(self.points.shape[1], dtype=bool)
        own = [one.columns for one in self.bound if one.records[rows].any()]
        return np.asarray(np.logical_or.reduce([nothing, *own]))

    def asking(self, rows: Ints, columns: Flags) -> Flags:
        """Whether each of some records satisfies an antecedent that is about some columns."""
        nothing = np.zeros(len(rows), dtype=bool)
        own = [one.records[rows] for one in self.bound if (one.columns & columns).any()]
        return np.asarray(np.logical_or.reduce([nothing, *own]))

    def far(self, rows: Ints, point: Floats) -> Floats:
        """Return squared distances of rows from a point."""
        return np.asarray(((self.points[rows] - point) ** 2).sum(axis=1))

    def put(self, g: int, rows: Ints, cost: float | None = None) -> None:
        """Give a group other rows."""
        self.members[g] = rows
        self.sizes[g] = len(rows)
        self.means[g] = self.points[rows].mean(axis=0)
        self.touched.add(g)
        if cost is not None:
            self.cost[g] = cost

    def bring_together(self, bound: Bound) -> None:
        """Let records that satisfy an antecedent leave groups with few of them for others with some of them."""
        flags = bound.records
        some = [g for g in self.dear if (self.changed[g] & bound.columns).any() and flags[self.members[g]].any()]
        for g in sorted(some, key=lambda g: int(flags[self.members[g]].sum())):
            rows = self.members[g]
            own = rows[flags[rows]]
            others = [
                h for h in some if h != g and self.apart[h] == self.apart[g] and 0 < flags[self.members[h]].sum()
                < len(self.members[h])
            ]  # fmt: skip
            if not len(own) or not others:
                continue
            away = ((self.released[others] - self.points[own].mean(axis=0)) ** 2).sum(axis=1)
            best: tuple[float, int, Ints, Ints, float, float] | None = None
            for h in np.array(others)[np.argsort(away, kind="stable")[:_NEAR]].tolist():
                mine, theirs = self._changed_places(g, h, own, flags)
                costs = self.squares(g, mine), self.squares(h, theirs)
                less = sum(costs) - self.cost[g] - self.cost[h]
                if less < (best[0] if best else -_LESS):
                    best = (less, h, mine, theirs, *costs)
            if best:
                _, h, mine, theirs, cost, cost_of_other = best
                self.put(g, mine, cost)
                self.put(h, theirs, cost_of_other)

    def _changed_places(self, g: int, h: int, own: Ints, flags: Flags) -> tuple[Ints, Ints]:
        """Return the rows of two groups after records of the first that satisfy an antecedent have gone to the other.

        Those go that are nearest to what the other releases, and those come that are nearest to the first, of what
        they lose.
        """
        there = self.members[h]
        others = there[~flags[there]]
        count = min(len(own), len(others))
        gain = self.far(others, self.released[h]) - self.far(others, self.means[g])
        come = others[np.argsort(-gain, kind="stable")[:count]]
        go = own[np.argsort(self.far(own, self.released[h]), kind="stable")[:count]]
        return _without(self.members[g], go, come), _without(there, come, go)

    def dissolve(self) -> None:
        """Let the records of a dear group join other groups, where that loses less."""
        asking = np.column_stack([np.zeros(len(self.points), dtype=bool), *(one.records for one in self.bound)])
        alike = self._alike(asking)
        for g in list(self.dear):
            rows = self.members[g]
            near = np.flatnonzero(self.partners & (self.apart == self.apart[g]))
            chosen, cost = self._nearest_alike(asking[rows], self.points[rows], near, alike)
            if cost >= self.cost[g] - _LESS:
                continue
            for h in np.unique(chosen):
                self.put(int(h), np.concatenate([self.members[h], rows[chosen == h]]))
            self.members[g] = rows[:0]
            self.dear.remove(g)

    def _alike(self, asking: Flags) -> Ints:
        """Return for each group and antecedent whether all of its records satisfy it, 1, or none, 0; -1 where some."""
        of = np.repeat(np.arange(len(self.members)), self.sizes)
        own = asking[np.concatenate(self.members)]
        counts = np.column_stack([np.bincount(of, flags, len(self.members)) for flags in own.T])
        return np.where(counts == self.sizes[:, None], 1, np.where(counts == 0, 0, -1))

    def _nearest_alike(self, asking: Flags, points: Floats, groups: Ints, alike: Ints) -> tuple[Ints, float]:
        """Return the nearest of some groups that each record may join, and by how much that raises sums of squares."""
        chosen, cost = np.zeros(len(points), dtype=np.int64), 0.0
        for kind in np.unique(asking, axis=0):
            same = groups[(alike[groups] == kind).all(axis=1)]
            if not len(same):
                return chosen, np.inf
            shares = self.sizes[same] / (self.sizes[same] + 1.0)
            for i in np.flatnonzero((asking == kind).all(axis=1)).tolist():
                raised = shares * ((self.means[same] - points[i]) ** 2).sum(axis=1)
                chosen[i] = same[np.argmin(raised)]
                cost += float(raised.min())
        return chosen, cost

    def find_partners(self) -> None:
        """Let records of dear groups change places with records near by that lose less there."""
        for g in self.dear:
            near = np.flatnonzero(self.partners & (self.apart == self.apart[g]))
            still = self.anyhow[g].any() or self.asking(self.members[g], self.changed[g]).any()
            if not len(near) or not still:
                continue
            for _ in range(min(2 * len(self.members[g]), _TURNS)):
                if not self._partner_found(g, near):
                    break

    def _partner_found(self, g: int, near: Ints) -> bool:
        """Make the best exchange of a record of a dear group with one of the nearest others; whether there was one."""
        rows = self.members[g]
        mine = rows[~self.asking(rows, self.changed[g])]
        point = np.where(self.changed[g], self.released[g], self.means[g])
        away = ((self.means[near] - point) ** 2).sum(axis=1)
        nearest = near[np.argsort(away, kind="stable")[:_NEAR]]
        theirs = np.concatenate([self.members[h] for h in nearest])
        of = np.repeat(nearest, self.sizes[nearest])
        free = ~self.asking(theirs, self.changed[g])
        theirs, of = theirs[free], of[free]
        if not len(mine) or not len(theirs):
            return False
        gain = ((self.points[theirs] - self.means[of]) ** 2).sum(axis=1) - self.far(theirs, point)
        first = np.argsort(-gain, kind="stable")[:_CANDIDATES]
        theirs, of = theirs[first], of[first]
        x, y, means = self.points[mine], self.points[theirs], self.means[of]
        # where x takes the place of y, a sum of squares grows by |x - m|^2 - |y - m|^2 - |x - y|^2 / n
        grown = ((x[None, :, :] - means[:, None, :]) ** 2).sum(axis=2) - ((y - means) ** 2).sum(axis=1)[:, None]
        grown -= ((x[None, :, :] - y[:, None, :]) ** 2).sum(axis=2) / self.sizes[of][:, None]
        grown += self.far(theirs, point)[:, None] - self.far(mine, point)[None, :]
        i, j = np.unravel_index(int(np.argmin(grown)), grown.shape)
        h = int(of[i])
        new = _without(rows, mine[[j]], theirs[[i]])
        cost = self.squares(g, new)
        other = _without(self.members[h], theirs[[i]], mine[[j]])
        was, now = (
            float(((self.points[r] - self.points[r].mean(axis=0)) ** 2).sum()) for r in (self.members[h], other)
        )
        if cost - self.cost[g] + now - was >= -_LESS:
            return False
        self.put(g, new, cost)
        self.put(h, other)
        return True


def _without(rows: Ints, gone: Ints, come: Ints) -> Ints:
    """Return rows without some, and with others."""
    return np.concatenate([rows[~np.isin(rows, gone)], come])
