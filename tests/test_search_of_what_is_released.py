"""Medians, weights and missing cells: by default no fast method, refined or not, releases what loses less."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.kernels.pool import open_pool
from shoal.partition.optimal import dense_first as dense
from shoal.partition.optimal.dense_first import dense_first, equal_groups
from shoal.partition.optimal.improve import find_neighbours
from shoal.partition.optimal.large_table import lay_out, look_ahead
from shoal.partition.optimal.problem import Problem

COLUMNS = ["a", "b", "c", "d"]


def _table(released: str, n: int) -> tuple[pl.DataFrame, dict]:
    rng = np.random.default_rng([n, 7])
    values = rng.normal(size=(n, len(COLUMNS)))
    if "missing" in released:
        values[rng.random(values.shape) < 0.05] = np.nan
    table = pl.DataFrame(values, schema=COLUMNS).fill_nan(None)
    if "weights" in released:
        return table.with_columns(w=pl.Series(rng.lognormal(size=n))), {"weight": "w"}
    return table, {"aggregators": "median"} if "medians" in released else {}


@pytest.mark.parametrize("released", ["medians", "weights", "missing", "medians, missing"])
@pytest.mark.parametrize(("n", "k"), [(700, 60), (2000, 4), (6500, 3)])
def test_by_default_what_is_released_loses_less_than_that_of_fast_methods(released, n, k):
    table, options = _table(released, n)

    def loss(method: str, refine: bool) -> float:
        release = shoal.protect(table, k=k, quasi_identifiers=COLUMNS, method=method, refine=refine, **options)
        return release.summary.information_loss

    found = shoal.protect(table, k=k, quasi_identifiers=COLUMNS, **options).summary.information_loss
    for method in ("mdav", "hdf", "mst", "k-ward"):
        assert found < loss(method, refine=False), method
        assert found < loss(method, refine=True), method


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_equal_records_are_taken_at_once_and_not_in_a_round_for_each_group(share, monkeypatch):
    rng = np.random.default_rng(0)
    x = np.where(rng.random((4000, 2)) < share, 0.0, rng.lognormal(size=(4000, 2)).round(2))
    problem = Problem(x, None, np.zeros(len(x), dtype=np.int64), None, 3)
    table = lay_out(problem, look_ahead(problem)._replace(order=np.arange(len(x))), 1)
    rounds = []
    near = dense._neighbours
    monkeypatch.setattr(dense, "_neighbours", lambda *task: rounds.append(1) or near(*task))
    sizes = np.bincount(dense_first(table.values, table.neighbours, 3, 2.25))
    assert sizes.min() >= 3
    assert sizes.max() <= 5
    assert len(rounds) <= 12


@pytest.mark.parametrize("k", [2, 3, 7])
def test_groups_of_equal_records_have_k_of_a_kind_and_leave_fewer(k):
    x = np.random.default_rng(k).integers(0, 4, size=(200, 2)).astype(float)
    groups = equal_groups(x, k)
    for kind in np.unique(x, axis=0):
        own = groups[(x == kind).all(axis=1)]
        assert (own < 0).sum() == len(own) % k
        assert (np.unique(own[own >= 0], return_counts=True)[1] == k).all()
    assert sorted(set(groups[groups >= 0])) == list(range(groups.max() + 1))


@pytest.mark.parametrize("slack", [1.0, 2.25, 9.0])
@pytest.mark.parametrize("n", [300, 6000])  # on both sides of the size from which there is an index
def test_neighbours_that_are_nearly_the_nearest_miss_none_that_is_nearer_by_the_slack(n, slack):
    x = np.random.default_rng(3).normal(size=(n, 6))
    x[: n // 10] = x[0]
    near, scales = np.empty((n, 8), dtype=np.int32), np.empty(n)
    find_neighbours(open_pool(x), 0, n, near, scales, 8, np.float32(slack))
    for row in range(0, n, 37):
        distances = ((x - x[row]) ** 2).sum(axis=1)
        found = distances[near[row]]
        assert row not in near[row]
        assert len(set(near[row])) == 8
        assert (np.diff(found) >= 0.0).all()
        others = np.delete(distances, [row, *near[row]])
        assert others.min() * slack >= found[-1] * (1.0 - 1e-12)
        assert scales[row] == found[-1]
