"""Groups of 2k records or more, partitioned further by a fixed-size heuristic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.columns.scaling import Records
from shoal.kernels.arrays import Ints
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch


def cut_large_groups(records: Records, labels: Ints, k: int, heuristic: Callable[[Records, int, Ints], Ints]) -> Ints:
    """Return labels in which a heuristic has partitioned each group of 2k records or more."""
    labels = labels.copy()
    rows, starts = group_rows(labels)
    after = int(labels.max()) + 1
    for g in np.flatnonzero(np.diff(starts) >= 2 * k):
        members = rows[starts[g] : starts[g + 1]]
        parts = heuristic(Records(np.ascontiguousarray(records.values[members])), k, new_watch())
        labels[members] = np.where(parts == 0, g, after + parts - 1)
        after += int(parts.max())
    return labels
