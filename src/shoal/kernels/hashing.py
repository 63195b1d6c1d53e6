"""A hash of row numbers: a number between 0 and 1 that has nothing to do with the place of a row.

It is the same wherever and in whatever batch a row is read, so that samples and shares made by it are, too. The mixing
is that of splitmix64 (G. L. Steele, D. Lea and C. H. Flood, Fast splittable pseudorandom number generators, 2014).
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints

_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed_rows(rows: Ints) -> Floats:
    """Return a number from 0 to below 1 for each row number.

    >>> mixed_rows(np.array([0, 1, 2])).round(3).tolist()
    [0.883, 0.432, 0.026]
    """
    with np.errstate(over="ignore"):
        x = (rows.astype(np.uint64) + np.uint64(1)) * _STEP
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
    found: Floats = ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found
