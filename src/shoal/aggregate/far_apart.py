"""Representatives of whole numbers so far apart that floats cannot tell the differences: in exact arithmetic.

A difference of more than 2**53 has no exact float, so that a median or a mode would be no value of its group any more,
and the largest differences would even leave the type. Such groups are rare; each is worked out in Python's whole
numbers, O(g log g) for a group of g. The rules are those of :mod:`shoal.kernels.representatives`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from shoal.kernels.representatives import GEOMETRIC, MEAN, MEDIAN, TRIMMED

EXACT = 2**53  # differences up to this are floats without rounding
_SAME = 1e-12  # part of a weight by which two sums of weights are equal


def exact_representative(values: Sequence[int], weights: Sequence[float], how: int, rough: float) -> int:
    """Return the whole number that stands for some; halves go to the even number.

    ``how`` is a number of :mod:`shoal.kernels.representatives`, and ``rough`` what floats come to, which does for a
    geometric mean: it has no exact value anyway.

    >>> exact_representative([0, 2**62 - 1, 2**62 + 1], [1.0, 1.0, 1.0], MEDIAN, 0.0) == 2**62 - 1
    True
    """
    pairs = sorted(zip(values, weights, strict=True), key=lambda pair: pair[0])
    if how == GEOMETRIC:
        chosen = Fraction(rough)
    elif how == MEAN:
        chosen = _mean(pairs)
    elif how == TRIMMED:
        drop = (len(pairs) + 9) // 10 if len(pairs) >= 3 else 0
        chosen = _mean(pairs[drop : len(pairs) - drop])
    else:
        chosen = _median(pairs) if how == MEDIAN else _mode(pairs)
    return min(max(round(chosen), pairs[0][0]), pairs[-1][0])


def _mean(pairs: Sequence[tuple[int, float]]) -> Fraction:
    return sum((value * Fraction(weight) for value, weight in pairs), Fraction(0)) / sum(
        Fraction(weight) for _, weight in pairs
    )


def _median(pairs: Sequence[tuple[int, float]]) -> Fraction:
    half, reached = 0.5 * sum(weight for _, weight in pairs), 0.0
    for i, (value, weight) in enumerate(pairs):
        reached += weight
        if abs(reached - half) <= _SAME * half:
            return Fraction(value + pairs[i + 1][0], 2)
        if reached > half:
            return Fraction(value)
    return Fraction(pairs[-1][0])


def _mode(pairs: Sequence[tuple[int, float]]) -> Fraction:
    mean, total = _mean(pairs), dict[int, float]()
    for value, weight in pairs:
        total[value] = total.get(value, 0.0) + weight
    most = max(total.values())
    return Fraction(
        min((value for value in total if total[value] >= most * (1.0 - _SAME)), key=lambda value: abs(value - mean))
    )
