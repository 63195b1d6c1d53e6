"""Rules before and after: a table that breaks one is refused, and so is a release that breaks one that held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import BrokenPromise, DataError, counted
from shoal.kernels.arrays import Flags
from shoal.plan.plan import Reading
from shoal.release.declaring import Declared
from shoal.release.editing import Editing, guaranteed, prepare_rules
from shoal.rules.checking import RuleTable, check_fit, engine_failures, newly_broken, verdict_of
from shoal.rules.rule import Rule
from shoal.rules.sources import as_rules
from shoal.tables.files import Source, checksum
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

    def check_table(self, data: Any, editing: Editing, written: bool) -> None:
        """Check a release in memory: all rules, or where it will be checked as a file, those for the engine alone."""
        released = RuleTable(open_table(data), None, self.original)
        only = [rule for rule in self.rules if rule.condition is None]
        if only:
            for name, flags in engine_failures(only, released).items():
                editing.checked[name] = int(flags.sum())
        self._check(released, only if written else self.rules)

    def check_file(self, path: Path, frame: pl.DataFrame, source: Source | None, reading: Reading) -> None:
        """Check a release as it was written, at the precision of the file."""
        from shoal.tables.files.again import read_again

        again = read_again(path, frame, source, reading)
        self._check(RuleTable(open_table(again.frame), again, self.original), self.rules)

    def _check(self, released: RuleTable, rules: list[Rule]) -> None:
        broken = {name: count for name, count in newly_broken(rules, released, self.held).items() if count}
        promised = [f"rule '{n}' in {counted(c, 'record')}" for n, c in broken.items() if n in self.promised]
        if promised:
            raise BrokenPromise(f"rules that held before do not hold in the release: {'; '.join(promised)}")
        if broken:
            raise DataError(
                [
                    f"rule '{name}' is checked and not guaranteed, and {counted(count, 'record')} of the release would "
                    "break it, so nothing is released; leave it out, or keep its columns as they are"
                    for name, count in broken.items()
                ]
            )


def guard_rules(declared: Declared, table: Table, source: Source | None) -> tuple[Editing | None, RuleGuard | None]:
    """Read the rules of a plan, and refuse those that do not fit the table or that it breaks already."""
    plan = declared.plan
    if not plan.rules and not plan.rules_file:
        return None, None
    rules = as_rules(plan.rules, plan.rules_file)
    original = RuleTable(table, source)
    check_fit(rules, original, plan.identifiers, source.path if source else None)
    editing = prepare_rules(rules, declared, table)
    only = [rule for rule in rules if rule.condition is None]
    editing.held.update({rule.name: ~verdict_of(rule, original).violated for rule in rules})
    editing.held.update({name: ~flags for name, flags in engine_failures(only, original).items()})
    if plan.broken_rules == "refuse":
        _refuse_broken(rules, editing.held)
    promised = frozenset(rule.name for rule in editing.rules if guaranteed(rule))
    digest = checksum(Path(plan.rules_file)) if plan.rules_file else None
    return editing, RuleGuard(rules, editing.held, original, promised, digest)


def _refuse_broken(rules: list[Rule], held: Mapping[str, Flags]) -> None:
    reasons = []
    for rule in rules:
        broken = np.flatnonzero(~held[rule.name])
        if len(broken):
            reasons.append(
                f"the table breaks rule '{rule.name}' ({rule.place}) in {counted(len(broken), 'record')}, the first is "
                f"record {broken[0] + 1}; correct them, or keep the rules where they hold (broken_rules: "
                "keep-where-held in the plan, --broken-rules keep-where-held on the command line)"
            )
    if reasons:
        raise DataError(reasons)
