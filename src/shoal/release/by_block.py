"""A table that no single place has to hold: surveyed, cut into blocks by counting, protected block by block, checked.

Written against the verbs of an engine (:mod:`shoal.engines.engine`), once for all of them. Everything that is decided
for the whole table follows from passes whose parts add up to the same in any order: the survey, the moments of columns
of numbers, how many records strata and codes have. Cut points are found here and compared by the engine. All else
happens inside a block: distances, searches, patterns of missing cells, conditions on groups, rules and means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shoal.blocking.blocks import blocking_columns, blocking_values, largest_block, way_in_passes
from shoal.blocking.counting import Counts
from shoal.blocking.dealing import Dealt, class_of, classes_of, deal
from shoal.blocking.strata import check_sizes
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.engines.engine import GROUP, Engine, Handing
from shoal.errors import BrokenPromise, counted
from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.progress import show_progress
from shoal.measures.loss import put_together
from shoal.plan.decimals import as_decimals
from shoal.plan.plan import Plan
from shoal.release.block_worker import BlockWorker
from shoal.release.clock import Clock
from shoal.release.confidential import add_conditions
from shoal.release.declaring import Declared
from shoal.release.figures import Figures, SetFigures, add_blocks_of_set, partial_columns
from shoal.release.promises import check_table
from shoal.release.rules_by_block import (
    check_rules_in_engine,
    look_at_rules,
    loss_without_rules,
    rule_summaries,
    rules_of_set,
)
from shoal.release.strata_counts import StrataCounter, StrataCounts
from shoal.release.surveyed import declare_rows, fit_to_rows
from shoal.release.whole_distributions import whole_distributions
from shoal.tables.part_of_table import part_of_set
from shoal.tables.table import open_table

if TYPE_CHECKING:
    import polars as pl

_ROOM = 3  # a block has this part of the most records at least, where conditions are asked of groups
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
    survey, weight, declared = declare_rows(engine, settings, all_numeric)
    clock.lap("declare")
    declared = fit_to_rows(engine, survey, declared)
    clock.lap("scale")
    declared = look_at_rules(engine, declared)
    clock.lap("look at rules")
    declared = replace(declared, near=whole_distributions(engine, declared.plan))
    clock.lap("look at confidential columns")
    plan = declared.plan
    strata = _strata(engine, plan, survey.records)
    cuts = [_cut(engine, quasi, strata, plan, survey.records) for quasi in declared.sets]
    clock.lap("block")
    sets = []
    with show_progress(survey.records * len(cuts), progress) as advance:
        for place, (quasi, cut) in enumerate(zip(declared.sets, cuts, strict=True)):
            worker = BlockWorker(
                replace(declared, sets=[quasi], rules=rules_of_set(declared, place)),
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
    check_rules_in_engine(engine, declared)
    distinct = None
    if declared.mixed:
        names = [name for part in plan.quasi_identifiers for name in part]
        distinct = (_distinct(engine, names), engine.sizes(names, released=True).total())
    groups = [f"{GROUP}{place}" for place in range(len(sets))]
    combined = min(sets[0].sizes) if len(sets) == 1 else min(engine.sizes(groups, released=True))
    clock.lap("check")
    kept = len(engine.released_types()[0]) > len([name for part in plan.quasi_identifiers for name in part]) + len(
        plan.identifiers
    )
    return Figures(
        declared=declared,
        records=survey.records,
        sets=sets,
        blocks=sum(one.count for one in cuts),
        blocking_idle=all(one.count == len(strata.sizes) for one in cuts),
        strata=len(strata.sizes) if plan.strata else 0,
        persons={name: _distinct(engine, [name]) for name in plan.persons or ()},
        constant=_constant(declared),
        partial=partial_columns(declared),
        combined=combined,
        distinct=distinct,
        rules=rule_summaries(declared, sets),
        loss_without=loss_without_rules(declared, sets),
        conditions=add_conditions([part.conditions for part in sets]),
        loss_without_conditions=_loss_without_conditions(declared, sets),
        record_tuples=sum(part.record_tuples for part in sets),
        told=[_NOT_LOOKED_AT] if kept else [],
    )


def _report(advance: Callable[..., None], before: int, done: int) -> None:
    advance(before + done)


def _strata(engine: Engine, plan: Plan, records: int) -> StrataCounts:
    """Count the strata; raises DataError where one has fewer than k records."""
    if not plan.strata:
        return StrataCounts.none(records)
    found = engine.add_up(plan.strata, StrataCounter(plan.strata))
    check_sizes(found.sizes, found.labels(), plan.k)
    return found


@dataclass(frozen=True)
class _CutSet:
    """The blocks of a set of quasi-identifiers, and the columns that tell the block of a row."""

    cut: Dealt
    columns: list[str]
    places: _Places

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return int((self.cut.sizes > 0).sum())

    def block_of(self, frame: pl.DataFrame, rows: Ints) -> Ints:
        """Return the block of each row of a batch."""
        return self.cut.blocks(*self.places(frame), rows)


@dataclass(frozen=True)
class _Places:
    """Where rows are: the scaled values of blocking columns, or the places of categories, and their strata."""

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
    chosen = blocking_columns(quasi, cut)
    places = _Places(chosen, plan, strata)
    columns = [*chosen.names, *plan.strata]
    size = largest_block(cut, records, len(quasi) + quasi.incomplete, plan.k)

    def over(part: Callable[[Floats, Ints], Any]) -> Any:
        return engine.add_up(columns, lambda frame, rows: part(*places(frame)))

    # a block that is hardly larger than a group would have no room for what is asked of confidential columns
    least = max(plan.k, size // _ROOM) if plan.conditions else plan.k
    found = way_in_passes(chosen, cut)(over, len(strata.sizes), least, size)
    classes, first = classes_of(found.sizes, size)

    def count(frame: pl.DataFrame, rows: Ints) -> Counts:
        blocks = found.blocks(*places(frame))
        large = classes[blocks] > 0
        return Counts.of(class_of(blocks[large], rows[large], classes, first))

    counts = engine.add_up(columns, count) if classes.any() else None
    return _CutSet(deal(found, counts, plan.k, size), columns, places)


def _check(engine: Engine, declared: Declared, records: int) -> None:
    """Check the promises on the result, in the engine: rows, types, and every key of at least k records."""
    plan = declared.plan
    before, after = engine.released_types()
    found = [engine.sizes(quasi.names, released=True) for quasi in declared.sets]
    check_table(before, after, set(), (records, sum(size * keys for size, keys in found[0].items())))
    if plan.missing_patterns != "counted":
        return
    for names, sizes in zip((quasi.names for quasi in declared.sets), found, strict=True):
        fewest = min(sizes)
        if fewest < plan.k:
            raise BrokenPromise(
                f"a combination of {', '.join(names)}, missing cells included, has {counted(fewest, 'record')}, fewer "
                f"than k = {plan.k}"
            )


def _distinct(engine: Engine, names: list[str]) -> int:
    """Count the combinations of some columns in the original."""
    return engine.sizes(names, released=False).total()


def _loss_without_conditions(declared: Declared, sets: Sequence[SetFigures]) -> float | None:
    """Return the information loss where nothing is asked of confidential columns, where all blocks know it."""
    lost = [part.without_conditions for part in sets if part.without_conditions]
    if not lost or len(lost) < len(sets):
        return None
    return put_together(lost, declared.plan.column_weights).table.percent


def _constant(declared: Declared) -> list[str]:
    """Return the columns whose observed values are all equal."""
    seen = {column.name: column.values[column.observed] for quasi in declared.sets for column in quasi.columns}
    return [name for name, values in seen.items() if len(values) and bool((values == values[0]).all())]
