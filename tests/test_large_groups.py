"""Groups so large that annealing founds none: where a search of them starts, and how they are refined."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from large_tables import drawn_table, problem_of
from shoal.columns.scaling import Records
from shoal.kernels.exchange import open_cells
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.mst import mst
from shoal.partition.optimal import expected_work, large, large_start, numeric_search
from shoal.partition.optimal.improve import renumbered
from shoal.partition.optimal.large import refine_blocks
from shoal.partition.optimal.large_table import lay_out, look_ahead
from shoal.partition.optimal.neighbour_counts import founds_groups
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.problem import blocks_by_number
from shoal.partition.refine import refine
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search
from shoal.partition.search.pace import Pace
from shoal.partition.search.searchable import join_blocks


def test_large_groups_are_refined_after_a_long_cycle_and_not_after_a_short_one(monkeypatch):
    problem, refined = problem_of(drawn_table("clusters", 1500, 4), 100), []
    monkeypatch.setattr(large, "refine_blocks", lambda *parts: refined.append(1) or refine_blocks(*parts))
    search(NumericSearch(problem), 0, Budget(steps=50 * 1500))
    assert not refined
    with_it = search(NumericSearch(problem), 0, Budget(steps=900 * 1500)).cost
    assert refined
    monkeypatch.setattr(large, "refine_blocks", lambda blocks, parts, groups, k, cells: groups)
    assert with_it <= search(NumericSearch(problem), 0, Budget(steps=900 * 1500)).cost


def test_refining_after_a_longer_cycle_may_take_longer_and_none_takes_more_than_it_may(monkeypatch):
    problem = problem_of(drawn_table("clusters", 6000, 4), 100)
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
    problem = problem_of(drawn_table("clusters", 6000, 4), 100)
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
    x = drawn_table("clusters", n, 4)
    blocks = np.random.default_rng(k).integers(3, size=n)
    problem, parts = problem_of(x, k, blocks), blocks_by_number(blocks)
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
        problem = problem_of(drawn_table(kind, 6000, 4), 60, np.arange(6000) % 2)
        table = lay_out(problem, look_ahead(problem), 1)
        assert large_start._has_clusters(problem, table.order) == clusters
        assert (mst in large_start._tried(problem, table, 0.01, clusters)[0]) == clusters


def test_clusters_are_seen_where_groups_are_larger_than_those_as_well():
    n, k = 9000, 150
    rng = np.random.default_rng([n, 4, k])
    centres = 10.0 * rng.normal(size=(n // 225, 4))
    x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 4))
    blocks = rng.integers(3, size=n)  # some 75 of a cluster in each, so that a group has records of several
    problem, parts = problem_of(x, k, blocks), blocks_by_number(blocks)
    assert large_start._has_clusters(problem, look_ahead(problem).order)
    by_tree = join_blocks(parts, [mst(Records(x[rows]), k, new_watch()) for rows in parts])
    refined = large.refine_blocks(large.blocks_to_refine(x, parts, k), parts, by_tree, k, open_cells())
    assert search(NumericSearch(problem), 0, Budget()).cost < 1.02 * problem.cost(refined)


def test_a_table_that_is_not_laid_out_starts_from_clusters_where_there_are_some():
    n, k = 115_000, 100
    rng = np.random.default_rng(5)
    centres = 10.0 * rng.normal(size=(200, 4))
    x = centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 4))
    problem = problem_of(x, k, np.arange(n) % 2)
    assert look_ahead(problem).left <= 0.0
    state = NumericSearch(problem).start(1)
    by_tree = [METHODS["mst"].function(Records(x[rows]), k, new_watch()) for rows in blocks_by_number(problem.blocks)]
    assert state.cost < problem.cost(join_blocks(blocks_by_number(problem.blocks), by_tree))
    assert np.bincount(state.groups).min() >= k


def test_every_block_is_refined_by_itself_as_far_as_the_first():
    x = drawn_table("clusters", 1200, 3)
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
        costs = [problem_of(x[rows], 8).cost(renumbered(labels[rows])) for labels in (whole, some, groups)]
        assert costs[0] < costs[1] < costs[2]


def test_neighbours_are_looked_for_in_strata_no_farther_than_in_the_whole_table():
    x = drawn_table("normal", 9000, 3)
    one, four = (look_ahead(problem_of(x, 150, np.arange(9000) % blocks)) for blocks in (1, 4))
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
