"""Edit rules where an engine has the rows: looked at before any work, kept inside blocks, checked on the result.

Rules are kept inside each block by the same steps as in a whole table, so that groups borrow values only from records
of their block: ``in original`` allows the values that the block's own records have, which are values of the table. What
is decided for the whole table comes from two passes: decimals of columns of floats and the texts that occur, then which
rules records keep. After all blocks are back, a pass over the rows before and after counts the records that break a
rule which they kept; what a rule says about the values of the original is checked in the blocks alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.engine import Engine, released_beside
from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.measures.loss import put_together
from shoal.plan.plan import Plan
from shoal.release.declaring import Declared
from shoal.release.figures import SetFigures
from shoal.rules.accounting import RuleSummary, guaranteed
from shoal.rules.checking import RuleTable, check_fit, newly_broken, verdict_of, written_decimals
from shoal.rules.classify import classify
from shoal.rules.conflicts import conflicts
from shoal.rules.constants import constant_mistakes
from shoal.rules.evaluate import Observations
from shoal.rules.guard import InWhole, known_names, refuse_broken, refuse_newly_broken
from shoal.rules.rule import Rule
from shoal.rules.sources import needs_original
from shoal.tables.decimals import NOTHING_SAID, Precision
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl

_MOST = 1_000_000  # texts of a column that are held


def look_at_rules(engine: Engine, declared: Declared) -> Declared:
    """Refuse rules that do not fit the table or that it breaks already; returns the plan with what blocks must know."""
    rules, plan = declared.rules, declared.plan
    if not rules:
        return declared
    check_fit(rules, RuleTable(open_table(engine.head()), None, orders=plan.orders), plan.identifiers)
    looking = _Looking(rules, plan, {})
    told = engine.add_up(looking.columns, looking.tell)
    texts = {
        name: Observations(np.array(sorted(own), dtype=object), np.ones(len(own), dtype=bool))
        for name, own in told.texts.items()
        if len(own) <= _MOST
    }
    mistakes = constant_mistakes(rules, known_names(declared.sets), texts)
    if mistakes:
        raise PlanError(mistakes)
    looking = replace(looking, decimals=told.decimals)
    found = engine.add_up(looking.columns, looking.hold)
    classified = [classify(rule) for rule in rules]
    whole = [*told.whole]
    by_column = declared.method.name if declared.method.by_column else ""
    sets = [quasi.names for quasi in declared.sets]
    mistakes = conflicts(classified, sets, looking.columns, whole, found.patterns_of(rules), by_column)
    if mistakes:
        raise PlanError(mistakes)
    if plan.broken_rules == "refuse":
        refuse_broken(rules, found.broken_of(rules))
    scores = {name: own.scores for name, own in declared.whole.items() if own.scores is not None}
    return replace(declared, ruled=InWhole(told.decimals, scores))


def rules_of_set(declared: Declared, place: int) -> list[Rule]:
    """Return the rules that the blocks of a set keep; the first set has those that name no quasi-identifier, too."""
    homes = {name: i for i, quasi in enumerate(declared.sets) for name in quasi.names}
    home = {rule.name: max((homes.get(name, 0) for name in rule.variables), default=0) for rule in declared.rules}
    return [rule for rule in declared.rules if home[rule.name] == place]


def rule_summaries(declared: Declared, sets: Sequence[SetFigures]) -> list[RuleSummary]:
    """Say how each rule was kept, in the order of the rules."""
    found = {own.name: own for part in sets if part.rules for own in part.rules.summaries()}
    return [found[rule.name] for rule in declared.rules]


def loss_without_rules(declared: Declared, sets: Sequence[SetFigures]) -> float | None:
    """Return the information loss without rules, where all blocks know it; sets that no rule names lose the same."""
    if not declared.rules or any(part.rules and not part.without for part in sets):
        return None
    return put_together([part.without or part.loss for part in sets], declared.plan.column_weights).table.percent


def check_rules_in_engine(engine: Engine, declared: Declared) -> None:
    """Check rules on the result, in the engine: none is broken in a record that kept it before."""
    rules = [rule for rule in declared.rules if rule.weight is None and not needs_original(rule)]
    if not rules or declared.ruled is None:
        return
    looking = _Looking(rules, declared.plan, declared.ruled.decimals)
    found = engine.add_up(looking.columns, looking.check, released=looking.columns)
    names = [rule.name for rule in rules]
    promised = [rule.name for rule in rules if guaranteed(classify(rule))]
    refuse_newly_broken(dict(zip(names, found.counts.tolist(), strict=True)), promised)


@dataclass(frozen=True)
class _Looking:
    """Looks at batches of rows as rules see them: the parts of passes, which may travel to another machine."""

    rules: Sequence[Rule]
    plan: Plan
    decimals: Mapping[str, int | None]

    @property
    def columns(self) -> list[str]:
        """The columns that rules name."""
        return list(dict.fromkeys(name for rule in self.rules for name in rule.variables))

    def table(self, frame: pl.DataFrame) -> Table:
        """Return a batch as a table with the decimals that are asked for."""
        asked = dict(self.plan.decimals or {})
        return open_table(frame, Precision(asked) if asked else NOTHING_SAID)

    def tell(self, frame: pl.DataFrame, rows: Ints) -> _Told:
        """Find decimals and texts."""
        seen = RuleTable(self.table(frame), None, orders=self.plan.orders).observations(self.columns)
        floats = {name: one for name, one in seen.items() if one.values.dtype.kind == "f"}
        return _Told(
            {name: written_decimals(one) if one.decimals is None else one.decimals for name, one in floats.items()},
            {
                name: frozenset(one.values[one.observed].tolist())
                for name, one in seen.items()
                if one.values.dtype.kind == "O"
            },
            frozenset(name for name, one in seen.items() if one.values.dtype.kind in "iu"),
        )

    def hold(self, frame: pl.DataFrame, rows: Ints) -> _Held:
        """Count which rules records break."""
        original = RuleTable(self.table(frame), None, orders=self.plan.orders, decimals=self.decimals)
        broken = np.column_stack([verdict_of(rule, original).violated for rule in self.rules])
        first = [int(rows[own].min()) if own.any() else -1 for own in broken.T]
        patterns = frozenset(row.tobytes() for row in np.unique(~broken, axis=0))
        return _Held(broken.sum(axis=0), np.array(first), patterns)

    def check(self, frame: pl.DataFrame, rows: Ints) -> _Counts:
        """Count the records of the release that break rules which they kept."""
        before = RuleTable(
            self.table(frame.select(self.columns)), None, orders=self.plan.orders, decimals=self.decimals
        )
        after = RuleTable(self.table(released_beside(frame, self.columns)), None, before)
        held = {rule.name: ~verdict_of(rule, before).violated for rule in self.rules}
        return _Counts(np.array(list(newly_broken(self.rules, after, held).values())))


@dataclass(frozen=True)
class _Told:
    """Decimals of columns of floats, None where six are not enough; texts that occur; columns of whole numbers."""

    decimals: dict[str, int | None]
    texts: dict[str, frozenset[Any]]
    whole: frozenset[str]

    def __add__(self, other: _Told) -> _Told:
        return _Told(
            {name: _more(own, other.decimals[name]) for name, own in self.decimals.items()},
            {name: own | other.texts[name] if len(own) <= _MOST else own for name, own in self.texts.items()},
            self.whole,
        )


def _more(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


@dataclass(frozen=True)
class _Held:
    """How many records break each rule, the first of them, and which rules are kept together in a record."""

    counts: Ints
    first: Ints
    patterns: frozenset[bytes]

    def __add__(self, other: _Held) -> _Held:
        first = np.where(self.first < 0, other.first, np.where(other.first < 0, self.first, 0))
        both = (self.first >= 0) & (other.first >= 0)
        first = np.where(both, np.minimum(self.first, other.first), first)
        return _Held(self.counts + other.counts, first, self.patterns | other.patterns)

    def patterns_of(self, rules: Sequence[Rule]) -> dict[str, Any]:
        """Return the rules that are kept together, a record for each way."""
        every = np.array([np.frombuffer(one, dtype=np.bool_) for one in sorted(self.patterns)])
        return {rule.name: every[:, place] for place, rule in enumerate(rules)}

    def broken_of(self, rules: Sequence[Rule]) -> dict[str, tuple[int, int]]:
        """Return how many records break each rule, and the first of them, where any does."""
        pairs = zip(rules, self.counts.tolist(), self.first.tolist(), strict=True)
        return {rule.name: (count, first) for rule, count, first in pairs if count}


@dataclass(frozen=True)
class _Counts:
    """Records by rule."""

    counts: Ints

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(self.counts + other.counts)
