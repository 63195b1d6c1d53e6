"""Fuzzy c-means: against a slow version, its fixed point, and the linear constraints of its centres."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.columns.scaling import Records
from shoal.kernels.watch import new_watch
from shoal.partition.fuzzy_c_means import fuzzy_c_means, fuzzy_centres


def slow_centres(x, centres, m, steps):
    """Bezdek's two steps, written with full matrices."""
    for _ in range(steps):
        squared = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (squared[:, :, None] / squared[:, None, :]) ** (1 / (m - 1))
        u = 1 / ratio.sum(axis=2)
        at = squared == 0
        u[at.any(axis=1)] = at[at.any(axis=1)] / at[at.any(axis=1)].sum(axis=1, keepdims=True)
        weight = u**m
        centres = weight.T @ x / weight.sum(axis=0)[:, None]
    return centres


@pytest.mark.parametrize("m", [1.2, 1.5, 2.0])
def test_centres_are_those_of_a_slow_version(m):
    draw = np.random.default_rng(0)
    x = np.concatenate([draw.normal(size=(20, 3)) + 4 * i for i in range(3)])
    start = x[[0, 25, 50]]
    found = fuzzy_centres(x, start, m)
    assert found == pytest.approx(slow_centres(x, start, m, 200), abs=0.02)
    assert found == pytest.approx(slow_centres(x, found, m, 1), abs=0.005)


@given(st.integers(0, 10**6), st.floats(1.05, 3.0), st.integers(2, 6))
def test_centres_keep_linear_constraints(seed, m, c):
    draw = np.random.default_rng(seed)
    parts = draw.normal(size=(40, 2)) * 10
    x = np.column_stack([parts, 1 + parts[:, 0] + 0.5 * parts[:, 1], parts[:, 0] - np.abs(draw.normal(size=40))])
    centres = fuzzy_centres(x, x[:c], m)
    assert centres[:, 2] == pytest.approx(1 + centres[:, 0] + 0.5 * centres[:, 1])
    assert (centres[:, 3] <= centres[:, 0] + 1e-9).all()


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(2, 20), st.floats(1.01, 5.0))
def test_groups_have_k_to_2k_minus_1(seed, k, clusters, m):
    draw = np.random.default_rng(seed)
    x = draw.integers(0, draw.integers(1, 20), size=(int(draw.integers(k, 120)), 3)).astype(float)
    labels = fuzzy_c_means(Records(x), k, new_watch(), fuzziness=m, clusters=clusters)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert sizes.sum() == len(x)


def test_clusters_that_are_there_are_found():
    draw = np.random.default_rng(1)
    truth = np.repeat(np.arange(10), 6)
    x = draw.normal(size=(60, 2)) * 0.01 + 10 * draw.permutation(10)[truth][:, None]
    table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    found = shoal.protect(table, 6, ["a", "b"], method="fuzzy-c-means").groups
    assert found.tolist() == truth.tolist()
    crisp = shoal.protect(table, 6, ["a", "b"], method="fuzzy-c-means", options={"fuzziness": 1.01}).groups
    assert crisp.tolist() == truth.tolist()


def test_a_fuzziness_of_one_is_refused():
    with pytest.raises(shoal.PlanError, match="'fuzziness' must be at least 1"):
        shoal.protect(pl.DataFrame({"a": [1, 2]}), 2, ["a"], method="fuzzy-c-means", options={"fuzziness": 1.0})
