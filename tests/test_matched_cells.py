"""Groups anew by matched strata, and repair of many records: one record of each stratum, at little loss."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import shoal
from given_away_by_definition import by_group, ordered_distance
from shoal.partition.conditions.matched_cells import cells_of, matched_cells
from shoal.partition.conditions.strata_first import strata_first, strata_starts


@given(seed=st.integers(0, 10_000), n=st.integers(4, 90), size=st.integers(2, 9), tied=st.booleans())
def test_every_group_has_a_record_of_each_stratum(seed, n, size, tied):
    rng = np.random.default_rng(seed)
    size = min(size, n // 2)
    x = rng.integers(0, 3, (n, 2)).astype(float) if tied else rng.normal(size=(n, 2))
    ranks = rng.permutation(n).astype(float)
    groups = matched_cells(x, ranks, size)
    raised = size + (n % size) // (n // size)
    starts = strata_starts(n, raised)
    stratum = np.searchsorted(starts, ranks, side="right") - 1
    assert sorted(set(groups.tolist())) == list(range(n // raised))
    for g in range(groups.max() + 1):
        inside = np.bincount(stratum[groups == g], minlength=raised)
        assert inside.min() == 1
        assert np.delete(inside, raised // 2).max(initial=1) == 1
        assert inside[raised // 2] <= 2


def test_in_one_column_quantiles_are_matched_and_nothing_loses_less():
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(size=40), rng.normal(3, 1, 40)])[:, None]
    groups = matched_cells(x, np.arange(80.0), 2)
    low, high = np.argsort(x[:40, 0]), 40 + np.argsort(x[40:, 0])
    assert all(groups[a] == groups[b] for a, b in zip(low, high, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_where_strata_lie_apart_it_loses_less_than_the_nearest_of_each(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2000, 2))
    ranks = np.argsort(np.argsort(x[:, 0] + 0.3 * rng.normal(size=2000)))
    near = strata_first(x, None, x.mean(axis=0), ranks, 5)
    assert reference.sse(x, matched_cells(x, ranks.astype(float), 5)) < reference.sse(x, near)


def test_cells_hold_at_most_so_many_records_that_are_near():
    x = np.random.default_rng(5).normal(size=(1000, 2))
    cells = cells_of(x, 64)
    assert np.bincount(cells).max() <= 64
    assert reference.sse(x, cells) < 0.15 * ((x - x.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("along", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("t", [0.05, 0.12, 0.25])
@pytest.mark.parametrize("n", [600, 6000])  # below and above what is repaired in every way
def test_groups_of_few_and_many_records_keep_t(n, t, along):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 2))
    pay = np.round(15 * (along * x[:, 0] + np.sqrt(1 - along**2) * rng.normal(size=n)))
    table = pl.DataFrame({"x": x[:, 0], "y": x[:, 1], "pay": pay})
    release = shoal.protect(table, 4, ["x", "y"], method="mdav", conditions={"pay": {"t": t}})
    values = pay.tolist()
    some = by_group(values, release.groups)
    assert min(map(len, some)) >= 4
    for group in some[:: len(some) // 2]:  # all are checked by the release itself, with other code
        assert ordered_distance(group, values) <= t + 1e-8
    assert release.summary.conditions[0].reached["t"] <= t + 1e-8
    assert release.summary.information_loss < 60.0
