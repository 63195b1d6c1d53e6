"""Households of a plan on a table: which quasi-identifiers are theirs, and what does not go with that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from shoal.columns.categories import AnyColumn
from shoal.errors import DataError, PlanError, did_you_mean, listed
from shoal.kernels.arrays import Floats
from shoal.plan.blocking import blocking_mistakes
from shoal.plan.household import Household
from shoal.plan.plan import Plan
from shoal.tables.households import Households, check_same_inside, read_households, varies
from shoal.tables.persons import Persons, identify
from shoal.tables.table import Table
from shoal.tables.weights import sampling_weights

_FREE = ("time", "gap", "bound")  # options of a search that end it by what a single set has reached


def declare_households(plan: Plan, table: Table, columns: Mapping[str, AnyColumn]) -> tuple[Plan, Households | None]:
    """Return a plan whose sets are either of households or of their members, and the households.

    Raises DataError where columns are not what was said of them, and PlanError where something else was asked for that
    does not go with variables of households.
    """
    asked = plan.household
    if asked is None:
        return plan, None
    households = read_households(table, asked.id)
    _check_keys(plan, table, households)
    households = replace(households, variables=_variables(asked, households, columns))
    if asked.weight and not households.variables:
        raise PlanError("household.weight: has no effect without a variable of households; leave it out")
    if not households.variables:
        return plan, households
    for name in plan.strata:
        advice = "strata must keep whole households together; leave it out, or name no household.variables"
        check_same_inside(households, table, name, "strata", advice)
    households = replace(households, weights=_weights(plan, asked, table, households))
    plan = plan.model_copy(update={"quasi_identifiers": _sets(plan, households.variables)})
    mistakes = _unsupported(plan) + blocking_mistakes(plan.blocking, plan.k, plan.quasi_identifiers)
    if mistakes:
        raise PlanError(mistakes)
    return plan, households


def _check_keys(plan: Plan, table: Table, households: Households) -> None:
    """Refuse a removed key of persons that are in several households, unless the plan says that it does not count."""
    keys = [] if plan.persons is not None else identify(table, plan.identifiers).persons
    across = [one.name for one in keys if _across(one, households)]
    if across:
        raise DataError(
            f"persons: {listed(across)} has a value in several households, and k counts households; say that it does "
            "not count (persons: [], or --persons none)"
        )


def _across(key: Persons, households: Households) -> bool:
    """Whether a value of a key is in several households, and does not merely number the members of each."""
    pairs = len(np.unique(key.codes * len(households) + households.codes))
    numbering = pairs == len(key.codes) and key.count <= int(households.sizes.max())
    return pairs > int(key.codes.max()) + 1 and not numbering


def _variables(asked: Household, households: Households, columns: Mapping[str, AnyColumn]) -> tuple[str, ...]:
    """Return the quasi-identifiers that are the same inside every household."""
    varying = {name: households.varying(column.values, column.observed) for name, column in columns.items()}
    if asked.variables is None:
        return tuple(name for name, count in varying.items() if not count)
    others = [name for name in asked.variables if name not in columns]
    if others:
        raise PlanError(
            [
                f"household.variables: column '{name}' is not a quasi-identifier{did_you_mean(name, columns)}; leave "
                "it out"
                for name in others
            ]
        )
    wrong = [
        varies("household.variables", name, varying[name], len(households), "correct it, or leave it out")
        for name in asked.variables
        if varying[name]
    ]
    if wrong:
        raise DataError(wrong)
    return tuple(name for name in columns if name in asked.variables)


def _weights(plan: Plan, asked: Household, table: Table, households: Households) -> Floats | None:
    """Return the weight of each household; None where there is none, or where all are equal."""
    name = asked.weight or plan.weight
    if name is None:
        return None
    role = "household.weight" if asked.weight else "weight"
    advice = "correct it" if asked.weight else "name the column of the households' weights (household.weight)"
    check_same_inside(households, table, name, role, advice)
    weights = sampling_weights(table, name)
    return None if weights is None else weights[households.first]


def _sets(plan: Plan, variables: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the sets of quasi-identifiers with variables of households in sets of their own."""
    parts = []
    for part in plan.quasi_identifiers:
        parts.append(tuple(name for name in part if name in variables))
        parts.append(tuple(name for name in part if name not in variables))
    return tuple(part for part in parts if part)


def _unsupported(plan: Plan) -> list[str]:
    """Say what was asked for that is not kept where some quasi-identifiers are variables of households."""
    mistakes = []
    if plan.conditions:
        mistakes.append(
            "conditions: are asked of groups of persons, and some quasi-identifiers are variables of households; give "
            "these another role, or leave conditions or household out"
        )
    used = [name for name in _FREE if plan.options.get(name) is not None]
    if used:
        mistakes.append(
            f"options: {listed(used)} would hold for households or for their members, not for both; leave it out, or "
            "give steps"
        )
    return mistakes
