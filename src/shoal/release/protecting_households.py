"""Households and their members: two tables that are protected one after the other and put together again.

Variables of households are protected on a table with one record for each household, so that they are aggregated once
for each, with the households' weights, and k counts households; their values then go to all members. All other sets
are protected on the records as they are, where a group needs records of k households. Sizes of households are strata of
both. Every household keeps its members; its number is drawn anew, kept or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from shoal.aggregate.sets import ProtectedSet
from shoal.columns.categories import Factor, nominal
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import DEFAULT_SCALING, fit_scale
from shoal.errors import DataError
from shoal.kernels.arrays import Ints, Masked
from shoal.plan.roles import Kind
from shoal.release.clock import Clock
from shoal.release.declaring import Declared
from shoal.release.grouping import Grouped
from shoal.release.household_checks import check_households
from shoal.release.promises import check_table
from shoal.release.protecting import Protected, protect_records
from shoal.release.run import Run
from shoal.release.searching import Searched
from shoal.tables.files import Source
from shoal.tables.households import Households
from shoal.tables.table import Table, open_table

_STREAM = 7202  # keeps the draws of numbers apart from those of methods with the same seed


def protect_households(
    declared: Declared,
    table: Table,
    source: Source | None,
    clock: Clock,
    *,
    threads: int | None = None,
    progress: bool | Callable[[int], None] | None = None,
) -> Protected:
    """Take households and their members through the steps that a plan asks for, and check what comes out."""
    households = declared.households
    assert households is not None
    numbers = _new_numbers(declared, households, table)  # refused before any work where the type cannot hold them
    theirs = [set(quasi.names) <= set(households.variables) for quasi in declared.sets]
    of_households = [place for place, own in enumerate(theirs) if own]
    of_members = [place for place, own in enumerate(theirs) if not own]
    parts = []
    if of_households:
        once = _once(declared, households, of_households)
        rows = open_table(table.frame[households.first.tolist()].to_native(), table.precision)
        made = protect_records(once, rows, source, clock, threads=threads, progress=progress)
        parts.append(_Part(of_households, made.run, households.codes))
    if of_members:
        members = replace(declared, sets=[declared.sets[place] for place in of_members])
        if any(_interrupted(part.run.grouped.searched) for part in parts):  # what is left is only started
            members = replace(members, options={**members.options, "steps": 0})
        made = protect_records(members, table, source, clock, threads=threads, progress=progress)
        parts.append(_Part(of_members, made.run, None))
    run = _together(declared, parts)
    released: dict[str, Any] = {column.name: (column, *now) for column, now in run.released}
    data = table.replace(released | numbers, declared.plan.removed)
    out = open_table(data)
    incomplete = {name for name, (_, _, observed) in released.items() if not observed.all()}
    check_table(table.types(incomplete), out.types(), set(declared.plan.removed), (len(table), len(out)))
    names = [quasi.names for quasi in declared.sets]
    run = replace(run, household=check_households(declared.plan, names, households, table, out))
    clock.lap("check households")
    return Protected(data, run, None)


@dataclass(frozen=True)
class _Part:
    """What was made of some sets, their places in the plan, and the household of each record if it has one of each."""

    places: list[int]
    run: Run
    home: Ints | None


def _once(declared: Declared, households: Households, places: Sequence[int]) -> Declared:
    """Return a plan for a table with one record for each household, in which each counts as one."""
    sets = [_of_rows(declared.sets[place], households.first, declared) for place in places]
    return replace(declared, sets=sets, weights=households.weights, households=households.one_record_each())


def _of_rows(quasi: QuasiIdentifiers, rows: Ints, declared: Declared) -> QuasiIdentifiers:
    """Return a set restricted to some rows, with scales that are fitted to these."""
    taken = quasi.take(rows)
    scaling = declared.plan.scaling or DEFAULT_SCALING
    return replace(
        taken, scales=[fit_scale(column, scaling) if isinstance(column, Column) else None for column in taken.columns]
    )


def _interrupted(searched: Searched | None) -> bool:
    return searched is not None and searched.interrupted


def _together(declared: Declared, parts: Sequence[_Part]) -> Run:
    """Put the sets of all parts together, in the order of the plan, each with a value for every record."""
    order = [(part, place, at) for part in parts for place, at in enumerate(part.places)]
    order.sort(key=lambda one: one[2])
    sets, protected = [], []
    for part, place, at in order:
        quasi, home = declared.sets[at], part.home
        after, made = part.run.grouped.sets[place], part.run.protected[place]
        if home is not None:
            seen = [own.observed[home] for own in after.columns]
            after = replace(quasi, columns=[_seen(own, mask) for own, mask in zip(quasi.columns, seen, strict=True)])
            released = [Masked(now.values[home], now.observed[home]) for now in made.released]
            made = ProtectedSet(quasi, made.groups[home], released)
        sets.append(after)
        protected.append(made)
    last = parts[-1]
    strata = last.run.strata
    if last.home is not None:
        strata = replace(strata, codes=strata.codes[last.home])
    grouped = [(part.run.grouped, place) for part, place, _ in order]
    return Run(
        declared=declared,
        strata=strata,
        grouped=Grouped(
            sets=sets,
            apart=[own.apart[place] for own, place in grouped],
            blocks=[own.blocks[place] for own, place in grouped],
            groups=[made.groups for made in protected],
            conditions=[own.conditions[place] for own, place in grouped],
            merged=[own.merged[place] for own, place in grouped],
            searched=_searched([(own.searched, place) for own, place in grouped], len(parts)),
            without=last.run.grouped.without,
        ),
        protected=protected,
        rules=None,
        ruled=last.run.ruled,
        source=last.run.source,
        own=[part.run.own[place] for part, place, _ in order],
        conditions=last.run.conditions,
        without_conditions=last.run.without_conditions,
    )


def _seen(column: Any, observed: Any) -> Any:
    return replace(column, observed=observed)


def _searched(found: Sequence[tuple[Searched | None, int]], parts: int) -> Searched | None:
    """Return what the searches did, in the order of the sets; what is proved of one part is not proved of both."""
    own = [(one, place) for one, place in found if one is not None]
    if not own or parts == 1:
        return own[0][0] if own else None
    steps = [one.steps[place] for one, place in own]
    return Searched(steps, any(one.interrupted for one, _ in own), None, None, None, None)


def _new_numbers(declared: Declared, households: Households, table: Table) -> dict[str, Any]:
    """Return the column of numbers drawn anew for the households, from 1, of the type of the old; or nothing.

    A permutation of the order in which households appear, so that the seed gives back no more than that order.
    """
    asked = declared.plan.household
    assert asked is not None
    if asked.release != "renumbered":
        return {}
    drawn = np.random.default_rng([declared.plan.seed, _STREAM]).permutation(len(households)) + 1
    there = np.ones(len(households.codes), dtype=bool)
    kind, dtype = table.kind(asked.id), table.frame[asked.id].dtype
    if kind is Kind.NUMERIC:
        holds = table.holds(asked.id)(str(len(households)))
        if holds is not None and dtype.is_integer():
            return {asked.id: (Column(asked.id, drawn, there), drawn[households.codes], there)}
        if holds is not None and dtype.is_float():
            values = drawn.astype(np.float64)
            return {asked.id: (Column(asked.id, values, there), values[households.codes], there)}
    elif kind is Kind.NOMINAL and not isinstance(dtype, nw.Enum):
        labels = [str(number) for number in range(1, len(households) + 1)]
        column = nominal(asked.id, Factor(drawn[households.codes] - 1, there, labels))
        return {asked.id: (column, drawn[households.codes] - 1, there)}
    raise DataError(
        f"household: column '{asked.id}' has type {dtype}, which does not hold numbers from 1 to {len(households)}; "
        "convert it to text or whole numbers, or remove it (household.release: removed, or --household-release removed)"
    )
