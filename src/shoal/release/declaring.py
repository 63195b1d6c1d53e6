"""Settings and a table to a Plan that fits it: all mistakes are found before any work is done, and told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from shoal.columns.categories import AnyColumn
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import DEFAULT_SCALING, Scale, ScalingName, fit_scale
from shoal.errors import DataError, FileError, PlanError, counted, did_you_mean
from shoal.kernels.arrays import Floats
from shoal.measures.pairs import WholeColumn
from shoal.partition.conditions.confidential import LittleGivenAway
from shoal.partition.methods import Method, find_method
from shoal.plan.automatic import AUTO, is_auto
from shoal.plan.plan import EVERY_COLUMN, Plan, column_mistakes, mentions, role_mistakes
from shoal.plan.roles import MEASURABLE, Kind, Role
from shoal.plan.rules import rules_or_file
from shoal.release.confidential import confidential_of
from shoal.release.declaring_households import declare_households
from shoal.release.giving_back import giving_back, giving_back_mistakes
from shoal.release.kept_finding import KeptFinding
from shoal.release.quasi_identifiers import (
    aggregator_mistakes,
    aggregator_of,
    check_aggregator,
    column_of,
    every_aggregator,
    held_aggregator,
    kind_of,
    method_mistakes,
    refining_mistakes,
    unsupported,
)
from shoal.release.whole_distributions import WholeDistribution
from shoal.rules.guard import InWhole
from shoal.rules.rule import Rule
from shoal.rules.sets import SET_SIZE, sets_from_rules
from shoal.rules.sources import as_rules, missing_columns
from shoal.tables.disguised import disguise
from shoal.tables.households import Households
from shoal.tables.identifying import why_identifier
from shoal.tables.row_labels import index_suspects
from shoal.tables.table import Table
from shoal.tables.weights import sampling_weights

DEFAULT_METHOD = "optimal"  # where the plan names none
CATEGORY_METHOD = "semantic-optimal"  # the same where there are categories

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Declared:
    """A plan that fits its table.

    Attributes
    ----------
    plan : Plan
        What was asked for, with every column named.
    method, options
        The method and its options, with the defaults filled in.
    sets : list of QuasiIdentifiers
        The quasi-identifiers, in the sets that are microaggregated together.
    weights : float64 (n,) or None
        Sampling weights.
    rules : list of Rule
        The edit rules of the plan.
    doubtful : list of str
        Quasi-identifiers that nobody named and that look like direct identifiers.
    told : LittleGivenAway or None
        What groups must keep of confidential columns.
    given_back : list of KeptFinding
        Kept columns that give back a quasi-identifier, all of them accepted.
    households : Households or None
        Which records belong together.
    whole : dict of WholeColumn
        What is known of the columns in the whole table, where ``sets`` has a block of it.
    ruled : InWhole or None
        What its rules must know of the whole table, then.
    near : dict of WholeDistribution
        Distributions that groups are compared with, then.
    """

    plan: Plan
    method: Method
    options: dict[str, Any]
    sets: list[QuasiIdentifiers]
    weights: Floats | None
    rules: list[Rule]
    doubtful: list[str]
    told: LittleGivenAway | None = None
    given_back: list[KeptFinding] = field(default_factory=list)
    households: Households | None = None
    whole: Mapping[str, WholeColumn] = field(default_factory=dict)
    ruled: InWhole | None = None
    near: Mapping[str, WholeDistribution] = field(default_factory=dict)

    @property
    def mixed(self) -> bool:
        """Whether there are categories among the quasi-identifiers."""
        return any(quasi.mixed for quasi in self.sets)


def declare(settings: Mapping[str, Any], table: Table, all_numeric: bool = False, *, whole: bool = True) -> Declared:
    """Check settings against a table and return what they come to.

    With ``all_numeric`` every column of numbers or dates that has no other role is a quasi-identifier. Columns that are
    kept are looked at only where the table is ``whole``, and does not stand for one that was surveyed.
    """
    settings, unnamed = _with_every_column(settings, table, all_numeric)
    known = set(table.names)
    named = mentions(settings)
    mistakes = column_mistakes(settings, table.names)
    plan = None
    try:
        plan = Plan(**settings)
    except PlanError as error:
        mistakes += [m for m in (*error.mistakes, *role_mistakes(named)) if m not in mistakes]
    asked = list(dict.fromkeys(name for name, role in named if role is Role.QUASI_IDENTIFIER and name in known))
    kinds = {name: kind_of(table, name, plan) for name in asked} if plan else {}
    method, options, wrong = _method(settings, kinds)
    mistakes += wrong + _aggregator_mistakes(settings) + _missing_condition(plan, method)
    rules: list[Rule] = []
    unread: FileError | None = None
    try:
        rules = _rules(settings, table)
    except PlanError as error:
        mistakes += error.mistakes
    except FileError as error:  # where that is the only mistake
        unread = error
    mistakes += _undeclared_identifiers(table, {name for name, _ in named}) + index_suspects(table)

    reasons = _overlooked(table, {name for name, _ in named}) if unnamed else []
    if plan and len(table) < plan.k:
        hint = "choose a smaller k" if len(table) >= 2 else "there is nothing to protect"
        reasons.append(f"the table has {counted(len(table), 'record')}, fewer than k = {plan.k}; {hint}")
    found = _Quasi()
    if plan and method:
        found = _quasi_identifiers(table, asked, plan, method, kinds)
        mistakes += found.mistakes
        reasons += found.reasons
    weights = _weights(settings, table, reasons)
    readable = plan is not None and known.issuperset(plan.conditions)
    told = _attempt(reasons, confidential_of, table, plan) if plan and readable else None
    if mistakes or plan is None or method is None:
        raise PlanError(list(dict.fromkeys(mistakes + reasons)))
    if reasons:
        raise DataError(reasons)
    if unread:
        raise unread
    plan, households = declare_households(plan, table, found.columns)
    given_back = giving_back(plan, table) if whole else []
    useless = giving_back_mistakes(plan, given_back, len(table)) + _without_effect(plan, method, found)
    if useless:
        raise PlanError(useless)
    plan = plan.model_copy(update={"method": method.name, "options": {name: options[name] for name in plan.options}})
    sets = _sets(plan, method, found)
    doubtful = [name for quasi in sets for name in quasi.names if unnamed and why_identifier(table.profile(name))]
    return Declared(plan, method, options, sets, weights, rules, doubtful, told, given_back, households)


def _weights(settings: Mapping[str, Any], table: Table, reasons: list[str]) -> Floats | None:
    """Return the sampling weights, where a column of them is named and in the table."""
    name = settings.get("weight")
    return _attempt(reasons, sampling_weights, table, name) if isinstance(name, str) and name in table.names else None


def _without_effect(plan: Plan, method: Method, found: _Quasi) -> list[str]:
    """Say what was asked for that would have no effect."""
    widest = max(map(len, plan.quasi_identifiers))
    useless = method.without_effect(plan.options, widest) + (method.refine_mistakes(widest) if plan.refine else [])
    if plan.refine and method.mixed and not useless:
        useless += refining_mistakes(found.columns, found.aggregators, plan.combinations == "observed")
    cut = plan.blocking
    if method.by_column and cut and cut.columns and not found.columns.keys() <= set(cut.columns):
        useless.append(
            f"blocking.columns: method '{method.name}' treats every column by itself, and each is cut into blocks by "
            "its own values; leave it out"
        )
    if plan.column_weights and not method.mixed:
        useless.append(f"column_weights: has no effect with method '{method.name}'; leave it out")
    if plan.conditions and plan.options.get("split") is False:
        useless.append("conditions: records with equal quasi-identifiers must be separated; leave the option split out")
    if plan.scaling and not found.scale_of:
        useless.append("scaling: has no effect without a column of numbers or dates")
    return useless + _idle_decimals(plan, found)


def _idle_decimals(plan: Plan, found: _Quasi) -> list[str]:
    """Say which decimals were asked for that no released column has."""
    fractions = {name for name, column in found.columns.items() if isinstance(column, Column) and not column.whole}
    useless = []
    for name in plan.decimals:
        if name == EVERY_COLUMN:
            if not fractions - set(plan.decimals):
                useless.append("decimals: has no effect without a column of fractions; leave it out")
        elif name not in found.columns:
            useless.append(f"decimals: column '{name}' is not a quasi-identifier, so it is released as it is")
        elif name not in fractions:
            useless.append(f"decimals: column '{name}' has no fractions; leave it out")
    return useless


def _sets(plan: Plan, method: Method, found: _Quasi) -> list[QuasiIdentifiers]:
    """Return the sets of quasi-identifiers; each column is one where the method treats them one by one."""
    every = plan.quasi_identifiers
    parts = [(name,) for part in every for name in part] if method.by_column else every
    return [
        QuasiIdentifiers(
            columns=[found.columns[name] for name in part],
            scales=[found.scale_of.get(name) for name in part],
            shares=[plan.column_weights.get(name, 1.0) for name in part],
            aggregators=[found.aggregators[name] for name in part],
        )
        for part in parts
    ]


@dataclass
class _Quasi:
    """The quasi-identifiers as columns, how they are scaled and aggregated, and what is wrong with them."""

    columns: dict[str, AnyColumn] = field(default_factory=dict)
    aggregators: dict[str, str] = field(default_factory=dict)
    scaling: ScalingName = DEFAULT_SCALING
    scale_of: dict[str, Scale] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def _quasi_identifiers(table: Table, names: list[str], plan: Plan, method: Method, kinds: Mapping[str, Kind]) -> _Quasi:
    """Read the quasi-identifiers as what they are."""
    found = _Quasi(scaling=plan.scaling or DEFAULT_SCALING)
    found.reasons = method_mistakes(table, names, plan, method)
    found.mistakes = unsupported(plan, kinds)
    if not found.reasons:
        found.mistakes += aggregator_mistakes(plan, kinds)
    found.aggregators = {name: aggregator_of(plan, method, kinds[name], name) for name in names}
    for name in names:
        if kinds[name] not in (*method.kinds, Kind.OTHER):
            continue
        column = _attempt(found.reasons, column_of, table, name, plan)
        if column is None:
            continue
        found.columns[name] = column
        found.aggregators[name] = held_aggregator(plan, column, found.aggregators[name])
        _attempt(found.reasons, check_aggregator, table, column, found.aggregators[name])
        if isinstance(column, Column):
            scale = _attempt(found.reasons, fit_scale, column, found.scaling)
            if scale is not None:
                found.scale_of[name] = scale
    return found


def _attempt(reasons: list[str], step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Call a step; where the data do not allow it, note the reasons and go on."""
    try:
        return step(*args, **kwargs)
    except DataError as error:
        reasons += error.mistakes
        return None


def _with_every_column(settings: Mapping[str, Any], table: Table, all_numeric: bool) -> tuple[dict[str, Any], bool]:
    """Return settings with every quasi-identifier by name, and whether nobody named them."""
    if all_numeric:
        return {**settings, "quasi_identifiers": _all_numeric(settings, table)}, True
    if is_auto(settings.get("quasi_identifiers")) and AUTO not in table.names:
        found = {**settings, "quasi_identifiers": _from_rules(settings, table)}
        found.pop("set_size", None)
        return found, True
    return dict(settings), False


def _all_numeric(settings: Mapping[str, Any], table: Table) -> list[str]:
    """Return the columns of numbers and dates that have no other role."""
    if settings.get("quasi_identifiers"):
        raise PlanError("name the quasi-identifiers or ask for all numeric columns, not both")
    named = {name for name, _ in mentions(settings)}
    found = [name for name in table.names if name not in named and table.kind(name) in MEASURABLE]
    if not found:
        raise DataError("there is no column of numbers or dates without another role")
    return found


def _from_rules(settings: Mapping[str, Any], table: Table) -> list[list[str]]:
    """Return the columns of numbers, dates and declared categories without another role, in sets that rules form."""
    size = settings.get("set_size") or SET_SIZE
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise PlanError("set_size: must be a whole number of at least 1")
    rest = {name: value for name, value in settings.items() if name != "quasi_identifiers"}
    taken = {name for name, _ in mentions(rest)}
    named = settings.get("nominal") or ()
    said = {*(settings.get("hierarchies") or ()), *(settings.get("orders") or ())}
    said |= {named} if isinstance(named, str) else set(named)
    found = [n for n in table.names if n not in taken and (n in said or table.kind(n) in MEASURABLE)]
    if not found:
        raise DataError("there is no column of numbers, dates or declared categories without another role")
    try:
        return sets_from_rules(_rules(rest, table), found, size)
    except (PlanError, FileError):  # told with all other mistakes
        return [found]


def _overlooked(table: Table, named: set[str]) -> list[str]:
    """Say which columns without a role hold numbers or dates that "all numeric" does not see."""
    mistakes = []
    for name in table.names:
        if name not in named and table.kind(name) is Kind.NOMINAL:
            found = disguise(table.factor(name).labels)
            if found:
                mistakes.append(
                    f"column '{name}' holds {found.what}, and is not among all numeric columns; {found.advice}; or "
                    "give it a role"
                )
    return mistakes


def _method(settings: Mapping[str, Any], kinds: Mapping[str, Kind]) -> tuple[Method | None, dict[str, Any], list[str]]:
    """Look the method up and check its options; where none is named, take the best for these kinds of columns."""
    usual = DEFAULT_METHOD if all(kind in (*MEASURABLE, Kind.OTHER) for kind in kinds.values()) else CATEGORY_METHOD
    name = str(settings.get("method") or usual)
    options = settings.get("options") or {}
    method = None
    try:
        method = find_method(name)
        return method, method.parse_options(options if isinstance(options, Mapping) else {}), []
    except PlanError as error:
        return method, {}, error.mistakes


def _missing_condition(plan: Plan | None, method: Method | None) -> list[str]:
    """Say which condition on a confidential column the method needs that is not there."""
    return method.condition_mistakes(one.asked() for one in plan.conditions.values()) if plan and method else []


def _aggregator_mistakes(settings: Mapping[str, Any]) -> list[str]:
    """Say which aggregators do not exist, need a weight that is not there, or belong to no quasi-identifier."""
    given = settings.get("aggregators") or {}
    if isinstance(given, str):
        given = {EVERY_COLUMN: given}
    if not isinstance(given, Mapping):
        return []
    names = {name for name, role in mentions(settings) if role is Role.QUASI_IDENTIFIER}
    mistakes, known = [], every_aggregator()
    for column, aggregator in given.items():
        if isinstance(aggregator, str) and aggregator not in known:
            hint = did_you_mean(aggregator, known)
            mistakes.append(f"there is no aggregator '{aggregator}'{hint} (there are {', '.join(known)})")
        elif isinstance(aggregator, str) and known[aggregator].needs_weights and not settings.get("weight"):
            mistakes.append(f"aggregator '{aggregator}' needs a column of weights; name it as weight")
        if column == EVERY_COLUMN and names and names <= set(given):
            mistakes.append("aggregators: '*' has no effect, since every quasi-identifier has its own")
        elif column != EVERY_COLUMN and column not in names:
            mistakes.append(f"aggregators: column '{column}' is not a quasi-identifier, so it is not aggregated")
    return list(dict.fromkeys(mistakes))


def _rules(settings: Mapping[str, Any], table: Table) -> list[Rule]:
    """Read the rules, and refuse them as far as that can be done without the values of the table."""
    try:
        asked = rules_or_file(settings)
        rules = as_rules(asked.get("rules") or (), asked.get("rules_file"))
    except (TypeError, AttributeError):  # told by the plan
        return []
    removed = [name for name, role in mentions(settings) if role is Role.IDENTIFIER]
    mistakes = missing_columns(rules, table.names, removed)
    if mistakes:
        raise PlanError(mistakes)
    return rules


def _undeclared_identifiers(table: Table, named: set[str]) -> list[str]:
    """Return one mistake that lists all columns without a role that look like direct identifiers."""
    suspects = {}
    for name in table.names:
        if name not in named:
            reason = why_identifier(table.profile(name))
            if reason:
                suspects[name] = reason
    if not suspects:
        return []
    listed = ", ".join(f"'{name}' ({reason})" for name, reason in suspects.items())
    return [
        f"these columns look like direct identifiers and have no role: {listed}; name them as "
        "identifiers to remove them, or as confidential to keep them (--drop or --keep on the command line)"
    ]
