"""Edit rules on their way through the pipeline: what they ask of declaring, grouping and aggregating.

``prepare_rules`` classifies them, finds conflicts and chooses aggregators; ``antecedents`` are what may be kept apart;
``keep`` changes what is released where it would break a rule. :mod:`shoal.rules.accounting` says how each was kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import Category
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import Scale, fit_scale
from shoal.errors import PlanError
from shoal.kernels.arrays import Flags, Floats, Masked
from shoal.plan.plan import EVERY_COLUMN
from shoal.rules.antecedents import Antecedents, antecedents_of
from shoal.rules.classify import Classified, Equation, classify
from shoal.rules.conflicts import conflicts
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.keeping import Account, keep_rules
from shoal.rules.keeping_totals import keep_totals
from shoal.rules.observations import Orders, read_observations
from shoal.rules.preferring import hard
from shoal.rules.rule import Rule
from shoal.rules.tuples import RuledColumn, bound_parts, names_of
from shoal.tables.table import Table


@dataclass(frozen=True)
class Editing:
    """Rules that fit a table and a plan.

    Attributes
    ----------
    rules : list of Classified
        What must hold.
    observations : dict of Observations
        The original columns that they need.
    held : dict of bool (n,)
        Records that do not break each, by name.
    aggregators : dict of str
        Aggregators of the columns for which the plan has none.
    scores : dict of Scale
        Z-scores of columns in the whole table, where these are but some of its records.
    """

    rules: list[Classified]
    observations: dict[str, Observations]
    held: dict[str, Flags]
    aggregators: dict[str, str]
    scores: Mapping[str, Scale] = field(default_factory=dict)

    def scores_of(self, column: Column) -> Scale:
        """Return the z-scores of a column."""
        return self.scores.get(column.name) or fit_scale(column, "z-score")

    def of(self, quasi: QuasiIdentifiers, soft: bool = False) -> list[Classified]:
        """Return the rules that need a column of a set and must be kept, and the soft ones where they are asked for."""
        names = set(quasi.names)
        return [rule for rule in (self.rules if soft else hard(self.rules)) if names & set(rule.variables)]


def prepare_rules(
    rules: Sequence[Rule],
    sets: Sequence[QuasiIdentifiers],
    table: Table,
    *,
    chosen: Mapping[str, str],
    geometric: bool = False,
    by_column: str = "",
    orders: Orders | None = None,
) -> Editing:
    """Classify rules, choose aggregators, and raise PlanError where rules cannot be kept.

    ``chosen`` are the aggregators of the plan, ``geometric`` says whether products ask for geometric means,
    ``by_column`` is the method where that treats columns one by one, and ``orders`` are the declared orders of
    categories.
    """
    found = [classify(rule) for rule in rules]
    observations = read_observations(table, dict.fromkeys(name for rule in found for name in rule.variables), orders)
    records = len(table)
    held = {
        rule.name: np.ones(records, dtype=bool)
        if rule.rule.condition is None
        else ~evaluate(rule.rule.condition, observations).violated
        for rule in found
    }
    whole = [name for name, one in observations.items() if one.decimals == 0]
    mistakes = conflicts(found, [quasi.names for quasi in sets], list(observations), whole, held, by_column)
    if mistakes:
        raise PlanError(mistakes)
    return Editing(found, observations, held, _aggregators(hard(found), chosen, sets, observations, geometric))


def _aggregators(
    rules: Sequence[Classified],
    named: Mapping[str, str],
    sets: Sequence[QuasiIdentifiers],
    observations: Mapping[str, Observations],
    geometric: bool,
) -> dict[str, str]:
    """Choose the aggregators that rules ask for, of columns for which the plan does not name one.

    The geometric mean, where asked for, keeps products whose factors are all above 0 and that no sum needs. Everything
    else takes the mean, which keeps totals: of the values that a list or the original allows, the nearest to it loses
    least.
    """
    if EVERY_COLUMN in named:
        return {}
    chosen: dict[str, str] = {}
    parts = [bound.part for bound in bound_parts(rules)]
    summed = {name for part in parts if isinstance(part, Equation) and part.form for name in part.variables}
    for part in parts:
        names = names_of(part)
        if not geometric or not isinstance(part, Equation) or not part.product or summed & set(names):
            continue
        if all(_positive(observations[name]) for name in names):
            chosen.update({name: "geometric-mean" for name in names if name not in chosen})
    columns = {name for quasi in sets for name in quasi.numbers().names}
    return {name: how for name, how in chosen.items() if name in columns and name not in named}


def _positive(observations: Observations) -> bool:
    return observations.values.dtype.kind in "iuf" and bool((observations.values[observations.observed] > 0).all())


def antecedents(editing: Editing, quasi: QuasiIdentifiers, k: int) -> Antecedents:
    """Return the antecedents of the rules of a set that may be strata."""
    return antecedents_of(editing.of(quasi), editing.observations, k)


def keep(
    editing: Editing, protected: Sequence[ProtectedSet], table: Table, weights: Floats | None = None
) -> tuple[list[ProtectedSet], list[Account]]:
    """Change what is released where it would break a rule, and say how."""
    result: list[ProtectedSet] = []
    every: list[Account] = []
    for part in protected:
        rules = [rule for rule in editing.of(part.quasi, soft=True) if rule.rule.condition is not None]
        if not rules:
            result.append(part)
            continue
        named = {name for rule in rules for name in rule.variables}
        places = [j for j, name in enumerate(part.quasi.names) if name in named]
        columns = [_ruled(part.quasi, j, editing, table) for j in places]
        inside = {column.name for column in columns}
        outside = {name: editing.observations[name] for name in named - inside}
        changed, accounts = keep_rules(
            columns, [part.released[j] for j in places], part.groups, rules, outside, editing.held, weights=weights
        )
        released = list(part.released)
        for j, new in zip(places, changed, strict=True):
            released[j] = Masked(*new)
        every += accounts
        result.append(part.with_released(released))
    return keep_totals(editing.rules, result, every, table, weights)


def _ruled(quasi: QuasiIdentifiers, j: int, editing: Editing, table: Table) -> RuledColumn:
    column, scale, how = quasi.columns[j], quasi.scales[j], quasi.aggregators[j]
    observations = editing.observations
    if isinstance(column, Category) or scale is None:
        return RuledColumn(column, observations[column.name], 0.0, None, how)
    deviation = editing.scores_of(column)  # whatever the scaling of the plan
    spread = deviation.spread * deviation.unit * column.step if column.observed.any() else 0.0
    decimals = table.decimals(column.name)
    grid = Fraction(1, 10**decimals) if decimals is not None else None
    return RuledColumn(column, observations[column.name], spread, grid, how)
