"""The linear problem of choosing groups, with cuts, solved from where the last one ended.

Column generation solves it again and again with a few groups or cuts more, and branching with a few groups less. The
groups, records and cuts that were basic in the last solution are a start from which the simplex method needs some
dozen steps, where the interior point begins from nothing: a hundredth of the time. A record can be alone at a cost, so
that there is a solution where groups seen make no partition.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.partition.optimal.cuts import Cuts, Rows, counts_of
from shoal.partition.optimal.seen_groups import Relaxed, SeenGroups, matrix_of

_TOLERANCE = 1e-9  # by which reduced costs, in parts of the mean cost of a group, may be below 0


@dataclass(frozen=True)
class Basis:
    """What was basic in a solution: names of groups, records alone and equations (n,), and cuts."""

    groups: Ints
    alone: Flags
    equations: Flags
    cuts: frozenset[tuple[Rows, int]]


class Program:
    """The linear problem on groups seen of n records, with cuts, where a record alone costs ``alone`` (n,)."""

    def __init__(self, seen: SeenGroups, cuts: Cuts, alone: Floats, basis: Basis | None = None) -> None:
        from highspy import Highs, HighsLp, MatrixFormat
        from scipy.sparse import csr_matrix, hstack, identity, vstack

        n = len(alone)
        self._seen, self._cuts, self._n = seen, cuts, n
        self.left = 0.0  # how much of records is in no group
        self._scale = (float(np.abs(seen.costs).mean()) if len(seen) else 0.0) or 1.0
        counts = hstack([counts_of(cuts, seen, n), csr_matrix((len(cuts), n))])
        matrix = vstack([hstack([matrix_of(seen, n), identity(n)]), counts], format="csc")
        program = HighsLp()
        program.num_row_, program.num_col_ = matrix.shape
        program.col_cost_ = np.concatenate([seen.costs, alone]) / self._scale
        program.col_lower_, program.col_upper_ = np.zeros(matrix.shape[1]), np.full(matrix.shape[1], np.inf)
        program.row_lower_ = np.concatenate([np.ones(n), np.full(len(cuts), -np.inf)])
        program.row_upper_ = np.concatenate([np.ones(n), cuts.most])
        program.a_matrix_.format_ = MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        make: Any = Highs  # which has no types
        self._highs = make()
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.setOptionValue("solver", "simplex")
        self._highs.setOptionValue("dual_feasibility_tolerance", _TOLERANCE)
        self._highs.passModel(program)
        if basis is not None:
            self._highs.setBasis(self._start(basis))

    def solve(self, until: float | None = None) -> Relaxed | None:
        """Solve it until a moment of the monotonic clock; None where it was not solved."""
        if until is not None:
            self._highs.setOptionValue("time_limit", max(0.1, until - time.monotonic()))
        if not self._run():
            return None
        solution, scale, n = self._highs.getSolution(), self._scale, self._n
        columns = np.asarray(solution.col_value)
        shares, self.left = columns[: len(self._seen)], float(columns[len(self._seen) :].sum())
        duals = np.asarray(solution.row_dual) * scale
        value = float(self._highs.getObjectiveValue()) * scale
        return Relaxed(value, shares, duals[:n], np.maximum(0.0, -duals[n:]))

    def values_without(self, closed: list[Ints], until: float | None = None) -> list[float]:
        """Return what it would be without some of the groups, for each of several such sets; infinite if unknown."""
        basis, values = self._highs.getBasis(), []
        for groups in closed:
            columns, zeros = groups.astype(np.int32), np.zeros(len(groups))
            self._highs.changeColsBounds(len(columns), columns, zeros, zeros)
            solved = (until is None or time.monotonic() < until) and self._run()
            values.append(float(self._highs.getObjectiveValue()) * self._scale if solved else np.inf)
            self._highs.changeColsBounds(len(columns), columns, zeros, np.full(len(groups), np.inf))
            self._highs.setBasis(basis)
        return values

    def basis(self) -> Basis:
        """Return what is basic now."""
        from highspy import HighsBasisStatus

        found, n = self._highs.getBasis(), self._n
        columns = np.array([status == HighsBasisStatus.kBasic for status in found.col_status])
        rows = np.array([status == HighsBasisStatus.kBasic for status in found.row_status])
        names = list(zip(self._cuts.sets(), self._cuts.steps.tolist(), strict=True))
        cuts = frozenset(name for name, basic in zip(names, rows[n:].tolist(), strict=True) if not basic)
        m = len(self._seen)
        return Basis(np.sort(self._seen.keys[columns[:m]]), columns[m:], rows[:n], cuts)

    def _run(self) -> bool:
        from highspy import HighsModelStatus

        self._highs.run()
        return bool(self._highs.getModelStatus() == HighsModelStatus.kOptimal)

    def _start(self, basis: Basis) -> Any:
        """Return a basis of this problem; what is new is not in it, and the solver adds what it lacks."""
        from highspy import HighsBasis, HighsBasisStatus

        basic, lower, upper = HighsBasisStatus.kBasic, HighsBasisStatus.kLower, HighsBasisStatus.kUpper
        columns = np.concatenate([np.isin(self._seen.keys, basis.groups), basis.alone]).tolist()
        names = zip(self._cuts.sets(), self._cuts.steps.tolist(), strict=True)
        start = HighsBasis()
        start.col_status = [basic if one else lower for one in columns]
        start.row_status = [basic if one else lower for one in basis.equations.tolist()]
        start.row_status = [*start.row_status, *(upper if name in basis.cuts else basic for name in names)]
        start.valid, start.alien = True, True
        return start
