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


class Leaf(NamedTuple):
    """The prices of some rows, and penalties, that prove a bound for all partitions that keep some decisions."""

    prices: Floats
    penalties: tuple[Penalty, ...] = ()


class Fork(NamedTuple):
    """Two proofs: one for partitions with both rows of a pair in one group, one for those with them in two.

    ``before`` is what was proved before there were two, where that says which groups count in them.
    """

    pair: tuple[int, int]
    together: Leaf | Fork
    apart: Leaf | Fork
    before: Leaf | None = None


class Listing(NamedTuple):
    """Prices of some rows, and penalties, that say which groups a partition that costs less than a limit has."""

    prices: Floats
    penalties: tuple[Penalty, ...]
    limit: float


class Branches(NamedTuple):
    """The proof of a block that was divided: its rows, what is proved in each branch, and which groups count there.

    Where there is a ``listing``, branches are about partitions below its limit.
    """

    rows: Ints
    tree: Leaf | Fork
    listing: Listing | None = None


class Proved(NamedTuple):
    """A lower bound, whether it is as high as it gets, what proves it, and whether somebody ended the proof early.

    Prices (n,) and penalties are those of all rows but of blocks that have ``branches``. ``groups`` (n,) are a better
    partition than the one known, where the proof came across one, which costs ``cost``.
    """

    bound: float
    complete: bool = False
    prices: Floats | None = None
    penalties: tuple[Penalty, ...] = ()
    branches: tuple[Branches, ...] = ()
    groups: Ints | None = None
    cost: float | None = None
    interrupted: bool = False


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
    proof : Proved or None
        What proves it, and a better partition where the proof came across one.
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
    proof: Proved | None = None


def gap_of(cost: float, bound: float) -> float:
    """Return the gap in percent: the part of the cost that a better partition could save at most.

    >>> gap_of(50.0, 49.0)
    2.0
    """
    return max(0.0, 100.0 * (cost - bound) / cost) if cost > 0.0 else 0.0
