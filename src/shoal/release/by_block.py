"""A table that no single place has to hold: surveyed, cut into blocks by counting, protected block by block, checked.

Written against the verbs of an engine (:mod:`shoal.engines.engine`), once for all of them. Everything that is decided
for the whole table follows from passes whose parts add up to the same in any order: the survey, the moments of columns
of numbers, how many records strata and codes have. Cut points are found here and compared by the engine. All else
happens inside a block: distances, searches, patterns of missing cells, conditions on groups, rules and means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.blocking.blocks import COUNTED, blocking_values, largest_block
from shoal.blocking.counting import Cut
from shoal.blocking.strata import check_sizes
from shoal.columns.categories import Category
from shoal.columns.moments import Extent, Moments
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import scale_of
from shoal.engines.engine import GROUP, Engine, Handing
from shoal.errors import BrokenPromise, PlanError, counted
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.progress import show_progress
from shoal.measures.loss import lower_median, nearest_node
from shoal.measures.pairs import WholeColumn
from shoal.plan.decimals import as_decimals
from shoal.plan.plan import Plan, mentions
from shoal.plan.roles import MEASURABLE, Kind, Role
from shoal.release.block_worker import BlockWorker
from shoal.release.clock import Clock
from shoal.release.declaring import Declared, declare
from shoal.release.figures import Figures, add_blocks_of_set, partial_columns
from shoal.release.promises import check_table
from shoal.release.strata_counts import StrataCounter, StrataCounts
from shoal.release.survey import Survey, kinds_to_survey, table_of
from shoal.release.whole_table import needs_whole_table, said_of_whole_table
from shoal.tables.identifying import Profile, looks_like_contact
from shoal.tables.part_of_table import part_of_column, part_of_set
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl

_NOT_LOOKED_AT = (
    "columns that are kept were not looked at for what they give away; that is done where a table is treated as a whole"
)


def protect_by_block(
    engine: Engine,
    settings: Mapping[str, Any],
    clock: Clock,
    *,
    all_numeric: bool = False,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Figures:
    """Protect the rows of an engine block by block, and return everything that a summary says of them."""
    head = open_table(engine.head())
    survey, weight, declared = _declare(engine, head, settings, all_numeric)
    clock.lap("declare")
    declared = _fitted(engine, declared, survey)
    clock.lap("scale")
    plan = declared.plan
    strata = _strata(engine, plan)
    cuts = [_cut(engine, quasi, strata, plan, survey.records) for quasi in declared.sets]
    clock.lap("block")
    sets = []
    with show_progress(survey.records * len(cuts), progress) as advance:
        for place, (quasi, cut) in enumerate(zip(declared.sets, cuts, strict=True)):
            worker = BlockWorker(
                replace(declared, sets=[quasi], rules=declared.rules if place == 0 else []),
                weight,
                place,
                survey.records,
                as_decimals(plan.decimals or {}),
            )
            handing = Handing(place, cut.columns, cut.block_of, cut.cut.sizes, worker)
            parts = engine.protect_blocks(handing, threads, partial(_report, advance, survey.records * place))
            sets.append(add_blocks_of_set(parts))
    clock.lap("protect blocks")
    _check(engine, declared, survey.records)
    distinct = None
    if declared.mixed:
        names = [name for part in plan.quasi_identifiers for name in part]
        distinct = (_distinct(engine, names), engine.sizes(names, released=True).total())
    groups = [f"{GROUP}{place}" for place in range(len(sets))]
    combined = min(sets[0].sizes) if len(sets) == 1 else min(engine.sizes(groups, released=True))
    clock.lap("check")
    kept = len(head.names) > len([name for part in plan.quasi_identifiers for name in part]) + len(plan.identifiers)
    return Figures(
        declared=declared,
        records=survey.records,
        sets=sets,
        blocks=sum(len(one.cut.sizes) for one in cuts),
        blocking_idle=all(len(one.cut.sizes) == len(strata.sizes) for one in cuts),
        strata=len(strata.sizes) if plan.strata else 0,
        persons={name: _distinct(engine, [name]) for name in plan.persons or ()},
        constant=_constant(declared),
        partial=partial_columns(declared),
        combined=combined,
        distinct=distinct,
        told=[_NOT_LOOKED_AT] if kept else [],
    )


def _report(advance: Callable[..., None], before: int, done: int) -> None:
    advance(before + done)


def _declare(
    engine: Engine, head: Table, settings: Mapping[str, Any], all_numeric: bool
) -> tuple[Survey, Column | None, Declared]:
    """Survey a table and declare the plan on what was found."""
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
    """Return how blocks are cut where nothing is asked for: by all columns that are numbers or dates."""
    numbers = [name for name in names if name not in said and head.kind(name) in MEASURABLE]
    return {"method": "2d-tree", "columns": tuple(numbers) if 0 < len(numbers) < len(names) else ()}


def _profile(engine: Engine, head: Table, survey: Survey, name: str) -> Profile:
    """Describe a column without a role: numbers by the survey, others by their first values."""
    first = head.profile(name)
    own = survey.columns.get(name)
    if own is None:
        distinct = _distinct(engine, [name]) if first.kind in (Kind.NOMINAL, Kind.DATE) else first.distinct
        texts = [str(value) for value in head.cells(name)[0] if value is not None]
        contact = first.kind is Kind.NOMINAL and sum(map(looks_like_contact, texts)) > 0.8 * max(len(texts), 1)
        return replace(first, records=survey.records, missing=0, distinct=distinct, contact_like=contact)
    distinct = _distinct(engine, [name]) - (own.missing > 0) if own.whole else 0
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


def _fitted(engine: Engine, declared: Declared, survey: Survey) -> Declared:
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


def _strata(engine: Engine, plan: Plan) -> StrataCounts:
    """Count the strata; raises DataError where one has fewer than k records."""
    if not plan.strata:
        return StrataCounts.none(engine.count())
    found = engine.add_up(plan.strata, StrataCounter(plan.strata))
    check_sizes(found.sizes, found.labels(), plan.k)
    return found


@dataclass(frozen=True)
class _CutSet:
    """The blocks of a set of quasi-identifiers, and the columns that tell the block of a row."""

    cut: Cut
    columns: list[str]
    places: _Places

    def block_of(self, frame: pl.DataFrame, rows: Ints) -> Ints:
        """Return the block of each row of a batch."""
        return self.cut.blocks(*self.places(frame))


@dataclass(frozen=True)
class _Places:
    """Where rows are: the scaled values of blocking columns, and their strata."""

    quasi: QuasiIdentifiers
    plan: Plan
    strata: StrataCounts

    def __call__(self, frame: pl.DataFrame) -> tuple[Floats, Ints]:
        assert self.plan.blocking is not None
        return (
            blocking_values(part_of_set(self.quasi, open_table(frame)), self.plan.blocking),
            self.strata.codes(frame),
        )


def _cut(engine: Engine, quasi: QuasiIdentifiers, strata: StrataCounts, plan: Plan, records: int) -> _CutSet:
    """Cut a set of quasi-identifiers into blocks, in passes of an engine."""
    cut = plan.blocking
    assert cut is not None
    numbers = quasi.numbers()
    chosen = numbers.only(cut.columns) if cut.columns else numbers
    places = _Places(chosen, plan, strata)
    columns = [*chosen.names, *plan.strata]
    size = largest_block(cut, records, len(quasi) + quasi.incomplete, plan.k)

    def over(part: Callable[[Floats, Ints], Any]) -> Any:
        return engine.add_up(columns, lambda frame, rows: part(*places(frame)))

    return _CutSet(COUNTED[cut.method](over, len(strata.sizes), plan.k, size), columns, places)


def _check(engine: Engine, declared: Declared, records: int) -> None:
    """Check the promises on the result, in the engine: rows, types, and every key of at least k records."""
    plan = declared.plan
    before, after = engine.released_types()
    check_table(before, after, set(), (records, engine.count()))
    if plan.missing_patterns != "counted":
        return
    for names in (quasi.names for quasi in declared.sets):
        fewest = min(engine.sizes(names, released=True))
        if fewest < plan.k:
            raise BrokenPromise(
                f"a combination of {', '.join(names)}, missing cells included, has {counted(fewest, 'record')}, fewer "
                f"than k = {plan.k}"
            )


def _distinct(engine: Engine, names: list[str]) -> int:
    """Count the combinations of some columns in the original."""
    return engine.sizes(names, released=False).total()


def _constant(declared: Declared) -> list[str]:
    """Return the columns whose observed values are all equal."""
    seen = {column.name: column.values[column.observed] for quasi in declared.sets for column in quasi.columns}
    return [name for name, values in seen.items() if len(values) and bool((values == values[0]).all())]
