"""What the steps of a run made of a table."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn
from shoal.columns.numbers import Column
from shoal.kernels.arrays import Masked
from shoal.release.confidential import ConditionSummary
from shoal.release.declaring import Declared
from shoal.release.grouping import Grouped
from shoal.release.own_values import OwnValues
from shoal.release.ruled import Ruled
from shoal.release.strata import Strata
from shoal.rules.accounting import RuleSummary
from shoal.tables.files import Source


@dataclass(frozen=True)
class Run:
    """What the steps of the pipeline made of a table, from which the summary is written.

    Attributes
    ----------
    declared : Declared
        The plan that fits the table.
    strata : Strata
        Which records are never mixed.
    grouped : Grouped
        The groups of each set, where they were formed, and what a search did.
    protected : list of ProtectedSet
        Groups and released values of each set.
    rules : list of RuleSummary
        How rules were kept.
    ruled : Ruled
        What keeping them did to the groups.
    source : Source or None
        The file that the table came from.
    own : OwnValues
        Released values that are those of one record.
    told : list of str
        What is to be known about the columns that are kept.
    conditions : list of ConditionSummary
        What was asked of confidential columns, and reached.
    loss_without_conditions : float or None
        Information loss of the same plan where nothing is asked of them.
    """

    declared: Declared
    strata: Strata
    grouped: Grouped
    protected: list[ProtectedSet]
    rules: list[RuleSummary]
    ruled: Ruled
    source: Source | None
    own: OwnValues
    told: list[str]
    conditions: list[ConditionSummary]
    loss_without_conditions: float | None

    @property
    def released(self) -> list[tuple[AnyColumn, Masked]]:
        """Every column of every set with what is released for it."""
        return [pair for part in self.protected for pair in part.columns()]

    @property
    def suppressed(self) -> int:
        """Cells that are missing in the release only."""
        return sum(int((column.observed & ~now.observed).sum()) for column, now in self.released)

    @property
    def constant(self) -> list[str]:
        """Columns whose observed values are all equal, so that they play no part."""
        seen = {column.name: column.values[column.observed] for column, _ in self.released}
        return [name for name, values in seen.items() if len(values) > 0 and bool((values == values[0]).all())]

    @property
    def decimals(self) -> dict[str, int]:
        """With how many decimals columns of fractions are released; without those that have all digits of a float."""
        fractions = [column for column, _ in self.released if isinstance(column, Column) and not column.whole]
        return {column.name: column.decimals for column in fractions if column.decimals is not None}

    @property
    def for_patterns(self) -> dict[str, int]:
        """Cells of each column that are suppressed for patterns of missing cells."""
        pairs = zip(self.declared.sets, self.grouped.sets, strict=True)
        lost = {
            was.name: int((was.observed & ~now.observed).sum())
            for before, after in pairs
            for was, now in zip(before.columns, after.columns, strict=True)
        }
        return {name: cells for name, cells in lost.items() if cells}
