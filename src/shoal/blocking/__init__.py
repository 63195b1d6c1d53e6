"""Blocking: rows to independent blocks of at least k records, which are then partitioned one by one.

Strata are the user's blocks; ``BLOCKINGS`` are cut by the data, for size: all take the scaled values of the
blocking columns, k, and the most records that a block may have.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.blocking.spread_tree import spread_tree
from shoal.blocking.two_d_tree import two_d_tree
from shoal.blocking.univariate import equal_counts, equal_intervals
from shoal.kernels.arrays import Floats, Ints

BLOCKINGS: dict[str, Callable[[Floats, int, int], Ints]] = {
    "2d-tree": two_d_tree,
    "equal-counts": equal_counts,
    "spread-tree": spread_tree,
    "univariate": equal_intervals,
}
ONE_COLUMN = ("equal-counts", "univariate")  # those that use a single column
