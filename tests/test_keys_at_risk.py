"""Risk by keys: individual and global risk, special uniques, and models of anonymity, by their definitions."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import shoal
import slow_measures as slow
from shoal.measures.anonymity import category_closeness, diversity, number_closeness
from shoal.measures.keys import number_keys
from shoal.measures.risk import benedetti_franconi, global_risk, individual_risk
from shoal.measures.sample_uniques import special_uniques

# keys: individual, global and attribute risk, special uniques


def test_global_risk_is_the_mean_of_one_over_the_frequency():
    rng = np.random.default_rng(11)
    rows = [tuple(f"v{v}" for v in row) for row in rng.integers(0, 4, size=(200, 3))]
    table = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    found = shoal.measure(table, table)
    counts = Counter(rows)
    assert found.global_risk == pytest.approx(100 * np.mean([1 / counts[row] for row in rows]))
    assert found.expected_reidentifications == pytest.approx(len(counts))
    assert found.highest_risk == pytest.approx(100 / min(counts.values()))
    for percent, count in found.records_at_risk.items():
        assert count == sum(100 / counts[row] >= int(percent) - 1e-9 for row in rows)
    assert found.k_anonymity == min(counts.values())
    assert found.sample_uniques == sum(count == 1 for count in counts.values())
    for j, name in enumerate("abc"):
        alone = len({row[j] for row in rows}) / 2
        without = len({row[:j] + row[j + 1 :] for row in rows}) / 2
        assert found.by_column[name]["risk_alone"] == pytest.approx(alone)
        assert found.by_column[name]["risk_added"] == pytest.approx(found.global_risk - without)


def test_global_risk_of_unprotected_adult_is_the_published_one(reference_data):
    """Table 5 of the thesis (seed 003): 1.31 % before microaggregation, occupation and native-country."""
    lines = (reference_data / "adult" / "adult.data").read_text().splitlines()
    cells = [line.split(", ") for line in lines if line and "?" not in line]
    adult = pl.DataFrame({"occupation": [row[6] for row in cells], "native-country": [row[13] for row in cells]})
    assert len(adult) == 30162
    keys = number_keys([adult[name].rank("dense").cast(pl.Float64).to_numpy() for name in adult.columns])
    assert round(global_risk(keys), 2) == 1.31


def test_a_missing_value_is_a_value_of_its_own():
    ages = pl.DataFrame({"age": [30, 30, None], "sex": ["f", "f", "f"]})
    assert shoal.measure(ages, ages).k_anonymity == 1
    texts = pl.DataFrame({"sex": ["f", "f", None, None, "m", "m"]})
    assert shoal.measure(texts, texts).k_anonymity == 2


def test_individual_risk_with_weights_is_the_benedetti_franconi_estimate():
    sizes = np.array([1, 1, 2, 3, 5, 12, 13, 40, 300, 1, 2, 7])
    p = np.array([0.001, 0.3, 0.01, 0.4, 0.05, 0.2, 0.0001, 0.7, 0.05, 0.999999, 0.75, 1.0])
    expected = p**sizes / sizes * special.hyp2f1(sizes, sizes, sizes + 1.0, 1 - p)
    finite = np.isfinite(expected)
    found = benedetti_franconi(sizes, p)
    assert finite.sum() >= 10
    assert found[finite] == pytest.approx(expected[finite], rel=1e-8)
    assert found[-1] == pytest.approx(1 / 7)
    # the integral that it stands for
    for f, chance, risk in zip(sizes, p, found, strict=True):
        s = np.linspace(0, 1, 400_001)
        integral = np.trapezoid(s ** (f - 1.0) / (chance + (1 - chance) * s), s)
        assert risk == pytest.approx(chance * integral, rel=2e-2 if chance < 0.001 else 1e-3)


def test_weights_are_used_for_the_global_risk():
    table = pl.DataFrame({"a": ["x", "x", "y", "z"], "w": [10.0, 30.0, 5.0, 1.0]})
    found = shoal.measure(table, table, "a", weight="w")
    keys = number_keys([np.array([0.0, 0.0, 1.0, 2.0])])
    risk = individual_risk(keys, np.array([10.0, 30.0, 5.0, 1.0]))
    assert risk[2] == 1.0
    assert risk[1] == pytest.approx(-0.2 * math.log(0.2) / 0.8)
    assert found.global_risk == pytest.approx(100 * (2 * risk[0] + risk[1] + risk[2]) / 4)
    assert shoal.measure(table, table, "a").global_risk == 75.0


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.lists(st.tuples(*[st.integers(0, 4)] * d), min_size=2, max_size=40).map(lambda rows: (d, rows))
    ),
    st.integers(1, 6),
)
def test_minimal_uniques_of_any_size_are_those_of_looking_at_every_set(table, largest):
    d, rows = table
    largest = min(largest, d)
    expected = slow.minimal_uniques(rows, largest)
    found = special_uniques([np.array([row[j] for row in rows]) for j in range(d)], largest)
    scores, shares = np.zeros(len(rows)), np.zeros(d)
    for record, columns in expected:
        score = math.factorial(d - len(columns)) / math.factorial(d - largest)
        scores[record] += score
        shares[list(columns)] += score
    assert found.scores == pytest.approx(scores)
    assert found.by_column == pytest.approx(shares)
    sizes = Counter(len(columns) for _, columns in expected)
    assert found.by_size.tolist() == [sizes[s] for s in range(1, largest + 1)]


def test_uniques_of_more_than_three_columns_are_found_where_they_are_asked_for():
    parity = list(itertools.product((0, 1), repeat=4))  # any three columns leave two records alike
    table = pl.DataFrame([tuple(f"v{v}" for v in row) for row in parity], schema=list("abcd"), orient="row")
    assert shoal.measure(table, table).special_uniques == 0
    found = shoal.measure(table, table, unique_columns=4)
    assert (found.special_uniques, found.unique_columns, found.highest_special) == (16, 4, 1.0)
    assert found.minimal_uniques == {"1": 0, "2": 0, "3": 0, "4": 16}
    with pytest.raises(shoal.PlanError, match="unique_columns"):
        shoal.measure(table, table, unique_columns=0)


def test_a_size_of_uniques_that_would_cost_too_much_is_left_out_whole():
    rng = np.random.default_rng(12)
    codes = [np.minimum(rng.geometric(0.3, size=60), 9) for _ in range(5)]
    every = special_uniques(codes, 5)
    cheap = special_uniques(codes, 5, work=10_000)
    assert 1 <= cheap.size < 5
    assert cheap.by_size.tolist() == every.by_size[: cheap.size].tolist()
    assert cheap.scores == pytest.approx(special_uniques(codes, cheap.size).scores)
    assert special_uniques(codes, 5, work=1).size == 1


# models of anonymity


@pytest.mark.parametrize("seed", range(4))
def test_diversity_and_closeness_follow_their_definitions(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 8, size=120)
    values = rng.choice(6, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05], size=120)
    numbered = number_keys([keys.astype(float)])
    found = diversity(numbered, values)
    expected = slow.diversity(keys.tolist(), values.tolist())
    assert (found.distinct, found.entropy, found.recursive_c, found.alpha) == pytest.approx(expected)
    assert category_closeness(numbered, values) == pytest.approx(slow.closeness(keys.tolist(), values.tolist(), False))
    numbers = np.round(rng.normal(size=120), 1)
    ordered = slow.closeness(keys.tolist(), numbers.tolist(), True)
    assert number_closeness(numbered, numbers, np.ones(120, dtype=bool)) == pytest.approx(ordered)


def test_the_models_of_a_table_are_the_weakest_over_its_confidential_columns():
    table = pl.DataFrame(
        {
            "age": [20, 20, 20, 40, 40, 40],
            "illness": ["flu", "flu", "cold", "flu", "cold", "cough"],
            "income": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    found = shoal.measure(table, table, "age", confidential=["illness", "income"])
    assert (found.l_diversity, found.alpha) == (2, pytest.approx(2 / 3))
    assert found.by_confidential["illness"]["recursive_c"] == 2.0
    ages, incomes = table["age"].to_list(), table["income"].to_list()
    assert found.t_closeness == pytest.approx(slow.closeness(ages, incomes, True))
    assert found.by_confidential["income"]["distinct_l"] == 3


def test_delta_presence_is_the_share_of_each_key_that_is_released():
    population = pl.DataFrame({"age": [20] * 4 + [30] * 5 + [40], "sex": ["f"] * 10})
    released = pl.DataFrame({"age": [20, 20, 20, 30], "sex": ["f"] * 4})
    found = shoal.measure(released, released, population=population)
    assert found.delta_presence == [0.0, 0.75]
    assert shoal.measure(released, released).delta_presence is None
