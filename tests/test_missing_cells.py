"""Missing cells in distances: at the distance that is to be expected, in every method, through every index."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.columns.numbers import Column
from shoal.columns.scaling import SCALINGS, encode_points, fit_scale

CELL = st.one_of(st.none(), st.integers(-5, 5).map(float))


def columns_of(rows):
    """Columns from rows with None where missing."""
    found = []
    for j, values in enumerate(zip(*rows, strict=True)):
        there = np.array([value is not None for value in values])
        found.append(Column(f"c{j}", np.array([value or 0.0 for value in values]), there))
    return found


def expected_distance(a, b, means, variances):
    """Squared distance of two rows of scaled values, from the rule in docs/missing-values.md."""
    total = 0.0
    for x, y, mean, variance in zip(a, b, means, variances, strict=True):
        if x is not None and y is not None:
            total += (x - y) ** 2
        elif x is not None or y is not None:
            total += ((y if x is None else x) - mean) ** 2 + variance
    return total


@pytest.mark.parametrize("scaling", [name for name in SCALINGS if name != "robust"])
@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=2, max_size=12))
def test_points_are_as_far_apart_as_the_rule_says(scaling, rows):
    columns = columns_of(rows)
    points = encode_points(columns, [fit_scale(column, scaling) for column in columns]).values
    scaled, means, variances = [], [], []
    for column in columns:
        seen = column.values[column.observed]
        varies = len(seen) > 0 and seen.min() < seen.max()
        mean = seen.mean() if len(seen) else 0.0
        unit = (
            {"z-score": seen.std, "range": lambda s=seen: s.max() - s.min(), "none": lambda: 1.0}[scaling]()
            if varies
            else 1.0
        )
        pairs = zip(column.values, column.observed, strict=True)
        scaled.append([(value / unit if varies else 0.0) if there else None for value, there in pairs])
        means.append(mean / unit if varies else 0.0)
        variances.append(seen.var() / unit**2 if varies else (1.0 if not len(seen) else 0.0))
    table = list(zip(*scaled, strict=True))
    for i in range(len(rows)):
        for j in range(len(rows)):
            found = float(((points[i] - points[j]) ** 2).sum())
            assert found == pytest.approx(expected_distance(table[i], table[j], means, variances), abs=1e-9)


def gaps(n, d, share, seed):
    rng = np.random.default_rng(seed)
    x = np.exp(rng.normal(size=(n, d)))
    x[rng.random(x.shape) < share] = np.nan
    return pl.DataFrame({f"v{j}": pl.Series(x[:, j]).fill_nan(None) for j in range(d)})


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "ldf", "tfrp"])
def test_the_index_gives_the_groups_of_looking_at_every_record_also_with_missing_cells(method, monkeypatch):
    table = gaps(900, 3, 0.1, 1)
    names = table.columns
    found = []
    for indexed in (False, True):
        monkeypatch.setattr("shoal.kernels.pool.worth_indexing", lambda n, on=indexed: on)
        found.append(shoal.protect(table, 4, names, method=method).groups)
    assert np.array_equal(*found)


def test_a_record_of_which_little_is_known_is_not_everybodys_neighbour():
    """Five outliers and five records without an income: the gaps stay together, and the outliers keep their values."""
    rng = np.random.default_rng(3)
    age = np.concatenate([rng.normal(40, 5, 90), np.full(10, 80.0)])
    income = [*rng.normal(30, 4, 90).tolist(), *([500.0] * 5), *([None] * 5)]
    release = shoal.protect(pl.DataFrame({"age": age, "income": income}), 5, ["age", "income"], method="mdav")
    assert release.summary.suppressed_cells == 0
    assert release.data["income"][90:95].to_list() == [500.0] * 5


def test_few_gaps_cost_about_what_they_are():
    """With 5 % of the cells missing the loss stays near that of the complete table."""
    complete, holes = gaps(1000, 4, 0.0, 5), gaps(1000, 4, 0.05, 5)
    losses = [shoal.protect(t, 3, t.columns, method="mdav").summary.information_loss for t in (complete, holes)]
    assert losses[1] < 2.0 * losses[0]
    assert not math.isnan(losses[1])


def test_a_sweep_with_missing_cells_sees_the_risk_of_the_complete_records():
    table = gaps(600, 4, 0.0, 7)
    some = pl.int_range(0, 600) % 40 == 0
    holes = table.with_columns([pl.when(some).then(None).otherwise(pl.col(n)).alias(n) for n in table.columns[1:]])
    found = [shoal.sweep(t, k=3, methods="mdav", quasi_identifiers=t.columns).results[0].dbrl for t in (table, holes)]
    assert found[1] > 0.9 * found[0]
