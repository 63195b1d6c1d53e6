"""Whether conditions hold, for all records at once.

Missing values: a comparison with a missing value is neither true nor false. ``and``, ``or``, ``not`` and ``if`` carry
that on (Kleene's logic), and a rule that comes out as neither is *not applicable* to the record, which does not break
it; a CHECK constraint in a database does the same. Whatever an XPath engine makes of a missing value, it gives the
same answer in every record in which a rule is applicable, because such an answer is the same for any outcome of the
comparisons that are neither.

Precision: numbers are 64-bit floats, as in XPath. Values that are compared as they are, without arithmetic, are
compared exactly. A result of arithmetic is compared up to the rounding of that arithmetic (some units of its
largest term's last binary place), so that 0.1 + 0.2 = 0.3. An equality with a lone variable on one side, such as
``TOTAL = A + B`` or ``RATIO = TAX * RATE``, holds where both sides agree up to half a unit of the last decimal with
which the variable is written, if the column says how many decimals that is: totals hold to the file's rounding. Where
all parts have as many decimals as the total, that is the same as exact equality.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.columns.hierarchy import name_of
from shoal.errors import DataError
from shoal.kernels.arrays import Flags, Floats
from shoal.rules.comparing import compare_values, equal_numbers
from shoal.rules.expression import (
    And,
    Arithmetic,
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
    Value,
    Variable,
)
from shoal.rules.orders import Order, order_of, places

_SIMPLE = (Variable, Text, Number)
_ROUNDING = 2.0**-49  # eight units in the last place of a float: more than a rule's few operations lose


class Observations(NamedTuple):
    """The values of a column as rules see them.

    Attributes
    ----------
    values : float64 or int64, datetime64, or object (n,)
        Numbers, dates, or texts; anything where missing.
    observed : bool (n,)
        Which there are.
    decimals : int or None
        With how many decimals numbers are written; None for all that there are.
    order : tuple of str or None
        The values from the lowest to the highest, where an order was declared.
    """

    values: NDArray[Any]
    observed: Flags
    decimals: int | None = None
    order: Order | None = None


Columns = Mapping[str, Observations]
Domain = Mapping[str, Observations]


class Verdict(NamedTuple):
    """Where a condition holds and where it is violated; where neither, it is not applicable."""

    holds: Flags
    violated: Flags


@dataclass(frozen=True)
class _Result:
    """A value in every record: ``kind`` is number, date or text; ``error`` bounds what arithmetic has lost."""

    kind: str
    values: NDArray[Any]
    observed: Flags
    magnitude: Floats | None = None  # of the largest term; None where there was no arithmetic
    decimals: int | None = None
    constant: Number | Text | None = None
    order: Order | None = None


def evaluate(condition: Condition, columns: Columns, original: Domain | None = None) -> Verdict:
    """Evaluate a condition in every record.

    Parameters
    ----------
    condition : Condition
        What should hold.
    columns : dict of Observations
        The columns that it names, all of one length.
    original : dict of Observations
        The original columns, for ``from original``; the columns themselves where there are none.

    Examples
    --------
    >>> from shoal.rules.grammar import parse_condition
    >>> age = Observations(np.array([10.0, 130.0, 0.0]), np.array([True, True, False]))
    >>> evaluate(parse_condition("0 <= AGE <= 120"), {"AGE": age})
    Verdict(holds=array([ True, False, False]), violated=array([False,  True, False]))
    """
    return _Evaluation(columns, columns if original is None else original).verdict(condition)


def evaluate_value(value: Value, columns: Columns) -> tuple[Floats, Flags]:
    """Evaluate a numeric value in every record: the numbers, and where there are any.

    A column that is filled with these numbers satisfies an equality with the value to the last bit, here and in an
    XPath engine, since both do the same operations in the same order.

    >>> from shoal.rules.grammar import parse_condition
    >>> a = Observations(np.array([0.1, 1.0]), np.array([True, False]))
    >>> evaluate_value(parse_condition("A + 0.2 = 0").left, {"A": a})
    (array([0.3, 1.2]), array([ True, False]))
    """
    result = _Evaluation(columns, columns).value(value)
    if result.kind != "number":
        raise DataError("a text or date has no place in arithmetic")
    return result.values.astype(np.float64), result.observed


def magnitude_of(value: Value, columns: Columns) -> Floats:
    """Return the size of the largest term of a value in every record, which its rounding is relative to."""
    result = _Evaluation(columns, columns).value(value)
    return np.abs(result.values).astype(np.float64) if result.magnitude is None else result.magnitude


class _Evaluation:
    def __init__(self, columns: Columns, original: Domain) -> None:
        self.columns, self.original = columns, original
        self.length = len(next(iter(columns.values())).observed) if columns else 0

    # -- conditions -----------------------------------------------------------------------------------------------

    def verdict(self, node: Condition) -> Verdict:
        match node:
            case Comparison():
                return self.comparison(node)
            case And(parts):
                verdicts = [self.verdict(part) for part in parts]
                return Verdict(
                    np.logical_and.reduce([v.holds for v in verdicts]),
                    np.logical_or.reduce([v.violated for v in verdicts]),
                )
            case Or(parts):
                verdicts = [self.verdict(part) for part in parts]
                return Verdict(
                    np.logical_or.reduce([v.holds for v in verdicts]),
                    np.logical_and.reduce([v.violated for v in verdicts]),
                )
            case Not(operand):
                holds, violated = self.verdict(operand)
                return Verdict(violated, holds)
            case Implies(antecedent, consequent):
                when, then = self.verdict(antecedent), self.verdict(consequent)
                return Verdict(when.violated | then.holds, when.holds & then.violated)
            case Missing(name):
                observed = self.columns[name].observed
                return Verdict(~observed, observed.copy())
            case Member(operand, values):
                return self.member(self.value(operand), values)
            case Integer(operand):
                result = self.number(operand)
                whole = self.is_whole(result)
                return Verdict(whole & result.observed, ~whole & result.observed)
            case Original(name):
                return self.from_original(name)
            case Unchanged():  # about the whole column: see shoal.rules.totals
                return Verdict(np.ones(self.length, dtype=bool), np.zeros(self.length, dtype=bool))

    def comparison(self, node: Comparison) -> Verdict:
        found = self.in_order(node)
        left, right = found or self.alike(self.value(node.left), self.value(node.right))
        there = left.observed & right.observed
        if left.kind in ("text", "date"):
            holds = compare_values(node.operator, left.values, right.values, there)
            return Verdict(holds, there & ~holds)
        a, b = left.values.astype(np.float64), right.values.astype(np.float64)
        with np.errstate(all="ignore"):
            near = equal_numbers(a, b, self.tolerance(left, right, node.operator in ("=", "!=")))
            holds = {
                "=": near,
                "!=": ~near,
                "<": (a < b) & ~near,
                "<=": (a < b) | near,
                ">": (a > b) & ~near,
                ">=": (a > b) | near,
            }[node.operator]
        return Verdict(holds & there, there & ~holds)

    def in_order(self, node: Comparison) -> tuple[_Result, _Result] | None:
        """Return the places of both sides in a declared order; None where the comparison is about none."""
        if node.operator in ("=", "!=") or not all(isinstance(side, _SIMPLE) for side in (node.left, node.right)):
            return None
        left, right = self.value(node.left), self.value(node.right)
        try:
            order = order_of(left.order, right.order)
        except ValueError as error:
            raise DataError(str(error)) from None
        if order is None:
            return None
        sides = []
        for side in (left, right):
            if side.constant is not None and name_of(side.constant.value) not in order:
                raise DataError(f"'{side.constant.value}' is not in the order that it is compared in")
            found, has = places(side.values, side.observed, order)
            if not np.array_equal(has, side.observed):
                raise DataError("a column has values that are not in the order that it is compared in; add them to it")
            sides.append(_Result("number", found, has))
        return sides[0], sides[1]

    def tolerance(self, left: _Result, right: _Result, equality: bool) -> Floats | float:
        """Return by how much two sides may differ and still count as equal."""
        rounding: Floats | float = 0.0
        if left.magnitude is not None or right.magnitude is not None:
            sizes = [np.abs(s.values).astype(np.float64) if s.magnitude is None else s.magnitude for s in (left, right)]
            rounding = _ROUNDING * np.maximum(sizes[0], sizes[1])
        alone = [side.decimals for side in (left, right) if side.decimals is not None]
        computed = left.magnitude is not None or right.magnitude is not None
        if equality and computed and alone:
            return rounding + 0.5 * 10.0 ** -alone[0] * (1 + _ROUNDING)
        return rounding

    def member(self, operand: _Result, values: tuple[Number | Text, ...]) -> Verdict:
        found = np.zeros(self.length, dtype=bool)
        if operand.kind == "text":
            known = {str(value.value) for value in values}
            found = np.fromiter((text in known for text in operand.values.tolist()), bool, self.length)
            values = ()
        for value in values:
            left, right = self.alike(operand, self.value(value))
            if left.kind not in ("text", "date"):
                found |= equal_numbers(
                    left.values.astype(np.float64), right.values.astype(np.float64), self.tolerance(left, right, False)
                )
            else:
                found |= compare_values("=", left.values, right.values, operand.observed)
        return Verdict(found & operand.observed, ~found & operand.observed)

    def from_original(self, name: str) -> Verdict:
        observations, before = self.columns[name], self.original[name]
        known = before.values[before.observed]
        if observations.values.dtype.kind == "O":
            domain = set(known.tolist())
            found = np.fromiter((v in domain for v in observations.values.tolist()), bool, self.length)
        else:
            found = np.isin(observations.values, np.unique(known))
        return Verdict(found & observations.observed, ~found & observations.observed)

    def is_whole(self, result: _Result) -> Flags:
        values = result.values.astype(np.float64)
        tolerance = 0.0 if result.magnitude is None else _ROUNDING * result.magnitude
        return np.isfinite(values) & equal_numbers(values, np.rint(values), tolerance)

    # -- values ---------------------------------------------------------------------------------------------------

    def value(self, node: Value) -> _Result:
        match node:
            case Number(value):
                return self.constant("number", np.float64(value), node)
            case Text(value):
                return self.constant("text", value, node)
            case Variable(name):
                observations = self.columns[name]
                if not observations.observed.any():  # a column without values is of any kind
                    return _Result("nothing", np.zeros(self.length), observations.observed)
                kind = {"O": "text", "M": "date"}.get(observations.values.dtype.kind, "number")
                return _Result(
                    kind,
                    observations.values,
                    observations.observed,
                    decimals=observations.decimals,
                    order=observations.order,
                )
            case Negative(operand):
                result = self.number(operand)
                return replace(result, values=-result.values, decimals=None, constant=None, order=None)
            case Arithmetic(operator, left, right):
                return self.arithmetic(operator, self.number(left), self.number(right))
            case Call("string", (operand,)):
                result = self.value(operand)
                if result.kind == "number":
                    raise DataError(
                        "numbers are compared as texts, where 10 comes before 9 and 1.0 is not 1; write number(...) "
                        "around each"
                    )
                return result
            case Call(function, arguments):
                return self.call(function, [self.number(argument) for argument in arguments])

    def constant(self, kind: str, value: Any, node: Number | Text) -> _Result:
        values = np.empty(1, dtype=object if kind == "text" else np.float64)
        values[0] = value
        return _Result(
            kind, np.broadcast_to(values, self.length), np.broadcast_to(np.True_, self.length), constant=node
        )

    def number(self, node: Value) -> _Result:
        result = self.value(node)
        if result.kind == "nothing":
            return replace(result, kind="number")
        if result.kind != "number":
            what = f"'{node.name}' is a {result.kind}" if isinstance(node, Variable) else f"a {result.kind} is"
            raise DataError(f"{what} where a number is needed")
        return result

    def alike(self, left: _Result, right: _Result) -> tuple[_Result, _Result]:
        """Return two values of one kind: a constant is read as what it is compared with."""
        if left.kind == right.kind:
            return left, right
        if "nothing" in (left.kind, right.kind):
            none = np.zeros(self.length, dtype=bool)
            nothing = _Result("number", np.zeros(self.length), none)
            return nothing, nothing
        if left.constant is not None:
            converted, other = self.alike(right, left)
            return other, converted
        if right.constant is not None:
            constant = right.constant
            if left.kind == "date" and isinstance(constant, Text):
                try:
                    value = np.datetime64(constant.value)
                except ValueError:
                    raise DataError(
                        "a date is compared with a text that is no date; write it as '2024-12-31'"
                    ) from None
                return left, replace(right, kind="date", values=np.full(self.length, value))
            if left.kind == "text" and isinstance(constant, Number):
                return left, self.constant("text", str(constant.value), Text(str(constant.value)))
        raise DataError(f"a {left.kind} is compared with a {right.kind}")

    def arithmetic(self, operator: str, left: _Result, right: _Result) -> _Result:
        a, b = left.values.astype(np.float64), right.values.astype(np.float64)
        sizes = [np.abs(v) if s.magnitude is None else s.magnitude for v, s in ((a, left), (b, right))]
        with np.errstate(all="ignore"):
            if operator in ("+", "-"):
                values = a + b if operator == "+" else a - b
                magnitude = np.maximum(np.abs(values), np.maximum(sizes[0], sizes[1]))
            elif operator == "*":
                values = a * b
                magnitude = np.maximum(sizes[0] * np.abs(b), sizes[1] * np.abs(a))
            elif operator == "/":
                values = a / b
                magnitude = np.abs(sizes[0] / b) * np.maximum(1.0, sizes[1] / np.abs(b))
            else:
                values = np.fmod(a, b)
                magnitude = sizes[0]
        return _Result("number", values, left.observed & right.observed, np.nan_to_num(magnitude, posinf=0.0))

    def call(self, function: str, arguments: list[_Result]) -> _Result:
        first = arguments[0]
        if function in ("abs", "round", "floor", "ceiling"):
            values = first.values.astype(np.float64)
            if function == "abs":
                return replace(first, values=np.abs(values), decimals=None, constant=None, order=None)
            slack = 0.0 if first.magnitude is None else _ROUNDING * first.magnitude
            rounded = {
                "round": np.floor(values + 0.5 + slack),
                "floor": np.floor(values + slack),
                "ceiling": np.ceil(values - slack),
            }[function]
            return _Result("number", rounded, first.observed)
        there = np.stack([a.observed for a in arguments])
        stacked = np.stack([a.values.astype(np.float64) for a in arguments])
        if function == "count":
            return _Result("number", there.sum(axis=0).astype(np.float64), np.ones(self.length, dtype=bool))
        neutral = {"sum": 0.0, "min": np.inf, "max": -np.inf}[function]
        filled = np.where(there, stacked, neutral)
        sizes = np.abs(np.where(there, stacked, 0.0)).max(axis=0)
        for a in arguments:
            sizes = sizes if a.magnitude is None else np.maximum(sizes, a.magnitude)
        computed = function == "sum" or any(a.magnitude is not None for a in arguments)
        total = np.zeros(self.length)
        if function == "sum":
            for part in filled:  # in the order in which an engine adds
                total = total + part
        else:
            total = filled.min(axis=0) if function == "min" else filled.max(axis=0)
        return _Result("number", total, np.logical_or.reduce(there), sizes if computed else None)
