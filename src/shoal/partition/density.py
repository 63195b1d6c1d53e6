"""LDF and HDF: the sparsest, or the densest, group of k is taken first.

The candidate of a record is the record and its k - 1 nearest remaining ones; its density is judged by the sum
of squares within it. LDF (low density first) takes the candidate with the largest sum, HDF (high density first)
the one with the smallest. Fewer than k records left over join the group with the nearest centroid.

Source: T.-H. Wen, J.-L. Lin and C.-H. Wang, density-based microaggregation (LDF, HDF), in Chinese.

Cost: about k n searches for neighbours: O(k d n^2) when every search looks at every record, memory O(k n). A
candidate changes only when one of its members is taken: each record knows the candidates that it is a member
of, so only those are made anew; a tournament tree knows the best one. The first candidates, a third to a half of
the time, are looked up on several threads.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, distance, nearest, open_pool, remove
from shoal.kernels.selection import open_tournament, set_score, winner
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group


def ldf(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records, low density first."""
    return _density_first(records, k, watch, 1.0)


def hdf(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records, high density first."""
    return _density_first(records, k, watch, -1.0)


def _density_first(records: Records, k: int, watch: Ints, sign: float) -> Ints:
    """Take the candidate with the largest ``sign`` times sum of squares, again and again."""
    n = len(records)
    labels, members, scores = np.full(n, -1), np.full((n, k), -1), np.empty(n)
    pool = open_pool(records.values, records.observed)

    def find(pool: Pool, start: int, stop: int) -> None:
        _find_candidates(pool, start, stop, k, sign, watch, members, scores)

    search_in_chunks(pool, find, n, records.threads)
    _take_candidates(
        pool,
        k,
        sign,
        open_tournament(n),
        members,
        scores,
        np.full(n, -1),
        np.full(n * k, -1),
        np.full(n * k, -1),
        watch,
        labels,
    )
    return join_nearest_group(records, labels)


@kernel
def _find_candidates(
    pool: Pool, start: int, stop: int, k: int, sign: float, watch: Ints, members: Ints, scores: Floats
) -> None:
    """Look up the candidates of the rows from start to stop, and score them: ``members`` (n, k), ``scores`` (n,)."""
    distances = np.empty(k)
    for row in range(start, stop):
        if watch[STOP] != 0:
            return
        nearest(pool, row, k, members[row], distances)
        # the sum of squares within a group is the sum of its squared pairwise distances over its size
        squares = 0.0
        for s in range(k):
            for t in range(s):
                squares += distance(pool, members[row, s], members[row, t])
        scores[row] = sign * squares / k


@kernel
def _take_candidates(
    pool: Pool,
    k: int,
    sign: float,
    tournament: Floats,
    members: Ints,
    scores: Floats,
    first: Ints,
    after: Ints,
    before: Ints,
    watch: Ints,
    labels: Ints,
) -> None:
    """Label the records of a pool.

    ``members`` (n, k) are the candidates. Entry e = row * k + t stands for "members[row, t]"; the entries that
    name the same record form a doubly linked list: ``first`` (n,) of each record, ``after`` and ``before`` (n *
    k,) of each entry.
    """
    if watch[STOP] != 0:
        return
    for row in range(labels.shape[0]):
        _link_candidate(row, k, members, first, after, before)
        set_score(tournament, row, scores[row])
    label = 0
    while pool.size[0] >= k and watch[STOP] == 0:
        taken = members[winner(tournament)].copy()
        for t in range(k):
            labels[taken[t]] = label
            remove(pool, taken[t])
        for t in range(k):
            set_score(tournament, taken[t], -np.inf)
            _unlink_candidate(taken[t], k, members, first, after, before)
        if pool.size[0] < k:
            break
        for t in range(k):
            while first[taken[t]] >= 0 and watch[STOP] == 0:
                row = first[taken[t]] // k
                _unlink_candidate(row, k, members, first, after, before)
                _find_candidates(pool, row, row + 1, k, sign, watch, members, scores)
                _link_candidate(row, k, members, first, after, before)
                set_score(tournament, row, scores[row])
        label += 1
        watch[DONE] = label * k


@kernel
def _link_candidate(row: int, k: int, members: Ints, first: Ints, after: Ints, before: Ints) -> None:
    """Enter the candidate of a record into the lists of its members."""
    for t in range(k):
        entry, member = row * k + t, members[row, t]
        after[entry], before[entry] = first[member], -1
        if first[member] >= 0:
            before[first[member]] = entry
        first[member] = entry


@kernel
def _unlink_candidate(row: int, k: int, members: Ints, first: Ints, after: Ints, before: Ints) -> None:
    """Take the candidate of a record out of the lists of its members."""
    for t in range(k):
        entry = row * k + t
        if before[entry] >= 0:
            after[before[entry]] = after[entry]
        else:
            first[members[row, t]] = after[entry]
        if after[entry] >= 0:
            before[after[entry]] = before[entry]
