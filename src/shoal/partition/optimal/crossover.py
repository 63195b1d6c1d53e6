"""The better of two partitions, part by part.

Two partitions of the same records fall into independent parts: sets of records that are a union of groups of either.
Each part is taken from the partition where it costs less, so the result costs at most as much as the better of the two,
and improvements that different searches found in different places add up.

Source of the idea, for tours: D. Whitley, D. Hains and A. Howe, Tunneling between optima: partition crossover for the
traveling salesman problem, GECCO 2009.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.representatives import group_rows
from shoal.partition.optimal.objective import Objective, errors_of_groups


def better_parts(values: Floats, objective: Objective, groups: Ints, others: Ints, k: int) -> Ints:
    """Return a partition that takes each independent part from ``groups`` or, where that costs less, from ``others``.

    >>> x = np.array([[0.0], [1.0], [0.0], [1.0], [10.0], [11.0], [10.0], [11.0]])
    >>> better_parts(x, None, np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3]), 2)
    array([0, 1, 0, 1, 2, 3, 2, 3])
    """
    rows, other_rows = group_rows(groups), group_rows(others)
    errors = errors_of_groups(values, objective, rows.order, rows.starts, k)
    other_errors = errors_of_groups(values, objective, other_rows.order, other_rows.starts, k)
    return _choose(groups, others, errors, other_errors)


@kernel
def _choose(groups: Ints, others: Ints, errors: Floats, other_errors: Floats) -> Ints:
    """Take each part from where it costs less; groups are numbered by first appearance."""
    shift = len(errors)
    root = np.arange(shift + len(other_errors))
    for row in range(len(groups)):
        a, b = _root(root, groups[row]), _root(root, shift + others[row])
        if a != b:
            root[max(a, b)] = min(a, b)
    gain = np.zeros(len(root))
    for g in range(shift):
        gain[_root(root, g)] += errors[g]
    for g in range(len(other_errors)):
        gain[_root(root, shift + g)] -= other_errors[g]
    number = np.full(len(root), -1)
    chosen, count = np.empty_like(groups), 0
    for row in range(len(groups)):
        # rounding must not make a part look better than itself
        better = gain[_root(root, groups[row])] > 1e-12
        g = shift + others[row] if better else groups[row]
        if number[g] < 0:
            number[g] = count
            count += 1
        chosen[row] = number[g]
    return chosen


@kernel
def _root(root: Ints, g: int) -> int:
    """Representative of the part of a group; paths are halved on the way."""
    while root[g] != g:
        root[g] = root[root[g]]
        g = root[g]
    return g
