"""Parts that make an antecedent false: the other way in which a rule that has one can be kept.

Where the mean of A rounds to 0 and B is far from it, ``if A = 0 then B = 0`` is kept at less cost by A = 1 than by
B = 0.
"""

from __future__ import annotations

from fractions import Fraction

from shoal.rules.algebra import LinearForm, difference
from shoal.rules.classify import Half, Part, Values, negation, parts_of
from shoal.rules.expression import And, Comparison, Condition, Or


def refutations(antecedent: Condition) -> list[list[Part]]:
    """Return alternatives, each of which makes a condition of numbers false; none where that has no known form.

    >>> from shoal.rules.grammar import parse_condition
    >>> [len(refutations(parse_condition(text))) for text in ("A < 5", "A = 0", "A = 0 and B > 1", "A mod 2 = 0")]
    [1, 2, 3, 0]
    """
    match antecedent:
        case And(parts):
            return [found for part in parts for found in refutations(part)]
        case Or(parts):
            each = [refutations(part) for part in parts]
            return [[part for found in each for part in found[0]]] if all(each) else []
        case Comparison("=", _, _):
            form = difference(antecedent)
            if form is None or not form.coefficients:
                return []
            return [
                [Half(form, strict=True)],
                [Half(LinearForm({}, Fraction(0)).plus(form, Fraction(-1)), strict=True)],
            ]
    opposite = parts_of(negation(antecedent))
    numbers = all(isinstance(p, Half) or (isinstance(p, Values) and _numbers(p)) for p in opposite)
    return [opposite] if numbers else []


def _numbers(part: Values) -> bool:
    return not any(isinstance(constant, str) for constant in part.constants)
