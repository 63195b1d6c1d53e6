"""Every method x every awkward input: at least k, every row once, the same result twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from small_tables import normal, table_of

METHODS = sorted(name for name, method in shoal.METHODS.items() if not method.needs)  # others: test_condition_methods
K = 3
FEW = {"optimal": {"steps": 4000}, "semantic-optimal": {"steps": 4000}}  # promises do not wait for the best groups


def ties():
    return np.random.default_rng(1).integers(0, 3, size=(40, 3)).astype(float)


def duplicates():
    return np.repeat(normal(8), 5, axis=0)


def missing():
    x = normal(50, 4)
    x[np.random.default_rng(2).random(x.shape) < 0.3] = np.nan
    return x


def nothing_observed():
    x = normal(20, 2)
    x[::3] = np.nan
    return x


AWKWARD = {
    "ties": ties(),
    "all rows equal": np.ones((20, 3)),
    "duplicates": duplicates(),
    "n = k": normal(K),
    "n = k + 1": normal(K + 1),
    "n = 2k - 1": normal(2 * K - 1),
    "n = 2k": normal(2 * K),
    "n = 3k - 1": normal(3 * K - 1),
    "n = 3k": normal(3 * K),
    "n = 3k + 1": normal(3 * K + 1),
    "one column": normal(31, 1),
    "one constant column": np.column_stack([normal(31, 2), np.zeros(31)]),
    "40 columns": normal(50, 40),
    "missing": missing(),
    "records without any value": nothing_observed(),
    "huge offset": normal() + 1e9,
    "tiny scale": normal() * 1e-300,
    "huge scale": normal() * 1e300,
    "one far outlier": np.vstack([normal(29), [[1e12, 1e12, 1e12]]]),
    "heavy tail": np.exp(4 * normal(60)),
}


def protect(values, k, method, **asked):
    """Protect all columns of a matrix; a search has a small budget."""
    return shoal.protect(table_of(values), k, table_of(values).columns, method=method, options=FEW.get(method), **asked)


def check_promises(x, k, method, release):
    """Check a release against the original, from the outside."""
    groups = release.groups if release.groups.ndim == 2 else release.groups[:, None]
    data = release.data.to_numpy()
    sets = [s.columns for s in release.summary.sets]
    assert data.shape == x.shape
    assert groups.shape == (len(x), len(sets))
    for column, names in zip(groups.T, sets, strict=True):
        sizes = np.bincount(column)
        assert sizes.min() >= k
        assert sizes.sum() == len(x)
        key = np.nan_to_num(data[:, [int(name[1:]) for name in names]], nan=np.inf)
        assert np.unique(key, axis=0, return_counts=True)[1].min() >= k
        for name in names:
            j = int(name[1:])
            for g in range(len(sizes)):
                before, after = x[column == g, j], data[column == g, j]
                if not np.isnan(after).all():  # a value for all of them, or none
                    assert len(set(after)) == 1
                    assert before.min() <= after[0] <= before.max()
    lost = np.isnan(data).sum() - np.isnan(x).sum()
    assert release.summary.suppressed_cells == lost


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("method", METHODS)
def test_promises_hold(method, case):
    x = AWKWARD[case]
    check_promises(x, K, method, protect(x, K, method))


@pytest.mark.parametrize("case", ["ties", "duplicates", "missing"])  # where the order of the work could show
@pytest.mark.parametrize("method", METHODS)
def test_the_same_table_twice_gives_the_same_release(method, case):
    release, again = (protect(AWKWARD[case], K, method) for _ in range(2))
    assert np.array_equal(release.groups, again.groups)
    assert release.data.equals(again.data)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)  # of each of some thirty methods
@given(data=st.data())
def test_promises_hold_for_any_table(method, data):
    n = data.draw(st.integers(2, 40), label="n")
    d = data.draw(st.integers(1, 4), label="d")
    k = data.draw(st.integers(2, n), label="k")
    cell = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32), st.just(np.nan))
    x = np.array(data.draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)))
    release = protect(x, k, method)
    check_promises(x, k, method, release)


@pytest.mark.parametrize("method", METHODS)
def test_an_offset_changes_nothing(method):
    whole = np.random.default_rng(5).integers(0, 1000, size=(60, 3))
    plain = protect(whole, K, method)
    moved = protect(whole + 10**9, K, method)
    as_float = protect(whole.astype(float) + 1e9, K, method)
    assert np.array_equal(plain.groups, moved.groups)
    assert np.array_equal(plain.groups, as_float.groups)
    assert np.array_equal(plain.data.to_numpy() + 10**9, moved.data.to_numpy())
    assert as_float.summary.sse == pytest.approx(protect(whole.astype(float), K, method).summary.sse, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_power_of_two_as_unit_changes_nothing(method):
    x = normal(60)
    plain = protect(x, K, method)
    scaled = protect(x * 2.0**-900, K, method)
    assert np.array_equal(plain.groups, scaled.groups)
    assert plain.summary.sse == scaled.summary.sse


@pytest.mark.parametrize("method", METHODS)
def test_median_is_respected(method):
    x = np.exp(normal(45, 2))
    release = protect(x, K, method, aggregators="median")
    groups = release.groups if release.groups.ndim == 2 else np.column_stack([release.groups] * 2)
    for j in (0, 1):
        for g in np.unique(groups[:, j]):
            members = groups[:, j] == g
            assert release.data[f"v{j}"].to_numpy()[members][0] == pytest.approx(np.median(x[members, j]))
