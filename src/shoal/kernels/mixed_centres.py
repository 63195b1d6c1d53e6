"""Centres of groups of records that mix kinds."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import Metric, add_sums, centre_of


@kernel
def centres_of_groups(values: Floats, metric: Metric, record: Ints, order: Ints, starts: Ints) -> Floats:
    """Centres (g, d) of groups of rows, sorted by group; ``record`` (n,) is which of ``values`` (m, d) each row is."""
    d = values.shape[1]
    sums, seen, centres = np.empty(metric.start[d]), np.empty(d), np.empty((len(starts) - 1, d))
    for g in range(len(starts) - 1):
        sums[:], seen[:] = 0.0, 0.0
        for a in range(starts[g], starts[g + 1]):
            add_sums(values[record[order[a]]], 1.0, metric, sums, seen)
        centre_of(metric, sums, seen, centres[g])
    return centres
