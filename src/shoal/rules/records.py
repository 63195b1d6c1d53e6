"""The last resorts: the tuple of a record that keeps the rules, of the group or of another, or no tuple at all.

Whatever a rule says, a record that keeps it is a tuple that keeps it. So the record of a group that is nearest to its
target, released for all of them, keeps every rule over the columns of the tuple that all records of the group keep.
Its values are shared by at least k records, as any other representative's are.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.rules.nearest_allowed import costs
from shoal.rules.tuples import Tuples

_PIECE = 1 << 22  # cells of a table of groups by records that are filled at a time


def nearest_record(tuples: Tuples, chosen: Ints, targets: Floats, there: Flags) -> Ints:
    """Return the row of the nearest record of each group that keeps all rules there; -1 where there is none."""
    rows, places = tuples.rows_of(chosen)
    usable = np.ones(len(rows), dtype=bool)
    for i in range(len(tuples.rules)):
        usable &= tuples.held[i][rows] | ~tuples.binds[chosen, i][places]
    squares = np.zeros(len(rows))
    for j, column in enumerate(tuples.columns):
        needed = there[places, j]
        usable &= column.observations.observed[rows] | ~needed
        if column.coded_names:
            far = costs(tuples, j, chosen, targets[:, j])
            far -= far.min(axis=1, keepdims=True)
            squares += np.where(needed, far[places, column.column.values[rows]], 0.0)
        elif column.scale > 0.0:
            gaps = (column.natural(column.column.values[rows]) - targets[places, j]) / column.scale
            squares += np.where(needed, gaps**2, 0.0)
    squares[~usable] = np.inf
    order = np.lexsort((rows, squares, places))
    first = np.concatenate(([True], places[order][1:] != places[order][:-1]))
    best = order[first]
    return np.where(np.isfinite(squares[best]), rows[best], -1)


def nearest_donor(tuples: Tuples, chosen: Ints, targets: Floats) -> Ints:
    """Return the row of the nearest record of the whole table that has all values and keeps all rules; -1 if none."""
    from scipy.spatial import cKDTree

    usable = np.logical_and.reduce([c.observations.observed for c in tuples.columns] + tuples.held)
    rows = np.flatnonzero(usable)
    if not len(rows):
        return np.full(len(targets), -1)
    units = np.array([1.0 / c.scale if c.scale > 0.0 else 0.0 for c in tuples.columns])
    known = np.column_stack([c.natural(c.column.values[rows]) for c in tuples.columns])
    if not any(c.coded_names for c in tuples.columns):
        return np.asarray(rows[cKDTree(known * units).query(targets * units)[1]])
    first = np.unique(known, axis=0, return_index=True)[1]
    rows, known = rows[np.sort(first)], known[np.sort(first)]
    found = np.empty(len(chosen), dtype=np.int64)
    for start in range(0, len(chosen), step := max(1, _PIECE // len(rows))):
        piece = slice(start, start + step)
        squares = np.zeros((len(chosen[piece]), len(rows)))
        for j, column in enumerate(tuples.columns):
            if column.coded_names:
                squares += costs(tuples, j, chosen[piece], targets[piece, j])[:, column.column.values[rows]]
            else:
                squares += ((known[:, j] - targets[piece, j, None]) * units[j]) ** 2
        found[piece] = rows[squares.argmin(axis=1)]
    return found
