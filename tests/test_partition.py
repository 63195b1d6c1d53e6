"""Every method against its slow, obvious version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from shoal.encode import Records
from shoal.partition import METHODS
from shoal.partition.method import new_watch

SLOW = {
    "mdav": reference.mdav,
    "mdav-single": reference.mdav_single,
    "v-mdav": reference.v_mdav,
    "iv-mdav": reference.iv_mdav,
    "ldf": lambda x, k: reference.density_first(x, k, 1.0),
    "hdf": lambda x, k: reference.density_first(x, k, -1.0),
    "dbfs": reference.dbfs,
    "tfrp": reference.tfrp,
}
VARIANTS = [
    *[(name, {}) for name in SLOW],
    ("v-mdav", {"gamma": 1.1}),
    ("iv-mdav", {"gamma": 0.9, "cap": True}),
    ("iv-mdav", {"gamma": 0.9, "candidates": 3}),
    ("iv-mdav", {"gamma": 0.9, "outlier": 1.2}),
    ("tfrp", {"dissolve": False}),
]


def records_of(x):
    """Records from an array with NaN where missing."""
    seen = ~np.isnan(x)
    return Records(np.nan_to_num(x), None if seen.all() else seen)


def partition(name, x, k, **options):
    return METHODS[name].function(records_of(x), k, new_watch(), **options)


def draw(kind, n, d, seed):
    """Random records: continuous, on a coarse grid so that ties abound, in clusters, or with missing values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    if kind == "grid":
        x = rng.integers(0, 3, size=(n, d)).astype(float)
    if kind == "clusters":
        x += 6.0 * rng.integers(0, 4, size=(n, 1))
    if kind == "missing":
        x[rng.random((n, d)) < 0.25] = np.nan
    return x


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("kind", ["normal", "grid", "clusters", "missing"])
@pytest.mark.parametrize(("n", "k"), [(37, 3), (60, 5), (41, 2)])
def test_groups_are_those_of_the_slow_version(name, options, kind, n, k):
    x = draw(kind, n, 3, seed=n * k)
    expected = SLOW[name](x, k, **options)
    found = partition(name, x, k, **options)
    assert same_groups(found, expected)


def same_groups(a, b):
    """Whether two labellings are the same partition."""
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())) == len(set(b.tolist()))


@given(seed=st.integers(0, 10_000), n=st.integers(2, 14), k=st.integers(2, 4), tied=st.booleans())
def test_univariate_is_optimal_among_all_cuts(seed, n, k, tied):
    n = max(n, k)
    x = draw("grid" if tied else "normal", n, 1, seed)
    labels = partition("univariate", x, k)
    assert np.bincount(labels).min() >= k
    assert reference.sse(x, labels) == pytest.approx(reference.best_cut(x, np.argsort(x[:, 0]), k), abs=1e-12)


@given(seed=st.integers(0, 10_000), by=st.sampled_from(["pca", "sum"]))
def test_univariate_on_a_projection_is_optimal_along_its_order(seed, by):
    x = draw("normal", 12, 3, seed)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    axis = np.linalg.svd(x)[2][0] if by == "pca" else np.ones(3)
    labels = partition("univariate", x, 3, by=by)
    assert reference.sse(x, labels) == pytest.approx(reference.best_cut(x, np.argsort(x @ axis), 3))


def test_individual_ranking_makes_runs_of_sorted_values():
    x = np.array([[5.0], [1.0], [4.0], [2.0], [3.0], [9.0], [7.0]])
    assert same_groups(partition("individual-ranking", x, 3), np.array([1, 0, 1, 0, 0, 1, 1]))


def test_missing_values_of_a_single_column_join_the_last_group():
    x = np.array([[5.0], [np.nan], [4.0], [1.0], [2.0]])
    for name in ("individual-ranking", "univariate"):
        assert same_groups(partition(name, x, 2), np.array([1, 1, 1, 0, 0]))


def test_a_stopped_method_returns_early():
    x = draw("normal", 200, 2, 1)
    for name in SLOW:
        watch = new_watch()
        watch[1] = 1
        METHODS[name].function(records_of(x), 3, watch)
        assert watch[0] == 0, name


def test_progress_counts_the_records_that_have_a_group():
    x = draw("normal", 90, 2, 1)
    for name in SLOW:
        watch = new_watch()
        METHODS[name].function(records_of(x), 3, watch)
        assert 60 < watch[0] <= 90, name
