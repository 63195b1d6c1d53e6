"""The lower bound of the method optimal, against all partitions and all groups of tiny tables, enumerated."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from all_partitions import all_groups, least_squares, relaxation, squares
from reference import sse
from shoal.partition.optimal import bound as bounds
from shoal.partition.optimal.bound import lower_bound
from shoal.partition.optimal.combine import draw
from shoal.partition.optimal.cuts import cuts_of
from shoal.partition.optimal.near_groups import pair_table
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.seen_groups import add_groups, no_groups
from shoal.partition.optimal.set_pricing import price_smallest
from shoal.partition.optimal.start import start


def tiny_table(seed, n, d=2):
    """Random records; by seed they have ties, duplicates, an outlier, or none of these."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    if seed % 4 == 1:
        x = np.round(x)
    elif seed % 4 == 2:
        x[n // 2 :] = x[: n - n // 2]
    elif seed % 4 == 3:
        x[0] = 1000.0
    return x


def optimum_by_subsets(x, k):
    """Least sum of squares with groups of k to 2k - 1, by dynamic programming over subsets: for somewhat more rows."""
    n = len(x)
    groups = [[] for _ in range(n)]
    for rows in all_groups(n, k):
        groups[rows[0]].append((sum(1 << row for row in rows), squares(x[list(rows)])))
    masks = [np.array([mask for mask, _ in of], dtype=np.int64) for of in groups]
    costs = [np.array([cost for _, cost in of]) for of in groups]
    least = {0: 0.0}

    def solve(left):
        if left not in least:
            first = (left & -left).bit_length() - 1
            fits = np.flatnonzero((masks[first] & ~left) == 0)
            least[left] = min((costs[first][g] + solve(left & ~int(masks[first][g])) for g in fits), default=np.inf)
        return least[left]

    return solve((1 << n) - 1)


def problem_of(x, k):
    return Problem(x, None, np.zeros(len(x), dtype=np.int64), None, k)


CASES = [(seed, n, 2) for seed, n in zip(range(8), (4, 5, 6, 7, 8, 9, 9, 9), strict=True)]
CASES += [(seed, n, 3) for seed, n in zip(range(8), (6, 7, 8, 9, 10, 11, 11, 11), strict=True)]


def priced_roots(table, prices, k, branches):
    how = {"threads": 2, "over": lambda: False, "neglect": 0.0, "branches": branches}
    return price_smallest(table, prices, bounds.ranked(prices)[1], cuts_of([], []), k, **how)


@pytest.mark.parametrize(("seed", "n", "k"), CASES)
def test_bound_lies_between_the_relaxation_and_the_optimum(seed, n, k):
    x = tiny_table(seed, n)
    least = least_squares(x, k)
    found = lower_bound(x, k, no_groups(), start(problem_of(x, k)))
    assert found.complete
    assert relaxation(x, k) * (1 - 2e-5) <= found.value <= least


@pytest.mark.parametrize(("n", "k"), [(13, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_bound_reaches_the_relaxation_on_all_groups(seed, n, k):
    x = tiny_table(seed, n, d=3)
    found = lower_bound(x, k, no_groups(), start(problem_of(x, k)), threads=2)
    assert found.complete
    assert relaxation(x, k) * (1 - 2e-5) <= found.value <= optimum_by_subsets(x, k)


@pytest.mark.parametrize(("n", "k"), [(9, 2), (12, 3), (12, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_pricing_finds_the_least_reduced_cost_of_every_root(seed, n, k):
    x = tiny_table(seed, n)
    rng = np.random.default_rng(seed)
    prices = rng.normal(0.5, 1.0, n) if seed < 4 else rng.integers(-1, 4, n) / 2.0  # the latter with ties
    expected = np.zeros(n)
    for rows in map(list, itertools.combinations(range(n), k)):
        root = max(rows, key=lambda row: (prices[row], row))
        expected[root] = min(expected[root], squares(x[rows]) - prices[rows].sum())
    priced = priced_roots(pair_table(x, k), prices, k, branches=10**6)
    assert priced.least == pytest.approx(expected, abs=1e-9)
    found = np.zeros(n)
    for rows in priced.found[0]:
        assert len(set(rows.tolist())) == k
        root = max(rows, key=lambda row: (prices[row], row))
        found[root] = min(found[root], squares(x[rows]) - prices[rows].sum())
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("branches", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_a_root_with_too_few_branches_keeps_a_lower_bound(seed, branches):
    x = tiny_table(seed, 13)
    prices = np.random.default_rng(seed).uniform(0.0, 2.0, 13)
    table = pair_table(x, 5)
    few, all_of_them = (priced_roots(table, prices, 5, branches=limit).least for limit in (branches, 10**6))
    assert (few <= all_of_them + 1e-9).all()


@pytest.mark.parametrize(("n", "k"), [(9, 2), (11, 3), (12, 4), (12, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_no_group_of_any_size_costs_less_than_the_prices_that_prove_a_bound(seed, n, k):
    x = tiny_table(seed, n)
    found = lower_bound(x, k, no_groups(), start(problem_of(x, k)))
    scale = np.abs(found.prices).max()
    assert all(squares(x[list(rows)]) >= found.prices[list(rows)].sum() - 1e-12 * scale for rows in all_groups(n, k))
    assert found.prices.sum() == pytest.approx(found.value, rel=1e-12)


@pytest.mark.parametrize(("seed", "n", "k"), CASES)
def test_combining_all_groups_gives_the_optimum(seed, n, k):
    x = tiny_table(seed, n)
    groups = all_groups(n, k)
    columns = add_groups(
        no_groups(),
        [np.concatenate(groups)],
        [np.array([len(rows) for rows in groups])],
        [np.array([squares(x[list(rows)]) for rows in groups])],
        n,
    )
    found = draw(columns, n, np.random.default_rng(0)).groups
    assert np.bincount(found).min() >= k
    assert sse(x, found) == pytest.approx(least_squares(x, k), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("rounds", [1, 5, 1000])
def test_bound_of_any_number_of_rounds_is_below_the_partition_known(k, rounds):
    x = np.random.default_rng(k).standard_t(2, size=(120, 4))
    groups = start(problem_of(x, k))
    found = lower_bound(x, k, no_groups(), groups, rounds=rounds, threads=2)
    assert found.rounds <= rounds
    assert 0.0 <= found.value <= sse(x, groups)
    assert found.complete == (rounds == 1000)
    if found.complete:
        assert found.value > 0.8 * sse(x, groups)


@pytest.mark.parametrize("exact", [False, True], ids=["fast rounds", "exact rounds"])
def test_only_exact_rounds_claim_a_bound(monkeypatch, exact):
    """Bounds round by round never pass the optimum, and fast rounds claim nothing."""
    x = tiny_table(4, 11)
    least = least_squares(x, 3)
    if not exact:
        monkeypatch.setattr(bounds, "price_smallest", lambda *_, **__: None)
    values = [lower_bound(x, 3, no_groups(), np.arange(11) % 3, rounds=rounds).value for rounds in range(1, 60, 6)]
    assert max(values) <= least
    assert (max(values) > 0.0) == exact


def test_one_variable_is_exact():
    x = np.random.default_rng(1).normal(size=(9, 1))
    found = lower_bound(x, 3, no_groups(), np.arange(9) % 3)
    assert found.complete
    assert found.value == pytest.approx(least_squares(x, 3), rel=1e-12)
    assert found.value <= least_squares(x, 3)


def test_too_few_records_for_two_groups():
    x = np.random.default_rng(1).normal(size=(5, 2))
    found = lower_bound(x, 3, no_groups(), np.zeros(5, dtype=np.int64))
    assert found.complete
    assert found.value == pytest.approx(squares(x), rel=1e-12)


def test_records_that_all_coincide_lose_nothing():
    assert lower_bound(np.ones((12, 3)), 3, no_groups(), np.arange(12) % 4).complete


@pytest.mark.parametrize("how", [{"until": 0.0}, {"rounds": 0}], ids=["time", "rounds"])
def test_stopped_before_it_began_claims_nothing(how):
    x = tiny_table(0, 30)
    found = lower_bound(x, 3, no_groups(), start(problem_of(x, 3)), **how)
    assert (found.value, found.rounds, found.complete) == (0.0, 0, False)


def test_stopped_within_a_round_claims_nothing_from_it():
    """k = 10 on records without clusters cannot be priced at once: no bound, and an end all the same."""
    x = np.random.default_rng(0).normal(size=(400, 6))
    found = lower_bound(x, 10, no_groups(), start(problem_of(x, 10)), until=time.monotonic() + 0.02, threads=2)
    assert not found.complete
    assert found.value == 0.0


def test_enough_ends_it():
    x = np.random.default_rng(3).normal(size=(60, 3))
    groups = start(problem_of(x, 3))
    whole = lower_bound(x, 3, no_groups(), groups)
    found = lower_bound(x, 3, no_groups(), groups, enough=0.5 * whole.value)
    assert 0.5 * whole.value <= found.value <= whole.value * (1 + 2e-5)
    assert found.rounds < whole.rounds


def test_too_many_records_claim_nothing():
    x = np.random.default_rng(3).normal(size=(bounds.LARGEST + 1, 2))
    found = lower_bound(x, 3, no_groups(), np.arange(len(x)) // 3 % (len(x) // 3))
    assert (found.value, found.complete) == (0.0, False)


def test_columns_come_back_for_combining():
    """The groups that the relaxation is made of: putting them together gives at most what was known."""
    x = np.random.default_rng(5).normal(size=(60, 3))
    groups = start(problem_of(x, 3))
    found = lower_bound(x, 3, no_groups(), groups)
    better = draw(found.seen, 60, np.random.default_rng(0)).groups
    assert np.bincount(better).min() >= 3
    assert found.value <= sse(x, better) < sse(x, groups)
