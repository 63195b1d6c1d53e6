"""Sums that depend on no order, against fractions and math.fsum."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.columns.numbers import Column
from shoal.columns.scaling import SCALINGS, fit_scale
from shoal.kernels.exact_sums import ExactSum, exact_sum

LARGEST, SMALLEST = np.finfo(np.float64).max, 5e-324


def numbers(kind, rng):
    drawn = rng.normal(size=1000)
    return {
        "normal": drawn,
        "wide": drawn * 10.0 ** rng.integers(-300, 300, size=1000),
        "cancelling": np.concatenate([drawn * 1e200, -drawn * 1e200, drawn]),
        "subnormal": rng.integers(-1000, 1000, size=1000) * SMALLEST,
        "extremes": np.array([LARGEST, SMALLEST, -LARGEST, 2.0**-1022, -SMALLEST, 1.0, LARGEST / 2]),
        "bits": rng.integers(0, 2**64, size=1000, dtype=np.uint64).view(np.float64),
        "zeros": np.array([0.0, -0.0]),
        "empty": np.empty(0),
    }[kind]


KINDS = ["normal", "wide", "cancelling", "subnormal", "extremes", "bits", "zeros", "empty"]


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_exact_and_rounded_once(kind):
    x = numbers(kind, np.random.default_rng(1))
    x = x[np.isfinite(x)]
    assert ExactSum.of(x).exact() == sum(map(Fraction, x.tolist()), Fraction(0))
    if kind != "bits":  # fsum gives up where a partial sum is too large for a float
        assert exact_sum(x) == math.fsum(x)


@pytest.mark.parametrize("kind", KINDS)
def test_any_parts_in_any_order_give_the_same_words(kind):
    rng = np.random.default_rng(2)
    x = numbers(kind, rng)
    x = x[np.isfinite(x)]
    whole = ExactSum.of(x)
    for _ in range(5):
        parts = [ExactSum.of(part) for part in np.array_split(rng.permutation(x), 7)]
        total = ExactSum()
        for place in rng.permutation(7):
            total = total + parts[place]
        assert total.exact() == whole.exact()
        assert np.array_equal(total.words, whole.words)


def test_squares_are_exact():
    x = np.concatenate([np.random.default_rng(3).normal(size=500), [1 / 3, 1e150, -1e-140, 0.0]])
    assert ExactSum.of_squares(x).exact() == sum((Fraction(one) ** 2 for one in x.tolist()), Fraction(0))


def test_words_have_room_for_as_many_numbers_as_an_array_may_have():
    """A word takes less than 2^32 from each number: 2^30 of them fit, of one sign, before carries are handed on."""
    total = ExactSum.of(np.full(1000, -LARGEST))
    for _ in range(20):
        total = total + total
    assert total.exact() == -Fraction(LARGEST) * 1000 * 2**20


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("offset", [0.0, 1e9, -1e300])
def test_a_scale_does_not_depend_on_the_order_of_the_rows(scaling, offset):
    rng = np.random.default_rng(4)
    x = rng.lognormal(size=999) * (1e299 if abs(offset) > 1e100 else 1.0) + offset
    scales = set()
    for _ in range(5):
        x = rng.permutation(x)
        scales.add(fit_scale(Column("x", x, np.ones(len(x), dtype=bool)), scaling))
    assert len(scales) == 1


def test_mean_and_deviation_are_the_exact_ones_rounded():
    x = np.random.default_rng(5).normal(loc=1e6, size=1000)
    scale = fit_scale(Column("x", x, np.ones(1000, dtype=bool)), "z-score")
    above = [(Fraction(one) - Fraction(scale.base)) / Fraction(scale.unit) for one in x.tolist()]
    # what is above the lowest is rounded, the sums of that are not
    near = [Fraction(one) for one in ((x - scale.base) / scale.unit).tolist()]
    mean = sum(near) / 1000
    assert scale.location == float(mean)
    assert scale.spread == math.sqrt(float(sum((one - mean) ** 2 for one in near) / 1000))
    assert abs(float(sum(above) / 1000) - scale.location) < 1e-15
