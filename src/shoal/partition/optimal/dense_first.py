"""A quick start: the densest groups first, among neighbours that are known already.

The candidate of a record is the record and its k - 1 nearest neighbours without a group; the one with the least sum of
squares is taken, and so on, as in ``hdf``. Only here neighbours are not looked up anew: a record whose list is used up
waits for the next round, which is among those that are left over. A tenth of the records or so are left over in a
round, and some hundred at the end, which ``hdf`` partitions. Fewer than k join the nearest groups that have room.

Equal records are taken first, k at a time: they cost nothing, and as the neighbours of all of them are the same few
rows, a round would find a group or two.

After some annealing the groups lose as little as those of ``hdf``, which takes ten times as long.

Large groups are made of small ones, in the same way: the centroids of groups of some ten records are grouped.

Cost: O(n (m + k d)) for lists of m neighbours, and O(log n) for each candidate that is made anew.

Every group has k records or more; the few that have 2k or more are cut in the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.equal_records import find_equal
from shoal.kernels.group_sums import group_sums
from shoal.kernels.pool import open_pool
from shoal.kernels.representatives import group_rows
from shoal.kernels.selection import open_tournament, score_of, set_score, winner
from shoal.kernels.watch import new_watch
from shoal.partition.density import hdf
from shoal.partition.large_groups import cut_large_groups
from shoal.partition.leftovers import group_centroids
from shoal.partition.mdav import mdav_single
from shoal.partition.optimal.improve import find_neighbours
from shoal.partition.optimal.objective import centroid_error

_FEW = 300  # records that ``hdf`` partitions in a moment
_SMALL = 16  # k up to which groups are made at once


def dense_first(values: Floats, neighbours: NDArray[np.int32], k: int, slack: float) -> Ints:
    """Return groups (n,) of k to 2k - 1 of at least k records; ``neighbours`` (n, m) are rows near each, nearest first.

    Lists have no row twice where there are more than a few records. Squared distances may be off by the ``slack``.
    """
    if k <= _SMALL:
        return _at_once(values, neighbours, k, slack)
    small, many = _factors(k)
    parts = _at_once(values, neighbours, small, slack)
    if parts.max() + 1 < 2 * many:
        return mdav_single(Records(values), k, new_watch())
    sums, sizes = group_sums(values, parts)
    centroids = np.ascontiguousarray(sums / sizes[:, None])
    near = _neighbours(centroids, min(many + many // 2 + 1, len(centroids) - 1), slack)
    groups = _at_once(centroids, near, many, slack)
    return cut_large_groups(Records(values), groups[parts], k, mdav_single)


def _factors(k: int) -> tuple[int, int]:
    """Return how large small groups are, about ten, and how many of them are k records or a few more.

    >>> _factors(100), _factors(50), _factors(17)
    ((10, 10), (10, 5), (9, 2))
    """
    small = min(range(4, _SMALL + 1), key=lambda s: (-k % s, abs(s - 10)))
    return small, -(-k // small)


def _neighbours(points: Floats, count: int, slack: float) -> NDArray[np.int32]:
    near = np.empty((len(points), count), dtype=np.int32)
    find_neighbours(open_pool(points), 0, len(points), near, np.empty(len(points)), 1, slack)
    return near


def _at_once(values: Floats, neighbours: NDArray[np.int32], k: int, slack: float) -> Ints:
    """Take the densest groups in rounds."""
    groups = equal_groups(values, k)
    made, left = int(groups.max()) + 1, np.flatnonzero(groups < 0)
    while len(left) > _FEW + neighbours.shape[1]:
        own = np.full(len(left), -1)
        inside = values if made == 0 else np.ascontiguousarray(values[left])
        near = neighbours if made == 0 else _neighbours(inside, neighbours.shape[1], slack)
        made = _take_densest(inside, near, own, made, k, open_tournament(len(left)))
        groups[left] = own
        left = left[own < 0]
    if len(left) >= 2 * k:
        rest = Records(np.ascontiguousarray(values[left]))
        groups[left] = made + cut_large_groups(rest, hdf(rest, k, new_watch()), k, mdav_single)
    elif len(left) >= k:
        groups[left] = made
    elif len(left):
        _join(values, groups, left, k)
    return groups


def equal_groups(values: Floats, k: int) -> Ints:
    """Return groups (n,) of k equal records each, and -1 for the rest, fewer than k of a kind.

    >>> equal_groups(np.array([[1.0], [2.0], [1.0], [1.0], [2.0]]), 2)
    array([ 0,  1,  0, -1,  1])
    """
    kind = find_equal(values)[0]
    rows, starts = group_rows(kind)
    sizes = np.diff(starts)
    rank = np.empty(len(kind), dtype=np.int64)
    rank[rows] = np.arange(len(kind)) - np.repeat(starts[:-1], sizes)
    full = sizes // k
    first = np.cumsum(full) - full
    return np.where(rank < full[kind] * k, first[kind] + rank // k, -1)


def _join(values: Floats, groups: Ints, left: Ints, k: int) -> None:
    """Put each of a few records into the nearest group that has room."""
    centroids = group_centroids(values, groups)
    sizes = np.bincount(groups[groups >= 0])
    for row in left:
        off = ((centroids - values[row]) ** 2).sum(axis=1)
        groups[row] = np.argmin(np.where(sizes < 2 * k - 1, off, np.inf))
        sizes[groups[row]] += 1


@kernel
def _take_densest(
    values: Floats, neighbours: NDArray[np.int32], groups: Ints, made: int, k: int, tournament: Floats
) -> int:
    """Fill in ``groups`` (n,), -1 where there is none yet, with numbers from ``made`` on; returns the next number."""
    members = np.empty(k, np.int64)
    for row in range(len(values)):
        set_score(tournament, row, -_candidate(values, neighbours, groups, row, members))
    while True:
        row = winner(tournament)
        score = score_of(tournament, row)
        if score == -np.inf:
            return made
        # a candidate that has lost a member since only costs more
        cost = _candidate(values, neighbours, groups, row, members)
        if -cost < score:
            set_score(tournament, row, -cost)
            continue
        for t in range(k):
            groups[members[t]] = made
            set_score(tournament, int(members[t]), -np.inf)
        made += 1


@kernel
def _candidate(values: Floats, neighbours: NDArray[np.int32], groups: Ints, row: int, members: Ints) -> float:
    """Write the ``members`` (k,) of the candidate of a record; returns its sum of squares, infinite if too few."""
    members[0] = row
    filled = 1
    for near in neighbours[row]:
        if filled == len(members):
            break
        if groups[near] < 0:
            members[filled] = near
            filled += 1
    return centroid_error(values, members) if filled == len(members) else np.inf
