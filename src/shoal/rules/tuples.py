"""The tuple that each group releases for columns tied by rules, and whether it keeps them.

A rule over columns of the set alone is evaluated once a group: where the tuple keeps it, every record does that has
all of its values. A rule that also needs other columns, or that asks which values are missing, is evaluated record by
record. A rule binds a group where it held in at least one of its records before. An equation that held to the last
digit before, and not only to the rounding of its total, has to do so again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.numbers import Column
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.representatives import Grouping
from shoal.rules.classify import Classified, Equation, Part, When
from shoal.rules.evaluate import Observations, Verdict, evaluate, evaluate_value
from shoal.rules.expression import And, Comparison, Condition, variables_of, walk

_NEAR_STEP = 1e-6  # of a grid
_LARGEST = 2.0**53  # up to here a float tells whole numbers apart


@dataclass(frozen=True)
class RuledColumn:
    """A column of numbers, dates or categories under rules.

    Attributes
    ----------
    column : Column or Category
        As it is microaggregated.
    observations : Observations
        The original, as rules see it.
    scale : float
        Standard deviation of its numbers; 0 where they are all equal.
    grid : Fraction or None
        Smallest step of its numbers; None for floats.
    aggregator : str
        What its groups are released as where rules allow it.
    """

    column: AnyColumn
    observations: Observations
    scale: float
    grid: Fraction | None
    aggregator: str = ""

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    @property
    def decimal(self) -> bool:
        """Whether its numbers are held as floats and have a fixed number of decimals."""
        return self.grid is not None and self.column.values.dtype.kind == "f"

    @cached_property
    def numeric(self) -> bool:
        """Whether its values can be computed with."""
        values, observed = self.observations.values, self.observations.observed
        if isinstance(self.column, Category) or values.dtype.kind not in "iuf":
            return False
        return self.column.step == 1 and bool((np.abs(values[observed].astype(np.float64)) < _LARGEST).all())

    @cached_property
    def low(self) -> float:
        """Smallest value of the column, on its grid."""
        seen = self.column.values[self.column.observed]
        low = float(seen.min()) if len(seen) else 0.0
        return low if not self.decimal else min(low, _on_grid(low, self.grid, np.floor))

    @cached_property
    def high(self) -> float:
        """Largest value of the column, on its grid."""
        seen = self.column.values[self.column.observed]
        high = float(seen.max()) if len(seen) else 0.0
        return high if not self.decimal else max(high, _on_grid(high, self.grid, np.ceil))

    @property
    def coded_names(self) -> bool:
        """Whether its values are codes of categories, which have an order or none but no distance here."""
        return isinstance(self.column, Category)

    def natural(self, values: Numbers) -> Floats:
        """Return the numbers that values of the column stand for; dates as ticks, categories as codes."""
        if isinstance(self.column, Category):
            return values.astype(np.float64)
        return values.astype(np.float64) * self.column.step + float(self.column.origin)

    def coded(self, numbers: Floats) -> Numbers:
        """Return numbers as values of the column."""
        if isinstance(self.column, Category):
            return np.rint(numbers).astype(np.int64)
        if not self.column.whole:
            return numbers
        return np.rint((numbers - float(self.column.origin)) / self.column.step).astype(np.int64)

    def as_observations(self, codes: Numbers, observed: Flags) -> Observations:
        """Return values of the column as rules see them."""
        return released_observations(self.column, self.observations, codes, observed)


def _on_grid(number: float, grid: Fraction | None, rounding: np.ufunc) -> float:
    """Return the next multiple of a grid below or above a number; the number where it is one, whatever floats make."""
    assert grid is not None
    steps = number * grid.denominator / grid.numerator
    near = np.rint(steps)
    steps = near if abs(steps - near) < _NEAR_STEP else rounding(steps)
    return float(steps * grid.numerator / grid.denominator)


def released_observations(column: AnyColumn, original: Observations, codes: Numbers, observed: Flags) -> Observations:
    """Return values of a column as rules see them."""
    if isinstance(column, Category):
        texts = original.values.dtype.kind == "O"
        names = [text_of(name) if texts else name for name in column.names]
        # a column without values has a code that stands for none
        known = np.array(names if None not in names else [0], dtype=original.values.dtype)
        return original._replace(values=known[codes.astype(np.int64)], observed=observed)
    if not column.whole:
        return Observations(codes, observed, original.decimals)
    numbers = whole_numbers(column, codes)
    if original.values.dtype.kind == "M":
        return Observations(numbers.astype(np.int64).view(original.values.dtype), observed)
    return Observations(numbers, observed, original.decimals)


def whole_numbers(column: Column, codes: Numbers) -> NDArray[Any]:
    """Return the whole numbers that values of a column stand for, exactly; unsigned where they need 64 bits.

    >>> whole_numbers(Column("A", np.array([0, 1]), np.array([True, True]), 5), np.array([0, 1]))
    array([5, 6])
    """
    above = codes.astype(np.int64) * column.step
    if column.origin + int(column.values.max(initial=0)) * column.step < 2**63:
        return above + column.origin
    return above.view(np.uint64) + np.uint64(column.origin % 2**64)  # wraps as two's complement does


def text_of(value: object) -> str:
    """Return a category as rules see it.

    >>> text_of(True), text_of("F")
    ('true', 'F')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Bound:
    """A part of a rule, and all antecedents that it waits for."""

    rule: int
    part: Part
    antecedent: Condition | None


def bound_parts(rules: Sequence[Classified]) -> list[Bound]:
    """Return the parts of rules, those of implications with their antecedents."""
    found: list[Bound] = []

    def add(rule: int, parts: Sequence[Part], antecedent: Condition | None) -> None:
        for part in parts:
            if isinstance(part, When):
                both = part.antecedent if antecedent is None else And((antecedent, part.antecedent))
                add(rule, part.parts, both)
            else:
                found.append(Bound(rule, part, antecedent))

    for i, rule in enumerate(rules):
        add(i, rule.parts, None)
    return found


class Tuples:
    """Values of some columns (groups, d), which of them are released (groups, d), and the rules about them.

    ``codes`` are values of the columns, as they will be released; ``numbers`` what they stand for.
    """

    def __init__(
        self,
        columns: Sequence[RuledColumn],
        rules: Sequence[Classified],
        groups: Ints,
        grouping: Grouping,
        outside: Mapping[str, Observations],
        held: Mapping[str, Flags],
        *,
        weights: Floats | None = None,
    ) -> None:
        self.weights = weights
        self.columns, self.rules, self.groups, self.grouping = list(columns), list(rules), groups, grouping
        self.outside, self.place = outside, {c.name: j for j, c in enumerate(columns)}
        self.original = {**outside, **{c.name: c.observations for c in columns}}
        self.count = len(grouping.starts) - 1
        self.held = [held[rule.name] for rule in rules]
        self.binds = np.column_stack([self.any_record(mask) for mask in self.held])
        self.parts = bound_parts(rules)
        bare = {name: observations._replace(decimals=None) for name, observations in self.original.items()}
        self.exact = [self._exact(rule, bare, before) for rule, before in zip(rules, self.held, strict=True)]

    @staticmethod
    def _exact(rule: Classified, bare: Mapping[str, Observations], before: Flags) -> bool:
        """Whether a rule held to the last digit wherever it held."""
        condition = rule.rule.condition
        if condition is None or not equates(condition):
            return True
        return not bool((evaluate(condition, bare).violated & before).any())

    def any_record(self, flags: Flags) -> Flags:
        """Whether any record of each group has a flag."""
        if flags.all():
            return np.ones(self.count, dtype=bool)
        return np.bincount(self.groups[flags], minlength=self.count) > 0

    def rows_of(self, chosen: Ints) -> tuple[Ints, Ints]:
        """Return the rows of some groups, and which of these groups each is in, by place."""
        starts, stops = self.grouping.starts[chosen], self.grouping.starts[chosen + 1]
        sizes = stops - starts
        places = np.repeat(np.arange(len(chosen)), sizes)
        first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        rows = self.grouping.order[np.arange(int(sizes.sum())) - first[places] + starts[places]]
        return rows, places

    def _by_record(self, names: Sequence[str], asks_missing: bool) -> bool:
        inside = [self.columns[self.place[name]] for name in names if name in self.place]
        if len(inside) < len(names):
            return True
        return asks_missing and not all(bool(c.observations.observed.all()) for c in inside)

    def judge(
        self, condition: Condition, asks_missing: bool, chosen: Ints, codes: Floats, there: Flags, exact: bool = False
    ) -> tuple[Verdict, Ints, Ints | None]:
        """Evaluate a condition for some groups whose tuples are given.

        Returns the verdict, the place of the group of each of its entries, and their rows where it is by record.
        """
        names = variables_of(condition)
        if not self._by_record(names, asks_missing):
            observations = {name: self._observations(self.place[name], codes, there, exact) for name in names}
            return evaluate(condition, observations, self.original), np.arange(len(chosen)), None
        rows, places = self.rows_of(chosen)
        by_record: dict[str, Observations] = {}
        for name in names:
            if name in self.place:
                j = self.place[name]
                one = self._observations(j, codes, there, exact)
                seen = one.observed[places] & self.columns[j].observations.observed[rows]
                by_record[name] = one._replace(values=one.values[places], observed=seen)
            else:
                outer = self.outside[name]
                outer = outer._replace(values=outer.values[rows], observed=outer.observed[rows])
                by_record[name] = outer._replace(decimals=None) if exact else outer
        return evaluate(condition, by_record, self.original), places, rows

    def _observations(self, j: int, codes: Floats, there: Flags, exact: bool) -> Observations:
        column = self.columns[j]
        values = codes[:, j] if column.column.values.dtype.kind == "f" else codes[:, j].astype(np.int64)
        found = column.as_observations(values, there[:, j])
        return found._replace(decimals=None) if exact else found

    def broken(self, chosen: Ints, codes: Floats, there: Flags) -> Flags:
        """Whether the tuples of some groups break a rule that binds them: (groups, rules)."""
        found = np.zeros((len(chosen), len(self.rules)), dtype=bool)
        for i, rule in enumerate(self.rules):
            if rule.rule.condition is None:
                continue
            asked = (rule.rule.condition, rule.by_record, chosen, codes, there, self.exact[i])
            verdict, places, rows = self.judge(*asked)
            if rows is None:
                found[:, i] = verdict.violated & self.binds[chosen, i]
            else:
                found[places[verdict.violated & self.held[i][rows]], i] = True
        return found

    def loose(self, chosen: Ints, codes: Floats, there: Flags) -> Flags:
        """Whether an equation holds only up to the rounding of floats, which another engine may not allow."""
        found = np.zeros(len(chosen), dtype=bool)
        for bound in self.parts:
            if bound.antecedent is not None or not isinstance(bound.part, Equation) or bound.part.slack:
                continue
            sides = (bound.part.comparison.left, bound.part.comparison.right)
            names = bound.part.variables
            if not all(name in self.place for name in names):
                continue
            observations = {name: self._observations(self.place[name], codes, there, exact=True) for name in names}
            if not all(one.observed.any() for one in observations.values()):
                continue
            with np.errstate(all="ignore"):
                (left, seen), (right, also) = (evaluate_value(side, observations) for side in sides)
            found |= seen & also & (left != right) & self.binds[chosen, bound.rule]
        return found

    def active(self, chosen: Ints, codes: Floats, there: Flags) -> Flags:
        """Whether each part must hold for the tuples of some groups: (groups, parts)."""
        found = np.empty((len(chosen), len(self.parts)), dtype=bool)
        known: dict[Condition, Flags] = {}
        for p, part in enumerate(self.parts):
            found[:, p] = self.binds[chosen, part.rule]
            if part.antecedent is not None:
                if part.antecedent not in known:
                    verdict, places, _ = self.judge(part.antecedent, True, chosen, codes, there)
                    met = np.zeros(len(chosen), dtype=bool)
                    met[places[verdict.holds]] = True
                    known[part.antecedent] = met
                found[:, p] &= known[part.antecedent]
            for name in names_of(part.part):
                if name in self.place:
                    found[:, p] &= there[:, self.place[name]]
        return found


def equates(condition: Condition) -> bool:
    """Whether a condition has an equation of results, for which precision matters.

    >>> from shoal.rules.grammar import parse_condition
    >>> equates(parse_condition("T = A + B")), equates(parse_condition("A <= B"))
    (True, False)
    """
    return any(isinstance(node, Comparison) and node.operator in ("=", "!=") for node in walk(condition))


def names_of(part: Part) -> tuple[str, ...]:
    """Return the columns of a part.

    >>> from shoal.rules.classify import Whole
    >>> names_of(Whole("A"))
    ('A',)
    """
    if hasattr(part, "form") and not hasattr(part, "comparison"):
        return tuple(part.form.coefficients)
    if hasattr(part, "comparison"):
        return variables_of(part.comparison)
    if hasattr(part, "name"):
        return (part.name,)
    return variables_of(part.condition) if hasattr(part, "condition") else ()
