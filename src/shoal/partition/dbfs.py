"""DBFS: fixed-size groups round the two records that are farthest apart.

While at least 2k records remain, the two that are farthest from each other are found and each forms a group
with its k - 1 nearest, the second from what the first left. Of the rest, k or more are a group, and fewer join
the group with the nearest centroid.

Sources: J. M. Mateo-Sanz and J. Domingo-Ferrer, A method for data-oriented multivariate microaggregation, 1999;
M. Laszlo and S. Mukherjee, IEEE TKDE 17(7), 2005 (the name).

Cost: the diameter of what remains is not searched over all pairs. The distance from a record to its farthest
remaining one only shrinks as records leave, so an old value is an upper bound: a tournament tree keeps the
bounds, the highest is made exact until it stays on top. The first bound, from the distances to the centroid,
spares the inner records altogether. Some searches per group, O(d n^2 / k) in practice when every search looks
at every record; O(d n^3 / k) at worst.
"""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.pool import Pool, distance, farthest, open_pool, take_group
from shoal.kernels.selection import open_tournament, set_score, winner
from shoal.kernels.watch import DONE, STOP
from shoal.partition.leftovers import join_nearest_group


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
    labels = np.full(len(records), -1)
    pool = open_pool(records.values, records.observed)
    tournament, partner = open_tournament(len(records)), np.full(len(records), -1)
    _take_rounds(pool, k, rounds, _first_bounds(records), tournament, partner, watch, labels)
    return labels


def _first_bounds(records: Records) -> Floats:
    """Upper bounds of the squared distance from each record to any other.

    |x - y| <= |x - c| + |y - c| holds for complete records; the factor keeps it above any rounding. With missing
    values there is no triangle inequality and nothing is known.
    """
    if records.observed is not None:
        return np.full(len(records), np.finfo(np.float64).max)
    from_centre = np.sqrt(((records.values - records.values.mean(axis=0)) ** 2).sum(axis=1))
    bounds: Floats = ((from_centre + from_centre.max()) * (1.0 + 1e-9)) ** 2
    return bounds


@kernel
def _take_rounds(
    pool: Pool, k: int, rounds: int, bounds: Floats, tournament: Floats, partner: Ints, watch: Ints, labels: Ints
) -> None:
    """Label the records of a pool; ``partner`` (n,) is the farthest record of each, -1 while it is not known."""
    rows, distances = np.empty(k, np.int64), np.empty(k)
    for row in range(labels.shape[0]):
        set_score(tournament, row, bounds[row])
    label = 0
    while pool.size[0] >= 2 * k and label < 2 * rounds and watch[STOP] == 0:
        r = winner(tournament)
        while partner[r] < 0 or labels[partner[r]] >= 0:
            partner[r] = farthest(pool, r)
            set_score(tournament, r, distance(pool, r, partner[r]))
            r = winner(tournament)
        s = partner[r]
        for row in (r, s):
            take_group(pool, row, k, label, labels, rows, distances)
            for t in range(k):
                set_score(tournament, rows[t], -np.inf)
            label += 1
        watch[DONE] = label * k
