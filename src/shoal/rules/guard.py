"""Rules before and after: a table that breaks one is refused, and so is a release that breaks one that held."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.columns.categories import Category
from shoal.columns.hierarchy import name_of
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.columns.scaling import Scale
from shoal.errors import BrokenPromise, DataError, PlanError, counted
from shoal.kernels.arrays import Flags
from shoal.plan.plan import Plan
from shoal.plan.reading import Reading
from shoal.plan.roles import Kind
from shoal.rules.accounting import guaranteed
from shoal.rules.checking import RuleTable, check_fit, engine_failures, newly_broken, verdict_of
from shoal.rules.constants import Known, constant_mistakes
from shoal.rules.editing import Editing, prepare_rules
from shoal.rules.rule import Rule
from shoal.tables.files import Source, checksum
from shoal.tables.files.again import read_again
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class RuleGuard:
    """The rules of a release, and where they held before.

    Attributes
    ----------
    rules : list of Rule
        What must hold.
    held : dict of bool (n,)
        Records that did not break each, by name.
    original : RuleTable
        The table that went in.
    promised : frozenset of str
        Rules that are kept by construction.
    file_checksum : str or None
        Checksum of the file that they came from.
    """

    rules: list[Rule]
    held: Mapping[str, Flags]
    original: RuleTable
    promised: frozenset[str]
    file_checksum: str | None = None

    def check_table(self, data: Any, written: bool) -> dict[str, int]:
        """Check a release in memory: all rules, or where it will be checked as a file, those for the engine alone.

        Returns how many records break each rule that only the engine can check.
        """
        released = RuleTable(open_table(data), None, self.original)
        only = [rule for rule in self.rules if rule.condition is None]
        failures = engine_failures(only, released) if only else {}
        self._check(released, only if written else self.rules)
        return {name: int(flags.sum()) for name, flags in failures.items()}

    def check_file(self, path: Path, frame: pl.DataFrame, source: Source | None, reading: Reading) -> None:
        """Check a release as it was written, at the precision of the file."""
        again = read_again(path, frame, source, reading)
        self._check(RuleTable(open_table(again.frame), again, self.original), self.rules)

    def _check(self, released: RuleTable, rules: list[Rule]) -> None:
        must = [rule for rule in rules if rule.weight is None]
        refuse_newly_broken(newly_broken(must, released, self.held), self.promised)


def refuse_newly_broken(counts: Mapping[str, int], promised: Collection[str]) -> None:
    """Refuse a release in which so many records break rules that they kept before."""
    broken = {name: count for name, count in counts.items() if count}
    told = [f"rule '{name}' in {counted(count, 'record')}" for name, count in broken.items() if name in promised]
    if told:
        raise BrokenPromise(f"rules that held before do not hold in the release: {'; '.join(told)}")
    if broken:
        raise DataError(
            [
                f"rule '{name}' is checked and not guaranteed, and {counted(count, 'record')} of the release would "
                "break it, so nothing is released; leave it out, or keep its columns as they are"
                for name, count in broken.items()
            ]
        )


@dataclass(frozen=True)
class InWhole:
    """What the rules of a block must know of the whole table, in which they were looked at before.

    Attributes
    ----------
    decimals : dict
        Decimals of columns of floats.
    scores : dict of Scale
        Z-scores of columns of numbers.
    """

    decimals: Mapping[str, int | None]
    scores: Mapping[str, Scale] = field(default_factory=dict)


def guard_rules(
    rules: list[Rule],
    sets: Sequence[QuasiIdentifiers],
    plan: Plan,
    table: Table,
    source: Source | None,
    *,
    by_column: str = "",
    whole: InWhole | None = None,
) -> tuple[Editing, RuleGuard]:
    """Refuse rules that do not fit the table or that it breaks already, and prepare to keep them.

    ``by_column`` is the method where that treats columns one by one. Where the table is a block, ``whole`` is what was
    found in all of it.
    """
    original = RuleTable(table, source, orders=plan.orders, decimals=whole.decimals if whole else None)
    original.weight = plan.weight
    if whole is None:
        check_fit(rules, original, plan.identifiers, source.path if source else None)
        named = original.observations(list(dict.fromkeys(name for rule in rules for name in rule.variables)))
        mistakes = constant_mistakes(rules, known_names(sets), named)
        if mistakes:
            raise PlanError(mistakes)
    held = {rule.name: ~verdict_of(rule, original).violated for rule in rules}
    editing = prepare_rules(
        rules,
        sets,
        table,
        chosen=plan.aggregators,
        geometric=plan.product_rules == "geometric-means",
        by_column=by_column,
        orders=plan.orders,
    )
    only = [rule for rule in rules if rule.condition is None]
    held |= {name: ~flags for name, flags in engine_failures(only, original).items()}
    editing = replace(editing, held={**editing.held, **held}, scores=whole.scores if whole else {})
    if plan.broken_rules == "refuse" and whole is None:
        broken = {name: np.flatnonzero(~flags) for name, flags in editing.held.items()}
        refuse_broken(rules, {name: (len(rows), int(rows[0])) for name, rows in broken.items() if len(rows)})
    promised = frozenset(rule.name for rule in editing.rules if guaranteed(rule))
    digest = checksum(Path(plan.rules_file)) if plan.rules_file else None
    return editing, RuleGuard(rules, editing.held, original, promised, digest)


def known_names(sets: Sequence[QuasiIdentifiers]) -> dict[str, Known]:
    """Return the names that columns of categories with an order or a hierarchy may have."""
    found = {}
    for column in (column for quasi in sets for column in quasi.columns if isinstance(column, Category)):
        if column.hierarchy is not None:
            found[column.name] = Known("hierarchy", column.hierarchy.names)
        elif column.kind is Kind.ORDINAL:
            found[column.name] = Known("order", [name_of(name) for name in column.names])
    return found


def refuse_broken(rules: Sequence[Rule], broken: Mapping[str, tuple[int, int]]) -> None:
    """Refuse a table that breaks rules which must hold: in how many records, and the first of them, by name."""
    reasons = [
        f"the table breaks rule '{rule.name}' ({rule.place}) in {counted(broken[rule.name][0], 'record')}, the first "
        f"is record {broken[rule.name][1] + 1}; correct them, or keep the rules where they hold (broken_rules: "
        "keep-where-held in the plan, --broken-rules keep-where-held on the command line)"
        for rule in rules
        if rule.weight is None and rule.name in broken
    ]
    if reasons:
        raise DataError(reasons)
