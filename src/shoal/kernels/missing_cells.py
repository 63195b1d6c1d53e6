"""Missing cells in distances: unknown, and so at the distance that is to be expected.

Let a column have mean m and variance v. The squared difference of an observed value x and a cell of which nothing is
known is (x - m)^2 + v on average. Two missing cells are alike: 0. Summed over the columns that is exactly the squared
Euclidean distance of records in which a missing cell is replaced by m, and a further column for each that has missing
cells is sqrt(v) where the cell is missing and 0 where it is not. So records with missing cells are points like all
others: every index works on them, and no record is near to everybody because little is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.arrays import Flags, Floats


def filled_in(
    values: Floats, observed: Flags, means: Floats, deviations: Floats, holes: Sequence[bool] | None = None
) -> Floats:
    """Return points (n, d + c) for records with missing cells in c of their d columns.

    Parameters
    ----------
    values : float64 (n, d)
        What is known; whatever stands at missing cells.
    observed : bool (n, d)
        Which cells there are.
    means, deviations : float64 (d,)
        Of each column.
    holes : bool (d,), optional
        Columns that may have missing cells; where nothing is said, those that have, but not in all records: what all
        records lack tells none apart.

    Examples
    --------
    >>> seen = np.array([[True, True], [True, False]])
    >>> filled_in(np.array([[3.0, 2.0], [4.0, 0.0]]), seen, np.zeros(2), np.ones(2))
    array([[3., 2., 0.],
           [4., 0., 1.]])
    """
    known = np.where(observed, values, means)
    marked = np.flatnonzero(observed.any(axis=0) & ~observed.all(axis=0) if holes is None else holes)
    marks = np.where(observed[:, marked], 0.0, deviations[marked])
    return np.ascontiguousarray(np.column_stack([known, marks]))
