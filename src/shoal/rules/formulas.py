"""Formulas of other languages, read by recursive descent into the tree that rules are.

R and SQL write conditions much alike; what they share is here: the levels of operators, parentheses that hold a
condition or a value, and columns of true and false that stand alone. What the tree has no words for is refused with the
reason; messages show none of the text, since a plan may name any file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from shoal.plan.limits import DEEPEST_RULE
from shoal.rules.expression import (
    VALUES,
    And,
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    ComparisonOperator,
    Condition,
    Expression,
    Implies,
    Negative,
    Not,
    Number,
    Or,
    Text,
    Value,
    Variable,
)
from shoal.rules.tokens import as_number

_MOST = 500_000  # words and signs of a text
_LONGEST = 200  # terms of a sum or product, which are nested


class Untranslatable(Exception):  # noqa: N818 - becomes a PlanError with the rule
    """Why a formula has no form here, as the end of a sentence."""


@dataclass(frozen=True)
class Piece:
    """A piece of a formula: ``number``, ``text``, ``name``, ``quoted`` (a name in quotes), ``sign`` or ``end``."""

    kind: str
    text: str
    line: int


def cut(text: str, pattern: re.Pattern[str]) -> list[Piece]:
    """Cut a text into pieces by a pattern whose groups are their kinds; ``space`` is left out."""
    pieces: list[Piece] = []
    at, line = 0, 1
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            raise Untranslatable(f"line {line} has a character that has no meaning there")
        if len(pieces) == _MOST:
            raise Untranslatable(f"it has more than {_MOST} words and signs")
        kind = found.lastgroup or "space"
        if kind != "space":
            pieces.append(Piece(kind, found.group(kind), line))
        line += found.group().count("\n")
        at = found.end()
    return [*pieces, Piece("end", "", line)]


class Formula:
    """Reads a condition; a language says what its signs are, and what stands for a single value."""

    either: Sequence[str] = ()
    both: Sequence[str] = ()
    negated: Sequence[str] = ()
    comparisons: dict[str, ComparisonOperator] = {}  # noqa: RUF012 - a table of the language, never changed

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces, self.at, self.depth = pieces, 0, 0

    @property
    def piece(self) -> Piece:
        """The next piece."""
        return self.pieces[self.at]

    def sees(self, *texts: str) -> bool:
        """Whether the next piece is one of some signs or words."""
        return self.piece.kind in ("sign", "name") and self.piece.text.casefold() in texts

    def take(self, *texts: str) -> str | None:
        """Go past the next piece if it is one of some signs or words, and return it."""
        if not self.sees(*texts):
            return None
        self.at += 1
        return self.pieces[self.at - 1].text.casefold()

    def expect(self, text: str) -> None:
        """Go past a sign or word that has to be there."""
        if self.take(text) is None:
            self.fail(f"'{text}' is missing in line {self.piece.line}")

    def fail(self, reason: str) -> NoReturn:
        """Refuse the formula."""
        raise Untranslatable(reason)

    # -- conditions -----------------------------------------------------------------------------------------------

    def whole(self) -> Condition:
        """Read a condition that goes to the end."""
        found = self.as_condition(self.expression())
        if self.piece.kind != "end":
            self.fail(f"line {self.piece.line} goes on after the condition")
        return found

    def expression(self) -> Expression:
        """Read a condition or a value."""
        self.depth += 1
        if self.depth > DEEPEST_RULE:
            self.fail("it is nested too deep")
        try:
            return self.disjunction()
        finally:
            self.depth -= 1

    def disjunction(self) -> Expression:
        """Read conditions that are joined by or."""
        parts = [self.conjunction()]
        while self.take(*self.either):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(map(self.as_condition, parts)))

    def conjunction(self) -> Expression:
        """Read conditions that are joined by and."""
        parts = [self.negation()]
        while self.take(*self.both):
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else And(tuple(map(self.as_condition, parts)))

    def negation(self) -> Expression:
        """Read a condition with or without a not before it."""
        count = 0
        while self.take(*self.negated):
            count += 1
            if count > DEEPEST_RULE:
                self.fail("it is nested too deep")
        found = self.comparison()
        for _ in range(count):
            found = Not(self.as_condition(found))
        return found

    def comparison(self) -> Expression:
        """Read a comparison, or what the language has in its place."""
        left = self.sum()
        sign = self.take(*self.comparisons)
        if sign is None:
            return self.other_test(left)
        right = self.sum()
        if self.sees(*self.comparisons):
            self.fail("comparisons are chained")
        return compared(self.comparisons[sign], left, right) or Comparison(
            self.comparisons[sign], self.as_value(left), self.as_value(right)
        )

    def other_test(self, left: Expression) -> Expression:
        """Read what else may follow a value; nothing, unless the language says otherwise."""
        return left

    def as_condition(self, node: Expression) -> Condition:
        """Return a condition; a column that stands alone is one of true and false."""
        if isinstance(node, Variable):
            return Comparison("=", node, Text("true"))
        if isinstance(node, VALUES):
            self.fail("a value stands where a condition is needed")
        return node

    def as_value(self, node: Expression) -> Value:
        """Return a value."""
        if not isinstance(node, VALUES):
            self.fail("a condition stands where a value is needed")
        return node

    # -- values ---------------------------------------------------------------------------------------------------

    def sum(self) -> Expression:
        """Read values that are added."""
        found = self.product()
        count = 0
        while sign := self.take("+", "-"):
            found = self.joined("+" if sign == "+" else "-", found, self.product())
            count += 1
            if count > _LONGEST:
                self.fail(f"it adds more than {_LONGEST} terms")
        return found

    def product(self) -> Expression:
        """Read values that are multiplied."""
        found = self.factor()
        count = 0
        while sign := self.take("*", "/"):
            found = self.joined("*" if sign == "*" else "/", found, self.factor())
            count += 1
            if count > _LONGEST:
                self.fail(f"it multiplies more than {_LONGEST} factors")
        return found

    def joined(self, operator: ArithmeticOperator, left: Expression, right: Expression) -> Expression:
        """Put two values together."""
        return Arithmetic(operator, self.as_value(left), self.as_value(right))

    def factor(self) -> Expression:
        """Read a value with or without a sign before it."""
        self.depth += 1
        if self.depth > DEEPEST_RULE:
            self.fail("it is nested too deep")
        try:
            if self.take("-"):
                value = self.as_value(self.factor())
                return Number(-value.value) if isinstance(value, Number) else Negative(value)
            self.take("+")
            return self.atom()
        finally:
            self.depth -= 1

    def atom(self) -> Expression:
        """Read a single value, a function, or what is in parentheses."""
        raise NotImplementedError

    def number(self, text: str) -> Number:
        """Return a number."""
        value = as_number(text, 0)
        if value is None:
            self.fail("a number has a form that is not known")
        return Number(value)

    def arguments(self) -> list[Expression]:
        """Read what is between the parentheses of a function, the first of which has been read."""
        found: list[Expression] = []
        if self.take(")"):
            return found
        while True:
            found.append(self.expression())
            if not self.take(","):
                break
        self.expect(")")
        return found


def compared(operator: ComparisonOperator, left: Expression, right: Expression) -> Condition | None:
    """Return ``(condition) = true`` and the like as a condition; None where two values are compared."""
    for one, other in ((left, right), (right, left)):
        if not isinstance(one, VALUES) and isinstance(other, Text) and other.value in ("true", "false"):
            if operator not in ("=", "!="):
                return None
            return one if (operator == "=") == (other.value == "true") else Not(one)
    return None


def between(value: Value, low: Value, high: Value, strict: bool = False) -> Condition:
    """Return the condition that a value lies between two others."""
    sign: ComparisonOperator = "<" if strict else "<="
    return And((Comparison(sign, low, value), Comparison(sign, value, high)))


def choice(cases: Sequence[tuple[Condition, Condition]], otherwise: Condition | None) -> Condition:
    """Return what must hold where the first of some conditions does, and where none does."""
    parts: list[Condition] = []
    before: list[Condition] = []
    for when, then in cases:
        parts.append(Implies(And((*before, when)) if before else when, then))
        before.append(Not(when))
    if otherwise is not None:
        parts.append(Implies(And(tuple(before)) if len(before) > 1 else before[0], otherwise))
    return parts[0] if len(parts) == 1 else And(tuple(parts))
