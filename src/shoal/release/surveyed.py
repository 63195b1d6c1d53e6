"""What an engine's table is surveyed for: a plan that fits it, and the scales and centres of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.columns.categories import Category
from shoal.columns.moments import Extent, Moments
from shoal.columns.numbers import Column
from shoal.columns.scaling import scale_of
from shoal.engines.engine import Engine
from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.measures.loss import lower_median, nearest_node
from shoal.measures.pairs import WholeColumn
from shoal.plan.blocking import BY_CATEGORY
from shoal.plan.decimals import as_decimals
from shoal.plan.plan import mentions
from shoal.plan.roles import MEASURABLE, Kind, Role
from shoal.release.declaring import Declared, declare
from shoal.release.survey import Survey, kinds_to_survey, table_of
from shoal.release.whole_table import needs_whole_table, said_of_whole_table
from shoal.tables.identifying import Profile, looks_like_contact
from shoal.tables.part_of_table import part_of_column
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


def declare_rows(
    engine: Engine, settings: Mapping[str, Any], all_numeric: bool = False, *, others_kept: bool = False
) -> tuple[Survey, Column | None, Declared]:
    """Survey a table and declare the plan on what was found.

    With ``others_kept`` all columns that have no role are kept, whatever they look like.
    """
    head = open_table(engine.head())
    if others_kept:
        known = {name for name, _ in mentions(settings)}
        settings = {**settings, "confidential": [name for name in head.names if name not in known]}
    mistakes = said_of_whole_table(settings, engine.name)
    if mistakes:
        raise PlanError(mistakes)
    named = mentions(settings)
    roles = {name for name, _ in named}
    asked = [name for name, role in named if role in (Role.QUASI_IDENTIFIER, Role.WEIGHT) and name in head.names]
    if all_numeric:
        asked += [name for name in head.names if name not in roles and head.kind(name) in MEASURABLE]
    said = {*(settings.get("hierarchies") or ()), *(settings.get("orders") or ())}
    nominal = settings.get("nominal") or ()
    said |= {nominal} if isinstance(nominal, str) else set(nominal)
    if settings.get("blocking") is None:
        settings = {
            **settings,
            "blocking": _usual_blocking(head, [n for n in asked if n != settings.get("weight")], said),
        }
    free = [name for name in head.names if name not in roles and name not in asked]
    surveyor = kinds_to_survey(head, list(dict.fromkeys(asked)), said)
    numbers = tuple(name for name in free if head.kind(name) is Kind.NUMERIC)
    surveyor = replace(surveyor, numbers=(*surveyor.numbers, *numbers))
    columns = [*surveyor.numbers, *surveyor.categories] or head.names[:1]
    survey = engine.add_up(columns, surveyor)
    precision = replace(engine.precision, asked=as_decimals(settings.get("decimals") or {}))
    profiles = {name: _profile(engine, head, survey, name) for name in free}
    table = table_of(survey, head.native, precision, profiles)
    declared = declare(settings, table, all_numeric, whole=False)
    mistakes = needs_whole_table(declared, engine.name)
    if mistakes:
        raise PlanError(mistakes)
    plan = declared.plan
    if plan.persons is None:
        plan = plan.model_copy(update={"persons": ()})
    weight = table.column(plan.weight) if plan.weight and declared.weights is not None else None
    return survey, weight, replace(declared, plan=plan)


def _usual_blocking(head: Table, names: list[str], said: set[str]) -> dict[str, Any]:
    """Return how blocks are cut where nothing is asked for: by all columns of numbers or dates, or by categories."""
    numbers = [name for name in names if name not in said and head.kind(name) in MEASURABLE]
    if names and not numbers:
        return {"method": BY_CATEGORY}
    return {"method": "2d-tree", "columns": tuple(numbers) if 0 < len(numbers) < len(names) else ()}


def _profile(engine: Engine, head: Table, survey: Survey, name: str) -> Profile:
    """Describe a column without a role: numbers by the survey, others by their first values."""
    first = head.profile(name)
    own = survey.columns.get(name)
    if own is None:
        distinct = (
            engine.sizes([name], released=False).total() if first.kind in (Kind.NOMINAL, Kind.DATE) else first.distinct
        )
        texts = [str(value) for value in head.cells(name)[0] if value is not None]
        contact = first.kind is Kind.NOMINAL and sum(map(looks_like_contact, texts)) > 0.8 * max(len(texts), 1)
        return replace(first, records=survey.records, missing=0, distinct=distinct, contact_like=contact)
    distinct = engine.sizes([name], released=False).total() - (own.missing > 0) if own.whole else 0
    numbers = open_table(own.found).rough_numbers("value")
    consecutive = own.whole and distinct == survey.records - own.missing
    consecutive = consecutive and float(numbers.max() - numbers.min()) == distinct - 1
    return replace(
        first,
        records=survey.records,
        missing=own.missing,
        distinct=distinct,
        whole=own.whole,
        consecutive=consecutive,
    )


def fit_to_rows(engine: Engine, survey: Survey, declared: Declared) -> Declared:
    """Return a plan with the scales, z-scores and centres of the whole table."""
    plan = declared.plan
    every = {column.name: column for quasi in declared.sets for column in quasi.columns}
    numbers = {name: column for name, column in every.items() if isinstance(column, Column)}
    extents = {
        name: replace(Extent.of(column.values[column.observed].astype(np.float64)), count=0)
        for name, column in numbers.items()
    }
    extents = {
        name: replace(extent, count=survey.records - survey.columns[name].missing) for name, extent in extents.items()
    }
    moments = engine.add_up(list(numbers), _Adding(numbers, extents)).moments if numbers else {}
    scaling = plan.scaling or "z-score"
    scales = {name: scale_of(extents[name], moments[name], scaling, name) for name in numbers}
    whole = {name: WholeColumn(scale_of(extents[name], moments[name], "z-score", name)) for name in numbers}
    for name, column in every.items():
        if isinstance(column, Category):
            whole[name] = WholeColumn(centre=_centre(column, survey))
    sets = [replace(quasi, scales=[scales.get(name) for name in quasi.names]) for quasi in declared.sets]
    return replace(declared, sets=sets, whole=whole)


@dataclass(frozen=True)
class _Sums:
    """Moments of columns by name."""

    moments: dict[str, Moments]

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums({name: own + other.moments[name] for name, own in self.moments.items()})


@dataclass(frozen=True)
class _Adding:
    """Adds up the moments of columns of numbers: the part of a pass, which may travel to another machine."""

    columns: Mapping[str, Column]
    extents: Mapping[str, Extent]

    def __call__(self, frame: pl.DataFrame, rows: Ints) -> _Sums:
        table = open_table(frame)
        found = {}
        for name, column in self.columns.items():
            own = part_of_column(column, table)
            found[name] = Moments.of(own.values[own.observed].astype(np.float64), self.extents[name])
        return _Sums(found)


def _centre(column: Category, survey: Survey) -> int:
    """Return the category nearest to all values: the mode, the lower median, or the nearest node."""
    own = survey.columns[column.name].found.drop_nulls("value")
    if not len(own):
        return 0
    counts = np.zeros(len(column.names), dtype=np.int64)
    code_of = {label: code for code, label in reversed(list(enumerate(column.names)))}
    counts[[code_of[label] for label in own["value"].to_list()]] = own["count"].to_numpy()
    if column.measured is not None:
        nodes = np.zeros(len(column.measured.hierarchy), dtype=np.int64)
        np.add.at(nodes, column.nodes, counts)
        return nearest_node(column.measured, nodes)
    if column.kind is Kind.ORDINAL:
        return lower_median(counts)
    return int(np.argmax(counts))  # codes are by first appearance
