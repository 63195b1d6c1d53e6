"""Records of near groups change places where that loses less and both groups go on to meet their conditions.

What made groups meet their conditions keeps to more than these ask for: strata give every group one record of each, and
a group that took a record to meet a condition need not have taken the nearest. So records are given back to groups near
to them as far as the conditions leave room. For each record of a group, that of a near group with which changing places
lowers the sum of squares most is tried.

Most of what would lower it breaks a condition where a confidential column goes with the quasi-identifiers. The distance
of two distributions in an order is at least that of their means, which is known after a change without counting anew,
so that most of these are not tried.

Groups keep their sizes. Cost: O(d g) for each record and near group, of g records, and at most ``_MISSED`` looks at
whole groups in vain for each group.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.given_away import SLACK, Limits, excess, room_of
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.centres import NumberCentres, near_centres

_NEAR = 6  # groups that a group changes records with, at most
_LOOKED = 48  # records of these in a pass; at least two groups
_MISSED = 8  # exchanges of a group that may turn out to break a condition in one pass
_LARGE = 100  # records of a group from which it is left as it is


def settle_groups(space: NumberCentres, groups: Ints, limits: Limits, kinds: Ints, passes: int) -> Ints:
    """Return groups (n,) as good or better that meet the limits, as the groups do.

    Parameters
    ----------
    space : NumberCentres
        The records.
    groups : int64 (n,)
        The group of each record, from 0, without gaps.
    limits : Limits
        What groups must keep.
    kinds : int64 (n,)
        The same for records that may change places.
    passes : int
        Over all groups, at most; it ends with one in which nothing changes.
    """
    rows = group_rows(groups)
    made = len(rows.starts) - 1
    count = int(np.clip(passes * _LOOKED * made // len(groups), 2, _NEAR))
    near = near_centres(space, np.arange(made), space.of(rows), count)
    order = rows.order.copy()
    _settle(space.values, limits, order, rows.starts, near, kinds, passes)
    found = np.empty_like(groups)
    found[order] = np.repeat(np.arange(made), np.diff(rows.starts))
    return found


@kernel
def _settle(values: Floats, limits: Limits, order: Ints, starts: Ints, near: Ints, kinds: Ints, passes: int) -> None:
    """Let rows change places in ``order`` (n,); those of a group start at ``starts`` (groups + 1,)."""
    made, d, columns = len(starts) - 1, values.shape[1], len(limits.known)
    sums, lean, most = np.zeros((made, d)), np.zeros((made, columns)), 1
    for g in range(made):
        most = max(most, starts[g + 1] - starts[g])
        for a in range(starts[g], starts[g + 1]):
            sums[g] += values[order[a]]
            for c in range(columns):
                lean[g, c] += limits.codes[c, order[a]]
    middle, width = _means(limits)
    room, towards = room_of(limits, most), np.empty(d)
    for number in range(passes):
        changed = False
        for g in range(made):
            size, missed = starts[g + 1] - starts[g], 0
            if size > _LARGE:
                continue
            for h in near[g]:
                there = starts[h + 1] - starts[h]
                if h == g or there > _LARGE or (h < g and number == 0 and _among(near[h], g)):
                    continue
                both = 1.0 / size + 1.0 / there
                for j in range(d):
                    towards[j] = 2.0 * (sums[h, j] / there - sums[g, j] / size)
                for a in range(starts[g], starts[g + 1]):
                    if missed == _MISSED:
                        break
                    row, best, least = order[a], -1, -1e-12
                    for b in range(starts[h], starts[h + 1]):
                        other, change = order[b], 0.0
                        for j in range(d):
                            v = values[other, j] - values[row, j]
                            change += v * (towards[j] - v * both)
                        if change >= least or kinds[row] != kinds[other]:
                            continue
                        fits = True
                        for c in range(columns):
                            step = limits.codes[c, other] - limits.codes[c, row]
                            fits &= abs((lean[g, c] + step) / size - middle[c]) <= width[c]
                            fits &= abs((lean[h, c] - step) / there - middle[c]) <= width[c]
                        if fits:
                            best, least = b, change
                    if best < 0:
                        continue
                    other = order[best]
                    order[a], order[best] = other, row
                    if (
                        excess(limits, order[starts[g] : starts[g + 1]], room.ones[:size], room) > 0.0
                        or excess(limits, order[starts[h] : starts[h + 1]], room.ones[:there], room) > 0.0
                    ):
                        order[a], order[best] = row, other
                        missed += 1
                        continue
                    changed = True
                    for c in range(columns):
                        step = limits.codes[c, other] - limits.codes[c, row]
                        lean[g, c] += step
                        lean[h, c] -= step
                    for j in range(d):
                        v = values[other, j] - values[row, j]
                        sums[g, j] += v
                        sums[h, j] -= v
                        towards[j] -= 2.0 * v * both
        if not changed:
            return


@kernel
def _means(limits: Limits) -> tuple[Floats, Floats]:
    """Mean code of the table and by how much that of a group may differ, for each column; without end where it may.

    Codes are steps of an order. Where some records have no place in it, or there is no order, the mean says nothing.
    """
    columns = len(limits.known)
    middle, width = np.zeros(columns), np.full(columns, np.inf)
    for c in range(columns):
        m = limits.known[c]
        if limits.ordered[c] and limits.t[c] >= 0.0 and m > 1 and limits.codes[c].max() < m:
            middle[c] = (m - 1) - limits.prefix[limits.start[c] + m - 1]
            width[c] = (limits.t[c] + SLACK) * (m - 1)
    return middle, width


@kernel(inline=True)
def _among(some: Ints, one: int) -> bool:
    """Whether one is among some."""
    found = False
    for other in some:
        found |= other == one
    return found
