"""DBFS: fixed-size groups round the two records that are farthest apart.

While at least 2k records remain, the two that are farthest from each other are found and each forms a group
with its k - 1 nearest, the second from what the first left. Of the rest, k or more are a group, and fewer join
the group with the nearest centroid.

Sources: J. M. Mateo-Sanz and J. Domingo-Ferrer, A method for data-oriented multivariate microaggregation, 1999;
M. Laszlo and S. Mukherjee, IEEE TKDE 17(7), 2005 (the name).

Cost: the diameter of what remains is not searched over all pairs. Of two records, the one farther from a centre c is
the outer one, and they are at most 2 |x - c| apart where x is the outer: a record is looked at only once this bound is
above the farthest two that are known, so that inner records are spared altogether. A tournament tree keeps the bounds;
the highest is made exact, by a search for the farthest record, until it stays on top. The distance from a record to
its farthest one only shrinks as records leave, so that it is a bound again when that one has left. The centre is the
median of each column, taken anew when half of the records have left: on heavy tails a mean would be far from
everybody. Some searches per group, O(d n^2 / k) in practice when every search looks at every record; O(d n^3 / k) at
worst.

Ties: the first of the two is the lowest row of all that are farthest apart. It may be an inner one, and then it is
the lowest row farthest from an outer one, so that it is given the score of that one. A bound is kept above any
distance that it could be equal to, so that every outer record of the farthest pairs has been looked at. Of equal
records the lowest row stands for all, and they are taken in the order of their rows, as are all that are as near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.back_links import link, unlink
from shoal.kernels.compiling import kernel
from shoal.kernels.equal_records import find_equal
from shoal.kernels.pool import Pool, distance, farthest, open_pool, take_group
from shoal.kernels.selection import open_tournament, score_of, set_score, winner
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group

_ABOVE = 1.0 + 1e-9  # keeps a bound above any rounding
_LOST = 1e-300  # and above what is lost of squares that are too small for a number


def dbfs(records: Records, k: int, watch: Ints) -> Ints:
    """Partition records with DBFS."""
    labels = _take_pairs(records, k, len(records), watch)
    left = labels < 0
    if left.sum() >= k:
        labels[left] = labels.max() + 1
    return join_nearest_group(records, labels)


def extreme_groups(records: Records, k: int, watch: Ints) -> Ints:
    """Return the first two groups of DBFS only, numbered 0 and 1; all other records are labelled -1."""
    return _take_pairs(records, k, 1, watch)


def _take_pairs(records: Records, k: int, rounds: int, watch: Ints) -> Ints:
    """Label the records of the groups of some rounds; the others are labelled -1."""
    n = len(records)
    labels = np.full(n, -1)
    pool = open_pool(records.values)
    before, after = find_equal(records.values)[:1:-1]
    every = np.full(n, np.finfo(np.float64).max)
    apart = _Apart(open_tournament(n), every, every.copy(), after, np.full((n, 1), -1), *np.full((3, n), -1))
    _enter(np.flatnonzero(before < 0), apart)
    label = 0
    while len(left := np.flatnonzero(labels < 0)) >= 2 * k and label < 2 * rounds and watch[STOP] == 0:
        apart.bounds[left] = _outer_bounds(records, left)
        until = max(2 * k, len(left) // 2)
        label = _take_rounds(pool, k, label, 2 * rounds, until, apart, left, watch, labels)
    return labels


def _outer_bounds(records: Records, left: Ints) -> Floats:
    """Upper bounds, above any rounding, of the squared distance from each record to those that are not farther out."""
    values = records.values[left]
    off = np.abs(values - np.median(values, axis=0))
    largest = off.max(axis=1)
    there = largest > 0.0
    # squares of small numbers would lose digits: lengths are taken in units of the largest column
    lengths = largest * np.sqrt(((off / np.where(there, largest, 1.0)[:, None]) ** 2).sum(axis=1))
    bounds: Floats = np.where(there, (2.0 * lengths * _ABOVE) ** 2 + _LOST, 0.0)
    return bounds


class _Apart(NamedTuple):
    """How far each record is from its farthest one; of equal records the lowest row that remains.

    Attributes
    ----------
    tournament : float64
        Over the squared distances, or upper bounds of them.
    reach : float64 (n,)
        Squared distance to the farthest record when it was last looked up.
    bounds : float64 (n,)
        Upper bounds of the squared distance to records that are not farther out.
    equal : int64 (n,)
        Next row with an equal record, or -1: the lowest of them stands for all.
    partner : int64 (n, 1)
        The farthest record, -1 where only a bound is known.
    first, after, before : int64 (n,)
        Links back from partners, see :mod:`shoal.kernels.back_links`.
    """

    tournament: Floats
    reach: Floats
    bounds: Floats
    equal: Ints
    partner: Ints
    first: Ints
    after: Ints
    before: Ints


@kernel
def _enter(rows: Ints, apart: _Apart) -> None:
    """Let rows play of which nothing is known."""
    for row in rows:
        set_score(apart.tournament, row, apart.reach[row])


@kernel
def _bound(row: int, apart: _Apart) -> float:
    """Upper bound of the squared distance to remaining records that are not farther out, above any that it equals."""
    reach = apart.reach[row]
    return min(reach * _ABOVE + _LOST if reach > 0.0 else 0.0, apart.bounds[row])


@kernel
def _take_rounds(
    pool: Pool, k: int, label: int, labels_stop: int, until: int, apart: _Apart, left: Ints, watch: Ints, labels: Ints
) -> int:
    """Label the records of a pool until fewer than ``until`` remain, or to a number of labels; returns the next label.

    ``left`` are all rows of the pool, whose bounds are new.
    """
    tournament, reach, _, _, partner, first, _, _ = apart
    rows, distances = np.empty(k, np.int64), np.empty(k)
    for row in left:
        score = score_of(tournament, row)
        if partner[row, 0] < 0 and score > -np.inf:  # who is outer depends on the centre
            set_score(tournament, row, max(_bound(row, apart), score if first[row] >= 0 else 0.0))
    while pool.size[0] >= until and label < labels_stop and watch[STOP] == 0:
        r = winner(tournament)
        while partner[r, 0] < 0:
            s = farthest(pool, r)
            gap = distance(pool, r, s)
            partner[r, 0], reach[r] = s, gap
            set_score(tournament, r, gap)
            _name_partner(r, apart)
            r = winner(tournament)
        s = partner[r, 0]
        for row in (r, s):
            take_group(pool, row, k, label, labels, rows, distances)
            for t in range(k):
                _leave(rows[t], apart)
            label += 1
        watch[DONE] = label * k
    return label


@kernel
def _name_partner(row: int, apart: _Apart) -> None:
    """Link back from the partner of a row; a lower one has at least the same score."""
    tournament, reach, _, _, partner, first, after, before = apart
    link(row, partner, first, after, before)
    other = partner[row, 0]
    if other < row and partner[other, 0] < 0 and score_of(tournament, other) < reach[row]:
        set_score(tournament, other, reach[row])


@kernel
def _leave(row: int, apart: _Apart) -> None:
    """Take a record out, the lowest row of those equal to it: the next one stands for it now.

    Those whose farthest it was know only a bound from now on.
    """
    tournament, reach, _, equal, partner, first, after, before = apart
    if equal[row] >= 0:
        set_score(tournament, equal[row], score_of(tournament, row))
        partner[equal[row], 0], reach[equal[row]] = partner[row, 0], reach[row]
    if partner[row, 0] >= 0:
        unlink(row, partner, first, after, before)
        partner[row, 0] = -1
        if equal[row] >= 0:
            _name_partner(equal[row], apart)
    set_score(tournament, row, -np.inf)
    while first[row] >= 0:
        other = first[row]
        unlink(other, partner, first, after, before)
        partner[other, 0] = -1
        # where it is the farthest of somebody, it may be the lowest row of those that are farthest apart
        set_score(tournament, other, max(_bound(other, apart), reach[other] if first[other] >= 0 else 0.0))
