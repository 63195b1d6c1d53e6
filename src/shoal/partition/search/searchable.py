"""What a problem must be able to do to be searched, whatever its records are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.given_away import Limits
from shoal.partition.search.found import Proved
from shoal.partition.search.pace import Lengths, Pace, TellCycle

S = TypeVar("S")
Tell = Callable[[float, float, float], None]  # part done, cost, proved lower bound or 0
TellCost = Callable[[float], None]  # what the groups so far cost
TellBound = Callable[[float], object]  # the bound so far


@dataclass(frozen=True)
class SearchTask:
    """A set of quasi-identifiers to be searched.

    Attributes
    ----------
    quasi : QuasiIdentifiers
        Its columns, scaled over the whole table.
    blocks : int64 (n,)
        Blocks that groups may not cross.
    k : int
        Smallest group.
    options : mapping
        All options of the method.
    weights : float64 (n,) or None
        Sampling weights.
    alike : bool
        Whether a column is released only for groups of which all records have it.
    limits : Limits or None
        What groups must keep of confidential columns.
    begin : int64 (n,) or None
        Groups that meet these, to start from.
    """

    quasi: QuasiIdentifiers
    blocks: Ints
    k: int
    options: Mapping[str, Any]
    weights: Floats | None = None
    alike: bool = False
    limits: Limits | None = None
    begin: Ints | None = None


class Searchable(Protocol[S]):
    """A problem that can be searched; an ``S`` is a partition with what the search has learnt on the way to it."""

    @property
    def measure(self) -> str:
        """What the cost is called in percent of the total."""
        ...

    @property
    def size(self) -> int:
        """Number of records, or distinct records, that proposals are counted by."""
        ...

    @property
    def lengths(self) -> Lengths:
        """How long cycles are."""
        ...

    def usual_passes(self, state: S) -> int:
        """Return the number of proposals for each record that suits the size, after what was done to start."""
        ...

    def start(self, threads: int, tell: TellCost | None = None) -> S:
        """Return what to start from; where that takes long, it is told what groups cost on the way."""
        ...

    def cycle(
        self, state: S, passes: int, seeds: tuple[int, int], threads: int, pace: Pace, progress: TellCycle | None
    ) -> S | None:
        """Go on with so many proposals for each record; None where time ran out.

        The result costs no more than the state, and depends on it, the passes and the seeds alone. The ``pace`` is told
        how long it took.
        """
        ...

    def cost(self, state: S) -> float:
        """Return what the partition costs."""
        ...

    def finished(self, state: S) -> bool:
        """Whether there is nothing to go on with."""
        ...

    def exact(self, state: S) -> bool:
        """Whether no partition of the records costs less."""
        ...

    def groups(self, state: S) -> Ints:
        """Return the group (n,) of each row."""
        ...

    def total(self) -> float:
        """Return what there is to lose."""
        ...

    def few(self) -> Searchable[S]:
        """Return a problem of a few of the records, that is searched to compile what has not been used before."""
        ...

    def why_no_bound(self) -> str | None:
        """Say why no lower bound can be proved; None if it can."""
        ...

    def prove(
        self, state: S, until: float, threads: int, enough: float | None = None, tell: TellBound = float
    ) -> Proved:
        """Return a lower bound, and what proves it, until a moment of the monotonic clock.

        ``enough`` is a bound at which to end; ``tell`` is told whenever the bound has risen. An interruption ends it
        with what is proved until then.
        """
        ...


def join_blocks(rows_of_blocks: list[Ints], labels_of_blocks: list[Ints]) -> Ints:
    """Return the groups (n,) of all rows, given the rows of each block and their groups, numbered from 0 in each.

    >>> join_blocks([np.array([0, 2]), np.array([1])], [np.array([0, 1]), np.array([0])])
    array([0, 2, 1])
    """
    groups = np.empty(sum(map(len, rows_of_blocks)), dtype=np.int64)
    first = 0
    for rows, labels in zip(rows_of_blocks, labels_of_blocks, strict=True):
        groups[rows] = labels + first
        first += int(labels.max()) + 1
    return groups
