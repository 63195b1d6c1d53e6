"""Disjoint sets in kernels: every place points towards the lowest place of its set."""

from __future__ import annotations

from shoal.kernels.arrays import Ints
from shoal.kernels.compiling import kernel


@kernel
def root_of(home: Ints, place: int) -> int:
    """Return the lowest place of a set; paths are halved on the way.

    ``home`` is int64 (places,), at first the numbers of the places themselves.
    """
    while home[place] != place:
        home[place] = home[home[place]]
        place = home[place]
    return place


@kernel
def join(home: Ints, a: int, b: int) -> bool:
    """Join the sets of two places; False where they are one already."""
    a, b = root_of(home, a), root_of(home, b)
    if a == b:
        return False
    home[max(a, b)] = min(a, b)
    return True
