"""LDF and HDF: the sparsest, or the densest, group of k is taken first.

The candidate of a record is the record and its k - 1 nearest remaining ones; its density is judged by the sum
of squares within it. LDF (low density first) takes the candidate with the largest sum, HDF (high density first)
the one with the smallest. Fewer than k records left over join the group with the nearest centroid.

Source: T.-H. Wen, J.-L. Lin and C.-H. Wang, density-based microaggregation (LDF, HDF), in Chinese.

Cost: at most about k n searches for neighbours: O(k d n^2) when every search looks at every record, memory O(k n). A
candidate changes only when one of its members is taken: each record knows the candidates that it is a member of, and a
tournament tree knows the best one. A candidate that has lost a member is not made anew before it comes out on top with
a bound of what it can be, since a record may be a member of thousands of candidates: the lowest row of many equal
ones is, and so is a small value where others are larger by many digits. With s_i the squared distances from a record
x to its k nearest, the sum of squares within these is the sum of all squared distances between them over k, so

    sum of s_i / k  <=  sum of squares  <=  sum of s_i.

The s_i only grow as records leave: what they were bounds HDF. Any k remaining records instead of the nearest make the
right side larger: the members that remain and neighbours of the one taken bound LDF. With missing values there is no
triangle inequality and no bound on the right; candidates are made anew at once.

The first candidates, a third to a half of the time, are looked up on several threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.back_links import link, unlink
from shoal.kernels.chunks import search_in_chunks
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, distance, nearest, open_pool, remove
from shoal.kernels.selection import open_tournament, set_score, winner
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group

_ROUNDING = 2.0**-50  # several times that of a number
_CHOICE = 8  # multiples of k that are looked up to replace a member
_SMALL = 1e-140  # differences above this have squares that lose no digits


def ldf(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records, low density first."""
    return _density_first(records, k, watch, 1.0)


def hdf(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records, high density first."""
    return _density_first(records, k, watch, -1.0)


def _density_first(records: Records, k: int, watch: Ints, sign: float) -> Ints:
    """Take the candidate with the largest ``sign`` times sum of squares, again and again."""
    n = len(records)
    labels, members, scores, reaches = np.full(n, -1), np.full((n, k), -1), np.empty(n), np.empty(n)
    pool = open_pool(records.values)

    def find(pool: Pool, start: int, stop: int) -> None:
        _find_candidates(pool, start, stop, sign, watch, members, scores, reaches)

    search_in_chunks(pool, find, n, records.threads)
    candidates = _Candidates(
        open_tournament(n), members, scores, reaches, np.ones(n, np.bool_), np.full(n, -1), *np.full((2, n * k), -1)
    )
    _take_candidates(pool, candidates, sign, _lost(records.values), watch, labels)
    return join_nearest_group(records, labels)


def _lost(values: Floats) -> float:
    """Return what a sum of squared distances may have lost because some are too small for a number, or 0."""
    gaps = np.diff(np.sort(values, axis=0), axis=0)
    return 1e-300 if (gaps[gaps > 0.0] < _SMALL).any() else 0.0


class _Candidates(NamedTuple):
    """The candidates of all records.

    Attributes
    ----------
    tournament : float64
        Over the scores, or upper bounds of them.
    members : int64 (n, k)
        The k nearest of each record; where only a bound of the score is known, any k that remain, or none that count.
    scores, reaches : float64 (n,)
        Sign times sum of squares, and the sum of squared distances to the k nearest, when last looked up.
    known : bool (n,)
        Whether the members are the k nearest, and the score that of the tournament.
    first, after, before : int64
        Links back from a record to the candidates that it is a member of, see :mod:`shoal.kernels.back_links`.
    """

    tournament: Floats
    members: Ints
    scores: Floats
    reaches: Floats
    known: Flags
    first: Ints
    after: Ints
    before: Ints


@kernel
def _find_candidates(
    pool: Pool, start: int, stop: int, sign: float, watch: Ints, members: Ints, scores: Floats, reaches: Floats
) -> None:
    """Look up the candidates of the rows from start to stop, and score them; arrays as in ``_Candidates``."""
    k = members.shape[1]
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
        scores[row], reaches[row] = sign * squares / k, distances.sum()


@kernel
def _take_candidates(pool: Pool, candidates: _Candidates, sign: float, lost: float, watch: Ints, labels: Ints) -> None:
    """Label the records of a pool."""
    tournament, members, scores, _, known, first, after, before = candidates
    n, k = members.shape
    if watch[STOP] != 0:
        return
    for row in range(n):
        link(row, members, first, after, before)
        set_score(tournament, row, scores[row])
    label = 0
    while pool.size[0] >= k:
        best = winner(tournament)
        while not known[best] and watch[STOP] == 0:
            if sign > 0.0:
                unlink(best, members, first, after, before)
            _look_up(pool, best, sign, watch, candidates)
            best = winner(tournament)
        if watch[STOP] != 0:
            return
        taken = members[best].copy()
        for t in range(k):
            labels[taken[t]] = label
            remove(pool, taken[t])
        for t in range(k):
            set_score(tournament, taken[t], -np.inf)
            if known[taken[t]] or sign > 0.0:
                unlink(taken[t], members, first, after, before)
        if pool.size[0] < k:
            return
        for t in range(k):
            if sign < 0.0:
                _bound_from_below(taken[t], candidates)
            else:
                _bound_from_above(pool, taken[t], lost, watch, labels, candidates)
        label += 1
        watch[DONE] = label * k


@kernel
def _look_up(pool: Pool, row: int, sign: float, watch: Ints, candidates: _Candidates) -> None:
    """Make the candidate of a row anew, which is not linked."""
    tournament, members, scores, reaches, known, first, after, before = candidates
    _find_candidates(pool, row, row + 1, sign, watch, members, scores, reaches)
    link(row, members, first, after, before)
    set_score(tournament, row, scores[row])
    known[row] = True


@kernel
def _bound_from_below(taken: int, candidates: _Candidates) -> None:
    """Let candidates that a record was a member of stand with the least sum of squares that they can have now."""
    tournament, members, _, reaches, known, first, after, before = candidates
    k = members.shape[1]
    while first[taken] >= 0:
        row = first[taken] // k
        unlink(row, members, first, after, before)
        known[row] = False
        set_score(tournament, row, -reaches[row] * (1.0 - k * k * _ROUNDING) / k)


@kernel
def _bound_from_above(pool: Pool, taken: int, lost: float, watch: Ints, labels: Ints, candidates: _Candidates) -> None:
    """Let candidates that a record was a member of stand with the largest sum of squares that they can have now."""
    tournament, members, _, _, known, first, after, before = candidates
    k = members.shape[1]
    several = first[taken] >= 0 and after[first[taken]] >= 0
    count = min(_CHOICE * k, pool.size[0])
    near, distances = np.empty(count, np.int64), np.empty(count)
    ties, at = k, 0
    if several:
        nearest(pool, taken, count, near, distances)
        while ties < count and distances[ties] == distances[0]:
            ties += 1
    while first[taken] >= 0 and watch[STOP] == 0:
        row = first[taken] // k
        unlink(row, members, first, after, before)
        if not several:  # finding others in place of the one taken would not be cheaper
            _look_up(pool, row, 1.0, watch, candidates)
            continue
        # where many are as near, not everybody turns to the same ones, which will be taken next
        _replace_taken(members[row], near[at : at + k], labels)
        at = at + k if at + 2 * k <= ties else 0
        reach = 0.0
        for t in range(k):
            reach += distance(pool, row, members[row, t])
        link(row, members, first, after, before)
        known[row] = False
        set_score(tournament, row, reach * (1.0 + (k * k + pool.values.shape[1]) * _ROUNDING) + lost)


@kernel
def _replace_taken(members: Ints, near: Ints, labels: Ints) -> None:
    """Put others of ``near`` (k,) in the place of the members (k,) that have been taken."""
    at = 0
    for t in range(len(members)):
        if labels[members[t]] < 0:
            continue
        while (members == near[at]).any():
            at += 1
        members[t] = near[at]
