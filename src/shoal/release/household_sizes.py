"""The size of a household as a quasi-identifier: whoever counts the records of each household knows it.

Values can be changed, and how many members a household has cannot: records would have to be dropped or invented. So
groups never mix sizes, and where fewer than k households have a size they stand out by it, whatever else is released.
That is refused, unless the plan takes rare sizes together with the next, or does not count sizes at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.errors import DataError, counted, one_or_many
from shoal.kernels.arrays import Ints
from shoal.plan.plan import Plan
from shoal.tables.households import Households

_NAMED = 5  # sizes that a message names


def sizes_apart(households: Households, plan: Plan, strata: Ints, labels: Sequence[str]) -> Ints:
    """Return the class of size of each household (households,), inside ``strata`` of households with their labels.

    Raises DataError where sizes are counted and fewer than k households of a stratum have one.
    """
    assert plan.household is not None
    if plan.household.size == "ignored":
        return np.zeros(len(households), dtype=np.int64)
    if plan.household.size == "counted":
        _check(households, plan.k, strata, labels)
        return households.sizes
    classes = np.empty(len(households), dtype=np.int64)
    for stratum in np.unique(strata).tolist():
        own = np.flatnonzero(strata == stratum)
        classes[own] = merge_sizes(households.sizes[own], plan.k)
    return classes


def merge_sizes(sizes: Ints, k: int) -> Ints:
    """Return sizes (n,) in which each that fewer than k have is that of the next smaller, from the largest down.

    What is left at the lower end joins the class above it; where there are fewer than k in all, there is one class.

    >>> merge_sizes(np.array([1, 1, 2, 2, 2, 5, 7]), 2).tolist()
    [1, 1, 2, 2, 2, 5, 5]
    """
    values, counts = np.unique(sizes, return_counts=True)
    class_of = values.copy()
    current, there = len(values) - 1, 0
    last = None
    for place in range(len(values) - 1, -1, -1):
        there += int(counts[place])
        class_of[place : current + 1] = values[place]
        if there >= k:
            last, current, there = values[place], place - 1, 0
    if there and last is not None:
        class_of[: current + 1] = last
    return np.asarray(class_of[np.searchsorted(values, sizes)])


def _check(households: Households, k: int, strata: Ints, labels: Sequence[str]) -> None:
    """Refuse sizes of fewer than k households."""
    pairs, counts = np.unique(np.column_stack([strata, households.sizes]), axis=0, return_counts=True)
    small = np.flatnonzero(counts < k)
    if not len(small):
        return
    told = []
    for place in small[:_NAMED].tolist():
        stratum, size = pairs[place].tolist()
        where = f"'{labels[stratum]}', " if labels else ""
        told.append(f"{where}{counted(size, 'member')} ({counted(int(counts[place]), 'household')})")
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    raise DataError(
        f"household: {counted(len(small), 'size')} of households {one_or_many(len(small), 'is', 'are')} that of fewer "
        f"than k = {k}, who stand out to whoever counts their members: {'; '.join(told)}{more}; leave these households "
        "out, take rare sizes together with the next (household.size: merged, or --household-size merged), or do not "
        "count sizes (ignored)"
    )
