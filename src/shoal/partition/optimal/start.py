"""Start: the better of two fast partitions, MDAV-single of all records and of the cells of a spread tree.

On clustered data cutting between clusters first loses far less; on evenly spread data MDAV-single of all records is a
little better. Both give groups of k to 2k - 1 records.
"""

from __future__ import annotations

import numpy as np

from shoal.blocking.spread_tree import spread_tree
from shoal.columns.scaling import Records
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.optimal.objective import Objective, errors_of_groups

_WHOLE = 200_000  # complete records up to which MDAV-single of all of them is tried
_FEW_COLUMNS = 6  # up to which MDAV of any number of records is quick, and loses less than blocks
_WHOLE_MISSING = 20_000  # the same where values are missing: the index cannot be used
_BLOCK = 1000


def start(values: Floats, observed: Flags | None, objective: Objective, k: int) -> Ints:
    """Return groups of k to 2k - 1 records; ``values`` (n, d) are at least k."""
    n = len(values)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    many = n > (_WHOLE if observed is None else _WHOLE_MISSING)
    quick = observed is None and values.shape[1] <= _FEW_COLUMNS
    tried = []
    if not many or quick:
        method = mdav if many else mdav_single  # a million records: half the time for the same loss
        tried.append(method(Records(values, observed), k, new_watch()))
    if not many or not quick:
        tried.append(_by_block(values, observed, spread_tree(values, k, max(_BLOCK, 2 * k)), k))
    costs = [errors_of_groups(values, objective, *group_rows(groups), k).sum() for groups in tried]
    return tried[int(np.argmin(costs))]


def _by_block(values: Floats, observed: Flags | None, blocks: Ints, k: int) -> Ints:
    groups = np.empty(len(values), dtype=np.int64)
    order, starts = group_rows(blocks)
    first = 0
    for b in range(len(starts) - 1):
        rows = order[starts[b] : starts[b + 1]]
        part = Records(
            np.ascontiguousarray(values[rows]), None if observed is None else np.ascontiguousarray(observed[rows])
        )
        groups[rows] = mdav_single(part, k, new_watch()) + first
        first = int(groups[rows].max()) + 1
    return groups
