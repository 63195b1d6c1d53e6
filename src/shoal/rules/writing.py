"""Rules written in the expression notation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.errors import PlanError, printable
from shoal.rules.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Condition,
    Expression,
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
)
from shoal.rules.rule import Rule
from shoal.rules.tokens import KEYWORDS, PLAIN_NAME

_WORD = re.compile(r"[^\W\d][\w-]*")
_NAME = re.compile(r"[^\W\d][\w -]*")
_PRODUCTS = ("*", "/", "mod")


def as_text(rules: Sequence[Rule]) -> str:
    """Return rules as a text of expressions, one a line.

    >>> from shoal.rules.grammar import parse_rules
    >>> print(as_text(parse_rules("age: 0<=AGE and AGE<=120")), end="")
    age: 0 <= AGE <= 120
    """
    mistakes = [
        f"rule '{rule.name}' ({rule.place}) has no form as an expression: {rule.text}"
        for rule in rules
        if rule.condition is None
    ]
    if mistakes:
        raise PlanError(mistakes)
    return "".join(f"{_named(rule)}\n" for rule in rules)


def _named(rule: Rule) -> str:
    body = write_condition(rule.condition) if rule.condition else ""
    if rule.weight is not None:
        body = f"prefer {rule.weight!r} {body}"
    if rule.name == body:
        return body
    name = rule.name if _NAME.fullmatch(rule.name) else '"' + printable(rule.name).replace('"', '""') + '"'
    return f"{name}: {body}"


def write_condition(condition: Condition) -> str:
    """Return a condition in the expression notation, so that parsing it gives the condition again.

    >>> from shoal.rules.grammar import parse_condition
    >>> write_condition(parse_condition("not (A<1) or `b c`=2*(D+1)"))
    'if A < 1 then `b c` = 2 * (D + 1)'
    """
    return _condition(condition, 0)


def _condition(node: Condition, level: int) -> str:
    """Write a condition where 0: anything may stand, 1: a part of ``or``, 2: a part of ``and``, 3: after ``not``."""
    match node:
        case Implies(antecedent, consequent):
            return _enclosed(f"if {_condition(antecedent, 0)} then {_condition(consequent, 0)}", level > 0)
        case Or(parts):
            return _enclosed(" or ".join(_condition(part, 1 + isinstance(part, Or)) for part in parts), level > 1)
        case And(parts):
            chain = _chain(parts)
            if chain is not None:
                return chain
            return _enclosed(" and ".join(_condition(part, 2 + isinstance(part, And)) for part in parts), level > 2)
        case Not(Member(operand, values)):
            return f"{_value(operand, 0)} not in {_constants(values)}"
        case Not(Integer(operand)):
            return f"{_value(operand, 0)} is not integer"
        case Not(Missing(name)):
            return f"{_variable(name)} is not missing"
        case Not(operand):
            return f"not {_condition(operand, 3)}"
        case Comparison(operator, left, right):
            return f"{_value(left, 0)} {operator} {_value(right, 0)}"
        case Member(operand, values):
            return f"{_value(operand, 0)} in {_constants(values)}"
        case Integer(operand):
            return f"{_value(operand, 0)} is integer"
        case Missing(name):
            return f"{_variable(name)} is missing"
        case Original(name):
            return f"{_variable(name)} from original"
        case Unchanged(name):
            return f"sum({_variable(name)}) unchanged"


def _chain(parts: tuple[Condition, ...]) -> str | None:
    """Write ``A <= B and B <= C`` as ``A <= B <= C``."""
    match parts:
        case (Comparison(first, left, middle), Comparison(second, again, right)) if middle == again:
            if first[0] == second[0] and first[0] in "<>":
                return f"{_value(left, 0)} {first} {_value(middle, 0)} {second} {_value(right, 0)}"
    return None


def _enclosed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def _value(node: Expression, level: int) -> str:
    """Write a value where 0: a sum may stand, 1: a product, 2: a single value."""
    match node:
        case Number(value):
            return repr(value)
        case Text(value):
            return _quoted(value)
        case Variable(name):
            return _variable(name)
        case Negative(operand):
            return f"-{_value(operand, 2)}"
        case Arithmetic(operator, left, right):
            product = operator in _PRODUCTS
            text = f"{_value(left, int(product))} {operator} {_value(right, 1 + product)}"
            return _enclosed(text, level > int(product))
        case Call(function, arguments):
            return f"{function}({', '.join(_value(argument, 0) for argument in arguments)})"
    raise TypeError(f"{type(node).__name__} is not a value")


def _constants(values: Sequence[Number | Text]) -> str:
    written = []
    for value in values:
        if isinstance(value, Text):
            written.append(value.value if _WORD.fullmatch(value.value) else _quoted(value.value))
        else:
            written.append(repr(value.value))
    return "{" + ", ".join(written) + "}"


def _quoted(text: str) -> str:
    if "\n" in text:
        raise PlanError("a text with a line break has no form in the expression notation")
    return "'" + text.replace("'", "''") + "'"


def _variable(name: str) -> str:
    if PLAIN_NAME.fullmatch(name) and name not in KEYWORDS:
        return name
    if "`" in name or "\n" in name:
        raise PlanError(f"column '{printable(name)}' has a name that cannot be written in a rule; rename it")
    return f"`{name}`"
