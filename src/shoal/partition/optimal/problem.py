"""What is searched: scaled records, blocks that groups may not cross, and what a partition costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.given_away import Limits
from shoal.kernels.representatives import group_rows
from shoal.partition.conditions.confidential import limits_of_rows
from shoal.partition.optimal.objective import Objective, errors_of_groups, take


@dataclass(frozen=True)
class Problem:
    """What is searched.

    Attributes
    ----------
    values : float64 (n, d)
        Scaled records, the mean of the column where missing.
    observed : bool (n, d) or None
        Which values there are; None where none is missing.
    blocks : int64 (n,)
        Blocks that groups may not cross.
    objective : Objective
        What a partition costs.
    k : int
        Smallest group.
    filled : float64 (n, e) or None
        The records as points in which missing cells are filled in and marked; None where none is missing.
    limits : Limits or None
        What groups must keep of confidential columns.
    """

    values: Floats
    observed: Flags | None
    blocks: Ints
    objective: Objective
    k: int
    filled: Floats | None = None
    limits: Limits | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def points(self) -> Floats:
        """What is near to what."""
        return self.values if self.filled is None else self.filled

    def cost(self, groups: Ints) -> float:
        """Return what a partition costs."""
        return float(errors_of_groups(self.values, self.objective, *group_rows(groups), self.k).sum())

    def total(self) -> float:
        """Return the sum of squares of the observed values about the means of their columns."""
        if self.observed is None:
            return float(((self.values - self.values.mean(axis=0)) ** 2).sum())
        means = (self.values * self.observed).sum(axis=0) / np.maximum(self.observed.sum(axis=0), 1)
        return float((((self.values - means) * self.observed) ** 2).sum())


def problem_of_rows(problem: Problem, rows: Ints) -> Problem:
    """Return the problem of some of the rows."""
    return Problem(
        np.ascontiguousarray(problem.values[rows]),
        None if problem.observed is None else np.ascontiguousarray(problem.observed[rows]),
        problem.blocks[rows],
        take(problem.objective, rows),
        problem.k,
        None if problem.filled is None else np.ascontiguousarray(problem.filled[rows]),
        limits_of_rows(problem.limits, rows),
    )


def blocks_by_number(codes: Ints) -> list[Ints]:
    """Return the rows of each block, blocks by their numbers: what is drawn depends on the order.

    >>> [rows.tolist() for rows in blocks_by_number(np.array([7, 2, 7]))]
    [[1], [0, 2]]
    """
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
