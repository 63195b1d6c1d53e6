"""Rules of the R package validate: YAML as the package writes it, and texts of expressions.

Source: M. van der Loo and E. de Jonge, Data validation infrastructure for R, Journal of Statistical Software 97(10),
2021. A rule of the package that is about one record at a time has a form here; one that is about columns, types or
several records (``sum(x)``, ``is.numeric``, ``a ~ b``) has none and is refused. Missing values: a comparison with one
is not applicable, as here; ``%in%`` and ``%vin%`` both become ``in {...}``, which is what ``%vin%`` is in R.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from shoal.errors import PlanError, printable
from shoal.plan.limits import DEEPEST_RULE
from shoal.rules.expression import (
    Arithmetic,
    Call,
    Comparison,
    Condition,
    Expression,
    Integer,
    Member,
    Missing,
    Not,
    Number,
    Text,
    Value,
    Variable,
    children,
)
from shoal.rules.formulas import Formula, Piece, Untranslatable, between, choice, cut
from shoal.rules.rule import Rule, name_mistakes
from shoal.rules.simplify import simplified
from shoal.rules.tokens import cut_rules

_PIECES = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)L?
  | "(?P<text>(?:[^"\\]|\\.)*)" | '(?P<text2>(?:[^'\\]|\\.)*)'
  | `(?P<quoted>[^`]*)`
  | (?P<name>[^\W\d][\w.]*|\.[^\W\d][\w.]*)
  | (?P<sign>%[^%\n]*%|:=|<-|<=|>=|==|!=|&&|\|\||[-+*/^()!<>&|,~:=\[\]{}$])
    """,
    re.VERBOSE,
)
_ABOUT_COLUMNS = ("sum", "mean", "median", "min", "max", "sd", "var", "cor", "nrow", "length", "unique", "is_unique",
                  "all_unique", "is_complete", "all_complete", "do_by", "sum_by", "mean_by", "min_by", "max_by",
                  "contains_at_least", "contains_exactly", "hierarchy", "part_whole_relation", "is_linear_sequence",
                  "exists_any", "exists_one")  # fmt: skip
_ABOUT_TYPES = ("is.numeric", "is.character", "is.integer", "is.factor", "is.logical", "class", "names", "colnames")
_RANGE = 10_000  # most whole numbers of a range
_POWER = 4  # largest power that is written out


def is_validate(settings: object) -> bool:
    """Whether the content of a YAML file is rules of validate: each has an ``expr``.

    >>> is_validate({"rules": [{"expr": "a > 0"}]}), is_validate({"rules": ["a > 0"]})
    (True, False)
    """
    rules = settings.get("rules") if isinstance(settings, Mapping) else None
    return isinstance(rules, list) and bool(rules) and all(isinstance(r, Mapping) and "expr" in r for r in rules)


def validate_rules(settings: Mapping[str, Any], place: str) -> list[Rule]:
    """Return the rules in the content of a YAML file of validate, or all reasons why some have no form here.

    >>> validate_rules({"rules": [{"expr": "if (age < 15) income == 0", "name": "young"}]}, "edits.yaml")[0].text
    'if (age < 15) income == 0'
    """
    if settings.get("include"):
        raise PlanError(f"{place}: includes other files of rules, which are not read; put the rules into one file")
    given = [(number, str(one["expr"]), _name(one, number)) for number, one in enumerate(settings["rules"], start=1)]
    return _translated([(f"rule {number}", text, name) for number, text, name in given], place)


def _name(rule: Mapping[str, Any], number: int) -> str:
    name = rule.get("name")
    return str(name) if name not in (None, "") else f"V{number}"


def parse_validate(text: str, place: str) -> list[Rule]:
    """Return the rules in a text of R expressions, one a line or going on in indented lines; ``#`` begins a comment."""
    return _translated([(f"line {line}", rule, "") for line, rule in _statements(text)], place)


def _statements(text: str) -> list[tuple[int, str]]:
    """Cut a text into expressions: a line that ends inside parentheses, or with an operator, goes on in the next."""
    joined: list[tuple[int, list[str]]] = []
    depth, goes_on = 0, False
    for line, rule in cut_rules(text):
        if depth > 0 or goes_on:
            joined[-1][1].append(rule)
        else:
            joined.append((line, [rule]))
            depth = 0
        opened, goes_on = _open(rule)
        depth += opened
    return [(line, "\n".join(parts)) for line, parts in joined]


def _open(text: str) -> tuple[int, bool]:
    """Return how many parentheses a text leaves open, and whether it ends with an operator."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "x", text)
    opened = bare.count("(") + bare.count("{") - bare.count(")") - bare.count("}")
    return opened, bool(re.search(r"(?:[-+*/&|=<>,~]|%[^%]*%|\belse)\s*$", bare))


def _translated(given: Sequence[tuple[str, str, str]], place: str) -> list[Rule]:
    rules: list[Rule] = []
    mistakes: list[str] = []
    known: dict[str, Expression] = {}
    for where, text, name in given:
        called = f"{where} ('{printable(name)}')" if name else where
        try:
            pieces = [Piece("text" if p.kind == "text2" else p.kind, p.text, p.line) for p in cut(text, _PIECES)]
            reader = _RFormula(pieces, known)
            if len(pieces) > 3 and pieces[0].kind in ("name", "quoted") and pieces[1].text == ":=":
                reader.at = 2
                known[pieces[0].text] = reader.assigned()
                continue
            condition = simplified(_without_remainders(reader.whole()))
        except Untranslatable as reason:
            mistakes.append(f"{place}, {called} has no form as a rule of one record: {reason}; leave it out")
            continue
        body = " ".join(text.split())
        rules.append(Rule(name or body, condition, body, f"{place}, {where}", in_file=True))
    mistakes += name_mistakes(rules)
    if mistakes:
        raise PlanError(mistakes)
    if not rules:
        raise PlanError(f"'{place}' has no rule")
    return rules


class _RFormula(Formula):
    """A formula of R."""

    either, both, negated = ("|", "||"), ("&", "&&"), ("!",)
    comparisons = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}  # noqa: RUF012

    def __init__(self, pieces: Sequence[Piece], known: Mapping[str, Expression]) -> None:
        super().__init__(pieces)
        self.known = known

    def assigned(self) -> Expression:
        """Read what stands behind ``:=``."""
        found = self.expression()
        if self.piece.kind != "end":
            self.fail("what is assigned goes on after its value")
        return found

    def expression(self) -> Expression:
        if not self.take("if"):
            found = super().expression()
            if self.take("~"):
                self.fail("a dependency between columns (~) is about several records")
            return found
        self.depth += 1
        if self.depth > DEEPEST_RULE:
            self.fail("it is nested too deep")
        self.expect("(")
        when = self.as_condition(self.expression())
        self.expect(")")
        then = self.as_condition(self.expression())
        otherwise = self.as_condition(self.expression()) if self.take("else") else None
        self.depth -= 1
        return choice([(when, then)], otherwise)

    def other_test(self, left: Expression) -> Expression:
        sign = self.take("%in%", "%vin%")
        if sign is None:
            return left
        if not isinstance(left, Variable):
            self.fail(f"{sign} is asked of something computed")
        return Member(left, self.constants())

    def constants(self) -> tuple[Number | Text, ...]:
        """Read ``c("a", "b")``, ``1:5`` or a single constant."""
        if self.take("c"):
            self.expect("(")
            found = self.arguments()
        else:
            found = [self.sum()]
            if self.take(":"):
                return self.range_of(found[0], self.sum())
        if not found or not all(isinstance(one, Number | Text) for one in found):
            self.fail("%in% has something that is no constant")
        return tuple(dict.fromkeys(one for one in found if isinstance(one, Number | Text)))

    def range_of(self, low: Expression, high: Expression) -> tuple[Number, ...]:
        """Return the whole numbers of a range."""
        ends = [one.value for one in (low, high) if isinstance(one, Number) and isinstance(one.value, int)]
        if len(ends) < 2 or not 0 <= ends[1] - ends[0] < _RANGE:
            self.fail("a range is no range of whole numbers, or too long")
        return tuple(Number(value) for value in range(int(ends[0]), int(ends[1]) + 1))

    def factor(self) -> Expression:
        found = super().factor()
        if self.take("^"):
            power = super().factor()
            if not isinstance(power, Number) or power.value not in range(2, _POWER + 1):
                self.fail("a power is neither 2, 3 nor 4")
            base = self.as_value(found)
            for _ in range(int(power.value) - 1):
                found = Arithmetic("*", self.as_value(found), base)
        while self.take("%%"):
            found = self.joined("mod", found, super().factor())
        return found

    def atom(self) -> Expression:
        piece = self.piece
        if opened := self.take("(", "{"):
            found = self.expression()
            self.expect(")" if opened == "(" else "}")
            return found
        self.at += 1
        if piece.kind == "number":
            return self.number(piece.text)
        if piece.kind == "text":
            return Text(re.sub(r"\\(.)", r"\1", piece.text))
        if piece.kind == "name" and piece.text in ("TRUE", "FALSE"):
            return Text(piece.text.lower())
        if piece.kind == "name" and piece.text in ("NA", "NULL", "Inf", "NaN", "function", "."):
            self.fail(f"'{piece.text}' has no counterpart")
        if piece.kind == "name" and self.take("("):
            return self.call(piece.text)
        if piece.kind in ("name", "quoted"):
            return self.known.get(piece.text, Variable(piece.text))
        raise Untranslatable(f"line {piece.line} has an operator of R that has no counterpart, or ends too soon")

    def call(self, function: str) -> Expression:
        """Read a function."""
        if function in _ABOUT_COLUMNS:
            self.fail(f"'{function}' is about a whole column, not about one record")
        if function in _ABOUT_TYPES:
            self.fail(f"'{function}' is about the type of a column, not about its values")
        if function == "round":
            self.fail("'round' of R takes halves to the even number; write floor(x + 0.5)")
        if function == "is.na":
            (argument,) = self.exactly(1, function)
            if not isinstance(argument, Variable):
                self.fail("'is.na' is asked of something computed")
            return Missing(argument.name)
        if function == "in_range":
            value, low, high = self.exactly(3, function)
            return between(self.as_value(value), self.as_value(low), self.as_value(high))
        if function in ("abs", "floor", "ceiling"):
            return Call(function, (self.as_value(self.exactly(1, function)[0]),))
        if function in ("pmin", "pmax"):
            return self.smallest(function)
        raise Untranslatable("a function of R has no counterpart")

    def smallest(self, function: str) -> Expression:
        """Read ``pmin(a, b, na.rm = TRUE)``: without that a missing value makes the result missing."""
        values: list[Value] = []
        removed = False
        while True:
            if self.take("na.rm"):
                self.expect("=")
                removed = self.take("true") is not None
            else:
                values.append(self.as_value(self.expression()))
            if not self.take(","):
                break
        self.expect(")")
        if not removed:
            self.fail(f"'{function}' without na.rm = TRUE is missing where any value is; min and max here are not")
        return Call(function[1:], tuple(values))

    def exactly(self, count: int, function: str) -> list[Expression]:
        """Read a number of arguments, with or without ``min =`` and ``max =`` before them."""
        found: list[Expression] = []
        while not self.take(")"):
            if self.piece.kind == "name" and self.pieces[self.at + 1].text == "=":
                if self.piece.text not in ("min", "max", "x"):
                    self.fail(f"'{function}' has an argument that has no counterpart")
                self.at += 2
            found.append(self.expression())
            if not self.take(",") and not self.sees(")"):
                self.fail(f"the arguments of '{function}' do not end")
        if len(found) != count:
            self.fail(f"'{function}' has {len(found)} arguments, not {count}")
        return found


def _without_remainders(node: Condition) -> Condition:
    """Return a condition in which ``x %% 1 == 0`` asks for a whole number; other remainders have another sign in R."""
    match node:
        case Comparison("=" | "!=" as sign, Arithmetic("mod", left, right), Number(0)):
            if right != Number(1):
                return node
            return Integer(left) if sign == "=" else Not(Integer(left))
        case Arithmetic("mod"):
            raise Untranslatable("the remainder (%%) of a negative number differs; compare it with 0")
    if isinstance(node, Number | Text | Variable) or not children(node):
        return node
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            changed[field.name] = tuple(_without_remainders(part) for part in value)
        elif not isinstance(value, str | int | float):
            changed[field.name] = _without_remainders(value)
    return replace(node, **changed)
