"""XPath to conditions: what of it is about the values of one record becomes a tree, and the rest is left to an engine.

XPath compares untyped elements as texts unless one side is a number: ``V1 <= V2`` compares texts, and
``number(V1) <= number(V2)`` numbers. The tree keeps that apart: a comparison of two elements as texts has ``string``
around them. A general comparison of sequences holds if any pair does, which becomes ``or``; quantifiers over elements
of the record become ``and`` and ``or``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, cast

from shoal.rules.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Comparison,
    ComparisonOperator,
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
    Value,
    Variable,
    walk,
)
from shoal.rules.simplify import simplified
from shoal.rules.xpath import from_document

_ARITHMETIC: dict[str, ArithmeticOperator] = {"+": "+", "-": "-", "*": "*", "div": "/", "mod": "mod"}
_GENERAL = ("=", "!=", "<", "<=", ">", ">=")
_SINGLE = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TO_NUMBER = ("number", "double", "decimal", "integer", "float")
_TO_TEXT = ("string", "normalize-space", "data")
_LONGEST_RANGE = 1000
_LARGEST = 2**63  # whole numbers from here on are the engine's
_MOST_PARTS = 20_000  # of a condition


class NoTranslationError(Exception):
    """An expression means something that the tree has no words for."""


@dataclass(frozen=True)
class _Typed:
    """A value and how XPath sees it: a number, a text, or an untyped element."""

    value: Value
    kind: str


@dataclass(frozen=True)
class Scope:
    """Where an expression stands.

    Attributes
    ----------
    item : str or None
        The variable that the context is the element of; None where the context is the record.
    lets : dict
        Tokens of the ``let`` variables.
    """

    item: str | None
    lets: Mapping[str, Any]


def translate(token: Any, scope: Scope) -> Condition:
    """Translate an XPath test into a condition; raises NoTranslationError where it has none."""
    found = _Translator(scope).condition(token)
    if isinstance(found, bool):
        raise NoTranslationError("always the same")
    if sum(1 for _ in islice(walk(found), _MOST_PARTS)) == _MOST_PARTS:
        raise NoTranslationError("too large")
    return simplified(found)


class _Translator:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.bound: dict[str, _Typed] = {}
        self.parts = 0

    def count_part(self) -> None:
        """Give up on what grows without end: variables that stand for others twice, quantifiers in quantifiers."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise NoTranslationError("too large")

    # -- conditions -----------------------------------------------------------------------------------------------

    def condition(self, token: Any) -> Condition | bool:
        self.count_part()
        symbol = token.symbol
        if symbol == "(" and len(token) == 1:
            return self.condition(token[0])
        if symbol in ("and", "or"):
            return _join(symbol, [self.condition(token[0]), self.condition(token[1])])
        if symbol in ("true", "false") and len(token) == 0:
            return bool(symbol == "true")
        if symbol in ("not", "boolean"):
            inner = self.condition(token[0])
            return inner if symbol == "boolean" else _not(inner)
        if symbol == "if":
            when, then, other = (self.condition(part) for part in token)
            return _join("and", [_implies(when, then), _implies(_not(when), other)])
        if symbol in ("some", "every"):
            return self.quantified(token)
        if symbol in ("exists", "empty"):
            there = self.existence(token[0])
            if symbol == "exists":
                return there
            return there.operand if isinstance(there, Not) else Not(there)
        if symbol in _GENERAL:
            return self.general(symbol, token[0], token[1])
        if symbol in _SINGLE:
            return self.compared(_SINGLE[symbol], self.value(token[0]), self.value(token[1]), cast_untyped=False)
        if symbol == "castable":
            return self.castable(token)
        if symbol == "$" and str(token.value) in self.scope.lets:
            return self.condition(self.scope.lets[str(token.value)])
        return self.existence(token)

    def existence(self, token: Any) -> Condition:
        """Translate what holds where a node is there."""
        if token.symbol == "(" and len(token) == 1:
            return self.existence(token[0])
        if token.symbol == "index-of":
            return self.from_original(token[0], token[1])
        if token.symbol in ("string", "normalize-space") and len(token) == 1:
            return Not(Missing(self.node(token[0])))
        return Not(Missing(self.node(token)))

    def quantified(self, token: Any) -> Condition | bool:
        *bindings, test = token
        names = [str(part.value) for part in bindings[0::2]]
        if token.symbol == "some" and len(names) == 1 and from_document(bindings[1], self.scope.lets):
            return self.some_original(names[0], bindings[1], test)
        sequences = [self.sequence(part) for part in bindings[1::2]]
        parts = []
        for values in product(*sequences):
            before = dict(self.bound)
            self.bound.update(zip(names, values, strict=True))
            parts.append(self.condition(test))
            self.bound = before
        return _join("or" if token.symbol == "some" else "and", parts)

    def some_original(self, name: str, path: Any, test: Any) -> Condition:
        """Translate ``some $o in $original//V1 satisfies $o = V1``."""
        while test.symbol == "(" and len(test) == 1:
            test = test[0]
        if test.symbol in ("=", "eq"):
            for one, other in ((test[0], test[1]), (test[1], test[0])):
                if _unwrapped(one).symbol == "$" and str(_unwrapped(one).value) == name:
                    return self.from_original(path, other)
        raise NoTranslationError

    def from_original(self, path: Any, element: Any) -> Condition:
        name = self.node(_unwrapped(element))
        if not from_document(path, self.scope.lets) or _last_name(path) != name:
            raise NoTranslationError
        return Original(name)

    def castable(self, token: Any) -> Condition:
        kind = token[1]
        if kind.symbol == ":" and str(kind[1].value) in ("integer", "int", "long"):
            return Integer(Variable(self.node(token[0])))
        raise NoTranslationError

    def general(self, operator: str, left: Any, right: Any) -> Condition | bool:
        for path, element in ((left, right), (right, left)):
            if from_document(_unwrapped(path), self.scope.lets):
                if operator != "=":
                    raise NoTranslationError
                return self.from_original(_unwrapped(path), element)
        sides = self.sequence(left), self.sequence(right)
        for one, many in (sides, sides[::-1]):
            constants = [v.value for v in many if isinstance(v.value, Number | Text)]
            if operator == "=" and len(one) == 1 and len(many) > 1 and len(constants) == len(many):
                if {v.kind for v in many} == {"text"} and one[0].kind == "number":
                    raise NoTranslationError
                return Member(one[0].value, tuple(dict.fromkeys(constants)))
        if len(sides[0]) * len(sides[1]) > _MOST_PARTS:
            raise NoTranslationError
        return _join("or", [self.compared(operator, a, b) for a, b in product(*sides)])

    def compared(self, operator: str, left: _Typed, right: _Typed, cast_untyped: bool = True) -> Condition:
        numbers = "number" in (left.kind, right.kind)
        if numbers and ("text" in (left.kind, right.kind) or (not cast_untyped and left.kind != right.kind)):
            raise NoTranslationError  # the engine has an error for it
        a, b = left.value, right.value
        if not numbers and not isinstance(a, Text) and not isinstance(b, Text):
            a, b = Call("string", (a,)), Call("string", (b,))
        return Comparison(cast("ComparisonOperator", operator), a, b)

    # -- values ---------------------------------------------------------------------------------------------------

    def sequence(self, token: Any) -> list[_Typed]:
        self.count_part()
        if token.symbol == "(":
            return self.sequence(token[0]) if len(token) else []
        if token.symbol == ",":
            return self.sequence(token[0]) + self.sequence(token[1])
        if token.symbol == "to" and all(part.symbol == "(integer)" for part in token):
            first, last = int(token[0].value), int(token[1].value)
            if last - first >= _LONGEST_RANGE:
                raise NoTranslationError
            return [_Typed(Number(value), "number") for value in range(first, last + 1)]
        if token.symbol == "$" and str(token.value) in self.scope.lets and str(token.value) not in self.bound:
            return self.sequence(self.scope.lets[str(token.value)])
        return [self.value(token)]

    def value(self, token: Any) -> _Typed:
        self.count_part()
        symbol = token.symbol
        if symbol == "(" and len(token) == 1:
            return self.value(token[0])
        if symbol in ("(integer)", "(decimal)", "(float)"):
            if not abs(token.value) < _LARGEST:
                raise NoTranslationError
            whole = symbol == "(integer)" or token.value == int(token.value)
            return _Typed(Number(int(token.value) if whole else float(token.value)), "number")
        if symbol == "(string)":
            return _Typed(Text(str(token.value)), "text")
        if symbol == "$":
            return self.variable(str(token.value))
        if symbol in _ARITHMETIC and len(token) == 2:
            return self.arithmetic(_ARITHMETIC[symbol], token)
        if symbol in ("+", "-") and len(token) == 1:
            inner = self.value(token[0])
            if inner.kind == "text":
                raise NoTranslationError
            return _Typed(inner.value if symbol == "+" else _negative(inner.value), "number")
        name = str(token[1].symbol) if symbol == ":" and len(token) == 2 and token[1].label != "name" else symbol
        if token.label in ("function", "constructor function") or name != symbol:
            return self.function(name, token[1] if name != symbol else token)
        return _Typed(Variable(self.node(token)), "untyped")

    def variable(self, name: str) -> _Typed:
        if name in self.bound:
            return self.bound[name]
        if name in self.scope.lets:
            return self.value(self.scope.lets[name])
        raise NoTranslationError

    def arithmetic(self, operator: ArithmeticOperator, token: Any) -> _Typed:
        left, right = self.value(token[0]), self.value(token[1])
        if "text" in (left.kind, right.kind):
            raise NoTranslationError
        return _Typed(Arithmetic(operator, left.value, right.value), "number")

    def function(self, name: str, token: Any) -> _Typed:
        if name in _TO_NUMBER:
            inner = self.value(token[0]) if len(token) else _Typed(Variable(self.own()), "untyped")
            if isinstance(inner.value, Text):
                raise NoTranslationError
            return _Typed(inner.value, "number")
        if name in _TO_TEXT:
            inner = self.value(token[0]) if len(token) else _Typed(Variable(self.own()), "untyped")
            if inner.kind == "number":
                raise NoTranslationError
            return _Typed(inner.value, "untyped" if name == "data" else "text")
        if name in ("abs", "round", "floor", "ceiling") and len(token) == 1:
            return _Typed(Call(name, (self.value(token[0]).value,)), "number")
        if name in ("sum", "min", "max", "count", "avg") and len(token) == 1:
            parts = self.sequence(token[0])
            if not parts or any(part.kind == "text" for part in parts):
                raise NoTranslationError
            values = tuple(part.value for part in parts)
            if name == "avg":
                return _Typed(Arithmetic("/", Call("sum", values), Call("count", values)), "number")
            return _Typed(Call(name, values), "number")
        raise NoTranslationError

    # -- nodes ----------------------------------------------------------------------------------------------------

    def own(self) -> str:
        if self.scope.item is None:
            raise NoTranslationError
        return self.scope.item

    def node(self, token: Any) -> str:
        """Return the variable whose element a path leads to."""
        symbol = token.symbol
        if symbol == "(" and len(token) == 1:
            return self.node(token[0])
        if symbol == "[" and _not_empty(token[1]):
            return self.node(token[0])
        if symbol in (".", "current"):
            return self.own()
        if symbol == "$" and str(token.value) in self.bound:
            value = self.bound[str(token.value)].value
            if isinstance(value, Variable):
                return value.name
        elif symbol == "$" and str(token.value) in self.scope.lets:
            return self.node(self.scope.lets[str(token.value)])
        if symbol == "/" and len(token) == 2:
            left, right = token
            if right.symbol == "text" or (right.symbol in ("number", "data", "string") and _about_itself(right)):
                return self.node(left)
            here = left.symbol in (".", "current") if self.scope.item is None else left.symbol == ".."
            if here:
                return _element(right)
        if self.scope.item is None:
            return _element(token)
        raise NoTranslationError


def _element(token: Any) -> str:
    if token.symbol == "child" and len(token) == 1:
        token = token[0]
    if token.symbol == "(name)":
        return str(token.value)
    if token.symbol == ":" and token[1].symbol == "(name)":
        return str(token[1].value)
    raise NoTranslationError


def _last_name(path: Any) -> str:
    """Return the name of the elements that a path leads to."""
    path = _unwrapped(path)
    if path.symbol in ("/", "//") and len(path) == 2:
        if path[1].symbol in ("number", "data", "string", "text") and (
            path[1].symbol == "text" or _about_itself(path[1])
        ):
            return _last_name(path[0])
        return _element(path[1])
    raise NoTranslationError


def _about_itself(token: Any) -> bool:
    return len(token) == 0 or (len(token) == 1 and token[0].symbol == ".")


def _not_empty(token: Any) -> bool:
    """Whether a predicate is ``. != ''``: only elements with a value."""
    return bool(
        token.symbol == "!=" and token[0].symbol == "." and token[1].symbol == "(string)" and not token[1].value
    )


def _unwrapped(token: Any) -> Any:
    """Return what is inside parentheses and conversions."""
    while len(token) == 1 and token.symbol in ("(", "number", "string", "data", "distinct-values"):
        token = token[0]
    return token


def _negative(value: Value) -> Value:
    return Number(-value.value) if isinstance(value, Number) else Negative(value)


def _not(inner: Condition | bool) -> Condition | bool:
    return not inner if isinstance(inner, bool) else Not(inner)


def _implies(when: Condition | bool, then: Condition | bool) -> Condition | bool:
    if isinstance(when, bool):
        return then if when else True
    if isinstance(then, bool):
        return then or Not(when)
    return Implies(when, then)


def _join(word: str, parts: list[Condition | bool]) -> Condition | bool:
    """Join conditions; ones that are always true or false leave or decide."""
    decides = word == "or"
    if any(part is decides for part in parts):
        return decides
    rest = tuple(part for part in parts if not isinstance(part, bool))
    if not rest:
        return not decides
    if len(rest) == 1:
        return rest[0]
    return Or(rest) if decides else And(rest)
