"""Records left over at the end of a method, fewer than k: each joins the group with the nearest centroid."""

from __future__ import annotations

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.group_sums import group_sums


def group_centroids(records: Records, labels: Ints, groups: int) -> tuple[Floats, Floats]:
    """Return the (groups, d) means of the observed values, and how many they are; records labelled -1 are left out."""
    seen = np.ones_like(records.values) if records.observed is None else records.observed.astype(np.float64)
    placed = labels >= 0
    sums, _ = group_sums(records.values[placed] * seen[placed], labels[placed], groups)
    counts, _ = group_sums(seen[placed], labels[placed], groups)
    return sums / np.maximum(counts, 1.0), counts


def join_nearest_group(records: Records, labels: Ints) -> Ints:
    """Give every record labelled -1 the label of the group with the nearest centroid.

    The centroids are those of the groups before anybody joins; ties go to the lowest label. Where there is no
    group at all, all records become one.
    """
    left = np.flatnonzero(labels < 0)
    groups = int(labels.max(initial=-1)) + 1
    if groups == 0:
        return np.zeros_like(labels)
    if len(left) == 0:
        return labels
    labels = labels.copy()
    centroids, counts = group_centroids(records, labels, groups)
    d = records.values.shape[1]
    for row in left:
        squares = (centroids - records.values[row]) ** 2
        if records.observed is not None:
            common = (counts > 0) & records.observed[row]
            squares = np.where(common, squares, 0.0) * (d / np.maximum(common.sum(axis=1), 1))[:, None]
            squares[~common.any(axis=1), 0] = 2.0 * d
        labels[row] = np.argmin(squares.sum(axis=1))
    return labels
