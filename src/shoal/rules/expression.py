"""The tree that both notations of rules become: conditions on the values of one record.

A condition is a :class:`Comparison`, :class:`Member`, :class:`Original`, :class:`Unchanged`, :class:`Integer`,
:class:`Missing`, or made of others by :class:`And`, :class:`Or`, :class:`Not` and :class:`Implies`. A value is a
:class:`Number`, :class:`Text`, :class:`Variable`, or made of others by :class:`Arithmetic`, :class:`Negative` and
:class:`Call`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "/", "mod"]
ComparisonOperator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
FUNCTIONS = {  # number of arguments: least and most
    "abs": (1, 1),
    "round": (1, 1),
    "floor": (1, 1),
    "ceiling": (1, 1),
    "sum": (1, None),
    "min": (1, None),
    "max": (1, None),
    "count": (1, None),
    "string": (1, 1),
}
"""``round`` takes halves up, as XPath does; ``sum``, ``min``, ``max`` are those of the values that are there and are
missing where none is; ``count`` is how many are there; ``string`` is a value as the text that it is."""


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int | float


@dataclass(frozen=True)
class Text:
    """A constant text or category; compared with a column of dates, an ISO date."""

    value: str


@dataclass(frozen=True)
class Variable:
    """The value of a column in the record."""

    name: str


@dataclass(frozen=True)
class Arithmetic:
    """Two values put together."""

    operator: ArithmeticOperator
    left: Value
    right: Value


@dataclass(frozen=True)
class Negative:
    """A value with its sign changed."""

    operand: Value


@dataclass(frozen=True)
class Call:
    """A function, one of ``FUNCTIONS``, of values."""

    function: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True)
class Comparison:
    """Two values compared."""

    operator: ComparisonOperator
    left: Value
    right: Value


@dataclass(frozen=True)
class Member:
    """A value is one of some constants."""

    operand: Value
    values: tuple[Number | Text, ...]


@dataclass(frozen=True)
class Original:
    """The value of a variable occurs in the original data."""

    name: str


@dataclass(frozen=True)
class Unchanged:
    """The total of a variable over all records is what it was; no record breaks it by itself."""

    name: str


@dataclass(frozen=True)
class Integer:
    """A value is a whole number."""

    operand: Value


@dataclass(frozen=True)
class Missing:
    """A variable has no value in the record."""

    name: str


@dataclass(frozen=True)
class And:
    """All parts hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The operand does not hold."""

    operand: Condition


@dataclass(frozen=True)
class Implies:
    """Where the antecedent holds, the consequent does."""

    antecedent: Condition
    consequent: Condition


Value: TypeAlias = Number | Text | Variable | Arithmetic | Negative | Call
Condition: TypeAlias = Comparison | Member | Original | Unchanged | Integer | Missing | And | Or | Not | Implies
Expression: TypeAlias = Value | Condition
VALUES = (Number, Text, Variable, Arithmetic, Negative, Call)
_NODES = (*VALUES, Comparison, Member, Original, Unchanged, Integer, Missing, And, Or, Not, Implies)


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the expressions that a node is made of, from left to right.

    >>> children(Comparison("<=", Variable("A"), Number(5)))
    (Variable(name='A'), Number(value=5))
    """
    found: list[Expression] = []
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, _NODES):
            found.append(value)
        elif isinstance(value, tuple):
            found += value
    return tuple(found)


def walk(node: Expression) -> Iterator[Expression]:
    """Give a node and all below it, parents first, from left to right."""
    stack: list[Expression] = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def deeper_than(most: int, node: Expression) -> bool:
    """Whether a tree has more levels than that; walked level by level, since recursion is what is to be spared.

    >>> deeper_than(2, Negative(Negative(Variable("A"))))
    True
    """
    level: list[Expression] = [node]
    for _ in range(most):
        level = [below for one in level for below in children(one)]
        if not level:
            return False
    return True


def variables_of(node: Expression) -> tuple[str, ...]:
    """Return the names of the variables in an expression, each once, in the order in which they come.

    >>> variables_of(Comparison("=", Variable("T"), Arithmetic("+", Variable("A"), Variable("T"))))
    ('T', 'A')
    """
    return tuple(dict.fromkeys(n.name for n in walk(node) if isinstance(n, Variable | Original | Unchanged | Missing)))
