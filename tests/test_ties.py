"""Ties: the lowest row comes first, through ``protect`` and in methods that search by bounds; and what ties cost."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import shoal
from shoal.columns.numbers import Column
from shoal.columns.scaling import Records, encode, fit_scale
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS


def relabelled(groups):
    """Groups numbered by first appearance."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tolist()


def protected(x, k, method, **options):
    table = pl.DataFrame({f"c{j}": x[:, j] for j in range(x.shape[1])})
    release = shoal.protect(
        table, k=k, quasi_identifiers=table.columns, method=method, scaling="none", options=options or None
    )
    return relabelled(release.groups)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_the_lowest_of_rows_that_tie_comes_first(kind):
    x = np.array([[5, 5], [4, 5], [4, 2], [3, 4], [4, 0], [2, 0], [1, 2]])
    found = protected(x.astype(kind), 2, "tfrp", dissolve=False)
    assert found == relabelled(reference.tfrp(x.astype(float), 2, dissolve=False))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=24),
    st.sampled_from([0, 3, 10**9, -(2**52)]),
)
def test_groups_of_whole_numbers_are_those_of_exact_distances(rows, offset):
    x = np.array(rows)
    if (x == x[0]).all(axis=0).any():  # a column without spread is left out
        return
    expected = relabelled(reference.tfrp(x.astype(float), 2, dissolve=False))
    assert protected(x + offset, 2, "tfrp", dissolve=False) == expected
    assert protected((x + offset).astype(float), 2, "tfrp", dissolve=False) == expected


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=20))
def test_differences_without_scaling_are_those_of_the_values(values):
    x = np.array(values)
    compared = fit_scale(Column("x", x, np.ones(len(x), dtype=bool)), "none").compare(x)
    assert np.array_equal(compared[:, None] - compared, x[:, None] - x)


def test_an_offset_costs_no_digits_without_scaling():
    x = np.random.default_rng(0).normal(size=50).round(6) + 1e9
    column = Column("x", x, np.ones(50, dtype=bool))
    encoded = encode([column], [fit_scale(column, "none")], centred=False).values[:, 0]
    assert np.abs(encoded).max() < 10.0
    assert np.array_equal(encoded[:, None] - encoded, x[:, None] - x)


def test_a_missing_value_stands_at_the_mean_of_its_column():
    observed = np.array([True, True, True, False])
    column = Column("x", np.array([3.0, 4.0, 8.0, 0.0]), observed)
    records = encode([column], [fit_scale(column, "none")], centred=False)
    assert records.values[3, 0] - records.values[0, 0] == 2.0


SLOW = {
    "ldf": lambda x, k: reference.density_first(x, k, 1.0),
    "hdf": lambda x, k: reference.density_first(x, k, -1.0),
    "dbfs": reference.dbfs,
}


@pytest.mark.parametrize("method", SLOW)
def test_methods_that_search_by_bounds_decide_ties_as_the_slow_versions_do(method):
    @settings(max_examples=60)
    @given(
        seed=st.integers(0, 10**9),
        n=st.integers(8, 70),
        d=st.integers(1, 3),
        k=st.integers(2, 4),
        values=st.integers(2, 12),
        kind=st.sampled_from(["whole", "sevenths", "powers", "mostly zero"]),
    )
    def same(seed, n, d, k, values, kind):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, values, size=(n, d)).astype(float)
        if kind == "sevenths":
            x /= 7.0
        elif kind == "powers":
            x = 2.0 ** (20.0 * x)
        elif kind == "mostly zero":
            x[rng.random(n) < 0.7] = 0.0
        found = METHODS[method].function(Records(x), k, new_watch())
        assert np.array_equal(found, SLOW[method](x, k))

    same()
