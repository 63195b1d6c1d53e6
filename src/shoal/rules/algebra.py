"""Algebra on the trees of rules: linear and multiplicative forms, solving for a variable, derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.rules.expression import (
    Arithmetic,
    Call,
    Comparison,
    Negative,
    Number,
    Value,
    Variable,
    variables_of,
    walk,
)


@dataclass(frozen=True)
class LinearForm:
    """``sum of coefficients[name] * name, + constant``; no coefficient is 0."""

    coefficients: dict[str, Fraction]
    constant: Fraction

    def plus(self, other: LinearForm, times: Fraction) -> LinearForm:
        """Add another form, multiplied."""
        summed = dict(self.coefficients)
        for name, coefficient in other.coefficients.items():
            summed[name] = summed.get(name, Fraction(0)) + times * coefficient
        return LinearForm({n: c for n, c in summed.items() if c}, self.constant + times * other.constant)


_NOTHING = LinearForm({}, Fraction(0))


def exact(number: float) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(str(number))


def linear_form(value: Value) -> LinearForm | None:
    """Return a value as a linear form; None where it is not linear.

    >>> from shoal.rules.grammar import parse_condition
    >>> linear_form(parse_condition("2 * (A - B) / 4 + 1 = 0").left)
    LinearForm(coefficients={'A': Fraction(1, 2), 'B': Fraction(-1, 2)}, constant=Fraction(1, 1))
    """
    match value:
        case Number(number):
            return LinearForm({}, exact(number)) if np.isfinite(number) else None
        case Variable(name):
            return LinearForm({name: Fraction(1)}, Fraction(0))
        case Negative(operand):
            form = linear_form(operand)
            return _NOTHING.plus(form, Fraction(-1)) if form else None
        case Call("sum", arguments):
            total: LinearForm | None = _NOTHING
            for argument in arguments:
                form = linear_form(argument)
                total = total.plus(form, Fraction(1)) if total and form else None
            return total
        case Arithmetic(operator, left, right):
            a, b = linear_form(left), linear_form(right)
            if a is None or b is None:
                return None
            if operator in ("+", "-"):
                return a.plus(b, Fraction(1 if operator == "+" else -1))
            if operator == "*" and not (a.coefficients and b.coefficients):
                return _NOTHING.plus(a, b.constant) if a.coefficients else _NOTHING.plus(b, a.constant)
            if operator == "/" and not b.coefficients and b.constant:
                return _NOTHING.plus(a, 1 / b.constant)
    return None


def difference(comparison: Comparison) -> LinearForm | None:
    """Return the left side less the right side of a comparison as a linear form; None where it is not linear."""
    left, right = linear_form(comparison.left), linear_form(comparison.right)
    return left.plus(right, Fraction(-1)) if left and right else None


def monomial(value: Value) -> tuple[float, dict[str, int]] | None:
    """Return a value as a coefficient and the exponents of its factors; None where it is no product.

    >>> from shoal.rules.grammar import parse_condition
    >>> monomial(parse_condition("2 * A / B = 0").left)
    (2.0, {'A': 1, 'B': -1})
    """
    match value:
        case Number(number):
            return float(number), {}
        case Variable(name):
            return 1.0, {name: 1}
        case Negative(operand):
            found = monomial(operand)
            return (-found[0], found[1]) if found else None
        case Arithmetic(operator, left, right) if operator in ("*", "/"):
            a, b = monomial(left), monomial(right)
            if a is None or b is None or (operator == "/" and b[0] == 0.0):
                return None
            sign = 1 if operator == "*" else -1
            exponents = dict(a[1])
            for name, exponent in b[1].items():
                exponents[name] = exponents.get(name, 0) + sign * exponent
            return (a[0] * b[0] if sign == 1 else a[0] / b[0]), {n: e for n, e in exponents.items() if e}
    return None


def isolate(equation: Comparison, name: str) -> Value | None:
    """Solve an equation for a variable that occurs in it once; None where that cannot be done.

    >>> from shoal.rules.grammar import parse_condition
    >>> isolate(parse_condition("T - A = 2 * B"), "A")
    Arithmetic(operator='-', left=Variable(name='T'), right=Arithmetic(operator='*', left=Number(value=2), right=Variable(name='B')))
    """  # noqa: E501 - one result
    side, other = equation.left, equation.right
    if name in variables_of(other):
        side, other = other, side
    if sum(isinstance(node, Variable) and node.name == name for node in walk(equation)) != 1:
        return None
    while not isinstance(side, Variable):
        match side:
            case Negative(operand):
                side, other = operand, Negative(other)
            case Arithmetic(operator, left, right) if operator != "mod":
                inside = name in variables_of(left)
                if operator in ("+", "*"):
                    inverse, rest = ("-" if operator == "+" else "/"), right if inside else left
                    side, other = (left if inside else right), Arithmetic(inverse, other, rest)  # type: ignore[arg-type]
                elif inside:
                    side, other = left, Arithmetic("+" if operator == "-" else "*", other, right)
                else:
                    side, other = right, Arithmetic(operator, left, other)
            case _:
                return None
    return other


def gradient(value: Value, columns: Mapping[str, Floats]) -> tuple[Floats, dict[str, Floats]] | None:
    """Return a value at many points and its derivatives by each variable; None where it is not a rational function.

    >>> from shoal.rules.grammar import parse_condition
    >>> gradient(parse_condition("A * A = 0").left, {"A": np.array([3.0])})
    (array([9.]), {'A': array([6.])})
    """
    match value:
        case Number(number):
            return np.full(len(next(iter(columns.values()))), float(number)), {}
        case Variable(name):
            return columns[name], {name: np.ones(len(columns[name]))}
        case Negative(operand):
            found = gradient(operand, columns)
            return (-found[0], {n: -g for n, g in found[1].items()}) if found else None
        case Call("sum", arguments):
            total: Value = arguments[0]
            for argument in arguments[1:]:
                total = Arithmetic("+", total, argument)
            return gradient(total, columns)
        case Arithmetic(operator, left, right) if operator != "mod":
            a, b = gradient(left, columns), gradient(right, columns)
            if a is None or b is None:
                return None
            with np.errstate(all="ignore"):
                one: Floats = np.ones_like(a[0])
                if operator == "*":
                    values, by_a, by_b = a[0] * b[0], b[0], a[0]
                elif operator == "/":
                    values, by_a, by_b = a[0] / b[0], one / b[0], -a[0] / b[0] ** 2
                else:
                    values, by_a, by_b = (a[0] + b[0], one, one) if operator == "+" else (a[0] - b[0], one, -one)
                slopes = {name: by_a * slope for name, slope in a[1].items()}
                for name, slope in b[1].items():
                    slopes[name] = slopes.get(name, 0.0) + by_b * slope
            return values, slopes
    return None
