"""Quasi-identifiers to columns of the kind that they are: numbers, or categories with what is known about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from shoal.aggregate.categories import CATEGORY_AGGREGATORS, CategoryAggregator
from shoal.aggregate.numbers import AGGREGATORS, Aggregator, aggregator_mistake
from shoal.aggregate.order_statistics import ORDER_STATISTICS
from shoal.columns.categories import AnyColumn, Category, Factor, nominal, ordinal, semantic
from shoal.columns.hierarchy import load_hierarchy
from shoal.columns.numbers import Column
from shoal.errors import DataError
from shoal.partition.methods import METHODS, Method
from shoal.plan.blocking import BY_CATEGORY
from shoal.plan.plan import EVERY_COLUMN, Plan, mentions
from shoal.plan.roles import CATEGORIES, MEASURABLE, Kind, Role
from shoal.tables.disguised import disguise, is_number
from shoal.tables.set_valued import mark_of_sets
from shoal.tables.table import Table

SUBSUMER = "least-common-subsumer"
_FALSE_TRUE = ("False", "True")  # the order of a column of true and false of which a minimum or a maximum is asked
_NAMED = 3  # methods that a message names


def kind_of(table: Table, name: str, plan: Plan) -> Kind:
    """Return the kind of a quasi-identifier: what the plan says, or what its type tells."""
    if name in plan.hierarchies:
        return Kind.SEMANTIC
    if name in plan.orders:
        return Kind.ORDINAL
    if name in plan.nominal:
        return Kind.NOMINAL
    kind = table.kind(name)
    if kind is Kind.BOOLEAN and plan.aggregators.get(name) in (*ORDER_STATISTICS, "median"):
        return Kind.ORDINAL
    return Kind.NOMINAL if kind is Kind.BOOLEAN else kind


def has_categories(table: Table, settings: Mapping[str, Any]) -> bool:
    """Whether settings, well-formed or not, name a quasi-identifier that is neither numbers nor dates."""
    said = {*(settings.get("hierarchies") or ()), *(settings.get("orders") or ()), *(settings.get("nominal") or ())}
    names = {name for name, role in mentions(settings) if role is Role.QUASI_IDENTIFIER} & set(table.names)
    return any(name in said or table.kind(name) in (Kind.NOMINAL, Kind.BOOLEAN) for name in names)


def column_of(table: Table, name: str, plan: Plan) -> AnyColumn:
    """Return a quasi-identifier as numbers or as categories; raises DataError where it is neither."""
    kind = kind_of(table, name, plan)
    if kind in MEASURABLE or kind is Kind.OTHER:
        return table.column(name)
    factor = table.factor(name)
    if kind is Kind.SEMANTIC:
        settings = plan.hierarchies[name]
        try:
            hierarchy = load_hierarchy(settings, factor.labels)
        except DataError as error:
            raise DataError([f"column '{name}': {mistake}" for mistake in error.mistakes]) from None
        column = semantic(name, factor, hierarchy, settings.distance, table.holds(name))
        table.check_holds(column, len(factor.labels))
        return column
    if kind is Kind.ORDINAL:
        column = ordinal(name, factor, plan.orders.get(name, _FALSE_TRUE), table.holds(name))
        table.check_holds(column, len(factor.labels))
        return column
    mistake = None if name in plan.nominal else hardly_names(table, name, factor)
    if mistake:
        raise DataError(mistake)
    return nominal(name, factor)


def hardly_names(table: Table, name: str, factor: Factor) -> str | None:
    """Say why a column is hardly one of names: it holds numbers, dates, times or sets in some guise; or None."""
    dtype = table.frame[name].dtype
    # numbers that somebody made categories of are names
    labels = [label for label in factor.labels if isinstance(dtype, nw.Object) or isinstance(label, str)]
    found = disguise(labels) if table.kind(name) is Kind.NOMINAL else None
    if found:
        return found.told(name)
    if _mostly_numbers(factor):
        return f"{table.why_not_numeric(name)}; or name it as nominal, if its values are names"
    mark = mark_of_sets(labels)
    if mark:
        return (
            f"column '{name}': cells hold several values with '{mark}' between them, and no method measures such sets; "
            "shoal.spread_sets makes a column of each value, and shoal.gather_sets puts them together again; or name "
            "it as nominal, if each combination is one name"
        )
    return None


def _mostly_numbers(factor: Factor) -> bool:
    """Whether most of the values of a column of text are numbers, so that it was hardly meant as categories."""
    texts = [label for label in factor.labels if isinstance(label, str)]
    return len(texts) > 0 and 2 * sum(map(is_number, texts)) > len(texts)


def method_mistakes(table: Table, names: Sequence[str], plan: Plan, method: Method) -> list[str]:
    """Say which columns are of a kind that a method does not take, and name methods that do."""
    mistakes = []
    for name in names:
        kind = kind_of(table, name, plan)
        if kind in method.kinds or kind is Kind.OTHER:
            continue
        others = [other.name for other in METHODS.values() if kind in other.kinds]
        several = f"{', '.join(others[:_NAMED])} and {len(others) - _NAMED} more do"
        said = str(kind)
        if kind is Kind.NOMINAL and name not in plan.nominal:
            said = "true or false" if table.kind(name) is Kind.BOOLEAN else "text"
            mistake = hardly_names(table, name, table.factor(name)) if said == "text" else None
            if mistake:
                mistakes.append(mistake)
                continue
        mistakes.append(
            f"column '{name}' is {said}, which method '{method.name}' does not take; {several}, or give the column "
            "another role"
        )
    return mistakes


def aggregator_of(plan: Plan, method: Method, kind: Kind, name: str) -> str:
    """Return the aggregator of a column: its own, that of all columns where it suits the kind, or the usual one."""
    usual = {Kind.ORDINAL: "median", Kind.NOMINAL: "mode", Kind.SEMANTIC: method.category_aggregator}.get(kind, "mean")
    general = plan.aggregators.get(EVERY_COLUMN, usual)
    return plan.aggregators.get(name, general if general in suitable(kind) else usual)


def held_aggregator(plan: Plan, column: AnyColumn, aggregator: str) -> str:
    """Return the aggregator of a column; where the type cannot hold what the usual one releases, the centroid."""
    asked = aggregator in (plan.aggregators.get(column.name), plan.aggregators.get(EVERY_COLUMN))
    usual = isinstance(column, Category) and aggregator == SUBSUMER and not asked
    return "centroid" if usual and isinstance(column, Category) and column.partial else aggregator


def suitable(kind: Kind) -> tuple[str, ...]:
    """Return the aggregators of a kind of column."""
    if kind not in CATEGORIES:
        return tuple(AGGREGATORS)
    return tuple(name for name, aggregator in CATEGORY_AGGREGATORS.items() if kind in aggregator.kinds)


def every_aggregator() -> dict[str, Aggregator | CategoryAggregator]:
    """Return the aggregators of all kinds of columns by name."""
    return {**AGGREGATORS, **CATEGORY_AGGREGATORS}


def aggregator_mistakes(plan: Plan, kinds: Mapping[str, Kind]) -> list[str]:
    """Say which aggregators do not suit the kind of their column, or any column."""
    mistakes = []
    for name, aggregator in plan.aggregators.items():
        if aggregator not in every_aggregator():
            continue
        if name == EVERY_COLUMN:
            if kinds and not any(aggregator in suitable(kind) for kind in kinds.values()):
                mistakes.append(f"aggregator '{aggregator}' suits none of the columns; {_those(kinds)}")
        elif name in kinds and aggregator not in suitable(kinds[name]):
            mistakes.append(f"aggregator '{aggregator}' does not suit column '{name}'; {_those({name: kinds[name]})}")
        elif name in kinds and plan.combinations == "observed" and kinds[name] not in MEASURABLE:
            mistakes.append(f"aggregators: that of '{name}' has no effect where combinations must be observed")
    categories = [kind for kind in kinds.values() if kind not in MEASURABLE]
    if plan.combinations == "observed" and len(categories) < 2:
        mistakes.append("combinations: has no effect with fewer than two columns of categories")
    return mistakes


def _those(kinds: Mapping[str, Kind]) -> str:
    """Say which aggregators there are for some kinds."""
    return "; ".join(
        f"for {kind} columns there are {', '.join(suitable(kind))}" for kind in dict.fromkeys(kinds.values())
    )


def check_aggregator(table: Table, column: AnyColumn, aggregator: str) -> None:
    """Refuse an aggregator that the values of a column do not allow."""
    if isinstance(column, Category) and aggregator == SUBSUMER and column.partial:
        raise DataError(
            f"column '{column.name}' has type {table.frame[column.name].dtype}, which cannot hold the names above its "
            f"values that aggregator '{aggregator}' releases; convert it to text, or choose another aggregator"
        )
    if isinstance(column, Category) or aggregator not in AGGREGATORS:  # those of other kinds are mistakes of the plan
        return
    if not AGGREGATORS[aggregator].dates and table.kind(column.name) is Kind.DATE:
        named = aggregator.replace("-", " ")
        raise DataError(f"column '{column.name}': dates have no {named}; choose another aggregator")
    mistake = aggregator_mistake(column, aggregator)
    if mistake:
        raise DataError(mistake)


def numbers(columns: Sequence[AnyColumn]) -> list[Column]:
    """Return the columns that are numbers or dates."""
    return [column for column in columns if isinstance(column, Column)]


def unsupported(plan: Plan, kinds: Mapping[str, Kind]) -> list[str]:
    """Say what was asked for that works on numbers only, where there are categories."""
    names = [name for name, kind in kinds.items() if kind not in MEASURABLE]
    cut = plan.blocking
    if cut and cut.method == BY_CATEGORY:
        without = [part for part in plan.quasi_identifiers if not set(cut.columns or part) & set(part) & set(names)]
        if without:
            told = " and ".join(", ".join(part) for part in without)
            return [f"blocking: 'categories' cuts a column of categories, and there is none to cut by in {told}"]
    if not names:
        return []
    listed, mistakes = ", ".join(names), []
    if cut and cut.repair:
        mistakes.append(
            f"blocking.repair: exchanges records by the sums of squares of numbers and dates, not of {listed}; "
            "leave it out, or ask for larger blocks (blocking.size)"
        )
    if cut and cut.method != BY_CATEGORY and set(cut.columns or kinds) & set(names):
        mistakes.append(
            f"blocking: cuts columns of numbers and dates, not {listed}; name others as blocking.columns "
            "(--block-columns)"
        )
    return mistakes


_LOWERED: dict[Kind, tuple[str, ...]] = {
    Kind.SEMANTIC: ("centroid", "least-squares"),
    Kind.ORDINAL: ("median",),
    Kind.NOMINAL: ("mode", "weighted-plurality"),
}


def refining_mistakes(columns: Mapping[str, AnyColumn], aggregators: Mapping[str, str], observed: bool) -> list[str]:
    """Say which aggregators release what refining records of any kind does not lower the loss of.

    ``observed`` says that only combinations of categories that occur are released.
    """
    mistakes = []
    for name, column in columns.items():
        lowered = _LOWERED[column.kind] if isinstance(column, Category) else ("mean", "weighted-mean")
        if aggregators[name] not in lowered:
            mistakes.append(
                f"refine: lowers the loss of column '{name}' where it is released as {' or '.join(lowered)}, not as "
                f"{aggregators[name]}; ask for that aggregator, or leave refine out"
            )
    if observed:
        mistakes.append("refine: does not look at which combinations occur; leave it out, or combinations: observed")
    return mistakes
