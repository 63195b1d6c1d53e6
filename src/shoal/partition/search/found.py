"""What a search found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from shoal.kernels.arrays import Floats, Ints


class Penalty(NamedTuple):
    """What a group pays for every so many of some rows that it holds."""

    rows: Ints
    every: int
    multiplier: float


class Proved(NamedTuple):
    """A lower bound, whether it is as high as it gets, and the prices (n,) and penalties that prove it, if any."""

    bound: float
    complete: bool = False
    prices: Floats | None = None
    penalties: tuple[Penalty, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    groups : int64 (n,)
        The group of each row.
    cost, total : float
        What the groups cost, and what there is to lose: the cost of what is known without any of the records.
    passes, steps : int
        Proposals made for each record, or distinct record, and in all.
    interrupted : bool
        Whether somebody ended it early.
    exact : bool
        Whether no partition of the records costs less.
    settled : bool
        Whether nothing had to be searched: any number of steps finds the same.
    bound : float or None
        What every partition is proved to cost at least, where that was tried or comes by itself.
    before : tuple of int64 (n,)
        Groups that cost more, from the last cycles before the end, where they were asked for.
    prices, penalties : float64 (n,) or None, tuple of Penalty
        What proves it.
    """

    groups: Ints
    cost: float
    total: float
    passes: int
    steps: int
    interrupted: bool = False
    exact: bool = False
    settled: bool = False
    bound: float | None = None
    before: tuple[Ints, ...] = ()
    prices: Floats | None = None
    penalties: tuple[Penalty, ...] = ()


def gap_of(cost: float, bound: float) -> float:
    """Return the gap in percent: the part of the cost that a better partition could save at most.

    >>> gap_of(50.0, 49.0)
    2.0
    """
    return max(0.0, 100.0 * (cost - bound) / cost) if cost > 0.0 else 0.0
