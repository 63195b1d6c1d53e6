"""The search of large tables and of large groups: never worse than a fast method, refined or not."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from shoal.columns.scaling import Records
from shoal.kernels.exchange import open_cells
from shoal.kernels.representatives import group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.mst import mst
from shoal.partition.optimal import expected_work, large, large_start, large_table, numeric_search
from shoal.partition.optimal.dense_first import dense_first
from shoal.partition.optimal.improve import renumbered
from shoal.partition.optimal.large import levels_of, refine_blocks
from shoal.partition.optimal.large_start import start_large
from shoal.partition.optimal.large_table import LargeTable, lay_out, look_ahead, with_nearer_neighbours
from shoal.partition.optimal.neighbour_counts import founds_groups
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.objective import Released, errors_of_groups
from shoal.partition.optimal.problem import Problem, blocks_by_number
from shoal.partition.optimal.short_start import near_members
from shoal.partition.refine import refine
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.pace import Pace
from shoal.partition.search.searchable import join_blocks


def _table(kind: str, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng([n, d])
    if kind == "normal":
        x = rng.normal(size=(n, d))
    elif kind == "clusters":
        centres = 10.0 * rng.normal(size=(40, d))
        x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, d))
    elif kind == "integers":
        x = np.round(3.0 * rng.normal(size=(n, d)))
    else:
        x = rng.standard_t(1.5, size=(n, d))
    return (x - x.mean(axis=0)) / x.std(axis=0)


def _problem(x: np.ndarray, k: int, blocks: np.ndarray | None = None) -> Problem:
    return Problem(x, None, np.zeros(len(x), dtype=np.int64) if blocks is None else blocks, None, k)


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
    problem = _problem(_table(kind, n, d), k)
    records = Records(problem.values)
    found = search(NumericSearch(problem), 0, Budget())
    for name in ("mdav", "v-mdav", "hdf", "mst", "tfrp", "k-ward"):
        groups = METHODS[name].function(records, k, new_watch())
        assert found.cost < problem.cost(groups), name
        assert found.cost < problem.cost(refine(records, groups, k, new_watch())), name


@pytest.mark.parametrize("kind", ["normal", "clusters", "integers", "heavy tails"])
def test_not_even_the_start_loses_more_than_mdav(kind):
    problem = _problem(_table(kind, 20_000, 3), 3)
    groups = start_large(problem, 1).groups
    assert problem.cost(groups) <= problem.cost(METHODS["mdav"].function(Records(problem.values), 3, new_watch()))


@pytest.mark.parametrize("kind", ["normal", "clusters", "integers", "heavy tails"])
@pytest.mark.parametrize(("n", "k"), [(5, 2), (8, 5), (40, 3), (700, 2), (700, 13), (900, 17), (3000, 50), (400, 150)])
def test_the_densest_groups_have_k_to_2k_less_one_records(kind, n, k):
    table = _laid_out_as_it_is(_problem(_table(kind, n, 3), k))
    sizes = np.bincount(dense_first(table.values, table.neighbours, k, 2.25))
    assert sizes.sum() == n
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_the_densest_group_is_taken_first_and_few_records_left_over_join_the_nearest():
    rng = np.random.default_rng(0)
    x = np.concatenate([10.0 * np.repeat(np.arange(400), 3) + 0.1 * rng.uniform(size=1200), [0.5, 3995.0]])[:, None]
    table = _laid_out_as_it_is(_problem(x, 3))
    groups = dense_first(x, table.neighbours, 3, 2.25)
    assert (groups[:1200].reshape(400, 3) == groups[:1200:3, None]).all()  # each place is one group
    assert (groups[1200], groups[1201]) == (groups[0], groups[1199])


@pytest.mark.parametrize("k", [2, 3, 13])
def test_groups_keep_their_sizes_and_blocks_on_any_number_of_threads(k, small_regions):
    x = _table("normal", 7000, 3)
    blocks = np.repeat([0, 1, 2], [5000, 1985, 15])
    problem = _problem(x, k, blocks)
    found = [search(NumericSearch(problem), 1, Budget(steps=60 * len(x)), threads) for threads in (1, 3)]
    assert (found[0].groups == found[1].groups).all()
    sizes = np.bincount(found[0].groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1 or k == 13  # fifteen records are one group whatever k
    assert all(len(np.unique(blocks[found[0].groups == g])) == 1 for g in range(len(sizes)))


def test_regions_with_moving_borders_lose_little(small_regions, monkeypatch):
    problem = _problem(_table("normal", 7000, 2), 3)
    in_regions = search(NumericSearch(problem), 0, Budget(steps=400 * 7000)).cost
    monkeypatch.setattr(large, "_WHOLE", 50_000)
    assert in_regions < 1.02 * search(NumericSearch(problem), 0, Budget(steps=400 * 7000)).cost


def test_a_search_for_a_time_is_repeated_by_its_steps(small_regions):
    problem = _problem(_table("normal", 8000, 3), 3)
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
    problem = _problem(_table(kind, 8000, 4), k, blocks)
    start = start_large(problem, 1)
    assert start.table is None
    assert problem.cost(start.groups) < problem.cost(start.by_mdav)
    sizes = np.bincount(start.groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert all(len(np.unique(blocks[start.groups == g])) == 1 for g in range(len(sizes)))


def test_a_search_with_little_time_by_default_goes_on_for_as_long_as_is_asked_for(little_time):
    problem = _problem(_table("normal", 8000, 4), 3)
    by_default, longer = (search(NumericSearch(problem), 0, Budget(steps=steps)) for steps in (None, 400 * 8000))
    assert by_default.passes == 0
    assert longer.cost < by_default.cost
    timed = search(NumericSearch(problem), 0, Budget(time=1.5), 2)
    again = search(NumericSearch(problem), 0, Budget(steps=timed.steps), 1)
    assert timed.passes > 0
    assert (timed.groups == again.groups).all()


def test_a_time_that_is_too_short_for_laying_a_table_out_ends_the_search(little_time, monkeypatch):
    monkeypatch.setattr(large_table, "of_laying_out", lambda n, d, k, looking: 60.0)
    found = search(NumericSearch(_problem(_table("normal", 8000, 4), 3)), 0, Budget(time=30.0))
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
    problem = _problem(_table("normal", 20_000, 12), 3)
    hasty = lay_out(problem, look_ahead(problem), 1, passes=1)
    assert with_nearer_neighbours(problem, hasty, 1, 1) is hasty  # a short cycle has no time for others
    nearer = with_nearer_neighbours(problem, hasty, 3000, 1)
    assert nearer.slack < hasty.slack
    assert nearer.scales.mean() < hasty.scales.mean()
    assert with_nearer_neighbours(problem, nearer, 3000, 1) is nearer


def test_large_groups_are_refined_after_a_long_cycle_and_not_after_a_short_one(monkeypatch):
    problem, refined = _problem(_table("clusters", 1500, 4), 100), []
    monkeypatch.setattr(large, "refine_blocks", lambda *parts: refined.append(1) or refine_blocks(*parts))
    search(NumericSearch(problem), 0, Budget(steps=50 * 1500))
    assert not refined
    with_it = search(NumericSearch(problem), 0, Budget(steps=900 * 1500)).cost
    assert refined
    monkeypatch.setattr(large, "refine_blocks", lambda blocks, parts, groups, k, cells: groups)
    assert with_it <= search(NumericSearch(problem), 0, Budget(steps=900 * 1500)).cost


def test_refining_after_a_longer_cycle_may_take_longer_and_none_takes_more_than_it_may(monkeypatch):
    problem = _problem(_table("clusters", 6000, 4), 100)
    table = lay_out(problem, look_ahead(problem), 1)
    none, usual, much = (large.cells_to_refine(table, passes) for passes in (100, 101, 100_000))
    assert none == 0
    assert 0.1 < 1e-9 * usual < 0.5 * table.outlook.allowed  # seconds
    assert much > 10 * usual
    told = []
    monkeypatch.setattr(numeric_search, "open_cells", lambda most: np.array([min(most, 1000)]))
    monkeypatch.setattr(Pace, "measured", lambda self, *cycle, ended: told.append((cycle[0], ended)))
    search(NumericSearch(problem), 0, Budget(steps=900 * 6000))
    assert told[0] == (100, True)  # there was nothing to look at
    assert told[1] == (800, True)


def test_time_for_refining_is_put_aside_only_where_groups_are_refined():
    problem = _problem(_table("clusters", 6000, 4), 100)
    table = lay_out(problem, look_ahead(problem), 1)
    left = np.linspace(0.0, 1.0, 81)
    outlooks = [table.outlook._replace(allowed=more + table.outlook.laying_out, densest=np.inf) for more in left]
    usual = np.array([large.usual_passes(replace(table, outlook=outlook), outlook.left) for outlook in outlooks])
    without = 10 + 0.75 * left / 6000 / expected_work.of_proposal(6000, 4, 100)
    short = without < 101
    assert 5 < short.sum() < 20
    assert np.abs(usual - without)[short].max() < 1.0
    assert (usual[~short] >= 100).all()
    assert (usual < without)[-20:].all()
    assert (np.diff(usual) >= 0).all()
    # what the start took is not left for annealing, unless it was spared anyway
    starts = [large.usual_passes(replace(table, outlook=outlooks[-1]), left) for left in (1.0, 0.5, 0.2)]
    assert starts == sorted(starts, reverse=True)
    assert starts[0] == usual[-1] > starts[2]


@pytest.mark.parametrize(("n", "k"), [(3000, 60), (3000, 44), (12_000, 60)])
def test_large_groups_of_clusters_lose_no_more_than_those_refined_in_strata_too(n, k):
    x = _table("clusters", n, 4)
    blocks = np.random.default_rng(k).integers(3, size=n)
    problem, parts = _problem(x, k, blocks), blocks_by_number(blocks)
    found = search(NumericSearch(problem), 0, Budget())
    assert all(len(np.unique(blocks[found.groups == g])) == 1 for g in range(found.groups.max() + 1))
    assert np.bincount(found.groups).min() >= k
    for name in ("mdav", "mst", "k-ward"):
        groups = join_blocks(parts, [METHODS[name].function(Records(x[rows]), k, new_watch()) for rows in parts])
        refined = large.refine_blocks(large.blocks_to_refine(x, parts, k), parts, groups, k, open_cells())
        assert problem.cost(refined) < problem.cost(groups)
        assert found.cost < 1.01 * problem.cost(refined), name


def test_a_spanning_tree_is_tried_first_where_records_are_in_clusters():
    for kind, clusters in (("clusters", True), ("normal", False)):
        problem = _problem(_table(kind, 6000, 4), 60, np.arange(6000) % 2)
        table = lay_out(problem, look_ahead(problem), 1)
        assert large_start._has_clusters(problem, table.order) == clusters
        assert (mst in large_start._tried(problem, table, 0.01, clusters)[0]) == clusters


def test_clusters_are_seen_where_groups_are_larger_than_those_as_well():
    n, k = 9000, 150
    rng = np.random.default_rng([n, 4, k])
    centres = 10.0 * rng.normal(size=(n // 225, 4))
    x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 4))
    blocks = rng.integers(3, size=n)  # some 75 of a cluster in each, so that a group has records of several
    problem, parts = _problem(x, k, blocks), blocks_by_number(blocks)
    assert large_start._has_clusters(problem, look_ahead(problem).order)
    by_tree = join_blocks(parts, [mst(Records(x[rows]), k, new_watch()) for rows in parts])
    refined = large.refine_blocks(large.blocks_to_refine(x, parts, k), parts, by_tree, k, open_cells())
    assert search(NumericSearch(problem), 0, Budget()).cost < 1.02 * problem.cost(refined)


def test_a_table_that_is_not_laid_out_starts_from_clusters_where_there_are_some():
    n, k = 115_000, 100
    rng = np.random.default_rng(5)
    centres = 10.0 * rng.normal(size=(200, 4))
    x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 4))
    problem = _problem(x, k, np.arange(n) % 2)
    assert look_ahead(problem).left <= 0.0
    state = NumericSearch(problem).start(1)
    by_tree = [METHODS["mst"].function(Records(x[rows]), k, new_watch()) for rows in blocks_by_number(problem.blocks)]
    assert state.cost < problem.cost(join_blocks(blocks_by_number(problem.blocks), by_tree))
    assert np.bincount(state.groups).min() >= k


def test_every_block_is_refined_by_itself_as_far_as_the_first():
    x = _table("clusters", 1200, 3)
    parts = blocks_by_number(np.arange(1200) % 3)
    groups = join_blocks(parts, [METHODS["mdav"].function(Records(x[rows]), 8, new_watch()) for rows in parts])
    blocks = large.blocks_to_refine(x, parts, 8)
    whole = large.refine_blocks(blocks, parts, groups, 8, open_cells())
    own = [refine(Records(x[rows]), renumbered(groups[rows]), 8, new_watch()) for rows in parts]
    assert np.array_equal(whole, join_blocks(parts, own))
    cells = open_cells(1_500_000)
    some = large.refine_blocks(large.blocks_to_refine(x, parts, 8), parts, groups, 8, cells)
    assert cells[0] <= 0
    for rows in parts:
        costs = [_problem(x[rows], 8).cost(renumbered(labels[rows])) for labels in (whole, some, groups)]
        assert costs[0] < costs[1] < costs[2]


def test_neighbours_are_looked_for_in_strata_no_farther_than_in_the_whole_table():
    x = _table("normal", 9000, 3)
    one, four = (look_ahead(_problem(x, 150, np.arange(9000) % blocks)) for blocks in (1, 4))
    assert four.laying_out < 1.3 * one.laying_out


@pytest.mark.parametrize(
    ("records", "k", "founds"),
    [(5000, 3, True), (5000, 43, True), (5000, 44, False), (90_000, 24, True), (90_000, 25, False)],
)
def test_groups_are_founded_where_a_record_has_neighbours_enough(records, k, founds):
    assert founds_groups(records, k) == founds
    assert (large.lengths(records, 5, k).combined == np.inf) == founds


def test_what_refining_takes_is_told_from_the_cells_that_it_may_look_at():
    cells = expected_work.cells_refined(20_000, 5, 0.25)
    assert expected_work.of_cells(20_000, 5, cells) == pytest.approx(0.25)


def test_refining_that_was_ended_is_ended_later_after_a_longer_cycle():
    small, large_groups = (large.lengths(10_000, 5, k) for k in (3, 100))
    assert small.combined == np.inf
    pace = Pace(time.monotonic() + 10.0, large_groups)
    pace.measured(100, 1.0)
    expected = 0.95 * (10.0 - 1.3 * large_groups.combining) / 0.01
    assert 0.1 < large_groups.combining < 0.2  # a part of the seconds that a search takes by default
    assert pace.passes_left() == pytest.approx(expected, rel=0.01)  # before it is known
    pace.measured(800, 8.0, 2.0)
    assert pace.passes_left() == pytest.approx(0.95 * (10.0 - 1.3 * 2.0) / 0.01, rel=0.01)
    pace.measured(800, 0.8, 0.1, ended=True)
    each = 0.001 + 1.3 * large_groups.beside
    assert pace.passes_left() == pytest.approx(0.95 * 10.0 / each, rel=0.01)


@pytest.mark.parametrize("released", ["missing", "weights"])
def test_what_does_not_cost_by_formula_is_searched_by_formula_alone_where_there_is_no_time_for_more(
    released, monkeypatch
):
    x = _table("normal", 7000, 4)
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
    problem = _problem(_table("heavy tails", 7000, 4), 3)
    costs = []
    for times in (4, 0):
        monkeypatch.setattr(numeric_search, "_TIMES", times)
        costs.append(search(NumericSearch(problem), 0, Budget(steps=100 * 7000)).cost)
    assert costs[0] < costs[1]


def test_the_dearest_groups_are_whole_and_cost_more_than_all_others():
    problem = _problem(_table("heavy tails", 7000, 4), 3)
    groups = start_large(problem, 1).groups
    inside = np.isin(np.arange(7000), numeric_search._dearest(problem, groups))
    errors = errors_of_groups(problem.values, None, *group_rows(groups), 3)
    chosen = np.unique(groups[inside])
    assert 500 < inside.sum() <= 600
    assert not np.isin(groups[~inside], chosen).any()
    assert errors[chosen].min() >= np.delete(errors, chosen).max()


def test_what_a_start_with_little_time_costs_is_told_as_it_falls(little_time):
    problem, told = _problem(_table("normal", 8000, 4), 3), []
    reached = NumericSearch(problem).start(1, told.append)
    assert told
    assert told == sorted(told, reverse=True)
    assert told[-1] >= reached.cost * (1 - 1e-9)


def test_more_steps_lose_less():
    problem = _problem(_table("normal", 7000, 4), 3)
    costs = [search(NumericSearch(problem), 0, Budget(steps=passes * 7000)).cost for passes in (0, 50, 400)]
    assert costs[0] > costs[1] > costs[2]


def test_every_record_has_as_many_proposals_whatever_the_distance_to_its_neighbours():
    scales = np.array([1e-2, 1.0, 1e3])
    levels = levels_of(scales, 1000, 0.3)
    for scale in scales:
        own = (levels.temperatures <= levels.hottest * scale) & (levels.temperatures >= levels.coldest * scale)
        assert levels.proposals[own | (levels.temperatures == 0.0)].sum() == pytest.approx(1000, abs=8)


def test_records_that_are_all_equal_lose_nothing():
    found = search(NumericSearch(_problem(np.ones((7000, 2)), 3)), 0, Budget(steps=7000))
    assert found.cost == 0.0
    assert np.bincount(found.groups).min() >= 3
