"""Records left over at the end of a method, fewer than k: each joins the group with the nearest centroid."""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.group_sums import group_sums


def group_centroids(values: Floats, labels: Ints) -> Floats:
    """Return the means (groups, d) of the groups; records labelled -1 are left out."""
    placed = labels >= 0
    sums, sizes = group_sums(values[placed], labels[placed])
    return sums / sizes[:, None]


def join_nearest_group(records: Records, labels: Ints) -> Ints:
    """Give every record labelled -1 the label of the group with the nearest centroid.

    The centroids are those of the groups before anybody joins; ties go to the lowest label. Where there is no
    group at all, all records become one.
    """
    left = np.flatnonzero(labels < 0)
    if len(left) == len(labels):
        return np.zeros_like(labels)
    labels = labels.copy()
    centroids = group_centroids(records.values, labels)
    for row in left:
        labels[row] = np.argmin(((centroids - records.values[row]) ** 2).sum(axis=1))
    return labels
