"""Groups by an insensitive order: one record that changes puts one other record into each group at most.

Records are put in an order that is fixed before any table is seen, and every k that follow each other are a group; the
last takes what is left. How many groups there are, and how large, follows from the number of records alone. The order
is by the distance from the corner of the domain in which every column has its least value, and by the values themselves
where distances are equal.

Sources: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, Enhancing data utility in differential privacy
via microaggregation-based k-anonymity, VLDB Journal 23(5), 2014; D. Sanchez, J. Domingo-Ferrer, S. Martinez and J.
Soria-Comas, Utility-preserving differentially private data releases via individual ranking microaggregation,
Information Fusion 30, 2016, for a single column.

Sensitivity. Let one of n records change. In the order it leaves one place and enters another, and all records between
move by one place: every group loses one record and gains one at most. So the sum of a column over a group changes by
its range at most, and the sums of all groups by the range times their number. In a single column the order is that of
its values: all groups change in the same direction, and the changes of all places add up to that of the record. So all
sums together change by the range at most, however many groups there are.

Cost: O(n log n). Every group has at least k records where n >= k.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints


def insensitive_groups(units: Ints, k: int, steps: int) -> Ints:
    """Return the group (n,) of each record of whole numbers (n, d) from 0 to ``steps``, in the order of the groups.

    >>> insensitive_groups(np.array([[3], [0], [9], [1], [8]]), 2, 9).tolist()
    [1, 0, 1, 0, 1]
    """
    n, d = units.shape
    distance = ((units / steps) ** 2).sum(axis=1)
    order = np.lexsort([*(units[:, j] for j in range(d - 1, -1, -1)), distance])
    groups = np.empty(n, dtype=np.int64)
    groups[order] = np.minimum(np.arange(n) // k, n // k - 1)
    return groups


def sums_of_groups(units: Ints, groups: Ints) -> Ints:
    """Return the sums (groups, d) of whole numbers over groups."""
    sums = np.zeros((int(groups.max()) + 1, units.shape[1]), dtype=np.int64)
    np.add.at(sums, groups, units)
    return sums


def means_in_order(means: Floats, sizes: Ints) -> Floats:
    """Return the means nearest to noisy ones (groups,) of a single column that come in the order of the groups.

    Isotonic regression, as M. Hay, V. Rastogi, G. Miklau and D. Suciu, Boosting the accuracy of differentially private
    histograms through consistency, PVLDB 3(1), 2010. It looks at nothing but the noisy means and the sizes, and takes
    away the noise by which they are out of order.

    >>> means_in_order(np.array([1.0, 4.0, 2.0]), np.array([5, 5, 5])).tolist()
    [1.0, 3.0, 3.0]
    """
    from scipy.optimize import isotonic_regression  # late: few plans need it

    return np.asarray(isotonic_regression(means, weights=sizes).x)


def sensitivity(steps: int, groups: int, columns: int) -> int:
    """Return by how much the sums of a column, over all groups, can change together where one record does.

    >>> sensitivity(100, 7, 1), sensitivity(100, 7, 2)
    (100, 700)
    """
    return steps if columns == 1 else steps * groups
