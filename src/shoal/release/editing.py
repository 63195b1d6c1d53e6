"""Edit rules on their way through the pipeline: what they ask of declaring, grouping and aggregating, and an account.

``prepare_rules`` classifies them, finds conflicts and chooses aggregators; ``split_strata`` keeps antecedents apart;
``keep`` changes what is released where it would break a rule; the summary says how each was kept, and its cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from shoal.aggregate.protected import ProtectedSet
from shoal.columns.categories import AnyColumn, Category
from shoal.columns.numbers import Column
from shoal.columns.scaling import Records, Scale, encode
from shoal.errors import PlanError
from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.plan.plan import EVERY_COLUMN, Plan
from shoal.release.declaring import Declared
from shoal.release.quasi_identifiers import numbers
from shoal.rules.antecedents import split_by_antecedents
from shoal.rules.cells import decimals_of, read_cells
from shoal.rules.classify import Classified, Domain, Equation, classify
from shoal.rules.conflicts import conflicts
from shoal.rules.evaluate import Cells, evaluate
from shoal.rules.expression import Call, Missing, walk
from shoal.rules.keeping import (
    AGGREGATED,
    CONSTRUCTED,
    OTHER_RECORD,
    OWN_RECORD,
    SOLVED,
    SUPPRESSED,
    Account,
    keep_rules,
)
from shoal.rules.rule import Rule
from shoal.rules.rule_summary import RuleSummary
from shoal.rules.tuples import RuledColumn, bound_parts, names_of, released_cells
from shoal.tables.table import Table


@dataclass
class Editing:
    """Rules that fit a table and a plan.

    Attributes
    ----------
    rules : list of Classified
        What must hold.
    cells : dict of Cells
        The original columns that they need.
    held : dict of bool (n,)
        Records that do not break each, by name.
    aggregators : dict of str
        Aggregators of the columns for which the plan has none.
    split : set of str
        Rules whose antecedent has become a stratum.
    accounts : list of Account
        How they were kept.
    checked : dict of int
        Records that break rules which only an engine can check, in the release.
    """

    rules: list[Classified]
    cells: dict[str, Cells]
    held: dict[str, Flags]
    aggregators: dict[str, str]
    split: set[str] = field(default_factory=set)
    accounts: list[Account] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    def summaries(self, aggregators: Mapping[str, str], protected: Sequence[ProtectedSet]) -> list[RuleSummary]:
        """Say how each rule was kept and what it cost."""
        return rule_summaries(self, aggregators, protected)


def guaranteed(rule: Classified) -> bool:
    """Whether a rule is kept by construction wherever it held.

    >>> from shoal.rules.grammar import parse_rule
    >>> guaranteed(classify(parse_rule("A <= B"))), guaranteed(classify(parse_rule("A is missing or B > 0")))
    (True, False)
    """
    condition = rule.rule.condition
    if condition is None:
        return False
    # what asks whether values are there may be broken by suppressing them
    return not any(
        isinstance(node, Missing) or (isinstance(node, Call) and node.function == "count") for node in walk(condition)
    )


def with_aggregators(declared: Declared, editing: Editing) -> Declared:
    """Return what was declared with the aggregators that rules ask for where the plan says nothing."""
    both = {**declared.plan.aggregators, **editing.aggregators}
    plan = declared.plan.model_copy(update={"aggregators": both})
    return replace(declared, plan=plan, aggregators={**declared.aggregators, **editing.aggregators})


def prepare_rules(rules: Sequence[Rule], declared: Declared, table: Table) -> Editing:
    """Classify rules, choose aggregators, and raise PlanError where rules cannot be kept."""
    plan, sets = declared.plan, declared.sets
    found = [classify(rule) for rule in rules]
    cells = read_cells(table, dict.fromkeys(name for rule in found for name in rule.variables))
    records = len(table)
    held = {
        rule.name: np.ones(records, dtype=bool)
        if rule.rule.condition is None
        else ~evaluate(rule.rule.condition, cells).violated
        for rule in found
    }
    whole = [name for name, one in cells.items() if one.decimals == 0]
    by_column = declared.method.name if declared.method.by_column else ""
    mistakes = conflicts(found, [[c.name for c in part] for part in sets], list(cells), whole, held, by_column)
    if mistakes:
        raise PlanError(mistakes)
    return Editing(found, cells, held, _aggregators(found, plan, sets, cells))


def _aggregators(
    rules: Sequence[Classified], plan: Plan, sets: Sequence[Sequence[AnyColumn]], cells: Mapping[str, Cells]
) -> dict[str, str]:
    """Choose the aggregators that rules ask for, of columns for which the plan does not name one.

    The geometric mean keeps products where all factors are above 0 and no sum needs them; the median is nearest to
    being a value of the original. Everything else takes the mean.
    """
    if EVERY_COLUMN in plan.aggregators:
        return {}
    chosen: dict[str, str] = {}
    parts = [bound.part for bound in bound_parts(rules)]
    summed = {name for part in parts if isinstance(part, Equation) and part.form for name in part.variables}
    for part in parts:
        names = names_of(part)
        if isinstance(part, Domain):
            if cells[part.name].values.dtype.kind != "O":
                chosen[part.name] = "median"
        elif not isinstance(part, Equation) or not part.product or summed & set(names):
            continue
        elif all(_positive(cells[name]) for name in names):
            chosen.update({name: "geometric-mean" for name in names if name not in chosen})
    columns = {c.name for part in sets for c in part if isinstance(c, Column)}
    return {name: how for name, how in chosen.items() if name in columns and name not in plan.aggregators}


def _positive(cells: Cells) -> bool:
    return cells.values.dtype.kind in "iuf" and bool((cells.values[cells.observed] > 0).all())


def rules_of_set(editing: Editing, columns: Sequence[AnyColumn]) -> list[Classified]:
    """Return the rules that need a column of a set."""
    names = {column.name for column in columns}
    return [rule for rule in editing.rules if names & set(rule.variables)]


def split_strata(editing: Editing, declared: Declared, columns: list[AnyColumn], strata: Ints) -> Ints:
    """Return the strata of a set of quasi-identifiers, split by the antecedents of its rules."""
    known = numbers(columns)
    records = Records(np.zeros((len(strata), 1)))  # where there are only categories, all strata are as near
    if known:
        records = encode(known, [declared.scale_of[column.name] for column in known])
    rules = rules_of_set(editing, columns)
    codes, used = split_by_antecedents(strata, rules, editing.cells, records, declared.plan.k)
    editing.split |= used
    return codes


def keep(editing: Editing, declared: Declared, protected: Sequence[ProtectedSet], table: Table) -> list[ProtectedSet]:
    """Change what is released where it would break a rule, and remember how."""
    scale_of = declared.scale_of
    result = []
    for part in protected:
        rules = [rule for rule in rules_of_set(editing, part.columns) if rule.rule.condition is not None]
        if not rules:
            result.append(part)
            continue
        named = {name for rule in rules for name in rule.variables}
        places = [j for j, column in enumerate(part.columns) if column.name in named]
        columns = [_ruled(part.columns[j], editing.cells, scale_of, table) for j in places]
        inside = {column.name for column in columns}
        outside = {name: editing.cells[name] for name in named - inside}
        changed, accounts = keep_rules(
            columns, [part.released[j] for j in places], part.groups, rules, outside, editing.held
        )
        released = list(part.released)
        for j, new in zip(places, changed, strict=True):
            released[j] = new
        editing.accounts += accounts
        result.append(ProtectedSet(part.columns, part.groups, released))
    return result


def _ruled(column: AnyColumn, cells: Mapping[str, Cells], scale_of: Mapping[str, Scale], table: Table) -> RuledColumn:
    if isinstance(column, Category):
        return RuledColumn(column, cells[column.name], 0.0, None)
    values = column.values[column.observed].astype(np.float64)
    spread = float(values.std()) * column.step if len(values) and scale_of[column.name].spread > 0.0 else 0.0
    decimals = decimals_of(table, column.name)
    grid = Fraction(1, 10**decimals) if decimals is not None else None
    return RuledColumn(column, cells[column.name], spread, grid)


def rule_summaries(
    editing: Editing, aggregators: Mapping[str, str], protected: Sequence[ProtectedSet]
) -> list[RuleSummary]:
    """Say how each rule was kept and what it cost."""
    costs: dict[str, tuple[float, float]] = {}
    cells = dict(editing.cells)
    for part in protected:
        sizes = np.bincount(part.groups)
        for column, (values, observed) in zip(part.columns, part.released, strict=True):
            if column.name in editing.cells:
                cells[column.name] = released_cells(column, editing.cells[column.name], values, observed)
                costs[column.name] = (0.0, 0.0)
                if isinstance(column, Column):
                    costs[column.name] = _squares(column, values.astype(np.float64), observed, part.groups, sizes)
    found = []
    for rule in editing.rules:
        own = [costs[name] for name in rule.variables if name in costs]
        total = sum(pair[1] for pair in own)
        found.append(
            RuleSummary(
                name=rule.name,
                kind=rule.kind,
                columns=list(rule.variables),
                kept_by=_kept_by(rule, editing, aggregators, set(costs)),
                violations_before=int((~editing.held[rule.name]).sum()),
                violations_after=editing.checked.get(rule.name, _violations(rule, cells, editing.cells)),
                guaranteed=guaranteed(rule),
                cost=100.0 * sum(pair[0] for pair in own) / total if total > 0.0 else 0.0,
            )
        )
    return found


def _violations(rule: Classified, cells: Mapping[str, Cells], original: Mapping[str, Cells]) -> int:
    condition = rule.rule.condition
    return 0 if condition is None else int(evaluate(condition, cells, original).violated.sum())


def _squares(column: Column, values: Floats, observed: Flags, groups: Ints, sizes: Ints) -> tuple[float, float]:
    """Return what released values lose more than means of the groups would, and all squares, in units of variance."""
    seen = column.observed
    x = column.values.astype(np.float64)
    variance = float(x[seen].var()) if seen.any() else 0.0
    if variance == 0.0:
        return 0.0, 0.0
    counts = np.maximum(np.bincount(groups[seen], minlength=len(sizes)), 1)
    means = np.bincount(groups[seen], x[seen], minlength=len(sizes)) / counts
    put = np.where(observed, values, x[seen].mean())
    lost = ((x - put)[seen] ** 2).sum() - ((x - means[groups])[seen] ** 2).sum()
    return max(float(lost), 0.0) / variance, float(seen.sum())


_WORDS = {
    CONSTRUCTED: "projected",
    SOLVED: "whole numbers solved for",
    OWN_RECORD: "a record of the group",
    OTHER_RECORD: "a record of another group",
    SUPPRESSED: "suppressed",
}


def _kept_by(rule: Classified, editing: Editing, aggregators: Mapping[str, str], changed: set[str]) -> str:
    """Say in words what keeps a rule."""
    names = [name for name in rule.variables if name in changed]
    if rule.rule.condition is None:
        return "checked, not guaranteed"
    if not names:
        return "its columns are released as they are"
    how = {aggregators[name] for name in names}
    words = [" and ".join(sorted(how))]
    if rule.name in editing.split:
        words.append("its antecedent as a stratum")
    for account in editing.accounts:
        if rule.name not in account.rules:
            continue
        derived = [n for n in account.derived if n in rule.variables and set(account.derived[n]) <= set(rule.variables)]
        groups = int(account.ways.sum())
        for way, word in _WORDS.items():
            count = int(account.ways[way])
            if count:
                told = f"{' and '.join(derived)} derived" if way == CONSTRUCTED and derived else word
                words.append(f"{told} in {count} of {groups} groups")
        if account.ways[AGGREGATED] == groups:
            words[0] += " alone"
    return "; ".join(words) + ("" if guaranteed(rule) else "; checked, not guaranteed")
