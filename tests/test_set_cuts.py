"""Cuts of disjoint sets, which are those of large groups, against all groups and partitions of tiny tables."""

from __future__ import annotations

import numpy as np
import pytest

from all_partitions import all_groups, least_squares, relaxation, squares
from shoal.partition.optimal import paying
from shoal.partition.optimal.bound import lower_bound, ranked
from shoal.partition.optimal.cuts import broken_sets, clusters_of, cuts_of
from shoal.partition.optimal.cutting import cutting_of, root_of
from shoal.partition.optimal.near_groups import pair_table
from shoal.partition.optimal.seen_groups import no_groups
from shoal.partition.optimal.set_cutting import raised_by_sets
from shoal.partition.optimal.set_pricing import price_sets, price_smallest
from shoal.partition.optimal.start import start
from test_bound import problem_of, tiny_table
from test_cuts import penalty_of, seen_of


def bound_with_sets(x, k):
    groups = start(problem_of(x, k))
    plain = lower_bound(x, k, no_groups(), groups)
    return plain, raised_by_sets(cutting_of(x, k, groups), root_of(plain)).bound


def some_sets(rng, n, k):
    """One or two disjoint sets of k to 2k - 1 records, and how many of each make a group pay."""
    order, sets = rng.permutation(n).tolist(), []
    while len(order) >= k and len(sets) < 2:
        size = int(rng.integers(k, min(2 * k - 1, len(order)) + 1))
        sets.append(tuple(sorted(order[:size])))
        order = order[size:]
    return sets, [len(rows) // 2 + 1 for rows in sets]


@pytest.mark.parametrize(("n", "k"), [(9, 2), (11, 3), (12, 4), (12, 5), (12, 6)])
@pytest.mark.parametrize("seed", range(8))
def test_pricing_of_sets_finds_the_least_reduced_cost(seed, n, k):
    """Of groups that hold most of a set, for each set, and of groups of k that hold most of none, for each root."""
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices = rng.normal(0.7, 1.0, n) if seed < 5 else rng.integers(-1, 4, n) / 2.0
    sets, steps = some_sets(rng, n, k)
    multipliers, table, cuts = rng.uniform(0.0, 1.0, len(sets)), pair_table(x, k), cuts_of(sets, steps)
    paying_groups = price_sets(table, prices, cuts, multipliers, k, threads=2, neglect=0.0)
    how = {"threads": 2, "over": lambda: False, "neglect": 0.0, "branches": 10_000}
    others = price_smallest(table, prices, ranked(prices)[1], cuts, k, **how)
    roots, least = np.zeros(n), np.zeros(len(sets))
    for rows in all_groups(n, k):
        reduced = squares(x[list(rows)]) - prices[list(rows)].sum()
        paid = [c for c, own in enumerate(sets) if len(set(rows) & set(own)) >= steps[c]]
        for c in paid:
            least[c] = min(least[c], reduced + multipliers[c])
        if not paid and len(rows) == k:
            root = max(rows, key=lambda row: (prices[row], row))
            roots[root] = min(roots[root], reduced)
    assert paying_groups.least == pytest.approx(least, abs=1e-9)
    assert others.least == pytest.approx(roots, abs=1e-9)
    for priced in (paying_groups, others):
        for rows in (rows for groups in priced.found for rows in groups.tolist()):
            reduced = squares(x[rows]) - prices[rows].sum()
            held = [len(set(rows) & set(own)) >= step for own, step in zip(sets, steps, strict=True)]
            assert len(set(rows)) == len(rows) >= k
            assert any(held) == (priced is paying_groups)
            assert min(priced.least) - 1e-9 <= reduced + (multipliers[held].min() if any(held) else 0.0) < 0.0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("wide", "limit"), [(1, 10**6), (3, 10**6), (64, 0), (2, 3)])
def test_a_set_that_is_not_looked_through_has_a_lower_bound(monkeypatch, seed, wide, limit):
    """Few others are looked at, or few steps are taken: what is said may be too low, and never too high."""
    n, k = 12, 4
    monkeypatch.setattr(paying, "_WIDE", (wide, wide, 20))
    for name in ("price_paying", "_others_of"):
        monkeypatch.setattr(paying, name, getattr(paying, name).py_func)
    x, rng = tiny_table(seed, n), np.random.default_rng(seed)
    prices, (sets, steps) = rng.normal(0.5, 0.7, n), some_sets(rng, n, k)
    least, found, sizes = np.zeros(1), np.empty((4, 2 * k - 1), dtype=np.int64), np.zeros(4, dtype=np.int64)
    own = (pair_table(x, k).distances, prices, np.array(sets[0]), steps[0], 0.2, k, limit, least, found, sizes)
    paying.price_paying(*own)
    lowest = 0.0
    for rows in all_groups(n, k):
        if len(set(rows) & set(sets[0])) >= steps[0]:
            lowest = min(lowest, squares(x[list(rows)]) - prices[list(rows)].sum() + 0.2)
    assert least[0] <= lowest + 1e-9


@pytest.mark.parametrize(("n", "k"), [(8, 2), (9, 2), (10, 3), (11, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_no_group_costs_less_than_its_prices_less_what_it_pays_for_sets(seed, n, k):
    x = tiny_table(seed, n)
    plain, found = bound_with_sets(x, k)
    assert plain.value <= found.value <= least_squares(x, k)
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
    assert {row > k for rows in found.cuts.sets() for row in rows} == {False, True}
    assert all(len({row > k for row in rows}) == 1 for rows in found.cuts.sets())


def test_broken_sets_are_those_of_which_several_groups_hold_most():
    x = np.arange(14.0).reshape(7, 2)
    seen = seen_of(x, [(0, 1), (1, 2), (0, 2), (3, 4), (5, 6)])
    shares = np.array([0.5, 0.5, 0.5, 1.0, 1.0])
    assert broken_sets(seen, shares, cuts_of([], []), [], 2, 7).sets() == [(0, 1, 2)]
    assert len(broken_sets(seen, shares, cuts_of([(0, 1, 2)], [2]), [], 2, 7)) == 0


def test_clusters_have_k_to_2k_less_1_records():
    x = np.concatenate([np.eye(4), 10.0 + np.eye(4), 30.0 + np.eye(4)])
    found = clusters_of(x, 4)
    assert {(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)} <= set(found)
    assert all(4 <= len(rows) < 8 for rows in found)
