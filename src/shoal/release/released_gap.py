"""How far from the optimum a release can be: the gap of the search, and what rounding and rules add to it.

A bound on numbers holds for whatever is released for a group, since nothing costs less than the mean. So the gap of the
release is the part of its own loss that is above the bound, on the columns as the search scaled them. Of columns of any
kind it is the part of the loss that the search lowered.
"""

from __future__ import annotations

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.numbers import Column
from shoal.errors import decimal
from shoal.partition.search.found import gap_of
from shoal.release.searching import Searched

_SAME = 1e-9  # part of a loss by which two sums of it may differ


def released_gap(searched: Searched, part: ProtectedSet, lost: float | None = None) -> float | None:
    """Return the gap of what is released, in percent; None where nothing was proved.

    ``lost`` is the loss of what is released where there are categories.
    """
    if not searched.bound or searched.reached is None:
        return searched.gap
    loss = _loss_of_numbers(part) if lost is None else lost
    if not np.isfinite(loss) or loss <= searched.reached * (1.0 + _SAME):
        return searched.gap
    return gap_of(loss, searched.bound)


def _loss_of_numbers(part: ProtectedSet) -> float:
    """Return the loss of numbers that all are there, in percent, as the search scaled them."""
    error = total = 0.0
    for (column, now), scale in zip(part.columns(), part.quasi.scales, strict=True):
        assert isinstance(column, Column)
        assert scale is not None
        original = scale.apply(column.values)
        error += float(((scale.apply(now.values) - original) ** 2).sum())
        total += float(((original - original.mean()) ** 2).sum())
    return 100.0 * error / total if total > 0.0 else 0.0


def rounding_note(searched: Searched, gap: float | None) -> list[str]:
    """Say what part of a gap is not the groups' fault."""
    if gap is None or searched.gap is None or gap < searched.gap + 0.005:
        return []
    return [
        f"the gap of {decimal(gap)} % is that of the released values; before they were rounded, adapted to rules, or "
        f"groups grew, it was {decimal(searched.gap)} %"
    ]
