"""Rules checked on a table: expressions on its columns, Schematron by an engine that is not ours.

A record breaks a rule in Schematron where the engine says so and the columns do not say otherwise: the rule is
not applicable to a record that lacks a value it needs, and it holds where the two sides of an equality
differ by the rounding of arithmetic or of the file only. Only the columns that rules name are shown to the engine, and
records that are equal in them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import DataError, PlanError
from shoal.kernels.arrays import Flags, Ints
from shoal.rules.engine import check_engine, engine_violations
from shoal.rules.evaluate import Observations, Verdict, evaluate
from shoal.rules.expression import Unchanged
from shoal.rules.observations import Orders, read_observations
from shoal.rules.rule import Rule
from shoal.rules.sources import missing_columns, needs_original
from shoal.rules.totals import same_total, total_of
from shoal.tables.files import Source
from shoal.tables.files.cells import written
from shoal.tables.files.rows import RowForm, can_be_element, opening, row_documents, row_elements, row_texts
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

_MOST_DECIMALS = 6  # more are taken for numbers that were computed, not rounded


@dataclass(frozen=True)
class Checked:
    """Where a rule is broken and where it says nothing.

    Attributes
    ----------
    broken : bool (n,)
        Records that break it.
    idle : bool (n,)
        Records that it is not applicable to.
    inexact : bool (n,)
        Records in which it holds up to rounding, and not to the last digit as an engine computes.
    """

    broken: Flags
    idle: Flags
    inexact: Flags


class RuleTable:
    """A table and its original, as rules and the engine see them."""

    def __init__(
        self,
        table: Table,
        source: Source | None,
        original: RuleTable | None = None,
        orders: Orders | None = None,
        decimals: Mapping[str, int | None] | None = None,
    ) -> None:
        self.weight: str | None = None
        self.decimals = decimals  # of columns of floats in the whole table, where these are but some of its records
        self.table = table
        self.source = source
        self.original = original or self
        self.orders: Orders = original.orders if original and orders is None else orders or {}
        self._observations: dict[str, Observations] = {}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table as a polars frame."""
        return self.table.to_polars()

    @property
    def writable(self) -> list[str]:
        """Names of the columns that row-wise XML can hold."""
        return [column.name for column in self.frame if can_be_element(column)]

    def observations(self, names: Sequence[str]) -> dict[str, Observations]:
        """Return columns as rules see them; floats have the decimals that all of their values have."""
        unread = [name for name in names if name not in self._observations]
        for name, one in read_observations(self.table, unread, self.orders).items():
            real = one.values.dtype.kind == "f" and one.decimals is None
            self._observations[name] = one._replace(decimals=self._decimals(name, one)) if real else one
        return {name: self._observations[name] for name in names}

    def _decimals(self, name: str, one: Observations) -> int | None:
        """Return the decimals of a column of floats: those of the original, or those that all values have."""
        if self.original is not self and name in self.original.table.names:
            return self.original.observations([name])[name].decimals
        return written_decimals(one) if self.decimals is None else self.decimals.get(name)

    def form(self, rules: Sequence[Rule]) -> RowForm:
        """Return how the table is, or would be, row-wise XML."""
        import polars as pl

        if self.source and self.source.rows:
            return self.source.rows
        if self.original is not self and self.original.source and self.original.source.rows:
            return replace(self.original.source.rows, cells=pl.DataFrame())
        own = [rule.schematron for rule in rules if rule.schematron and not rule.schematron.about_value]
        record = own[0].element if own else "Record"
        return RowForm("Data", record, "", (), pl.DataFrame())

    def texts(self, names: Sequence[str], form: RowForm) -> pl.DataFrame:
        """Return columns as the texts that a file has of them."""
        frame = self.frame.select(names)
        kept = {}
        if self.source and self.source.rows:
            kept = {name: self.frame[name].is_null() | True for name in names}
        return row_texts(frame, form, kept)


def written_decimals(observations: Observations) -> int | None:
    """Return with how many decimals all numbers of a column can be written; None where six are not enough.

    >>> written_decimals(Observations(np.array([1.25, 0.5]), np.array([True, True])))
    2
    """
    values = observations.values[observations.observed]
    return next((d for d in range(_MOST_DECIMALS + 1) if np.array_equal(np.round(values, d), values)), None)


def check_fit(rules: Sequence[Rule], table: RuleTable, removed: Sequence[str] = (), named: Path | None = None) -> None:
    """Refuse rules that do not fit a table: unknown columns, texts where numbers are needed, other documents."""
    mistakes = missing_columns(rules, table.table.names, removed)
    mistakes += [
        f"rule '{rule.name}' ({rule.place}) names no column, and so is about no record; leave it out"
        for rule in rules
        if rule.condition is not None and not rule.variables
    ]
    if mistakes:
        raise PlanError(mistakes)
    for rule in rules:
        mistakes += _document_mistakes(rule, named) + _form_mistakes(rule, table, rules)
        if rule.condition is not None:
            try:
                first = {name: _first(one) for name, one in table.observations(rule.variables).items()}
                evaluate(rule.condition, first)
            except DataError as error:
                mistakes += [f"rule '{rule.name}' ({rule.place}): {told}" for told in error.mistakes]
    if mistakes:
        raise PlanError(list(dict.fromkeys(mistakes)))
    check_engine([rule for rule in rules if rule.schematron])


def _first(one: Observations) -> Observations:
    """Return a column of its first observed value, which is enough to see whether a rule can be evaluated."""
    at = slice(first := int(np.argmax(one.observed)), first + 1)
    return one._replace(values=one.values[at], observed=one.observed[at])


def _document_mistakes(rule: Rule, named: Path | None) -> list[str]:
    if rule.schematron is None or named is None:
        return []
    return [
        f"rule '{rule.name}' ({rule.place}): document('{name}') is not the original data, which is '{named.name}'; no "
        "other file is read"
        for name in rule.schematron.documents
        if Path(name).name != named.name and not (named.suffix.lower() != ".xml" and Path(name).stem == named.stem)
    ]


def _form_mistakes(rule: Rule, table: RuleTable, rules: Sequence[Rule]) -> list[str]:
    own = rule.schematron
    if own is None:
        return []
    form = table.form(rules)
    if own.about_value:
        return []
    if own.element != form.record:
        return [
            f"rule '{rule.name}' ({rule.place}): context '{own.context}' is about '{own.element}', and the records are "
            f"called '{form.record}'"
        ]
    return []


def check_rules_on(rules: Sequence[Rule], table: RuleTable) -> dict[str, Checked]:
    """Check all rules on a table."""
    found = {}
    failed = engine_failures([rule for rule in rules if rule.schematron], table)
    for rule in rules:
        verdict = verdict_of(rule, table)
        if isinstance(rule.condition, Unchanged):
            verdict = Verdict(*(np.full(len(table.table), flag) for flag in (True, not has_total(rule, table))))
        if rule.schematron is None:
            found[rule.name] = Checked(verdict.violated, ~(verdict.holds | verdict.violated), _none(table))
            continue
        fails = failed[rule.name]
        if rule.condition is None:
            found[rule.name] = Checked(fails, _none(table), _none(table))
        else:
            idle = ~(verdict.holds | verdict.violated)
            found[rule.name] = Checked(fails & verdict.violated, idle, fails & verdict.holds)
    return found


def has_total(rule: Rule, table: RuleTable) -> bool:
    """Whether the column of a rule about a total has that of the original, weighted where the records are."""
    (name,) = rule.variables
    weight = table.original.weight
    weights = None
    if weight is not None:
        weights = table.original.observations([weight])[weight].values.astype(np.float64)
    before, after = (one.observations([name])[name] for one in (table.original, table))
    if before.decimals != after.decimals:  # as it was written, which may be with fewer zeros
        after = after._replace(decimals=before.decimals)
    return same_total(total_of(before, weights), total_of(after, weights))


def _none(table: RuleTable) -> Flags:
    return np.zeros(len(table.table), dtype=bool)


def verdict_of(rule: Rule, table: RuleTable) -> Verdict:
    """Evaluate a rule on the columns of a table; one without a translation holds."""
    if rule.condition is None:
        return Verdict(~_none(table), _none(table))
    try:
        return evaluate(rule.condition, table.observations(rule.variables), table.original.observations(rule.variables))
    except DataError as error:
        raise DataError([f"rule '{rule.name}' ({rule.place}): {told}" for told in error.mistakes]) from None


def engine_failures(rules: Sequence[Rule], table: RuleTable, rows: Ints | None = None) -> dict[str, Flags]:
    """Return where the engine finds each rule broken, among some rows or all."""
    found = {}
    translated = [rule for rule in rules if rule.condition is not None]
    for part, names in (
        (translated, list(dict.fromkeys(name for rule in translated for name in rule.variables))),
        ([rule for rule in rules if rule.condition is None], None),
    ):
        if part:
            found.update(_run(part, table, table.writable if names is None else names, rows))
    return found


def _run(rules: Sequence[Rule], table: RuleTable, names: Sequence[str], rows: Ints | None) -> dict[str, Flags]:
    import polars as pl

    form = table.form(rules)
    texts = table.texts(names, form).with_row_index("shoal row")
    if rows is not None:
        texts = texts[rows]
    once = texts.unique(names, keep="first", maintain_order=True)
    numbers = once["shoal row"].to_numpy().astype(np.int64)
    broken = engine_violations(rules, row_documents(once.select(names), form), _domain(rules, table, form), numbers)
    found = {}
    for name, at in broken.items():
        found[name] = _none(table)
        if len(at):
            # a sign that no XML has stands for an absent value: nulls are not equal to each other in a join
            shown = [pl.col(column).fill_null("\0") for column in names]
            alike = texts.with_columns(shown).join(once[at].select(shown), on=list(names), how="semi")
            found[name][alike["shoal row"].to_numpy()] = True
    return found


def _domain(rules: Sequence[Rule], table: RuleTable, form: RowForm) -> str:
    """Return a document that has every value of the original once, in each way in which it may be written."""
    import polars as pl

    asked = [rule for rule in rules if needs_original(rule)]
    named = list(dict.fromkeys(name for rule in asked for name in rule.variables))
    columns = []
    for name in table.original.writable if any(rule.condition is None for rule in asked) else named:
        column = table.original.frame[name]
        texts = [written(column, None if column.dtype.is_numeric() else form.forms.get(name))]
        source = table.original.source
        if source and source.rows and name in source.rows.cells.columns:
            texts.append(source.rows.cells[name])
        columns.append(pl.concat(texts).drop_nulls().unique(maintain_order=True).alias(name))
    longest = max(map(len, columns), default=0)
    frame = pl.DataFrame([column.extend_constant(None, longest - len(column)) for column in columns])
    return f"{opening(form)}{''.join(row_elements(frame, form.record)) if columns else ''}</{form.root}>"


def newly_broken(rules: Sequence[Rule], released: RuleTable, held: Mapping[str, Flags]) -> dict[str, int]:
    """Return how many records break each rule that they kept before, by name.

    ``held`` says where each rule was not broken in the original. An equality in Schematron that held to the last digit
    must do so again: other engines will look at it.
    """
    found = {}
    failed = engine_failures([rule for rule in rules if rule.schematron], released)
    for rule in rules:
        if isinstance(rule.condition, Unchanged):
            found[rule.name] = 0 if has_total(rule, released) else len(released.table)
            continue
        verdict = verdict_of(rule, released)
        broken = verdict.violated & held[rule.name]
        if rule.schematron is not None:
            suspects = failed[rule.name] & held[rule.name]
            if rule.condition is not None:
                suspects &= verdict.holds | verdict.violated
            rows = np.flatnonzero(suspects & ~broken)
            if len(rows):
                before = engine_failures([rule], released.original, rows)[rule.name]
                broken = broken | (suspects & ~before)
        found[rule.name] = int(broken.sum())
    return found
