"""What a rule asks for, in the terms in which a representative can keep it.

A condition is taken apart into parts that must all hold:

    Half      a linear inequality: A <= B, 0 <= AGE, A + B < 100
    Equation  an equality: linear (T = A + B), multiplicative (R = A * B), or any other that can be solved for a column;
              exact, or with slack (S = 100 * A / B within 0.06)
    Values    one of some constants
    Whole     a whole number
    Domain    a value of the original
    When      parts that must hold where an antecedent does
    Other     anything else: checked on every representative, and kept by releasing a record of the group

The kinds are those of Torra, Constrained microaggregation: adding constraints for data editing, Transactions on Data
Privacy 1(2), 2008, as used by Torra, Cano and Navarro-Arribas 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from shoal.rules.algebra import LinearForm, difference, exact, monomial
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
    Not,
    Number,
    Or,
    Original,
    Text,
    Unchanged,
    Value,
    Variable,
    variables_of,
    walk,
)
from shoal.rules.rule import Rule

KindName = Literal[
    "linear", "multiplicative", "possible values", "governing", "original domain", "total", "unclassified"
]
KINDS: tuple[str, ...] = get_args(KindName)


@dataclass(frozen=True)
class Half:
    """``form <= 0``, or ``form < 0`` where it is strict."""

    form: LinearForm
    strict: bool = False


@dataclass(frozen=True)
class Equation:
    """Two sides that are equal, or differ by no more than the slack.

    ``form = 0`` where it is linear, and ``product`` where both sides are products.
    """

    comparison: Comparison
    form: LinearForm | None
    product: bool
    slack: Fraction = Fraction(0)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of its columns."""
        return variables_of(self.comparison)


@dataclass(frozen=True)
class Values:
    """A column has one of some constants."""

    name: str
    constants: tuple[int | float | str, ...]


@dataclass(frozen=True)
class Whole:
    """A column has whole numbers."""

    name: str


@dataclass(frozen=True)
class Domain:
    """A column has values of the original."""

    name: str


@dataclass(frozen=True)
class When:
    """Parts that must hold where the antecedent does."""

    antecedent: Condition
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Other:
    """A condition of no such form."""

    condition: Condition


Part: TypeAlias = Half | Equation | Values | Whole | Domain | When | Other


@dataclass(frozen=True)
class Classified:
    """A rule with its kind and the parts of its condition; there are none where it has no translation."""

    rule: Rule
    kind: KindName
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """Name of the rule."""
        return self.rule.name

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of its columns."""
        return self.rule.variables

    @property
    def by_record(self) -> bool:
        """Whether which values of a record are missing decides what the rule says about the others."""
        if self.rule.condition is None:
            return False
        return any(
            isinstance(n, Missing) or (isinstance(n, Call) and n.function in ("sum", "min", "max", "count"))
            for n in walk(self.rule.condition)
        )


def classify(rule: Rule) -> Classified:
    """Take a rule apart and name its kind.

    >>> from shoal.rules.grammar import parse_rule
    >>> [classify(parse_rule(text)).kind for text in ("T = A + B", "R = A * B", "A <= B", "A in {1, 2}")]
    ['linear', 'multiplicative', 'governing', 'possible values']
    """
    if rule.condition is None:
        return Classified(rule, "unclassified", ())
    if isinstance(rule.condition, Unchanged):
        return Classified(rule, "total", ())
    parts = tuple(parts_of(rule.condition))
    return Classified(rule, _kind(parts), parts)


def _kind(parts: tuple[Part, ...]) -> KindName:
    """Return the kind of a rule: that of the part that asks for most."""
    kinds = {_kind_of(part) for part in parts}
    for kind in ("unclassified", "multiplicative", "linear", "governing", "original domain"):
        if kind in kinds:
            return kind
    return "possible values"


def _kind_of(part: Part) -> KindName:
    match part:
        case Equation(_, form, product, _):
            return "linear" if form else "multiplicative" if product else "unclassified"
        case Half(form):
            return ("possible values", "governing", "linear")[min(len(form.coefficients), 3) - 1]
        case When():
            return "governing"
        case Domain():
            return "original domain"
        case Other():
            return "unclassified"
    return "possible values"


def parts_of(condition: Condition) -> list[Part]:
    """Take a condition apart into what must all hold."""
    match condition:
        case And(parts):
            return [found for part in parts for found in parts_of(part)]
        case Not(operand):
            turned = negation(operand)
            return [Other(condition)] if isinstance(turned, Not) else parts_of(turned)
        case Or(parts):
            alternatives: list[Condition] = [p for p in parts if isinstance(p, Not)]
            alternatives = alternatives or list(parts[:-1])
            rest = [p for p in parts if p not in alternatives] or [alternatives.pop()]
            when = [negation(part) for part in alternatives]
            then = rest[0] if len(rest) == 1 else Or(tuple(rest))
            if len(rest) > 1:
                return [When(when[0] if len(when) == 1 else And(tuple(when)), (Other(then),))]
            return [When(when[0] if len(when) == 1 else And(tuple(when)), tuple(parts_of(then)))]
        case Implies(antecedent, consequent):
            return [When(antecedent, tuple(parts_of(consequent)))]
        case Member(Variable(name), values):
            return [Values(name, tuple(value.value for value in values))]
        case Integer(Variable(name)):
            return [Whole(name)]
        case Original(name):
            return [Domain(name)]
        case Comparison():
            return _comparison(condition)
    return [Other(condition)]


def _comparison(node: Comparison) -> list[Part]:
    """Take a comparison apart."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, Variable) and isinstance(other, Text) and node.operator == "=":
            return [Values(one.name, (other.value,))]
    if isinstance(node.left, Call) and node.left.function == "abs" and node.operator in ("<", "<="):
        inner = node.left.arguments[0]
        near = _equation_with_slack(inner, node.right) if node.operator == "<=" else None
        if near:
            return [near]
        above = difference(Comparison("<=", inner, node.right))
        below = difference(Comparison("<=", Number(0), inner))
        bound = difference(Comparison("<=", Number(0), node.right))
        if above and below and bound and above.coefficients:
            strict = node.operator == "<"
            return [Half(above, strict), Half(below.plus(bound, Fraction(1)), strict)]
    form = difference(node)
    if node.operator == "=":
        if form and len(form.coefficients) == 1:
            ((name, coefficient),) = form.coefficients.items()
            constant = -form.constant / coefficient
            return [Values(name, (float(constant) if constant.denominator > 1 else int(constant),))]
        return [_equation(node, form)] if form is None or form.coefficients else [Other(node)]
    if form is None or not form.coefficients or node.operator == "!=":
        return [Other(node)]
    if node.operator in (">", ">="):
        form = LinearForm({}, Fraction(0)).plus(form, Fraction(-1))
    return [Half(form, node.operator in ("<", ">"))]


def _equation(node: Comparison, form: LinearForm | None, slack: Fraction = Fraction(0)) -> Equation:
    product = form is None and monomial(node.left) is not None and monomial(node.right) is not None
    return Equation(node, form, product, slack)


def _equation_with_slack(inner: Value, slack: Value) -> Equation | None:
    """Return ``abs(inner) <= slack`` as an equation; None where it is none, or one about a single column."""
    if not (isinstance(inner, Arithmetic) and inner.operator == "-" and isinstance(slack, Number) and slack.value > 0):
        return None
    node = Comparison("=", inner.left, inner.right)
    form = difference(node)
    return _equation(node, form, exact(slack.value)) if form is None or len(form.coefficients) > 1 else None


_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negation(condition: Condition) -> Condition:
    """Return the opposite of a condition, with ``not`` moved inwards as far as it goes.

    >>> from shoal.rules.grammar import parse_condition
    >>> negation(parse_condition("A < 1 and not B = 2"))
    Or(parts=(Comparison(operator='>=', left=Variable(name='A'), right=Number(value=1)), \
Comparison(operator='=', left=Variable(name='B'), right=Number(value=2))))
    """
    match condition:
        case Not(operand):
            return operand
        case And(parts):
            return Or(tuple(negation(part) for part in parts))
        case Or(parts):
            return And(tuple(negation(part) for part in parts))
        case Implies(antecedent, consequent):
            return And((antecedent, negation(consequent)))
        case Comparison(operator, left, right):
            return Comparison(_OPPOSITE[operator], left, right)  # type: ignore[arg-type]
    return Not(condition)
