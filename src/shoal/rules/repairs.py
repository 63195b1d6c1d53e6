"""Whether a record can keep all rules by other values in some of its cells: a mixed-integer program.

Cells that may change are variables: numbers, whole where their column has whole numbers, and one variable of 0 or 1 for
each category, of which one is 1; the place of a category in its order is a sum of those. Cells that stay are constants.
An ``or`` has a variable of 0 or 1 for each part, which must hold where it is 1. HiGHS solves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal.columns.hierarchy import name_of
from shoal.kernels.arrays import Floats
from shoal.rules.algebra import LinearForm, difference, linear_form
from shoal.rules.classify import negation
from shoal.rules.evaluate import Observations, evaluate
from shoal.rules.expression import (
    And,
    Call,
    Comparison,
    Condition,
    Implies,
    Integer,
    Member,
    Missing,
    Negative,
    Not,
    Number,
    Or,
    Original,
    Text,
    Unchanged,
    Variable,
    variables_of,
    walk,
)

_REACH = 100.0  # how far beyond the largest number of a record its cells may go
_STRICT = 1e-6  # by which a strict inequality of numbers with decimals is kept


@dataclass(frozen=True)
class Cells:
    """What the columns of rules may hold: ``whole`` and other numbers, or one of some categories."""

    numbers: frozenset[str]
    whole: frozenset[str]
    categories: Mapping[str, tuple[str, ...]]


def unanswerable(condition: Condition, cells: Cells) -> str | None:
    """Say why a condition cannot be put to a solver; None where it can.

    >>> from shoal.rules.grammar import parse_condition
    >>> cells = Cells(frozenset("AB"), frozenset(), {})
    >>> unanswerable(parse_condition("A * B <= 3"), cells), unanswerable(parse_condition("A + B <= 3"), cells)
    ('it is not linear', None)
    """
    parts = condition.parts if isinstance(condition, And) else (condition,)
    if any(isinstance(n, Integer) for part in parts if not isinstance(part, Integer) for n in walk(part)):
        return "it asks for whole numbers under a condition"
    for node in walk(condition):
        if isinstance(node, Missing):
            return "it asks whether a value is missing"
        if isinstance(node, Original | Unchanged):
            return "it is about the values of the original"
        if isinstance(node, Integer | Member) and not isinstance(node.operand, Variable):
            return "it asks what kind of value a result is"
        if isinstance(node, Comparison) and not any(name in cells.categories for name in variables_of(node)):
            if difference(bare(node)) is None and not _is_date(node):
                return "it is not linear"
        elif isinstance(node, Comparison) and not all(
            isinstance(side, Variable | Text | Number) for side in (node.left, node.right)
        ):
            return "it computes with categories"
    return None


def _is_date(node: Comparison) -> bool:
    return all(isinstance(side, Variable | Text) for side in (node.left, node.right))


def bare(node: Comparison) -> Comparison:
    """Return a comparison of an absolute value as one of what is in it, to see whether that is linear."""
    if isinstance(node.left, Call) and node.left.function == "abs":
        return Comparison(node.operator, node.left.arguments[0], node.right)
    return node


@dataclass
class _Program:
    """Variables and limits of one record."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    rows: list[tuple[dict[int, float], float]] = field(default_factory=list)  # sums that are at most a number
    possible: bool = True

    def variable(self, low: float, high: float, whole: bool) -> int:
        self.low.append(low)
        self.high.append(high)
        self.whole.append(int(whole))
        return len(self.low) - 1

    def limit(self, row: Mapping[int, float], end: float, only: int | None) -> None:
        """Demand that a sum is at most a number, where the variable ``only`` is 1, or always."""
        row = dict(row)
        if only is not None:
            most = sum(max(c * self.low[v], c * self.high[v]) for v, c in row.items())
            slack = max(most - end, 0.0)
            row[only] = row.get(only, 0.0) + slack
            end += slack
        if not row:
            self.possible &= end >= -1e-9
            return
        self.rows.append((row, end))

    def forbid(self, only: int | None) -> None:
        """Demand that the variable is 0; nothing is possible where there is none."""
        if only is None:
            self.possible = False
        else:
            self.rows.append(({only: 1.0}, 0.0))

    def solvable(self) -> bool:
        if not self.possible:
            return False
        if not self.low:
            return True
        from scipy.optimize import Bounds, LinearConstraint, milp

        matrix = np.zeros((len(self.rows), len(self.low)))
        for i, (row, _) in enumerate(self.rows):
            for v, c in row.items():
                matrix[i, v] = c
        limits = [LinearConstraint(matrix, ub=np.array([end for _, end in self.rows]))] if self.rows else []
        found = milp(
            np.zeros(len(self.low)),
            integrality=np.array(self.whole),
            bounds=Bounds(np.array(self.low), np.array(self.high)),
            constraints=limits,
            options={"node_limit": 10_000},
        )
        return bool(found.success)


class Repair:
    """One record: its values, and the conditions that must hold."""

    def __init__(self, row: Mapping[str, Observations], conditions: Sequence[Condition], cells: Cells) -> None:
        self.row, self.cells = row, cells
        self.conditions = [_inwards(condition) for condition in conditions]
        self.values = {
            name: number_of(one.values)[0] if name in cells.numbers else name_of(one.values.tolist()[0])
            for name, one in row.items()
            if one.observed[0]
        }
        sizes = [abs(value) for value in self.values.values() if not isinstance(value, str)]
        constants = [abs(n.value) for c in self.conditions for n in walk(c) if isinstance(n, Number)]
        self.reach = _REACH * max([1.0, *sizes, *constants])

    def possible(self, free: set[str]) -> bool:
        """Whether some values of the free cells, and of those that are missing, keep all conditions."""
        self.free = free | {name for name in self.row if name not in self.values}
        self.program = _Program()
        self.at: dict[str, int] = {}
        self.chosen: dict[str, dict[str, int]] = {}
        for name in sorted(self.free):
            if name in self.cells.numbers:
                self.at[name] = self.program.variable(-self.reach, self.reach, name in self.cells.whole)
            else:
                own = {value: self.program.variable(0.0, 1.0, True) for value in self.cells.categories[name]}
                self.chosen[name] = own
                self.program.limit(dict.fromkeys(own.values(), 1.0), 1.0, None)
                self.program.limit(dict.fromkeys(own.values(), -1.0), -1.0, None)
        for condition in self.conditions:
            self.demand(condition, None)
        return self.program.solvable()

    def demand(self, node: Condition, only: int | None) -> None:
        """Demand a condition, where a variable is 1, or always."""
        if not self.free & set(variables_of(node)):
            if evaluate(node, {name: self.row[name] for name in variables_of(node)}).violated[0]:
                self.program.forbid(only)
            return
        match node:
            case And(parts):
                for part in parts:
                    self.demand(part, only)
            case Or(parts):
                ways = [self.program.variable(0.0, 1.0, True) for _ in parts]
                self.program.limit(dict.fromkeys(ways, -1.0), -1.0, only)
                for part, way in zip(parts, ways, strict=True):
                    self.demand(part, way)
            case Not(Member(Variable(name), values)):
                for value in values:
                    self.demand(Comparison("!=", Variable(name), value), only)
            case Member(Variable(name), values) if name in self.cells.categories:
                own = {self.chosen[name][str(v.value)]: -1.0 for v in values if str(v.value) in self.chosen[name]}
                self.program.limit(own, -1.0, only)
            case Member(Variable(name), values):
                self.demand(Or(tuple(Comparison("=", Variable(name), value) for value in values)), only)
            case Integer(Variable(name)):
                self.program.whole[self.at[name]] = 1
            case Comparison():
                self.compare(node, only)

    def compare(self, node: Comparison, only: int | None) -> None:
        """Demand a comparison."""
        named = [name for name in variables_of(node) if name in self.cells.categories]
        if named and node.operator in ("=", "!="):
            self.alike(node, only)
            return
        if isinstance(node.left, Call) and node.left.function == "abs":
            self.demand(_without_abs(node), only)
            return
        if node.operator == "!=":
            self.demand(Or((Comparison("<", node.left, node.right), Comparison(">", node.left, node.right))), only)
            return
        form = self.place_difference(node) if named or _is_date(node) else difference(node)
        assert form is not None
        strict = node.operator in ("<", ">")
        for sign in {"=": (1, -1), "<": (1,), "<=": (1,)}.get(node.operator, (-1,)):
            row, end = self.row_of(form, sign)
            step = 0.0
            if strict:
                step = 1.0 if self.is_whole(form, bool(named)) else _STRICT * max(1.0, self.reach / _REACH * 1e-3)
            self.program.limit(row, end - step, only)

    def is_whole(self, form: LinearForm, places: bool) -> bool:
        """Whether a form has whole numbers only."""
        return places or (
            all(name in self.cells.whole and c.denominator == 1 for name, c in form.coefficients.items())
            and form.constant.denominator == 1
        )

    def row_of(self, form: LinearForm, sign: int) -> tuple[dict[int, float], float]:
        """Return ``sign * form <= 0`` as a sum of variables, and what it is at most."""
        row: dict[int, float] = {}
        end = -sign * float(form.constant)
        for name, coefficient in form.coefficients.items():
            c = sign * float(coefficient)
            if name in self.at:
                row[self.at[name]] = row.get(self.at[name], 0.0) + c
            elif name in self.chosen:
                for place, value in enumerate(self.cells.categories[name]):
                    row[self.chosen[name][value]] = c * place
            else:
                value = self.values[name]
                end -= c * (self.cells.categories[name].index(value) if isinstance(value, str) else value)
        return row, end

    def place_difference(self, node: Comparison) -> LinearForm:
        """Return the difference of places in an order, or of dates, as a form."""
        names = variables_of(node)
        levels = self.cells.categories.get(names[0], ())

        def form_of(side: object) -> LinearForm:
            if isinstance(side, Text):
                place = levels.index(side.value) if levels else number_of(np.array([np.datetime64(side.value)]))[0]
                return LinearForm({}, Fraction(place))
            if isinstance(side, Number) and levels:
                return LinearForm({}, Fraction(levels.index(str(side.value))))
            return linear_form(side) or LinearForm({}, Fraction(0))  # type: ignore[arg-type]

        return form_of(node.left).plus(form_of(node.right), Fraction(-1))

    def alike(self, node: Comparison, only: int | None) -> None:
        """Demand that categories are equal, or that they are not."""
        sides = [self.shares(side) for side in (node.left, node.right)]
        for value in set(sides[0]) | set(sides[1]):
            (row, one), (other, two) = (side.get(value, ({}, 0.0)) for side in sides)
            if node.operator == "=":
                for sign in (1.0, -1.0):
                    both = {v: sign * c for v, c in row.items()} | {v: -sign * c for v, c in other.items()}
                    self.program.limit(both, sign * (two - one), only)
            else:
                self.program.limit(row | other, 1.0 - one - two, only)

    def shares(self, side: object) -> dict[str, tuple[dict[int, float], float]]:
        """Return, for each category, whether a side is it: a variable, or a number."""
        if isinstance(side, Variable) and side.name in self.chosen:
            return {value: ({v: 1.0}, 0.0) for value, v in self.chosen[side.name].items()}
        value = self.values[side.name] if isinstance(side, Variable) else str(side.value)  # type: ignore[attr-defined]
        return {str(value): ({}, 1.0)}


def number_of(values: Floats) -> Floats:
    """Return numbers as floats, and dates as days."""
    if values.dtype.kind == "M":
        return np.asarray(values.astype("datetime64[us]").astype(np.int64) / 86_400e6)
    return values.astype(np.float64)


def _without_abs(node: Comparison) -> Condition:
    """Return ``abs(x) <= y`` as both ``x <= y`` and ``-x <= y``; the other way round, as either."""
    inner = node.left.arguments[0] if isinstance(node.left, Call) else node.left
    sides = (Comparison(node.operator, inner, node.right), Comparison(node.operator, Negative(inner), node.right))
    if node.operator == "=":
        return And((Or(sides), Comparison(">=", node.right, Number(0))))
    return And(sides) if node.operator in ("<", "<=", "!=") else Or(sides)


def _inwards(node: Condition) -> Condition:
    """Return a condition of and, or, and what they join, with every not at what it is about."""
    match node:
        case Implies(antecedent, consequent):
            return Or((_inwards(negation(antecedent)), _inwards(consequent)))
        case And(parts):
            return And(tuple(_inwards(part) for part in parts))
        case Or(parts):
            return Or(tuple(_inwards(part) for part in parts))
        case Not(operand):
            turned = negation(operand)
            return turned if isinstance(turned, Not) else _inwards(turned)
    return node
