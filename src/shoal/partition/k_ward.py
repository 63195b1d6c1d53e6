"""k-Ward: Ward's hierarchical clustering until every group has k records, and again within groups of 2k or more.

The two records farthest apart form a group each with their k - 1 nearest, the second from what the first left. All
other records are groups of one. Then the two groups whose union adds least to the sum of squares are joined, but never
two that have k records or more already, until no group has fewer than k. Groups of 2k records or more are partitioned
in the same way, and so on. Of equal choices the group that was formed first is taken.

Source: J. Domingo-Ferrer and J. M. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
control, IEEE TKDE 14(1), 2002.

Cost: at most n joins. Each group with fewer than k records remembers the group that it would join. A union is never
nearer to a third group than the nearer of its two parts was, so what is remembered is a lower bound after its group
has gone, and a search is only made when it comes first. Searches pass over the leaves of a tree of the records that
are too far away: about O(d n^2 / 64) for the bounds, O(d n^2) in the worst case.

Every group with fewer than k records is joined to another. A group of 2k or more falls into at least the two that are
formed first, which are never joined; so the recursion ends, and all groups have k to 2k - 1 records.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.representatives import group_rows
from shoal.kernels.selection import open_tournament, set_score, winner
from shoal.kernels.tree import LEAF, open_tree_pool
from shoal.kernels.watch import DONE, STOP, new_watch
from shoal.partition.dbfs import extreme_groups

_FEW = 500  # records below which leaves do not pay


def k_ward(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records with k-Ward."""
    labels = np.zeros(len(records), dtype=np.int64)
    large, after = [np.arange(len(records))] if len(records) >= 2 * k else [], 1
    while large and watch[STOP] == 0:
        rows = large.pop()
        part = Records(np.ascontiguousarray(records.values[rows]))
        parts = _ward(part, k, watch if len(rows) == len(records) else new_watch())
        labels[rows] = np.where(parts == 0, labels[rows[0]], after + parts - 1)
        after += int(parts.max())
        members, starts = group_rows(parts)
        large += [rows[members[starts[g] : starts[g + 1]]] for g in np.flatnonzero(np.diff(starts) >= 2 * k)]
    return labels


def _ward(records: Records, k: int, watch: Ints) -> Ints:
    """Join records until every group has k, without looking at groups of 2k or more again."""
    n, d = records.values.shape
    start = extreme_groups(records, k, new_watch())
    leaf_of = np.zeros(n, dtype=np.int64)
    if n > _FEW:
        pool = open_tree_pool(records.values)
        leaf_of = pool.slots[pool.place_of] // LEAF
    means = np.zeros((2 * n, d))
    means[:n] = records.values
    into = np.arange(2 * n)
    _join_all(start, leaf_of, means, k, open_tournament(2 * n), into, watch)
    while (into[into[:n]] != into[:n]).any():
        into = into[into]
    return np.unique(into[:n], return_inverse=True)[1]


@kernel
def _join_all(
    start: Ints,
    leaf_of: Ints,
    means: Floats,
    k: int,
    tournament: Floats,
    into: Ints,
    watch: Ints,
) -> None:
    """Join groups; ``into`` (2n,) becomes the group that each was joined into, and itself where it was not.

    Groups are numbered as they are formed, the records 0 to n - 1; ``means`` are (2n, d). The groups in a leaf are a
    linked list, in the order of their numbers.
    """
    n, d = start.shape[0], means.shape[1]
    leaves = leaf_of.max() + 1
    sizes = np.ones(2 * n, np.int64)
    leaf, after, before = np.empty(2 * n, np.int64), np.full(2 * n, -1), np.full(2 * n, -1)
    first, last = np.full(leaves, -1), np.full(leaves, -1)
    low, high = np.full((leaves, d), np.inf), np.full((leaves, d), -np.inf)
    partner = np.full(2 * n, -1)
    for row in range(n):
        leaf[row] = leaf_of[row]
        _enter(row, leaf_of[row], means[row], first, last, after, before, low, high)
    groups, done = n, 0
    for g in range(2):
        union = -1
        for row in range(n):
            if start[row] == g:
                if union >= 0:
                    _unite(union, row, groups, sizes, means, into)
                    _leave(row, leaf[row], first, last, after, before)
                    _leave(union, leaf[union], first, last, after, before)
                    at = leaf[union]
                    leaf[groups] = at
                    _enter(groups, at, means[groups], first, last, after, before, low, high)
                    union = groups
                    groups += 1
                else:
                    union = row
    for g in range(groups):
        if into[g] == g and sizes[g] < k:
            partner[g], growth = _search(g, leaf, sizes, means, first, after, low, high)
            set_score(tournament, g, -growth)
    while watch[STOP] == 0:
        a = winner(tournament)
        if tournament[1] == -np.inf:
            return
        if into[partner[a]] != partner[a]:
            partner[a], growth = _search(a, leaf, sizes, means, first, after, low, high)
            set_score(tournament, a, -growth)
            continue
        b, union = partner[a], groups
        groups += 1
        _unite(a, b, union, sizes, means, into)
        for g in (a, b):
            _leave(g, leaf[g], first, last, after, before)
            set_score(tournament, g, -np.inf)
        at = leaf[min(a, b)]
        leaf[union] = at
        _enter(union, at, means[union], first, last, after, before, low, high)
        if sizes[union] < k:
            partner[union], growth = _search(union, leaf, sizes, means, first, after, low, high)
            set_score(tournament, union, -growth)
        else:
            done += min(sizes[union], sizes[a] + (sizes[b] if sizes[b] < k else 0))
            watch[DONE] = done


@kernel
def _unite(a: int, b: int, union: int, sizes: Ints, means: Floats, into: Ints) -> None:
    """Put two groups together."""
    sizes[union] = sizes[a] + sizes[b]
    into[a], into[b] = union, union
    for j in range(means.shape[1]):
        means[union, j] = (sizes[a] * means[a, j] + sizes[b] * means[b, j]) / sizes[union]


@kernel
def _growth(a: int, b: int, sizes: Ints, means: Floats) -> float:
    """By how much the sum of squares grows when two groups are joined."""
    total = 0.0
    for j in range(means.shape[1]):
        t = means[b, j] - means[a, j]
        total += t * t
    return sizes[a] * sizes[b] / (sizes[a] + sizes[b]) * total


@kernel
def _search(
    g: int,
    leaf: Ints,
    sizes: Ints,
    means: Floats,
    first: Ints,
    after: Ints,
    low: Floats,
    high: Floats,
) -> tuple[int, float]:
    """Group whose union with ``g`` adds least to the sum of squares, and how much; ties go to the lowest number."""
    d = means.shape[1]
    best, least = -1, np.inf
    factor = sizes[g] * 1 / (sizes[g] + 1)  # that of the smallest possible partner
    for turn in range(-1, first.shape[0]):
        at = leaf[g] if turn < 0 else turn  # one's own leaf first: most partners are there
        if turn == leaf[g]:
            continue
        if turn >= 0:
            bound = 0.0
            for j in range(d):
                t = max(low[at, j] - means[g, j], means[g, j] - high[at, j], 0.0)
                bound += t * t
            if factor * bound > least:
                continue
        other = first[at]
        while other >= 0:
            if other != g:
                growth = _growth(g, other, sizes, means)
                if growth < least or (growth == least and other < best):
                    best, least = other, growth
                if growth == 0.0:  # those that follow have higher numbers
                    break
            other = after[other]
    return best, least


@kernel
def _enter(
    g: int, at: int, mean: Floats, first: Ints, last: Ints, after: Ints, before: Ints, low: Floats, high: Floats
) -> None:
    """Put a group at the end of the list of a leaf."""
    after[g], before[g] = -1, last[at]
    if last[at] >= 0:
        after[last[at]] = g
    else:
        first[at] = g
    last[at] = g
    for j in range(mean.shape[0]):
        low[at, j], high[at, j] = min(low[at, j], mean[j]), max(high[at, j], mean[j])


@kernel
def _leave(g: int, at: int, first: Ints, last: Ints, after: Ints, before: Ints) -> None:
    """Take a group out of the list of its leaf."""
    if before[g] >= 0:
        after[before[g]] = after[g]
    else:
        first[at] = after[g]
    if after[g] >= 0:
        before[after[g]] = before[g]
    else:
        last[at] = before[g]
