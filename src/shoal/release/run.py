"""What the steps of a run made of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import AnyColumn
from shoal.columns.mixed import distinct_records
from shoal.kernels.arrays import Masked
from shoal.measures.loss import SetLoss, put_together, set_loss
from shoal.partition.semantic_optimal.problem import RECORDS
from shoal.release.confidential import ConditionSummary
from shoal.release.declaring import Declared
from shoal.release.figures import Figures, SetFigures, partial_columns, set_figures, told_apart
from shoal.release.grouping import Grouped
from shoal.release.household_checks import HouseholdSummary
from shoal.release.losses import losses_of, pairs_of
from shoal.release.own_values import OwnValues
from shoal.release.released_gap import released_gap
from shoal.release.ruled import Ruled
from shoal.release.strata import Strata
from shoal.rules.accounting import RuleFigures
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
    rules : RuleFigures or None
        How rules were kept.
    ruled : Ruled
        What keeping them did to the groups.
    source : Source or None
        The file that the table came from.
    own : list of OwnValues
        Released values that are those of one record, by set.
    conditions : list of ConditionSummary
        What was asked of confidential columns, and reached.
    without_conditions : list of ProtectedSet or None
        What the same plan releases where nothing is asked of them.
    household : HouseholdSummary or None
        What k counts where records belong together.
    """

    declared: Declared
    strata: Strata
    grouped: Grouped
    protected: list[ProtectedSet]
    rules: RuleFigures | None
    ruled: Ruled
    source: Source | None
    own: list[OwnValues]
    conditions: list[ConditionSummary]
    without_conditions: list[ProtectedSet] | None
    household: HouseholdSummary | None = None

    @property
    def released(self) -> list[tuple[AnyColumn, Masked]]:
        """Every column of every set with what is released for it."""
        return [pair for part in self.protected for pair in part.columns()]

    def figures_of_sets(self) -> list[SetFigures]:
        """Count and add up each set of quasi-identifiers."""
        steps = self.grouped.searched.steps if self.grouped.searched else [None] * len(self.protected)
        parts = zip(
            self.protected, self.declared.sets, self.grouped.sets, self.own, self.grouped.merged, steps, strict=True
        )
        return [
            replace(set_figures(part, before, after, self.declared, own), merged=merged, steps=own_steps)
            for part, before, after, own, merged, own_steps in parts
        ]

    def figures_of_block(self) -> SetFigures:
        """Count and add up a block, which has one set, with how its rules and conditions were kept."""
        declared = self.declared

        def lost(parts: list[ProtectedSet] | None) -> SetLoss | None:
            if not parts:
                return None
            return set_loss(pairs_of(parts[0], declared.whole), declared.plan.column_weights, declared.mixed)

        return replace(
            self.figures_of_sets()[0],
            rules=self.rules,
            without=lost(self.ruled.without),
            record_tuples=self.ruled.record_tuples,
            conditions=self.conditions,
            without_conditions=lost(self.without_conditions),
        )

    def figures(self, told: list[str]) -> Figures:
        """Return everything that a summary says of a whole table, with what is ``told`` about the columns kept."""
        plan, searched, sets = self.declared.plan, self.grouped.searched, self.figures_of_sets()
        if searched and any(count for part in sets for count in part.for_patterns.values()):
            # other patterns could lose less, whatever is proved for these
            searched = replace(searched, reached=None, bound=None, gap=None)
        if plan.missing_patterns == "ignored" and len(sets) > 1:  # a record is counted once, also of several sets
            apart = np.logical_or.reduce([told_apart(part, plan.k) for part in self.protected])
            sets = [replace(part, told_apart=int(apart.sum()) if i == 0 else 0) for i, part in enumerate(sets)]
        distinct = None
        if self.declared.mixed:
            before = len(distinct_records([(c, c.values, c.observed) for c, _ in self.released])[1])
            distinct = (before, len(distinct_records([(column, *now) for column, now in self.released])[1]))
        free = self.without_conditions
        combined = min(sets[0].sizes)
        if len(sets) > 1:
            together = np.column_stack([part.groups for part in self.protected])
            combined = int(np.unique(together, axis=0, return_counts=True)[1].min())
        return Figures(
            declared=self.declared,
            records=len(self.strata.codes),
            sets=sets,
            blocks=sum(int(codes.max()) + 1 for codes in self.grouped.blocks),
            blocking_idle=all(
                codes.max() == apart.max() for codes, apart in zip(self.grouped.blocks, self.grouped.apart, strict=True)
            ),
            strata=self.strata.declared,
            merged_strata=self.strata.merged,
            persons={one.name: one.count for one in self.strata.persons if one.kind == "person"},
            household=self.household,
            doubtful=self.strata.doubtful,
            within=self.strata.within,
            constant=self._constant,
            partial=partial_columns(self.declared),
            combined=combined,
            distinct=distinct,
            rules=self.rules.summaries() if self.rules else [],
            loss_without=self.ruled.loss_without,
            record_tuples=self.ruled.record_tuples,
            conditions=self.conditions,
            loss_without_conditions=losses_of(free, self.declared).table.percent if free else None,
            searched=searched,
            gap=released_gap(searched, self.protected[0], self._lost(sets)) if searched else None,
            source=self.source,
            told=told,
        )

    def _lost(self, sets: list[SetFigures]) -> float | None:
        """Return the loss, in percent, that a search for columns of any kind lowered, NaN if nobody measures it.

        None for methods of numbers.
        """
        if not self.declared.method.mixed:
            return None
        losses = put_together([part.loss for part in sets], self.declared.plan.column_weights)
        lowered = losses.records if self.declared.options.get("lower") == RECORDS else losses.table
        return lowered.percent if lowered else np.nan

    @property
    def _constant(self) -> list[str]:
        """Columns whose observed values are all equal, so that they play no part."""
        seen = {column.name: column.values[column.observed] for column, _ in self.released}
        return [name for name, values in seen.items() if len(values) > 0 and bool((values == values[0]).all())]
