"""Dependent columns: in each equation one column is derived from the others, so that it holds to the last digit.

An equation is solved for a column that no other equation needs; that one is derived last, and the others are looked at
without it. Equations in which every column is needed elsewhere are first brought to echelon form, where linear.

What is free is rounded to the precision of its column. Where the columns of a linear equation are all of a fixed
precision, a free one may have to be a multiple of more than its last digit: in T = A + 0.5 C with whole numbers C is
even. With ``n_i`` the whole coefficients and v the derived column, multiples of ``n_v / gcd(n_i, n_v)`` do.

Where an equation has slack, its dependent column stays where it is between two ends, and needs no such multiples.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from shoal.rules.algebra import LinearForm, isolate
from shoal.rules.classify import Equation
from shoal.rules.expression import Arithmetic, Comparison, Number, Value, Variable

_INSIDE = 1.0 - 1e-9  # of a slack: so that rounding does not leave it


@dataclass(frozen=True)
class Derived:
    """A column and the value that it is derived as, or the two between which it is left where there is slack."""

    name: str
    value: Value
    equation: Equation
    ends: tuple[Value, Value] | None = None


@dataclass(frozen=True)
class Derivation:
    """Dependent columns in the order in which they are derived, and the steps of the free ones."""

    derived: tuple[Derived, ...]
    steps: dict[str, Fraction]


def derive(equations: Sequence[Equation], grids: Mapping[str, Fraction], fixed: Collection[str]) -> Derivation:
    """Choose the dependent column of each equation.

    Parameters
    ----------
    equations : list of Equation
        What must hold together.
    grids : dict
        Columns of a fixed precision and their smallest steps: 1 for whole numbers, 1/100 for two decimals.
    fixed : set of str
        Columns that may not be derived: they take values of a list.

    Examples
    --------
    >>> from shoal.rules.classify import classify
    >>> from shoal.rules.grammar import parse_rule
    >>> rules = [parse_rule("T = A + B"), parse_rule("P = T * R")]
    >>> [d.name for d in derive([e for r in rules for e in classify(r).parts], {}, set()).derived]
    ['T', 'P']
    """
    order = _peel(list(equations), grids, fixed)
    if order is None:
        equations = [e for e in equations if not e.slack]
        order = _peel(list(equations), grids, fixed)
    if order is None:
        order = _peel(_echelon(equations, fixed), grids, fixed) or []
    steps: dict[str, Fraction] = {}
    for found in order:
        for name, step in _steps(found, grids).items():
            old = steps.get(name, step)
            steps[name] = Fraction(lcm(step.numerator * old.denominator, old.numerator * step.denominator)) / (
                step.denominator * old.denominator
            )
    dependent = {found.name for found in order}
    return Derivation(tuple(order), {name: step for name, step in steps.items() if name not in dependent})


def _peel(left: list[Equation], grids: Mapping[str, Fraction], fixed: Collection[str]) -> list[Derived] | None:
    """Derive the columns that only one equation needs last; None where there is an equation without such a column."""
    order: list[Derived] = []
    while left:
        choices: list[tuple[tuple[int, ...], int, Derived]] = []
        for i, equation in enumerate(left):
            elsewhere = {name for j, other in enumerate(left) if j != i for name in other.variables}
            for place, name in enumerate(equation.variables):
                if name in elsewhere or name in fixed:
                    continue
                value = isolate(equation.comparison, name)
                if value is not None:
                    derived = Derived(name, value, equation, _ends(equation, name))
                    choices.append(((*_rank(derived, grids), i, place), i, derived))
        if not choices:
            return None
        _, i, derived = min(choices, key=lambda choice: choice[0])
        order.append(derived)
        left = left[:i] + left[i + 1 :]
    return order[::-1]


def _ends(equation: Equation, name: str) -> tuple[Value, Value] | None:
    """Return what a column is where an equation has all of its slack, to either side; None where it has none."""
    if not equation.slack:
        return None
    left, right = equation.comparison.left, equation.comparison.right
    slack = Number(float(equation.slack) * _INSIDE)
    below, above = (isolate(Comparison("=", left, Arithmetic(sign, right, slack)), name) for sign in ("-", "+"))
    return (below, above) if below and above else None


def _rank(derived: Derived, grids: Mapping[str, Fraction]) -> tuple[int, int]:
    """Return how unsuitable a column is to be derived: whether rounding would spoil it, and whether it stands alone."""
    sides = (derived.equation.comparison.left, derived.equation.comparison.right)
    alone = 0 if any(side == Variable(derived.name) for side in sides) else 1
    if derived.name not in grids:
        return 0, alone
    form = derived.equation.form
    if derived.ends:
        return 0, alone
    if form is None or any(name not in grids for name in form.coefficients):
        return 1000, alone
    whole = _whole_coefficients(form, grids)
    return min(abs(whole[derived.name]) - 1, 999), alone


def _whole_coefficients(form: LinearForm, grids: Mapping[str, Fraction]) -> dict[str, int]:
    """Return coefficients of the columns in units of their steps, as whole numbers without a common factor."""
    scaled = {name: coefficient * grids[name] for name, coefficient in form.coefficients.items()}
    common = lcm(*(c.denominator for c in scaled.values()))
    whole = {name: int(c * common) for name, c in scaled.items()}
    factor = gcd(*whole.values())
    return {name: c // factor for name, c in whole.items()}


def _steps(derived: Derived, grids: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return what the free columns of a linear equation must be multiples of, where all have a fixed precision."""
    form = derived.equation.form
    if derived.ends or form is None or any(name not in grids for name in form.coefficients):
        return {}
    whole = _whole_coefficients(form, grids)
    own = abs(whole[derived.name])
    return {name: grids[name] * (own // gcd(own, c)) for name, c in whole.items() if name != derived.name}


def _echelon(equations: Sequence[Equation], fixed: Collection[str]) -> list[Equation]:
    """Bring linear equations to reduced echelon form, so that each has a column that no other has."""
    others = [e for e in equations if e.form is None]
    needed = {name for e in others for name in e.variables}
    rows = [e.form for e in equations if e.form is not None]
    done: list[LinearForm] = []
    while rows:
        row = rows.pop(0)
        names = [n for n in row.coefficients if n not in fixed]
        names.sort(key=lambda n: (n in needed, abs(abs(row.coefficients[n]) - 1)))
        if not names:
            if row.coefficients:
                done.append(row)
            continue
        pivot = names[0]
        clear = [
            other.plus(row, -other.coefficients[pivot] / row.coefficients[pivot])
            if pivot in other.coefficients
            else other
            for other in (*done, *rows)
        ]
        done, rows = [*clear[: len(done)], row], clear[len(done) :]
    return [*(_as_equation(row) for row in done), *others]


def _as_equation(form: LinearForm) -> Equation:
    """Return a linear form as an equation with 0."""
    total: Value | None = None
    for name, coefficient in form.coefficients.items():
        term: Value = Variable(name)
        if coefficient != 1:
            term = Arithmetic("*", _number(coefficient), term)
        total = term if total is None else Arithmetic("+", total, term)
    comparison = Comparison("=", total or Number(0), _number(-form.constant))
    return Equation(comparison, form, product=False)


def _number(value: Fraction) -> Number:
    return Number(int(value)) if value.denominator == 1 else Number(float(value))
