"""Order statistics: the value of a group at which a stated part of its records is reached.

They are monotonic, as the median is: where a column is nowhere above another, neither is its statistic, so that rules
such as ``A <= B`` hold, and what is released is a value of the group (Torra, Cano and Navarro-Arribas 2009, sections
3.4 and 3.5). Of true and false the minimum is true where all are, and the maximum where any is; a boolean max-min
function that does not depend on the order of the records is one of these statistics. Cost: O(n log n).
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import Grouping

ORDER_STATISTICS = {"minimum": 0.0, "lower-quartile": 0.25, "upper-quartile": 0.75, "maximum": 1.0}
"""Part of the records, or of their weight, that is at or below each; the lowest such value."""
_SAME = 1e-12  # part of a weight by which two sums of weights are equal


def order_statistic(
    values: Numbers, observed: Flags, weights: Floats | None, grouping: Grouping, part: float
) -> tuple[Ints, Ints]:
    """Return the row whose value is the statistic of each group, and how many observed values it stands for.

    Parameters
    ----------
    values, observed : (n,)
        The values, and which there are.
    weights : float64 (n,) or None
        Sampling weights.
    grouping : Grouping
        Rows by group.
    part : float
        Part of the records that is at or below the statistic.

    Returns
    -------
    rows : int64 (groups,)
        The first of the group where nothing is observed.
    counts : int64 (groups,)
        Observed values.

    Examples
    --------
    >>> from shoal.kernels.representatives import group_rows
    >>> x = np.array([5, 1, 3, 4])
    >>> order_statistic(x, x > 0, None, group_rows(np.zeros(4, int)), 0.25)
    (array([1]), array([4]))
    """
    groups = len(grouping.starts) - 1
    of_row = np.empty(len(values), dtype=np.int64)
    of_row[grouping.order] = np.repeat(np.arange(groups), np.diff(grouping.starts))
    rows = np.flatnonzero(observed)
    rows = rows[np.lexsort((values[rows], of_row[rows]))]
    counts = np.bincount(of_row[rows], minlength=groups)
    ends = np.cumsum(counts)
    own = np.ones(len(rows)) if weights is None else weights[rows]
    reached = np.cumsum(own)
    before = np.concatenate(([0.0], reached))[ends - counts]
    total = np.concatenate(([0.0], reached))[ends] - before
    group = of_row[rows]
    enough = (reached - before[group]) >= part * total[group] * (1.0 - _SAME)
    first = np.full(groups, len(rows))
    np.minimum.at(first, group[enough], np.flatnonzero(enough))
    found = grouping.order[grouping.starts[:-1]].copy()
    some = counts > 0
    found[some] = rows[np.minimum(first[some], ends[some] - 1)]
    return found, counts
