"""Settings and a table to a Plan that fits it: all mistakes are found before any work is done, and told at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from shoal.aggregate import AGGREGATORS, aggregator_mistake
from shoal.arrays import Floats
from shoal.encode import Column, Scale, fit_scale
from shoal.errors import DataError, FileError, PlanError, counted, did_you_mean
from shoal.partition import Method, find_method
from shoal.plan import EVERY_COLUMN, Plan, column_mistakes, mentions, role_mistakes
from shoal.rule_settings import rules_or_file
from shoal.rules.sources import as_rules, missing_columns
from shoal.schema import MEASURABLE, Kind, Role, why_identifier
from shoal.tables import Table

DEFAULT_METHOD = "optimal"  # where the plan names none

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
    sets : list of lists of Column
        The numbers of the quasi-identifiers, in the sets that are microaggregated together.
    scale_of : dict
        How each of them is scaled, over the whole table.
    weights : float64 (n,) or None
        Sampling weights.
    doubtful : list of str
        Quasi-identifiers that nobody named and that look like direct identifiers.
    """

    plan: Plan
    method: Method
    options: dict[str, Any]
    sets: list[list[Column]]
    scale_of: dict[str, Scale]
    weights: Floats | None
    doubtful: list[str]


def declare(settings: Mapping[str, Any], table: Table, all_numeric: bool = False) -> Declared:
    """Check settings against a table and return what they come to.

    With ``all_numeric`` every column of numbers or dates that has no other role is a quasi-identifier.
    """
    settings = dict(settings)
    if all_numeric:
        settings["quasi_identifiers"] = _all_numeric(settings, table)
    known = set(table.names)
    named = mentions(settings)
    mistakes = column_mistakes(settings, table.names)
    plan = None
    try:
        plan = Plan(**settings)
    except PlanError as error:
        mistakes += [m for m in (*error.mistakes, *role_mistakes(named)) if m not in mistakes]
    method, options, method_mistakes = _method(settings)
    mistakes += method_mistakes + _aggregator_mistakes(settings)
    mistakes += _rule_mistakes(settings, table)
    mistakes += _undeclared_identifiers(table, {name for name, _ in named})

    reasons: list[str] = []
    if plan and len(table) < plan.k:
        hint = "choose a smaller k" if len(table) >= 2 else "there is nothing to protect"
        reasons.append(f"the table has {counted(len(table), 'record')}, fewer than k = {plan.k}; {hint}")
    columns = {
        name: _attempt(reasons, _column, table, name, plan.aggregator_of(name) if plan else "mean")
        for name in dict.fromkeys(name for name, role in named if role is Role.QUASI_IDENTIFIER)
        if name in known
    }
    scale_of = {
        name: _attempt(reasons, fit_scale, column, plan.scaling) for name, column in columns.items() if plan and column
    }
    weights = None
    for name in {name for name, role in named if role is Role.WEIGHT} & known:
        weights = _attempt(reasons, sampling_weights, table, name)
    holes = [name for name, column in columns.items() if column and not column.observed.all()]
    for setting, given in (
        ("blocking.repair", plan and plan.blocking and plan.blocking.repair),
        ("refine", plan and plan.refine),
    ):
        if given and holes:
            reasons.append(f"{setting} needs complete columns, and values are missing in: {', '.join(holes)}")
    if mistakes or plan is None or method is None:
        raise PlanError(list(dict.fromkeys(mistakes + reasons)))
    if reasons:
        raise DataError(reasons)
    widest = max(map(len, plan.quasi_identifiers))
    useless = method.without_effect(plan.options, widest) + (method.refine_mistakes(widest) if plan.refine else [])
    if useless:
        raise PlanError(useless)
    plan = plan.model_copy(update={"method": method.name, "options": {name: options[name] for name in plan.options}})
    parts = (
        [(name,) for part in plan.quasi_identifiers for name in part] if method.by_column else plan.quasi_identifiers
    )
    sets = [[column for name in part if (column := columns[name]) is not None] for part in parts]
    doubtful = [c.name for part in sets for c in part if all_numeric and why_identifier(table.profile(c.name))]
    scales = {name: scale for name, scale in scale_of.items() if scale is not None}
    return Declared(plan, method, options, sets, scales, weights, doubtful)


def _attempt(reasons: list[str], step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Call a step; where the data do not allow it, note the reasons and go on."""
    try:
        return step(*args, **kwargs)
    except DataError as error:
        reasons += error.mistakes
        return None


def _all_numeric(settings: Mapping[str, Any], table: Table) -> list[str]:
    """Return the columns of numbers and dates that have no other role."""
    if settings.get("quasi_identifiers"):
        raise PlanError("name the quasi-identifiers or ask for all numeric columns, not both")
    named = {name for name, _ in mentions(settings)}
    found = [name for name in table.names if name not in named and table.kind(name) in MEASURABLE]
    if not found:
        raise DataError("there is no column of numbers or dates without another role")
    return found


def _method(settings: Mapping[str, Any]) -> tuple[Method | None, dict[str, Any], list[str]]:
    """Look the method up and check its options."""
    name = str(settings.get("method") or DEFAULT_METHOD)
    options = settings.get("options") or {}
    method = None
    try:
        method = find_method(name)
        return method, method.parse_options(options if isinstance(options, Mapping) else {}), []
    except PlanError as error:
        return method, {}, error.mistakes


def _aggregator_mistakes(settings: Mapping[str, Any]) -> list[str]:
    """Say which aggregators do not exist, need a weight that is not there, or belong to no quasi-identifier."""
    given = settings.get("aggregators") or {}
    if isinstance(given, str):
        given = {EVERY_COLUMN: given}
    if not isinstance(given, Mapping):
        return []
    names = {name for name, role in mentions(settings) if role is Role.QUASI_IDENTIFIER}
    mistakes = []
    for column, aggregator in given.items():
        if isinstance(aggregator, str) and aggregator not in AGGREGATORS:
            hint = did_you_mean(aggregator, AGGREGATORS)
            mistakes.append(f"there is no aggregator '{aggregator}'{hint} (there are {', '.join(AGGREGATORS)})")
        elif aggregator == "weighted-mean" and not settings.get("weight"):
            mistakes.append("aggregator 'weighted-mean' needs a column of weights; name it as weight")
        if column == EVERY_COLUMN and names and names <= set(given):
            mistakes.append("aggregators: '*' has no effect, since every quasi-identifier has its own")
        elif column != EVERY_COLUMN and column not in names:
            mistakes.append(f"aggregators: column '{column}' is not a quasi-identifier, so it is not aggregated")
    return list(dict.fromkeys(mistakes))


def _rule_mistakes(settings: Mapping[str, Any], table: Table) -> list[str]:
    """Say what is wrong with rules, as far as that can be told without the values of the table."""
    try:
        asked = rules_or_file(settings)
        rules = as_rules(asked.get("rules") or (), asked.get("rules_file"))
    except PlanError as error:
        return error.mistakes
    except (FileError, TypeError, AttributeError):  # told where rules are read, and by the plan
        return []
    removed = [name for name, role in mentions(settings) if role is Role.IDENTIFIER]
    return missing_columns(rules, table.names, removed)


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


def _column(table: Table, name: str, aggregator: str) -> Column:
    column = table.column(name)
    if aggregator == "geometric-mean" and table.kind(name) is Kind.DATE:
        raise DataError(f"column '{name}': dates have no geometric mean; choose another aggregator")
    mistake = aggregator_mistake(column, aggregator)
    if mistake:
        raise DataError(mistake)
    return column


def sampling_weights(table: Table, name: str) -> Floats:
    """Return a column of weights; raises DataError where it has none, or one that is not above 0."""
    if table.kind(name) is not Kind.NUMERIC:
        raise DataError(f"weight '{name}' is {table.kind(name)}; a weight must be a number")
    column = table.column(name)
    if not column.observed.all():
        missing = counted(int((~column.observed).sum()), "record")
        raise DataError(f"weight '{name}' is missing in {missing}; fill it in")
    weights = column.values.astype(np.float64) + column.origin
    if (weights <= 0.0).any():
        raise DataError(
            f"weight '{name}' is not above 0 in {counted(int((weights <= 0.0).sum()), 'record')}; correct it"
        )
    return np.ascontiguousarray(weights)
