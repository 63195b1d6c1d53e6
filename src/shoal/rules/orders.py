"""Orders of categories in comparisons: ``now <= goal`` is about the places of both in the order that was declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.columns.hierarchy import name_of
from shoal.kernels.arrays import Flags, Floats

Order = tuple[str, ...]


def places(values: NDArray[Any], observed: Flags, order: Sequence[str]) -> tuple[Floats, Flags]:
    """Return the place of each value in an order, and which values have one.

    >>> places(np.array(["low", "high", ""], dtype=object), np.array([True, True, False]), ["low", "mid", "high"])
    (array([0., 2., 0.]), array([ True,  True, False]))
    """
    of = {level: float(place) for place, level in enumerate(order)}
    found, has = np.zeros(len(values)), np.zeros(len(values), dtype=bool)
    distinct, inverse = np.unique(values[observed], return_inverse=True)
    known = [of.get(name_of(value), -1.0) for value in distinct.tolist()]
    if known:
        found[observed] = np.array(known)[inverse.reshape(-1)]
        has[observed] = found[observed] >= 0.0
    return np.where(has, found, 0.0), has


def order_of(left: Order | None, right: Order | None) -> Order | None:
    """Return the order that two sides of a comparison are read in; raises ValueError where they have different ones.

    >>> order_of(("S", "M", "L"), None)
    ('S', 'M', 'L')
    """
    if left and right and left != right:
        raise ValueError("the columns have different orders; declare the same levels for both, in the same order")
    return left or right
