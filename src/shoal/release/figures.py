"""What is counted and added up of a release: by set of quasi-identifiers, for a whole table or block by block.

The figures of blocks are put together by :func:`add_blocks_of_set`: counts add up, and sums are rounded once, so that
they depend neither on the order of the blocks nor on who protected them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import Category
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Flags
from shoal.kernels.exact_sums import exact_sum
from shoal.measures.loss import SetLoss, add_blocks, set_loss
from shoal.measures.pairs import NumericPair, Pair
from shoal.partition.missing_patterns import number_patterns
from shoal.plan.plan import Plan
from shoal.release.confidential import ConditionSummary, add_conditions
from shoal.release.declaring import Declared
from shoal.release.household_checks import HouseholdSummary
from shoal.release.kept_finding import KeptFinding
from shoal.release.losses import pairs_of
from shoal.release.own_values import OwnValues, add_own_values
from shoal.release.searching import Searched
from shoal.rules.accounting import RuleFigures, RuleSummary, add_rule_figures
from shoal.tables.files import Source


@dataclass(frozen=True)
class Shift:
    """How many values of a column of numbers there were, how many are left, and the sum of the z-scores of these."""

    count: int
    left: int
    total: float


@dataclass(frozen=True)
class SetFigures:
    """What is counted and added up of one set of quasi-identifiers.

    Attributes
    ----------
    names : list of str
        Its columns.
    sizes : Counter
        How many groups there are of each size.
    loss : SetLoss
        What was lost.
    suppressed : int
        Cells that are missing in the release only.
    for_patterns : dict
        Those that were suppressed for patterns of missing cells, by column.
    complete : bool
        Whether no value was missing.
    told_apart : int
        Records that share with too few others of their group which of their values are missing.
    shifts : dict of Shift
        What suppression did to the means of columns of numbers.
    own : OwnValues
        Released values that are those of one record.
    merged : int
        Groups that were merged with others, for a condition.
    steps : int or None
        Of a search.
    rules : RuleFigures or None
        How edit rules were kept.
    without : SetLoss or None
        What is lost without them, where that is known.
    record_tuples : int
        Groups in which the columns of rules are those of one record.
    conditions : list of ConditionSummary
        What was asked of confidential columns, and reached.
    without_conditions : SetLoss or None
        What is lost where nothing is asked of them.
    """

    names: list[str]
    sizes: Counter[int]
    loss: SetLoss
    suppressed: int
    for_patterns: dict[str, int]
    complete: bool
    told_apart: int
    shifts: dict[str, Shift]
    own: OwnValues
    merged: int = 0
    steps: int | None = None
    rules: RuleFigures | None = None
    without: SetLoss | None = None
    record_tuples: int = 0
    conditions: list[ConditionSummary] = field(default_factory=list)
    without_conditions: SetLoss | None = None

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return sum(self.sizes.values())


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Everything that a summary says of a release.

    Attributes
    ----------
    declared : Declared
        The plan that fits the table.
    records : int
        Rows of the table.
    sets : list of SetFigures
        By set of quasi-identifiers.
    blocks, blocking_idle
        Number of blocks over all sets, and whether these are nothing but the strata.
    strata, merged_strata : int
        Strata that the user declared, and those that share the groups of another.
    persons, doubtful, within
        Identifiers that k counts, with the number of persons; that may tell persons apart; that number records.
    household : HouseholdSummary or None
        What k counts where records belong together.
    constant, partial : list of str
        Columns with a single value, and columns whose type does not hold all names of their hierarchy.
    combined : int
        Smallest number of records with the same groups in all sets.
    distinct : tuple of int or None
        Combinations of quasi-identifiers before and after, where there are categories.
    rules, loss_without, record_tuples
        How rules were kept.
    conditions, loss_without_conditions
        What was asked of confidential columns and reached, and the loss where nothing is asked of them.
    searched, gap
        What a search did, and how far what is released is from what it proved.
    source : Source or None
        The file that the table came from.
    told, kept
        What is to be known about the columns that are kept, in words and as findings.
    """

    declared: Declared
    records: int
    sets: list[SetFigures]
    blocks: int
    blocking_idle: bool
    strata: int = 0
    merged_strata: int = 0
    persons: dict[str, int] = field(default_factory=dict)
    doubtful: list[str] = field(default_factory=list)
    within: dict[str, str] = field(default_factory=dict)
    household: HouseholdSummary | None = None
    constant: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    combined: int
    distinct: tuple[int, int] | None = None
    rules: list[RuleSummary] = field(default_factory=list)
    loss_without: float | None = None
    record_tuples: int = 0
    conditions: list[ConditionSummary] = field(default_factory=list)
    loss_without_conditions: float | None = None
    searched: Searched | None = None
    gap: float | None = None
    source: Source | None = None
    told: list[str] = field(default_factory=list)
    kept: list[KeptFinding] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        """What was asked for."""
        return self.declared.plan

    @property
    def suppressed(self) -> int:
        """Cells that are missing in the release only."""
        return sum(part.suppressed for part in self.sets)

    @property
    def for_patterns(self) -> dict[str, int]:
        """Cells of each column that are suppressed for patterns of missing cells."""
        return {name: cells for part in self.sets for name, cells in part.for_patterns.items() if cells}

    @property
    def merged_groups(self) -> int:
        """Groups that were merged with others, so that every condition holds."""
        return sum(part.merged for part in self.sets)

    @property
    def own(self) -> OwnValues:
        """Released values that are those of one record, in all sets."""
        return add_own_values([part.own for part in self.sets])

    @property
    def decimals(self) -> dict[str, int]:
        """With how many decimals columns of fractions are released; without those that have all digits of a float."""
        every = [column for quasi in self.declared.sets for column in quasi.columns]
        fractions = [column for column in every if isinstance(column, Column) and not column.whole]
        return {column.name: column.decimals for column in fractions if column.decimals is not None}


def set_figures(
    part: ProtectedSet, before: QuasiIdentifiers, after: QuasiIdentifiers, declared: Declared, own: OwnValues
) -> SetFigures:
    """Count and add up one set: what was declared ``before``, and is left ``after`` cells went for patterns."""
    plan = declared.plan
    pairs = pairs_of(part, declared.whole)
    lost = {
        was.name: int((was.observed & ~now.observed).sum())
        for was, now in zip(before.columns, after.columns, strict=True)
    }
    return SetFigures(
        names=part.quasi.names,
        sizes=Counter(np.bincount(part.groups).tolist()),
        loss=set_loss(pairs, plan.column_weights, declared.mixed),
        suppressed=sum(int((column.observed & ~now.observed).sum()) for column, now in part.columns()),
        for_patterns=lost,
        complete=all(column.observed.all() for column in part.quasi.columns),
        told_apart=int(told_apart(part, plan.k).sum()) if plan.missing_patterns == "ignored" else 0,
        shifts=_shifts(pairs),
        own=own,
    )


def told_apart(part: ProtectedSet, k: int) -> Flags:
    """Return which records share with fewer than k - 1 others of their group which of their values are missing."""
    holes = [~now.observed for now in part.released if not now.observed.all()]
    if not holes:
        return np.zeros(len(part.groups), dtype=bool)
    alike, _, counts = number_patterns(np.column_stack(holes), part.groups)
    return np.asarray(counts[alike] < k)


def _shifts(pairs: Sequence[Pair]) -> dict[str, Shift]:
    return {
        pair.name: Shift(pair.cells, int(pair.both.sum()), exact_sum(pair.original[pair.both]))
        for pair in pairs
        if isinstance(pair, NumericPair) and not pair.constant
    }


def add_blocks_of_set(parts: Sequence[SetFigures]) -> SetFigures:
    """Put together the figures of the blocks of a set."""
    first = parts[0]
    without = [part.without for part in parts if part.without]
    free = [part.without_conditions for part in parts if part.without_conditions]
    return SetFigures(
        names=first.names,
        sizes=sum((part.sizes for part in parts), Counter()),
        loss=add_blocks([part.loss for part in parts]),
        suppressed=sum(part.suppressed for part in parts),
        for_patterns=_added([part.for_patterns for part in parts]),
        complete=all(part.complete for part in parts),
        told_apart=sum(part.told_apart for part in parts),
        shifts={name: _add_shifts([part.shifts[name] for part in parts]) for name in first.shifts},
        own=add_own_values([part.own for part in parts]),
        merged=sum(part.merged for part in parts),
        steps=None if first.steps is None else sum(part.steps or 0 for part in parts),
        rules=add_rule_figures([part.rules for part in parts if part.rules]) if first.rules else None,
        without=add_blocks(without) if len(without) == len(parts) else None,
        record_tuples=sum(part.record_tuples for part in parts),
        conditions=add_conditions([part.conditions for part in parts]),
        without_conditions=add_blocks(free) if len(free) == len(parts) else None,
    )


def _add_shifts(parts: Sequence[Shift]) -> Shift:
    return Shift(
        sum(part.count for part in parts), sum(part.left for part in parts), math.fsum(part.total for part in parts)
    )


def _added(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(part.get(name, 0) for part in parts) for name in dict.fromkeys(n for p in parts for n in p)}


def partial_columns(declared: Declared) -> list[str]:
    """Return the columns whose type does not hold all names of their hierarchy."""
    every = [column for quasi in declared.sets for column in quasi.columns]
    return [column.name for column in every if isinstance(column, Category) and column.partial]
