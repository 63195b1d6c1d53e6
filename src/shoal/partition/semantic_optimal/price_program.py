"""The linear problem of prices: the highest that no group known costs less than, up to a ceiling for each record.

Its unknowns are a price for each distinct record and a multiplier, at least 0, for each cut. A cut is three records,
each of which occurs once: in a partition at most one group holds two of them or more. A group may have prices above its
cost by the multipliers of the cuts of which it holds two, and the value is the sum of all prices less the multipliers
(subset-row inequalities: M. Jepsen, B. Petersen, S. Spoorendonk and D. Pisinger, Operations Research 56, 2008).
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.kernels.arrays import Floats, Ints

_TOLERANCE = 1e-9  # by which a group's prices, in parts of a mean price times k, may be above its cost


@dataclass(frozen=True)
class Prices:
    """A solution: prices (m,), multipliers (cuts,), and what part of each group (rows,) is chosen.

    ``alone`` (m,) is how much of each record is in no group, and pays its ceiling.
    """

    prices: Floats
    multipliers: Floats
    shares: Floats
    alone: Floats


class PriceProgram:
    """Prices of records that occur so often (m,), solved again and again with more groups and cuts."""

    def __init__(self, counts: Ints, unit: float) -> None:
        from highspy import Highs

        self._m, self._unit = len(counts), unit
        self.cuts: list[tuple[int, ...]] = []
        self.sets: list[Ints] = []  # the groups
        self._rows: list[dict[int, float]] = []  # of each, how often it holds each record
        make: Any = Highs  # which has no types
        self._highs = make()
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
            ("primal_feasibility_tolerance", _TOLERANCE),
        ):
            self._highs.setOptionValue(name, value)
        for count in counts.tolist():
            self._highs.addVar(-np.inf, 0.0)
            self._highs.changeColCost(self._highs.getNumCol() - 1, -float(count))

    def set_ceilings(self, ceilings: Floats) -> None:
        """Let no price be above its ceiling (m,)."""
        for i, most in enumerate((ceilings / self._unit).tolist()):
            self._highs.changeColBounds(i, -np.inf, most)

    def add_groups(self, sets: list[Ints], costs: list[float]) -> None:
        """Add groups: distinct records, as often as they are in it, and what it costs."""
        for own, cost in zip(sets, costs, strict=True):
            records, times = np.unique(own, return_counts=True)
            row = dict(zip(records.tolist(), times.astype(float).tolist(), strict=True))
            columns, values = list(row), list(row.values())
            for c, cut in enumerate(self.cuts):
                if held(row, cut) >= 2:
                    columns.append(self._m + c)
                    values.append(-1.0)
            self.sets.append(own)
            self._rows.append(row)
            at = np.array(columns, dtype=np.int32)
            self._highs.addRow(-np.inf, cost / self._unit, len(at), at, np.array(values))

    def add_cuts(self, cuts: list[tuple[int, ...]]) -> None:
        """Add cuts to those there are."""
        for cut in cuts:
            rows = np.array([r for r, row in enumerate(self._rows) if held(row, cut) >= 2], dtype=np.int32)
            self._highs.addCol(1.0, 0.0, np.inf, len(rows), rows, np.full(len(rows), -1.0))
            self.cuts.append(cut)

    def solve(self, until: float) -> Prices | None:
        """Solve it until a moment of the monotonic clock; None where it was not solved."""
        from highspy import HighsModelStatus

        if time.monotonic() >= until:
            return None
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(0.1, until - time.monotonic()))
        self._highs.run()
        if self._highs.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        solution = self._highs.getSolution()
        values = np.asarray(solution.col_value) * self._unit
        shares = np.maximum(0.0, -np.asarray(solution.row_dual))
        alone = np.maximum(0.0, -np.asarray(solution.col_dual)[: self._m])
        return Prices(values[: self._m], np.maximum(0.0, values[self._m :]), shares, alone)

    def violated_cuts(self, shares: Floats, single: set[int], most: int) -> list[tuple[int, ...]]:
        """Return cuts that shares (rows,) of groups break most, of records that occur once."""
        pairs: dict[tuple[int, int], float] = {}
        chosen = [(sorted(set(self._rows[r]) & single), float(shares[r])) for r in np.flatnonzero(shares > 1e-6)]
        for own, share in chosen:
            for pair in itertools.combinations(own, 2):
                pairs[pair] = pairs.get(pair, 0.0) + share
        near: dict[int, set[int]] = {}
        for a, b in pairs:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        three: dict[tuple[int, ...], float] = {}
        for own, share in chosen:
            for triple in itertools.combinations(own, 3):
                three[triple] = three.get(triple, 0.0) + share
        broken: dict[tuple[int, ...], float] = {}
        known = set(self.cuts)
        for a, b in pairs:
            for c in near[a] | near[b]:
                cut = tuple(sorted((a, b, c)))
                if len(set(cut)) < 3 or cut in broken or cut in known:
                    continue
                held_twice = sum(pairs.get(pair, 0.0) for pair in itertools.combinations(cut, 2))
                above = held_twice - 2.0 * three.get(cut, 0.0) - 1.0
                if above > 0.02:
                    broken[cut] = above
        return sorted(broken, key=lambda cut: (-broken[cut], cut))[:most]


def held(row: dict[int, float], cut: tuple[int, ...]) -> int:
    """Return how many records of a cut are in a group."""
    return sum(one in row for one in cut)
