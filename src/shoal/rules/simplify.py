"""One form for conditions that mean the same, so that both notations become the same rules.

Nested ``and`` and ``or`` are joined; ``not A or B`` is ``if A then B``; ``not`` moves inwards, through comparisons too;
``A mod 1 = 0`` and ``A = round(A)`` say that A is an integer, and ``A = ''`` that it is missing. All of it is valid
where values are missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from shoal.rules.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    ComparisonOperator,
    Condition,
    Implies,
    Integer,
    Member,
    Missing,
    Not,
    Number,
    Or,
    Text,
    Value,
    Variable,
    walk,
)

_OPPOSITE: dict[ComparisonOperator, ComparisonOperator] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}


def simplified(condition: Condition) -> Condition:
    """Return a condition in the form that rules have.

    >>> from shoal.rules.expression import Variable
    >>> poor = Comparison("<", Variable("A"), Number(5))
    >>> simplified(Not(poor))
    Comparison(operator='>=', left=Variable(name='A'), right=Number(value=5))
    >>> simplified(Or((Not(poor), poor))) == Implies(poor, poor)
    True
    """
    match condition:
        case And(parts):
            return _all(map(simplified, parts))
        case Or(parts):
            return _either(parts)
        case Not(operand):
            return _opposite(simplified(operand))
        case Implies(antecedent, consequent):
            return Implies(simplified(antecedent), simplified(consequent))
        case Comparison(operator, left, right):
            return _comparison(operator, left, right)
        case Member(operand, (value,)):
            return _comparison("=", operand, value)
        case Member(Call("string", (operand,)), values) if all(isinstance(value, Text) for value in values):
            return Member(operand, values)
    return condition


def _comparison(operator: ComparisonOperator, left: Value, right: Value) -> Condition:
    if isinstance(right, Text) and isinstance(left, Call) and left.function == "string":
        left = left.arguments[0]
    if isinstance(left, Text) and isinstance(right, Call) and right.function == "string":
        right = right.arguments[0]
    if operator in ("=", "!="):
        for one, other in ((left, right), (right, left)):
            if other == Text("") and isinstance(one, Variable):
                return Missing(one.name) if operator == "=" else Not(Missing(one.name))
    whole = (_whole(left, right) or _whole(right, left)) if operator == "=" else None
    return Integer(whole) if whole else Comparison(operator, left, right)


def _either(parts: tuple[Condition, ...]) -> Condition:
    """Join alternatives; those at the beginning that are negated are the condition for the others."""
    negated = 0
    while negated < len(parts) - 1 and isinstance(parts[negated], Not):
        negated += 1
    if negated:
        antecedents = [part.operand for part in parts[:negated] if isinstance(part, Not)]
        return Implies(_all(map(simplified, antecedents)), _joined(map(simplified, parts[negated:])))
    return _joined(map(simplified, parts))


def _joined(parts: Iterable[Condition]) -> Condition:
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, Or) else (part,)
    if len(flat) == 1:
        return flat[0]
    if isinstance(flat[0], Not):
        return _either(tuple(flat))
    return Or(tuple(flat))


def _all(parts: Iterable[Condition]) -> Condition:
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, And) else (part,)
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def _opposite(condition: Condition) -> Condition:
    match condition:
        case Not(operand):
            return operand
        case Comparison(operator, left, right) if not _may_be_undefined(condition):
            return Comparison(_OPPOSITE[operator], left, right)
        case And(parts):
            return _joined(map(_opposite, parts))
        case Or(parts):
            return _all(map(_opposite, parts))
        case Implies(antecedent, consequent):
            return _all((antecedent, _opposite(consequent)))
    return Not(condition)


def _may_be_undefined(condition: Condition) -> bool:
    """Whether a value can be 0 / 0, which no comparison holds for."""
    return any(isinstance(node, Arithmetic) and node.operator in ("/", "mod") for node in walk(condition))


def _whole(value: Value, other: Value) -> Value | None:
    """Return the value that an equality says to be a whole number, None if it says something else."""
    if isinstance(value, Arithmetic) and value.operator == "mod" and value.right == Number(1) and other == Number(0):
        return value.left
    if isinstance(other, Call) and other.function in ("round", "floor", "ceiling") and other.arguments == (value,):
        return value
    return None
