"""Cuts of disjoint sets, which are those of large groups, against all groups and partitions of tiny tables."""

from __future__ import annotations

import numpy as np
import pytest

from all_partitions import all_groups, least_squares, relaxation, squares
from shoal.partition.optimal import cutting
from shoal.partition.optimal.bound import lower_bound, ranked
from shoal.partition.optimal.cuts import broken_sets, cuts_of
from shoal.partition.optimal.near_groups import pair_table
from shoal.partition.optimal.seen_groups import no_groups
from shoal.partition.optimal.set_pricing import price_sets
from shoal.partition.optimal.start import start
from test_bound import problem_of, tiny_table
from test_cuts import penalty_of, seen_of


@pytest.fixture(autouse=True)
def of_any_k(monkeypatch):
    """Small groups have cuts of other kinds, too; here they have those of sets alone."""
    monkeypatch.setattr(cutting, "LARGEST_K", 1)


def bound_with_sets(x, k):
    groups = start(problem_of(x, k))
    plain = lower_bound(x, k, no_groups(), groups)
    return plain, cutting.raised(cutting.cutting_of(x, k, groups), cutting.root_of(plain)).bound


@pytest.mark.parametrize(("n", "k"), [(9, 2), (11, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(6))
def test_pricing_of_sets_finds_the_least_reduced_cost(seed, n, k):
    """Of groups of k for each root, and of larger ones with more than k records of a set."""
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices = rng.normal(0.7, 1.0, n) if seed < 4 else rng.integers(-1, 4, n) / 2.0
    order = rng.permutation(n).tolist()
    sets = [tuple(sorted(order[: k + 2])), tuple(sorted(order[k + 2 : n - 1]))]
    steps, multipliers = [k, k], rng.uniform(0.5, 2.0, 2)
    own = (pair_table(x, k), prices, ranked(prices)[1], cuts_of(sets, steps), multipliers, k)
    small, larger = (
        price_sets(*own, larger=flag, threads=2, over=lambda: False, neglect=0.0) for flag in (False, True)
    )
    roots, lowest = np.zeros(n), 0.0
    for rows in all_groups(n, k):
        reduced = squares(x[list(rows)]) - prices[list(rows)].sum() + penalty_of(rows, sets, steps, multipliers)
        if len(rows) == k:
            root = max(rows, key=lambda row: (prices[row], row))
            roots[root] = min(roots[root], reduced)
        elif any(len(set(rows) & set(own)) > k for own in sets):
            lowest = min(lowest, reduced)
            assert min(larger.least[list(rows)]) <= reduced + 1e-9
    assert small.least == pytest.approx(roots, abs=1e-9)
    assert larger.least.min() == pytest.approx(lowest, abs=1e-9)
    for priced in (small, larger):
        for rows in (rows for groups in priced.found for rows in groups.tolist()):
            reduced = squares(x[rows]) - prices[rows].sum() + penalty_of(rows, sets, steps, multipliers)
            assert len(set(rows)) == len(rows)
            assert priced.least[rows].min() - 1e-9 <= reduced < 0.0


@pytest.mark.parametrize(("n", "k"), [(8, 2), (9, 2), (10, 3), (11, 3), (12, 4)])
@pytest.mark.parametrize("seed", range(4))
def test_no_group_costs_less_than_its_prices_less_what_it_pays_for_sets(seed, n, k):
    x = tiny_table(seed, n)
    plain, found = bound_with_sets(x, k)
    assert plain.value <= found.value <= least_squares(x, k)
    assert set(found.cuts.steps.tolist()) <= {k}
    assert len(set(found.cuts.rows.tolist())) == len(found.cuts.rows)
    spent = (found.multipliers * found.cuts.most).sum()
    assert found.prices.sum() - spent == pytest.approx(found.value, rel=1e-12)
    scale = np.abs(found.prices).max()
    for rows in all_groups(n, k):
        paid = penalty_of(rows, found.cuts.sets(), found.cuts.steps, found.multipliers)
        assert squares(x[list(rows)]) + paid >= found.prices[list(rows)].sum() - 1e-12 * scale


@pytest.mark.parametrize("k", [3, 4, 5])
def test_sets_close_what_parts_of_groups_leave_open(k):
    """Clusters of k + 1 records: the relaxation takes a kth of each subset of k."""
    x = np.concatenate([np.eye(k + 1), 100.0 + np.eye(k + 1)])
    least = least_squares(x, k)
    assert relaxation(x, k) < 0.99 * least
    plain, found = bound_with_sets(x, k)
    assert plain.value < 0.99 * least
    assert (1 - 1e-4) * least <= found.value <= least
    assert found.cuts.sets() == [tuple(range(k + 1)), tuple(range(k + 1, 2 * k + 2))]


def test_broken_sets_are_those_that_parts_of_groups_connect():
    x = np.arange(14.0).reshape(7, 2)
    seen = seen_of(x, [(0, 1), (1, 2), (0, 2), (3, 4), (5, 6)])
    shares = np.array([0.5, 0.5, 0.5, 1.0, 1.0])
    assert broken_sets(seen, shares, cuts_of([], []), 2).sets() == [(0, 1, 2)]
    assert len(broken_sets(seen, shares, cuts_of([(0, 1, 2)], [2]), 2)) == 0
