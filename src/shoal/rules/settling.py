"""Tuples that keep rules by construction: project, take values from lists, round what is free, derive the rest.

For groups that must keep the same parts of rules:

1. the target is projected onto the linear equations and inequalities, and onto the others by their tangents;
2. columns that take values from a list (constants, the original) go to the nearest of them and stay there, and the
   others are projected again;
3. free columns are rounded to the precision of their column, or to what their equations ask for;
4. dependent columns are derived from them, in the very operations of the rule, so that it holds to the last digit; one
   of an equation with slack goes no further than it must.

Floats in linear equations are rounded to a binary fraction a thousand-millionth of a standard deviation wide: sums of
such numbers are exact, in any order of adding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.rules.algebra import LinearForm, gradient
from shoal.rules.classify import Domain, Equation, Half, Part, Values, Whole
from shoal.rules.deriving import Derived, derive
from shoal.rules.evaluate import Observations, evaluate_value
from shoal.rules.projection import Tangent, nearest_points
from shoal.rules.tuples import RuledColumn, Tuples, names_of

_BITS = 30  # binary digits of a standard deviation that floats in sums keep
_MARGIN = 1e-9  # standard deviations by which an inequality of floats is kept


@dataclass
class System:
    """The parts of rules that some groups must keep together, over the columns that can be computed with."""

    halves: list[Half] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    near: list[Equation] = field(default_factory=list)  # those with slack
    lists: dict[str, Floats] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)


def system_of(parts: Sequence[Part], columns: Sequence[RuledColumn]) -> System:
    """Collect parts; those of columns that cannot be computed with are left to the check of the result."""
    usable = {c.name: c for c in columns if c.numeric}
    found = System()
    for part in parts:
        names = names_of(part)
        inside = [name for name in names if name in usable]
        if isinstance(part, Half) and inside:
            found.halves.append(part)
        elif isinstance(part, Equation) and part.slack:
            if part.form and inside:
                found.halves += _sides(part.form, part.slack)
            if len(inside) == len(names):
                found.near.append(part)
        elif isinstance(part, Equation) and len(inside) == len(names):
            found.equations.append(part)
        elif isinstance(part, Whole) and inside:
            found.whole.add(part.name)
        elif isinstance(part, Values) and inside:
            numbers = np.array(sorted(float(v) for v in part.constants if not isinstance(v, str)))
            _shorten(found.lists, part.name, numbers)
        elif isinstance(part, Domain) and inside:
            observations = usable[part.name].observations
            _shorten(found.lists, part.name, np.unique(observations.values[observations.observed].astype(np.float64)))
    for half in found.halves:
        _apply_limit(found.lists, half)
    for name in found.whole & set(found.lists):
        found.lists[name] = found.lists[name][found.lists[name] == np.rint(found.lists[name])]
    return found


def _sides(form: LinearForm, slack: Fraction) -> list[Half]:
    """Return a linear equation with slack as two inequalities."""
    bound = LinearForm({}, -slack)
    return [Half(bound.plus(form, Fraction(sign))) for sign in (1, -1)]


def _shorten(lists: dict[str, Floats], name: str, numbers: Floats) -> None:
    """Keep the numbers of a list that another allows too."""
    lists[name] = np.intersect1d(lists[name], numbers) if name in lists else numbers


def _apply_limit(lists: dict[str, Floats], half: Half) -> None:
    """Keep the numbers of a list that a limit of its column allows."""
    if len(half.form.coefficients) == 1:
        ((name, coefficient),) = half.form.coefficients.items()
        if name in lists:
            left = float(coefficient) * lists[name] + float(half.form.constant)
            lists[name] = lists[name][left < 0.0 if half.strict else left <= 0.0]


class Settling:
    """Settles the tuples of some groups that must keep the same parts."""

    def __init__(self, tuples: Tuples, parts: Sequence[Part], chosen: Ints) -> None:
        self.tuples, self.chosen, self.columns = tuples, chosen, tuples.columns
        self.place = tuples.place
        self.system = system_of(parts, self.columns)
        self.scale = np.array([c.scale if c.numeric else 0.0 for c in self.columns])
        self.grids = {c.name: c.grid for c in self.columns if c.grid is not None}
        self.grids.update({name: Fraction(1) for name in self.system.whole if name not in self.grids})
        fixed = {c.name for c in self.columns if c.scale == 0.0} | set(self.system.lists)
        self.derivation = derive([*self.system.equations, *self.system.near], self.grids, fixed)
        self.linear = self._linear()
        self.limits = self._limits()

    def settle(self, targets: Floats) -> Floats:
        """Return numbers (groups, d) near the targets that keep the parts, where the construction succeeds."""
        numbers = self._project(targets, self.scale)
        if self.system.lists:
            still = self.scale.copy()
            for name, allowed in self.system.lists.items():
                j = self.place[name]
                still[j] = 0.0
                if len(allowed):
                    numbers[:, j] = nearest_of(allowed, numbers[:, j])
            numbers = self._project(numbers, still)
        return self.rounded(numbers)

    def rounded(self, numbers: Floats) -> Floats:
        """Round free columns, and derive the dependent ones."""
        numbers = numbers.copy()
        dependent = {found.name for found in self.derivation.derived}
        binary = self._binary_step()
        for j, column in enumerate(self.columns):
            name = column.name
            if not column.numeric or name in dependent or name in self.system.lists:
                continue
            if name in self.grids:
                numbers[:, j] = on_grid(numbers[:, j], self.derivation.steps.get(name, self.grids[name]))
            elif binary and any(name in e.variables for e in self.system.equations if e.form):
                numbers[:, j] = np.rint(numbers[:, j] / binary) * binary
        for found in self.derivation.derived:
            there = np.ones(len(numbers), dtype=bool)
            observations = {c.name: Observations(numbers[:, j], there) for j, c in enumerate(self.columns)}
            with np.errstate(all="ignore"):
                value = evaluate_value(found.value, observations)[0]
            value = np.where(np.isfinite(value), value, 0.0)
            if found.name in self.grids:
                value = on_grid(value, self.grids[found.name])
            j = self.place[found.name]
            numbers[:, j] = value if found.ends is None else self._between(found, observations, numbers[:, j], value)
        return numbers

    def _between(self, found: Derived, observations: dict[str, Observations], now: Floats, middle: Floats) -> Floats:
        """Move a dependent column between the ends that a slack leaves; to the middle where its grid has none there."""
        with np.errstate(all="ignore"):
            one, other = (evaluate_value(end, observations)[0] for end in found.ends or ())
        low, high = np.minimum(one, other), np.maximum(one, other)
        step = self.grids.get(found.name)
        if step is not None:
            unit = float(step)
            low, high = np.ceil(low / unit) * unit, np.floor(high / unit) * unit
            now, low, high = (on_grid(part, step) for part in (now, low, high))
        inside = np.isfinite(low) & np.isfinite(high) & (low <= high)
        return np.where(inside, np.clip(now, low, np.maximum(low, high)), middle)

    def _binary_step(self) -> float:
        """Return the step of floats in linear equations: a power of two."""
        names = {name for e in self.system.equations if e.form for name in e.variables}
        widest = max((c.scale for c in self.columns if c.name in names), default=0.0)
        return float(2.0 ** (np.floor(np.log2(widest)) - _BITS)) if widest > 0.0 else 0.0

    def _project(self, targets: Floats, scale: Floats) -> Floats:
        both = [*self.system.equations, *self.system.near]
        curved = [e for e in both if e.form is None and _smooth(e)]
        tangent = self._tangent(curved, targets) if curved else None
        matrix, constants = self.linear
        with np.errstate(all="ignore"):
            found = nearest_points(
                targets,
                scale,
                (matrix, np.broadcast_to(constants, (len(targets), len(constants)))),
                self.limits,
                tangent,
            )
        return np.where(np.isfinite(found), found, targets)

    def _linear(self) -> tuple[Floats, Floats]:
        forms = [e.form for e in self.system.equations if e.form is not None]
        matrix = np.array([self.row(form) for form in forms]).reshape(len(forms), len(self.columns))
        return matrix, np.array([-float(form.constant) for form in forms])

    def row(self, form: LinearForm) -> Floats:
        """Return the coefficients of the columns here."""
        row = np.zeros(len(self.columns))
        for name, coefficient in form.coefficients.items():
            if name in self.place and self.columns[self.place[name]].numeric:
                row[self.place[name]] = float(coefficient)
        return row

    def _limits(self) -> tuple[Floats, Floats]:
        """Return inequalities as a matrix (q, d) and constants (groups, q), with the ranges of the columns."""
        halves, d = self.system.halves, len(self.columns)
        matrix = np.array([self.row(half.form) for half in halves]).reshape(len(halves), d)
        constants = np.empty((len(self.chosen), len(halves)))
        for q, half in enumerate(halves):
            constants[:, q] = -float(half.form.constant) - self._others(half.form) - self._margin(half)
        low, high = (np.array([c.natural(np.array([end(c)]))[0] for c in self.columns]) for end in (_low, _high))
        ranges = np.broadcast_to(np.concatenate([high, -low]), (len(self.chosen), 2 * d))
        return np.concatenate([matrix, np.eye(d), -np.eye(d)]), np.concatenate([constants, ranges], axis=1)

    def _margin(self, half: Half) -> float:
        """Return by how much an inequality is kept: a whole step where it is strict, a hair where floats are."""
        names = list(half.form.coefficients)
        if all(name in self.grids for name in names):
            steps = [abs(c) * self.grids[name] for name, c in half.form.coefficients.items()]
            return float(min(steps)) if half.strict else 0.0
        widths = [
            abs(float(c)) * self.scale[self.place[n]] for n, c in half.form.coefficients.items() if n in self.place
        ]
        return (1000.0 if half.strict else 1.0) * _MARGIN * max(widths, default=0.0)

    def _others(self, form: LinearForm) -> Floats | float:
        """Return the largest contribution of columns that stay as they are, over the records of each group."""
        names = [n for n in form.coefficients if n not in self.place or not self.columns[self.place[n]].numeric]
        if not names:
            return 0.0
        rows, places = self.tuples.rows_of(self.chosen)
        total, there = np.zeros(len(rows)), np.ones(len(rows), dtype=bool)
        for name in names:
            observations = self.tuples.original[name]
            if observations.values.dtype.kind not in "iuf":
                return 0.0
            total += float(form.coefficients[name]) * observations.values[rows].astype(np.float64)
            there &= observations.observed[rows]
        largest = np.full(len(self.chosen), -np.inf)
        np.maximum.at(largest, places[there], total[there])
        return largest

    def _tangent(self, curved: Sequence[Equation], targets: Floats) -> Tangent:
        """Return the function from points to tangents of the equations that are not linear.

        One with slack is met where the way from the target crosses its end, or not at all where that is inside.
        """
        left_over = np.column_stack([self._difference(e, targets) for e in curved])
        slack = np.array([float(e.slack) for e in curved])
        left_over = np.clip(np.nan_to_num(left_over), -slack, slack)

        def tangent(points: Floats) -> tuple[Floats, Floats]:
            by_name = {c.name: points[:, j] for j, c in enumerate(self.columns)}
            slopes = np.zeros((len(points), len(curved), len(self.columns)))
            ends = np.empty((len(points), len(curved)))
            for r, equation in enumerate(curved):
                ends[:, r] = 0.0
                for sign, side in ((1.0, equation.comparison.left), (-1.0, equation.comparison.right)):
                    values, by_column = gradient(side, by_name) or (np.zeros(len(points)), {})
                    ends[:, r] -= sign * values
                    for name, slope in by_column.items():
                        slopes[:, r, self.place[name]] += sign * slope
            slopes = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
            ends = np.nan_to_num(ends, nan=0.0, posinf=0.0, neginf=0.0)
            return slopes, ends + left_over + np.einsum("mrd,md->mr", slopes, points)

        return tangent

    def _difference(self, equation: Equation, points: Floats) -> Floats:
        """Return by how much the sides of an equation differ at points."""
        by_name = {c.name: points[:, j] for j, c in enumerate(self.columns)}
        nothing: tuple[Floats, dict[str, Floats]] = (np.zeros(len(points)), {})
        sides = (equation.comparison.left, equation.comparison.right)
        left, right = ((gradient(side, by_name) or nothing)[0] for side in sides)
        return left - right


def _low(column: RuledColumn) -> float:
    return column.low


def _high(column: RuledColumn) -> float:
    return column.high


def _smooth(equation: Equation) -> bool:
    """Whether an equation has tangents."""
    one = {name: np.ones(1) for name in equation.variables}
    return all(gradient(side, one) is not None for side in (equation.comparison.left, equation.comparison.right))


def nearest_of(allowed: Floats, numbers: Floats) -> Floats:
    """Return the nearest of some sorted numbers for each; of two as near, the lower.

    >>> nearest_of(np.array([1.0, 4.0]), np.array([0.0, 2.5, 2.6]))
    array([1., 1., 4.])
    """
    above = np.clip(np.searchsorted(allowed, numbers), 0, len(allowed) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(numbers - allowed[below] <= allowed[above] - numbers, allowed[below], allowed[above])


def on_grid(numbers: Floats, step: Fraction) -> Floats:
    """Round numbers to multiples of a step, halves to the even multiple.

    >>> on_grid(np.array([0.126, 2.0]), Fraction(1, 100))
    array([0.13, 2.  ])
    """
    multiples = np.rint(numbers * step.denominator / step.numerator)
    return np.asarray(multiples * step.numerator / step.denominator)
