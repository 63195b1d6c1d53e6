"""Records move to near groups or change places with their members while that lowers the sum of squares.

A record moves where its own group keeps at least k and the other stays below 2k; changing places leaves the sizes as
they are. Of all that a record can do, it does what lowers the sum of squares most. x leaving a group of size m with
centroid c saves m / (m - 1) |x - c|^2, joining costs m / (m + 1) |x - c|^2.

Cost: O(n k d) to look at all records once, for the few near groups of each. Members of a group are passed over where
none of them can be worth changing places with, as far as its radius tells, and where neither of the two groups is
another than when the record last found nothing better. What is found is the same as by looking at all of them.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.neighbours import nearest_of_all
from shoal.kernels.representatives import group_rows
from shoal.kernels.tree_search import exact_distance

_NEAR = 16  # groups that each group looks at
_FEW = 6  # members that are sooner looked at than passed over
_PAIR = 4  # cells that could be looked at in the time of telling whether a group is passed over, for each column
_ROUNDING = 1e-9  # more than sums of squares are off by, as a part of them


def nearest_groups(sums: Floats, sizes: Floats, threads: int) -> Ints:
    """Return for each group those with the nearest centroids, itself among them."""
    return nearest_of_all(np.ascontiguousarray(sums / sizes[:, None]), _NEAR + 1, threads)


def open_cells(most: int | None = None) -> Ints:
    """Return how many cells (1,) may be looked at by :func:`exchange`: more than ever will be where nothing is said."""
    return np.array([np.iinfo(np.int64).max if most is None else most])


def exchange_records(
    values: Floats,
    groups: Ints,
    sums: Floats,
    sizes: Floats,
    k: int,
    *,
    near: Ints,
    at_face: Flags,
    passes: int,
    worth: float,
    cells: Ints,
) -> None:
    """Look at all records, so many times at most, until a time gains less than a part ``worth`` of the best one.

    The arguments are those of :func:`exchange`.
    """
    n, most = len(groups), 0.0
    looked, changed = np.zeros(n, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for turns in range(0, passes * n, n):
        if cells[0] <= 0:
            break
        rows, starts = group_rows(groups)
        changed[changed > turns - n] = turns  # who joined a group the last time is among its members only from now on
        gain = exchange(values, groups, rows, starts, sums, sizes, at_face, near, k, cells, looked, changed, turns)
        most = max(most, gain)
        if gain <= worth * most:
            break


@kernel
def exchange(  # noqa: PLR0915 - a search loop in one piece
    values: Floats,
    groups: Ints,
    order: Ints,
    starts: Ints,
    sums: Floats,
    sizes: Floats,
    at_face: Flags,
    near: Ints,
    k: int,
    cells: Ints,
    looked: Ints,
    changed: Ints,
    turns: int,
) -> float:
    """Look at all records once; returns by how much the sum of squares fell.

    ``order`` and ``starts`` are the rows sorted by group, ``near`` (groups, m) the near groups of each; of any two
    groups, one must be ``at_face`` (groups,). ``groups`` (n,), ``sums`` (groups, d) and ``sizes`` are kept up.
    ``cells`` (1,) says how many may be looked at, and then how many are left: with none left it ends early.

    A record has a turn each time; there were so many ``turns`` before. ``looked`` (n,) is the turn, counted from 1, in
    which a record last found nothing better, and ``changed`` (groups,) that in which a group last changed; 0 if in
    none. Both are kept up.
    """
    gained = 0.0
    d = values.shape[1]
    centroids = sums / sizes.reshape(-1, 1)
    radii = _radii(values, order, starts, centroids)
    for row in range(len(groups)):
        if cells[0] <= 0:
            break
        a = groups[row]
        cells[0] -= near.shape[1]
        best, best_group, best_row = 1e-12, -1, -1
        away = exact_distance(values, centroids[a], row)
        for b in near[a]:
            if b == a or not (at_face[a] or at_face[b]) or looked[row] > max(changed[a], changed[b]):
                continue
            cells[0] -= _PAIR * d
            towards = exact_distance(values, centroids[b], row)
            if sizes[a] > k and sizes[b] < 2 * k - 1:
                saved = away * sizes[a] / (sizes[a] - 1.0) - towards * sizes[b] / (sizes[b] + 1.0)
                if saved > best:
                    best, best_group, best_row = saved, b, -1
            if sizes[b] > _FEW:
                apart = exact_distance(centroids, centroids[b], a)
                if _most_by_exchange(away, towards, apart, radii[b], sizes[a], sizes[b]) < best:
                    continue
            cells[0] -= (starts[b + 1] - starts[b]) * d
            for place in range(starts[b], starts[b + 1]):
                other = order[place]
                if groups[other] != b:
                    continue
                # the sums change by v and -v: the sum of squares by what |sum|^2 / size changes
                va, vb, vv = 0.0, 0.0, 0.0
                for j in range(d):
                    v = values[other, j] - values[row, j]
                    va += sums[a, j] * v
                    vb += sums[b, j] * v
                    vv += v * v
                saved = (2.0 * va + vv) / sizes[a] + (vv - 2.0 * vb) / sizes[b]
                if saved > best:
                    best, best_group, best_row = saved, b, other
        if best_group < 0:
            looked[row] = turns + row + 1
            continue
        gained += best
        for j in range(d):
            v = values[row, j] - (values[best_row, j] if best_row >= 0 else 0.0)
            sums[a, j] -= v
            sums[best_group, j] += v
        groups[row] = best_group
        if best_row >= 0:
            groups[best_row] = a
        else:
            sizes[a] -= 1.0
            sizes[best_group] += 1.0
        changed[a] = changed[best_group] = turns + row + 1
        _follow(a, sums, sizes, centroids, radii)
        _follow(best_group, sums, sizes, centroids, radii)
    return gained


@kernel
def _follow(group: int, sums: Floats, sizes: Floats, centroids: Floats, radii: Floats) -> None:
    """Move the centroid of a group to where its records are now; none of its members is farther than that more."""
    shift = 0.0
    for j in range(sums.shape[1]):
        moved = sums[group, j] / sizes[group]
        shift += (moved - centroids[group, j]) ** 2
        centroids[group, j] = moved
    radii[group] += np.sqrt(shift)


@kernel
def _radii(values: Floats, order: Ints, starts: Ints, centroids: Floats) -> Floats:
    """Return how far from its centroid the farthest member of each group is."""
    radii = np.zeros(len(starts) - 1)
    for g in range(len(radii)):
        for place in range(starts[g], starts[g + 1]):
            radii[g] = max(radii[g], exact_distance(values, centroids[g], order[place]))
    return np.sqrt(radii)


@kernel
def _most_by_exchange(away: float, towards: float, apart: float, radius: float, own: float, other: float) -> float:
    """Return more than a record x of group a saves by changing places with any y of group b, within its radius r.

    With u = y - c_b and w = x - c_b it saves 2 (u - w).(c_a - c_b) + |u - w|^2 (1 / m_a + 1 / m_b), and |u| <= r. The
    squares |x - c_a|^2, |w|^2 and |c_a - c_b|^2 are ``away``, ``towards`` and ``apart``.
    """
    reach = radius + np.sqrt(towards)
    along = 2.0 * radius * np.sqrt(apart)
    far = reach * reach * (1.0 / own + 1.0 / other)
    return along + away - towards - apart + far + _ROUNDING * (along + away + towards + apart + far)
