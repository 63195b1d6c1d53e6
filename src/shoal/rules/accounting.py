"""How each rule was kept in a release, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.aggregate.sets import Aggregation, ProtectedSet, aggregate_column
from shoal.columns.numbers import Column
from shoal.errors import counted
from shoal.kernels.arrays import Floats, Masked
from shoal.kernels.representatives import group_rows
from shoal.rules.classify import Classified, Values
from shoal.rules.editing import Editing
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.expression import Call, Missing, walk
from shoal.rules.keeping import AGGREGATED, CONSTRUCTED, OTHER_RECORD, OWN_RECORD, SOLVED, SUPPRESSED, Account
from shoal.rules.tuples import released_observations


@dataclass(frozen=True)
class RuleSummary:
    """How a rule was kept, and what it cost.

    Attributes
    ----------
    name, kind : str
        Of the rule: linear, multiplicative, possible values, governing, original domain, total or unclassified.
    columns : list of str
        The columns that it needs.
    kept_by : str
        What keeps it, and in how many groups.
    violations_before, violations_after : int
        Records that break it in the original and in the release.
    guaranteed : bool
        Whether it is kept by construction wherever it held; otherwise it is only checked.
    would_break : int
        Records in which it would be broken by what the plan without rules releases.
    cost : float or None
        What its columns lose more than by the same plan without rules, in percent of their sum of squares; below 0
        where they lose less. None where that is not known, see ``loss_without_rules`` of the summary.
    cost_in_groups : float
        What its columns lose more than the means of the same groups would, in the same percent. With sampling weights
        the means are weighted; of whole numbers they are rounded, as they would be released.
    """

    name: str
    kind: str
    columns: list[str]
    kept_by: str
    violations_before: int
    violations_after: int
    guaranteed: bool
    would_break: int
    cost: float | None
    cost_in_groups: float


@dataclass(frozen=True)
class Kept:
    """What was done to keep rules.

    Attributes
    ----------
    split : set of str
        Rules whose antecedent has become a stratum.
    accounts : list of Account
        How groups were changed.
    exchanged : set of str
        Rules for which records have changed places between groups.
    broken : dict of int
        Records of the groups of the plan without rules that would break each rule, before it was kept.
    checked : dict of int
        Records of the release that break rules which only an engine can check.
    """

    split: set[str] = field(default_factory=set)
    accounts: list[Account] = field(default_factory=list)
    exchanged: set[str] = field(default_factory=set)
    broken: Mapping[str, int] = field(default_factory=dict)
    checked: Mapping[str, int] = field(default_factory=dict)


def guaranteed(rule: Classified) -> bool:
    """Whether a rule is kept by construction wherever it held.

    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> guaranteed(classify(parse_rule("A <= B"))), guaranteed(classify(parse_rule("A is missing or B > 0")))
    (True, False)
    """
    condition = rule.rule.condition
    if condition is None or rule.rule.weight is not None:
        return False
    # what asks whether values are there may be broken by suppressing them
    return not any(
        isinstance(node, Missing) or (isinstance(node, Call) and node.function == "count") for node in walk(condition)
    )


@dataclass(frozen=True)
class RuleSums:
    """What is counted and added up of a rule: of all records, or of those of a block.

    Attributes
    ----------
    rule : Classified
        The rule.
    before, after, would_break : int
        As ``violations_before``, ``violations_after`` and ``would_break`` of its summary.
    more : tuple of float or None
        What its columns lose more than by the same plan without rules, and all squares; None where that is not known.
    in_groups : tuple of float
        The same beside the means of the same groups.
    """

    rule: Classified
    before: int
    after: int
    would_break: int
    more: tuple[float, float] | None
    in_groups: tuple[float, float]


@dataclass(frozen=True)
class RuleFigures:
    """How the rules of a release, or of a block of it, were kept.

    Attributes
    ----------
    rules : list of RuleSums
        By rule.
    kept : Kept
        What was done.
    aggregators : dict
        Of the quasi-identifiers.
    changed : frozenset of str
        Quasi-identifiers that rules name.
    """

    rules: list[RuleSums]
    kept: Kept
    aggregators: dict[str, str]
    changed: frozenset[str]

    def summaries(self) -> list[RuleSummary]:
        """Say how each rule was kept and what it cost."""
        return [
            RuleSummary(
                name=own.rule.name,
                kind=own.rule.kind,
                columns=list(own.rule.variables),
                kept_by=_kept_by(own.rule, self.kept, self.aggregators, self.changed),
                violations_before=own.before,
                violations_after=own.after,
                guaranteed=guaranteed(own.rule),
                would_break=own.would_break,
                cost=None if own.more is None else _percent(own.more),
                cost_in_groups=_percent(own.in_groups),
            )
            for own in self.rules
        ]


def add_rule_figures(parts: Sequence[RuleFigures]) -> RuleFigures:
    """Put together how the same rules were kept in blocks; sums are rounded once, so that the order plays no part."""
    accounts: dict[tuple[str, ...], Account] = {}
    for account in (account for part in parts for account in part.kept.accounts):
        own = accounts.get(account.rules)
        accounts[account.rules] = account if own is None else _add_accounts(own, account)
    kept = Kept(
        split=set().union(*(part.kept.split for part in parts)),
        accounts=[accounts[name] for name in sorted(accounts)],
        exchanged=set().union(*(part.kept.exchanged for part in parts)),
    )
    rules = []
    for place, first in enumerate(parts[0].rules):
        every = [part.rules[place] for part in parts]
        known = [own.more for own in every if own.more is not None]
        rules.append(
            RuleSums(
                first.rule,
                sum(own.before for own in every),
                sum(own.after for own in every),
                sum(own.would_break for own in every),
                _added(known) if len(known) == len(every) else None,
                _added([own.in_groups for own in every]),
            )
        )
    return RuleFigures(rules, kept, parts[0].aggregators, parts[0].changed)


def _add_accounts(one: Account, other: Account) -> Account:
    derived = {**one.derived, **other.derived}
    return replace(one, ways=one.ways + other.ways, derived={name: derived[name] for name in sorted(derived)})


def _added(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)


def account_for(
    editing: Editing,
    kept: Kept,
    protected: Sequence[ProtectedSet],
    how: Aggregation,
    without: Sequence[ProtectedSet] | None = None,
) -> RuleFigures:
    """Count how each rule was kept and what it cost, in its groups, and beside what is released ``without`` rules."""
    pairs = [zip(part.quasi.names, part.quasi.aggregators, strict=True) for part in protected]
    aggregators = {name: how for own in pairs for name, how in own}
    costs: dict[str, tuple[float, float]] = {}
    having: dict[str, tuple[float, float]] = {}
    before = {column.name: now for part in without or () for column, now in part.columns()}
    observations = dict(editing.observations)
    for part in protected:
        grouping = group_rows(part.groups)
        for column, now in part.columns():
            if column.name in editing.observations:
                observations[column.name] = released_observations(column, editing.observations[column.name], *now)
                costs[column.name] = (0.0, 0.0)
                if isinstance(column, Column):
                    means = aggregate_column(column, grouping, "mean", how)
                    more, total = _squares(column, now, means, editing)
                    costs[column.name] = (max(more, 0.0), total)
                    if column.name in before:
                        having[column.name] = _squares(column, now, before[column.name], editing)
    plain = {
        **editing.observations,
        **{
            column.name: released_observations(column, editing.observations[column.name], *now)
            for part in without or ()
            for column, now in part.columns()
            if column.name in editing.observations
        },
    }
    found = []
    for rule in editing.rules:
        found.append(
            RuleSums(
                rule=rule,
                before=int((~editing.held[rule.name]).sum()),
                after=kept.checked.get(rule.name, _violations(rule, observations, editing.observations)),
                would_break=kept.broken.get(rule.name, 0) if without is None else _newly(rule, plain, editing),
                more=None if without is None else _sum([having[n] for n in rule.variables if n in having]),
                in_groups=_sum([costs[name] for name in rule.variables if name in costs]),
            )
        )
    return RuleFigures(found, kept, aggregators, frozenset(costs))


def _sum(squares: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(pair[0] for pair in squares), sum(pair[1] for pair in squares)


def _percent(squares: tuple[float, float]) -> float:
    """Return what was lost more over all there was to lose."""
    return 100.0 * squares[0] / squares[1] if squares[1] > 0.0 else 0.0


def _newly(rule: Classified, observations: Mapping[str, Observations], editing: Editing) -> int:
    """Count the records that break a rule which held in them before."""
    condition = rule.rule.condition
    if condition is None:
        return 0
    verdict = evaluate(condition, observations, editing.observations)
    return int((verdict.violated & editing.held[rule.name]).sum())


def _violations(
    rule: Classified, observations: Mapping[str, Observations], original: Mapping[str, Observations]
) -> int:
    condition = rule.rule.condition
    return 0 if condition is None else int(evaluate(condition, observations, original).violated.sum())


def _squares(column: Column, released: Masked, others: Masked, editing: Editing) -> tuple[float, float]:
    """Return what released values lose more than others do, and all squares, in units of variance."""
    seen, scale = column.observed, editing.scores_of(column)
    if scale.spread == 0.0 or not seen.any():
        return 0.0, 0.0
    x = scale.apply(column.values[seen])

    def lost(now: Masked) -> float:
        put: Floats = np.where(now.observed, scale.apply(now.values), 0.0)[seen]  # the mean for a suppressed one
        return float(((x - put) ** 2).sum())

    return lost(released) - lost(others), float(len(x))


_WORDS = {
    CONSTRUCTED: "projected",
    SOLVED: "whole numbers solved for",
    OWN_RECORD: "a record of the group",
    OTHER_RECORD: "a record of another group",
    SUPPRESSED: "suppressed",
}


def _kept_by(rule: Classified, kept: Kept, aggregators: Mapping[str, str], changed: frozenset[str]) -> str:
    """Say in words what keeps a rule."""
    names = [name for name in rule.variables if name in changed]
    if rule.rule.condition is None:
        return "checked, not guaranteed"
    if not names:
        return "its columns are released as they are"
    how = {aggregators[name] for name in names}
    words = [" and ".join(sorted(how))]
    if rule.rule.weight is not None:
        words.append(f"preferred with weight {rule.rule.weight:g}")
    if rule.name in kept.split:
        words.append("its antecedent as a stratum")
    if rule.name in kept.exchanged:
        words.append("records that changed places")
    for account in kept.accounts:
        if rule.name not in account.rules:
            continue
        derived = [n for n in account.derived if n in rule.variables and set(account.derived[n]) <= set(rule.variables)]
        groups = int(account.ways.sum())
        for way, word in _WORDS.items():
            count = int(account.ways[way])
            if count:
                listed = rule.kind == "original domain" or any(isinstance(part, Values) for part in rule.parts)
                told = word
                if way == CONSTRUCTED and rule.kind == "total":
                    told = "rounded the other way"
                elif way == CONSTRUCTED and (derived or listed):
                    told = f"{' and '.join(derived)} derived" if derived else "moved to the nearest allowed value"
                words.append(f"{told} in {count} of {counted(groups, 'group')}")
        if account.ways[AGGREGATED] == groups:
            words[0] += " alone"
    return "; ".join(words) + ("" if guaranteed(rule) or rule.rule.weight is not None else "; checked, not guaranteed")
