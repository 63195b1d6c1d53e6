"""The search of large tables and of large groups: never worse than a fast method, refined or not."""

from __future__ import annotations

import numpy as np
import pytest

from large_tables import drawn_table, problem_of
from shoal.columns.scaling import Records
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.optimal import expected_work, large, large_start, large_table, numeric_search
from shoal.partition.optimal.dense_first import dense_first
from shoal.partition.optimal.large import levels_of
from shoal.partition.optimal.large_start import start_large
from shoal.partition.optimal.large_table import LargeTable, lay_out, look_ahead, with_nearer_neighbours
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.objective import Released, errors_of_groups
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.short_start import near_members
from shoal.partition.refine import refine
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search


def _laid_out_as_it_is(problem: Problem) -> LargeTable:
    return lay_out(problem, look_ahead(problem)._replace(order=np.arange(len(problem))), 1)


@pytest.fixture
def small_regions(monkeypatch):
    monkeypatch.setattr(large, "_WHOLE", 2000)
    monkeypatch.setattr(large, "_REGION", 2000)
    monkeypatch.setattr(large_start, "_HUGE", 3000)


@pytest.mark.parametrize(
    ("kind", "n", "d", "k"),
    [
        ("normal", 7000, 5, 3),
        ("clusters", 7000, 4, 3),
        ("integers", 7000, 4, 3),
        ("heavy tails", 7000, 4, 3),
        ("normal", 6500, 3, 10),
        ("normal", 1000, 5, 100),
        ("clusters", 1500, 4, 50),
    ],
)
def test_by_default_it_loses_less_than_every_fast_method_refined(kind, n, d, k):
    problem = problem_of(drawn_table(kind, n, d), k)
    records = Records(problem.values)
    found = search(NumericSearch(problem), 0, Budget())
    for name in ("mdav", "v-mdav", "hdf", "mst", "tfrp", "k-ward"):
        groups = METHODS[name].function(records, k, new_watch())
        assert found.cost < problem.cost(groups), name
        assert found.cost < problem.cost(refine(records, groups, k, new_watch())), name


@pytest.mark.parametrize("kind", ["normal", "clusters", "integers", "heavy tails"])
def test_not_even_the_start_loses_more_than_mdav(kind):
    problem = problem_of(drawn_table(kind, 20_000, 3), 3)
    groups = start_large(problem, 1).groups
    assert problem.cost(groups) <= problem.cost(METHODS["mdav"].function(Records(problem.values), 3, new_watch()))


@pytest.mark.parametrize("kind", ["normal", "clusters", "integers", "heavy tails"])
@pytest.mark.parametrize(("n", "k"), [(5, 2), (8, 5), (40, 3), (700, 2), (700, 13), (900, 17), (3000, 50), (400, 150)])
def test_the_densest_groups_have_k_to_2k_less_one_records(kind, n, k):
    table = _laid_out_as_it_is(problem_of(drawn_table(kind, n, 3), k))
    sizes = np.bincount(dense_first(table.values, table.neighbours, k, 2.25))
    assert sizes.sum() == n
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_the_densest_group_is_taken_first_and_few_records_left_over_join_the_nearest():
    rng = np.random.default_rng(0)
    x = np.concatenate([10.0 * np.repeat(np.arange(400), 3) + 0.1 * rng.uniform(size=1200), [0.5, 3995.0]])[:, None]
    table = _laid_out_as_it_is(problem_of(x, 3))
    groups = dense_first(x, table.neighbours, 3, 2.25)
    assert (groups[:1200].reshape(400, 3) == groups[:1200:3, None]).all()  # each place is one group
    assert (groups[1200], groups[1201]) == (groups[0], groups[1199])


@pytest.mark.parametrize("k", [2, 3, 13])
def test_groups_keep_their_sizes_and_blocks_on_any_number_of_threads(k, small_regions):
    x = drawn_table("normal", 7000, 3)
    blocks = np.repeat([0, 1, 2], [5000, 1985, 15])
    problem = problem_of(x, k, blocks)
    found = [search(NumericSearch(problem), 1, Budget(steps=60 * len(x)), threads) for threads in (1, 3)]
    assert (found[0].groups == found[1].groups).all()
    sizes = np.bincount(found[0].groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1 or k == 13  # fifteen records are one group whatever k
    assert all(len(np.unique(blocks[found[0].groups == g])) == 1 for g in range(len(sizes)))


def test_regions_with_moving_borders_lose_little(small_regions, monkeypatch):
    problem = problem_of(drawn_table("normal", 7000, 2), 3)
    in_regions = search(NumericSearch(problem), 0, Budget(steps=400 * 7000)).cost
    monkeypatch.setattr(large, "_WHOLE", 50_000)
    assert in_regions < 1.02 * search(NumericSearch(problem), 0, Budget(steps=400 * 7000)).cost


def test_a_search_for_a_time_is_repeated_by_its_steps(small_regions):
    problem = problem_of(drawn_table("normal", 8000, 3), 3)
    timed = search(NumericSearch(problem), 0, Budget(time=1.5), 2)
    again = search(NumericSearch(problem), 0, Budget(steps=timed.steps), 1)
    assert timed.passes > 0
    assert (timed.groups == again.groups).all()


@pytest.fixture
def little_time(monkeypatch):
    """Make tables of some thousand records as short of time as those of some hundred thousand."""
    monkeypatch.setattr(expected_work, "_SPARE", 0.0)


@pytest.mark.parametrize("kind", ["normal", "clusters", "integers", "heavy tails"])
@pytest.mark.parametrize("k", [3, 10, 50])
def test_where_there_is_little_time_groups_of_mdav_get_better(kind, k, little_time):
    blocks = np.repeat([0, 1], [6000, 2000])
    problem = problem_of(drawn_table(kind, 8000, 4), k, blocks)
    start = start_large(problem, 1)
    assert start.table is None
    assert problem.cost(start.groups) < problem.cost(start.by_mdav)
    sizes = np.bincount(start.groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert all(len(np.unique(blocks[start.groups == g])) == 1 for g in range(len(sizes)))


def test_a_search_with_little_time_by_default_goes_on_for_as_long_as_is_asked_for(little_time):
    problem = problem_of(drawn_table("normal", 8000, 4), 3)
    by_default, longer = (search(NumericSearch(problem), 0, Budget(steps=steps)) for steps in (None, 400 * 8000))
    assert by_default.passes == 0
    assert longer.cost < by_default.cost
    timed = search(NumericSearch(problem), 0, Budget(time=1.5), 2)
    again = search(NumericSearch(problem), 0, Budget(steps=timed.steps), 1)
    assert timed.passes > 0
    assert (timed.groups == again.groups).all()


def test_a_time_that_is_too_short_for_laying_a_table_out_ends_the_search(little_time, monkeypatch):
    monkeypatch.setattr(large_table, "of_laying_out", lambda n, d, k, looking: 60.0)
    found = search(NumericSearch(problem_of(drawn_table("normal", 8000, 4), 3)), 0, Budget(time=30.0))
    assert found.passes == 0


def test_the_members_of_near_groups_are_of_other_groups_the_nearest_first():
    x = np.repeat(np.arange(30.0), 3)[:, None] + [[0.0, 0.1]]
    groups = np.repeat(np.arange(30), 3)
    near, _, _ = near_members(x, groups, np.zeros(90, dtype=np.int64), 1.0)
    assert (groups[near] != groups[:, None]).all()
    off = np.abs(x[near, 0] - x[:, None, 0])
    assert (np.diff(off, axis=1) >= 0.0).all()
    assert (off[:, 0] == 1.0).all()


def test_the_neighbours_of_a_long_cycle_are_nearer_than_those_of_the_start():
    problem = problem_of(drawn_table("normal", 20_000, 12), 3)
    hasty = lay_out(problem, look_ahead(problem), 1, passes=1)
    assert with_nearer_neighbours(problem, hasty, 1, 1) is hasty  # a short cycle has no time for others
    nearer = with_nearer_neighbours(problem, hasty, 3000, 1)
    assert nearer.slack < hasty.slack
    assert nearer.scales.mean() < hasty.scales.mean()
    assert with_nearer_neighbours(problem, nearer, 3000, 1) is nearer


@pytest.mark.parametrize("released", ["missing", "weights"])
def test_what_does_not_cost_by_formula_is_searched_by_formula_alone_where_there_is_no_time_for_more(
    released, monkeypatch
):
    x = drawn_table("normal", 7000, 4)
    seen = np.random.default_rng(0).random(x.shape) > 0.05
    weights = np.random.default_rng(1).exponential(size=len(x)) + 0.1
    everything, equal = np.ones_like(seen), np.ones(len(x))
    objective = Released(
        seen if released == "missing" else everything,
        weights if released == "weights" else equal,
        np.zeros(4, dtype=np.int64),
        np.zeros(4),
    )
    problem = Problem(x * objective.observed, objective.observed, np.zeros(len(x), dtype=np.int64), objective, 3)
    longer = NumericSearch(problem)
    after = search(longer, 0, Budget())
    assert after.passes > 0
    monkeypatch.setattr(numeric_search, "_AFTERWARDS", 6999)
    alone = search(longer, 0, Budget())
    assert alone.passes == 0
    assert after.cost < alone.cost < problem.cost(METHODS["mdav"].function(Records(problem.values), 3, new_watch()))


def test_the_dearest_groups_are_annealed_once_more(monkeypatch):
    problem = problem_of(drawn_table("heavy tails", 7000, 4), 3)
    costs = []
    for times in (4, 0):
        monkeypatch.setattr(numeric_search, "_TIMES", times)
        costs.append(search(NumericSearch(problem), 0, Budget(steps=100 * 7000)).cost)
    assert costs[0] < costs[1]


def test_the_dearest_groups_are_whole_and_cost_more_than_all_others():
    problem = problem_of(drawn_table("heavy tails", 7000, 4), 3)
    groups = start_large(problem, 1).groups
    inside = np.isin(np.arange(7000), numeric_search._dearest(problem, groups))
    errors = errors_of_groups(problem.values, None, *group_rows(groups), 3)
    chosen = np.unique(groups[inside])
    assert 500 < inside.sum() <= 600
    assert not np.isin(groups[~inside], chosen).any()
    assert errors[chosen].min() >= np.delete(errors, chosen).max()


def test_what_a_start_with_little_time_costs_is_told_as_it_falls(little_time):
    problem, told = problem_of(drawn_table("normal", 8000, 4), 3), []
    reached = NumericSearch(problem).start(1, told.append)
    assert told
    assert told == sorted(told, reverse=True)
    assert told[-1] >= reached.cost * (1 - 1e-9)


def test_more_steps_lose_less():
    problem = problem_of(drawn_table("normal", 7000, 4), 3)
    costs = [search(NumericSearch(problem), 0, Budget(steps=passes * 7000)).cost for passes in (0, 50, 400)]
    assert costs[0] > costs[1] > costs[2]


def test_every_record_has_as_many_proposals_whatever_the_distance_to_its_neighbours():
    scales = np.array([1e-2, 1.0, 1e3])
    levels = levels_of(scales, 1000, 0.3)
    for scale in scales:
        own = (levels.temperatures <= levels.hottest * scale) & (levels.temperatures >= levels.coldest * scale)
        assert levels.proposals[own | (levels.temperatures == 0.0)].sum() == pytest.approx(1000, abs=8)


def test_records_that_are_all_equal_lose_nothing():
    found = search(NumericSearch(problem_of(np.ones((7000, 2)), 3)), 0, Budget(steps=7000))
    assert found.cost == 0.0
    assert np.bincount(found.groups).min() >= 3
