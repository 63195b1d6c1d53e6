"""Centres of groups of records that mix kinds, and their distances from one of them."""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import add_sums, centre_of, distance, sums_start


@kernel
def centres_of_groups(
    cells: Floats, record: Ints, order: Ints, starts: Ints, kinds: Ints, tables: Floats, offset: Ints, width: Ints
) -> Floats:
    """Centres (g, d) of groups of rows, sorted by group; ``record`` (n,) is which of ``cells`` (m, d) each row is."""
    d = cells.shape[1]
    start = sums_start(width)
    sums, seen, centres = np.empty(start[d]), np.empty(d), np.empty((len(starts) - 1, d))
    for g in range(len(starts) - 1):
        sums[:], seen[:] = 0.0, 0.0
        for a in range(starts[g], starts[g + 1]):
            add_sums(cells[record[order[a]]], 1.0, kinds, tables, offset, width, start, sums, seen)
        centre_of(kinds, width, start, sums, seen, centres[g])
    return centres


@kernel
def distances_of_centres(
    one: Floats, centres: Floats, kinds: Ints, tables: Floats, offset: Ints, width: Ints, weights: Floats
) -> Floats:
    """Distances (g,) of centres (g, d) from one of them (d,)."""
    off = np.empty(len(centres))
    for g in range(len(centres)):
        off[g] = distance(one, centres[g], kinds, tables, offset, width, weights)
    return off
