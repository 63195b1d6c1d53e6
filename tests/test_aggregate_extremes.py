"""Aggregators at the ends of what a type holds: the result lies in the group and is what exact arithmetic gives."""

from fractions import Fraction
from statistics import median

import numpy as np
import polars as pl
import pytest

import shoal

EXTREMES = {
    pl.Int64: [
        [0, 2**62 - 1, 2**62 - 1],
        [0, 2**63 - 1, 2**63 - 1],
        [-(2**62), 2**62 - 2, 2**62 - 1, 2**62 - 1],
        [1, 2**60, 2**60 + 1],
        [2**63 - 3, 2**63 - 2, 2**63 - 1],
    ],
    pl.UInt64: [[2**63, 2**64 - 1, 2**64 - 1], [2**64 - 3, 2**64 - 2, 2**64 - 1]],
    pl.Float64: [
        [0.0, 1.7e308, 1.7e308],
        [-8e307, 8e307, 9e307],
        [1e305, 2e305, 3e305],
        [1e-300, 1e-300, 1e300],
        [5e-324, 1e-323, 1.5e-323],
    ],
    pl.Float32: [[1e38, 2e38, 3e38], [1e-45, 1e-40, 1e-38]],
}
WEIGHTS = {
    "none": None,
    "four": [1e4, 1e4, 1e4, 2e4],
    "huge": [1e300, 1e300, 1e300, 2e300],
    "tiny": [1e-310] * 3 + [2e-310],
}


def trimmed(values):
    drop = -(-len(values) // 10)
    kept = sorted(values)[drop : len(values) - drop]
    return sum(kept) / len(kept)


def most_frequent(values):
    middle = sum(values) / len(values)
    return min(values, key=lambda value: (-values.count(value), abs(value - middle), value))


EXPECTED = {
    "mean": lambda values: sum(values) / len(values),
    "median": median,
    "mode": most_frequent,
    "trimmed-mean": trimmed,
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("dtype", "values"), [(dtype, case) for dtype, cases in EXTREMES.items() for case in cases])
@pytest.mark.parametrize("aggregator", EXPECTED)
def test_representatives_of_extreme_values_are_exact(aggregator, dtype, values, weights):
    # a second group, so that weights are not all equal and left out of account
    column = pl.Series("x", [*values, *values[:3]], dtype=dtype)
    given = WEIGHTS[weights]
    table = pl.DataFrame({"x": column, "side": ["a"] * len(values) + ["b"] * 3})
    if given:
        table = table.with_columns(w=pl.Series([given[0]] * len(values) + [given[3]] * 3))
    release = shoal.protect(
        table,
        k=3,
        quasi_identifiers="x",
        strata="side",
        method="mdav",
        aggregators=aggregator,
        weight="w" if given else None,
    )
    first = [Fraction(value) for value in column.to_list()[: len(values)]]
    exact = EXPECTED[aggregator](first)
    found = release.data["x"][: len(values)].to_list()
    assert len(set(found)) == 1
    assert min(first) <= Fraction(found[0]) <= max(first)
    if dtype.is_integer():
        assert found[0] == round(exact)
    else:
        slack = Fraction(1, 10**6 if dtype is pl.Float32 else 10**12) * abs(exact) + Fraction(5e-324)
        assert abs(Fraction(found[0]) - exact) <= slack


@pytest.mark.parametrize("method", ["mdav", "optimal", "semantic-optimal"])
def test_weights_of_any_size_give_what_their_proportions_give(method):
    rng = np.random.default_rng(5)
    weights = rng.uniform(1.0, 5.0, 30)
    table = pl.DataFrame({"x": 1e10 * rng.normal(size=30), "y": rng.normal(size=30)})

    def released(scale):
        weighted = table.with_columns(w=pl.Series(weights * scale))
        return shoal.protect(weighted, k=3, quasi_identifiers=["x", "y"], weight="w", method=method).data.drop("w")

    assert released(2.0**1000).equals(released(1.0))
    assert released(2.0**-1000).equals(released(1.0))


def test_weights_beside_which_others_vanish_are_refused_by_name():
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0], "w": [1e-200, 1.0, 1e200]})
    with pytest.raises(shoal.DataError, match="weight 'w' is more than 1e200 times as large"):
        shoal.protect(table, k=3, quasi_identifiers="x", weight="w")


def test_a_geometric_mean_of_ratios_that_no_float_holds_is_the_geometric_mean():
    table = pl.DataFrame({"x": [1e-300, 1.0, 1e300]})
    release = shoal.protect(table, k=3, quasi_identifiers="x", method="mdav", aggregators="geometric-mean")
    assert release.data["x"].to_list() == pytest.approx([1.0] * 3, rel=1e-10)


# columns at the ends of what floats hold, some with gaps; a warning of NumPy would be an error here
COLUMNS = {
    "squares overflow": [None if i % 4 == 0 else 2e154 * (i % 3 - 1) for i in range(24)],
    "half of all floats": [-8e307 if i % 3 == 0 else 8e307 for i in range(24)],
    "the least floats": [5e-324 * (i % 5) for i in range(24)],
    "below normal": [None if i % 5 == 0 else 1e-310 * (i % 7) for i in range(24)],
    "every size": [10.0 ** (25 * i - 300) for i in range(24)],
}
SETTINGS = {
    "mdav": {},
    "optimal": {"method": "optimal", "options": {"steps": 300}},
    "refine": {"refine": True},
    "mixed": {"method": "sa-mdav"},
    "fuzzy": {"method": "fuzzy-c-means"},
    "by column": {"method": "individual-ranking"},
    "rules": {"rules": ["x >= y"]},
    "weights": {"weight": "w"},
    "strata": {"strata": "s"},
    "blocks": {"blocking": {"method": "spread-tree", "size": 8}},
    "unscaled": {"scaling": "none"},
    "range": {"scaling": "range"},
    "dominance": {"dominance": {"n": 1, "share": 100, "action": "grow"}},
    "gaps ignored": {"missing_patterns": "ignored"},
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_extreme_values_are_released_told_and_measured(name, settings):
    x = pl.Series(COLUMNS[name], dtype=pl.Float64)
    n = len(x)
    table = pl.DataFrame(
        {"x": x, "y": -x.abs().fill_null(1.0), "w": [1.0 + i % 3 for i in range(n)], "s": ["a", "b"] * (n // 2)}
    )
    release = shoal.protect(table, 3, ["x", "y"], **{"method": "mdav", **SETTINGS[settings]})
    assert 0.0 <= release.summary.information_loss <= 100.0 + 1e-9
    assert 0.0 <= release.measure().dbrl <= 100.0
    keys = release.data.select("x", "y").to_dicts()
    if settings not in ("by column", "gaps ignored"):
        assert min(keys.count(key) for key in keys) >= 3
