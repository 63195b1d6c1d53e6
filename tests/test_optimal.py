"""The method optimal: against all partitions where they can be counted, and its parts against slow versions."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import polars as pl
import pytest

import shoal
from all_partitions import least_squares, partitions
from command_line import manifest_of, run
from reference import sse
from shoal.columns.scaling import Records
from shoal.kernels.draws import open_stream
from shoal.kernels.representatives import MEAN, MEDIAN, group_rows
from shoal.kernels.watch import new_watch
from shoal.partition.mdav import mdav_single
from shoal.partition.optimal import optimal
from shoal.partition.optimal import whole as cycles
from shoal.partition.optimal.annealing import anneal
from shoal.partition.optimal.combine import draw, fill
from shoal.partition.optimal.crossover import better_parts
from shoal.partition.optimal.improve import neighbours_of
from shoal.partition.optimal.numeric_search import NumericSearch
from shoal.partition.optimal.objective import Released, errors_of_groups, released_as, released_error
from shoal.partition.optimal.problem import Problem
from shoal.partition.optimal.regions import cut_regions
from shoal.partition.optimal.seen_groups import add_partitions, no_groups
from shoal.partition.search.budget import Budget
from shoal.partition.search.driver import search


def solve(problem, budget, seed=0, threads=1, tell=None):
    return search(NumericSearch(problem), seed, budget, threads, tell)


def whole(values, k, objective=None):
    return Problem(values, None, np.zeros(len(values), dtype=np.int64), objective, k)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "k"), [(9, 2), (10, 3), (9, 4)])
def test_finds_the_optimum_where_all_partitions_can_be_counted(n, k, seed):
    values = np.random.default_rng(seed).normal(size=(n, 2))
    if seed == 3:
        values = np.round(values)
    least = least_squares(values, k)
    found = solve(whole(values, k), Budget())
    assert found.cost == pytest.approx(least, abs=1e-12)
    assert sse(values, found.groups) == pytest.approx(least, abs=1e-12)


def released_otherwise(rng, n, d, kind):
    """An objective other than the mean of complete records, of all kinds."""
    observed = rng.random((n, d)) > 0.25 if "missing" in kind else np.ones((n, d), bool)
    weights = rng.lognormal(sigma=2.0, size=n) if "weights" in kind else np.ones(n)
    how = np.full(d, MEDIAN if "medians" in kind else MEAN)
    return Released(observed, weights, how, np.zeros(d), "counted" in kind)


@pytest.mark.parametrize("kind", ["weights", "medians", "missing", "missing, counted", "missing, weights, medians"])
@pytest.mark.parametrize("seed", range(5))
def test_a_few_records_get_the_best_of_all_partitions_whatever_is_released(seed, kind):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(7, 10)), int(rng.integers(2, 4))
    values = np.round(rng.normal(size=(n, 2)), seed % 2)
    objective = released_otherwise(rng, n, 2, kind)
    problem = whole(values, k, objective)
    least = min(
        sum(
            released_error(values, *objective[:4], np.array(rows), len(rows) if objective.alike else k)
            for rows in parts
        )
        for parts in partitions(list(range(n)), k)
    )
    found = solve(problem, Budget())
    assert found.exact
    assert found.cost == pytest.approx(least, abs=1e-12)
    assert np.bincount(found.groups).min() >= k


def test_a_few_records_in_each_block_get_the_best_partition_of_their_own():
    values = np.random.default_rng(5).normal(size=(20, 2))
    blocks = np.repeat([0, 1], [11, 9])
    found = solve(Problem(values, None, blocks, None, 3), Budget())
    assert found.cost == pytest.approx(least_squares(values[:11], 3) + least_squares(values[11:], 3))
    assert not set(found.groups[:11]) & set(found.groups[11:])


def test_groups_may_be_larger_where_that_costs_less():
    # five places with eight records each, of which six have the second column: a group of all eight keeps it
    n, k = 40, 4
    side, there = np.tile([-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0], 5), np.tile([1, 1, 1, 0, 1, 1, 1, 0], 5) == 1
    values = np.column_stack([20.0 * (np.arange(n) // 8) + side, np.where(there, 3.0, 0.0)])
    observed = np.column_stack([np.ones(n, dtype=bool), there])
    objective = Released(observed, np.ones(n), np.zeros(2, np.int64), np.zeros(2))
    found = solve(whole(values, k, objective), Budget(steps=2000 * n))
    assert np.bincount(found.groups).tolist() == [8] * 5
    assert found.cost == pytest.approx(n)


def test_combining_is_given_up_when_the_time_is_over(monkeypatch):
    """However long it takes: the partition before that cycle is returned, and its steps give it again."""
    problem = whole(np.random.default_rng(8).normal(size=(150, 3)), 3)
    before = solve(problem, Budget(steps=(10 + 20 + 40 + 80 + 160 + 320) * 150))
    called = []

    def endless(*arguments, **options):
        called.append(time.monotonic())
        time.sleep(1.0)
        return draw(*arguments, **options)

    monkeypatch.setattr(cycles, "draw", endless)
    timed = solve(problem, Budget(time=0.8))
    monkeypatch.undo()
    assert called
    assert timed.steps <= before.steps
    assert (solve(problem, Budget(steps=timed.steps)).groups == timed.groups).all()


def test_one_column_is_cut_optimally():
    values = np.random.default_rng(1).lognormal(size=(10, 1))
    found = solve(whole(values, 3), Budget())
    least = least_squares(values, 3)
    assert found.exact
    assert found.cost == pytest.approx(least)


@pytest.mark.parametrize(("name", "k", "at_most"), [("tarragona", 3, 15.0), ("census", 3, 4.95), ("census", 10, 11.8)])
def test_loses_far_less_than_mdav_on_the_reference_sets(reference_data, name, k, at_most):
    frame = pl.read_csv(reference_data / "casc" / f"{name}.csv").select(pl.selectors.numeric())
    values = np.ascontiguousarray((frame.to_numpy() - frame.to_numpy().mean(axis=0)) / frame.to_numpy().std(axis=0))
    found = solve(whole(values, k), Budget(steps=1500 * len(values)), threads=2)
    assert 100.0 * sse(values, found.groups) / values.size <= at_most
    sizes = np.bincount(found.groups)
    assert k <= sizes.min() <= sizes.max() < 2 * k


@pytest.mark.parametrize("plain", [True, False])
def test_annealing_keeps_sizes_and_every_record(plain):
    values = np.random.default_rng(2).normal(size=(200, 3))
    problem = whole(values, 4)
    groups = mdav_single(Records(values), 4, new_watch())
    objective = None if plain else Released(np.ones((200, 3), bool), np.ones(200), np.zeros(3, np.int64), np.zeros(3))
    before = sse(values, groups)
    near = neighbours_of(problem)
    anneal(values, objective, None, groups, *near, 4, 100_000, 10.0, 0.001, open_stream(1), new_watch())
    sizes = np.bincount(groups)
    assert sizes.sum() == 200
    assert set(sizes[sizes > 0]) <= {4, 5, 6, 7}
    assert sse(values, groups) < 0.95 * before


def test_the_cost_by_formula_is_that_of_the_released_means():
    values = np.random.default_rng(3).normal(size=(60, 4))
    rows = group_rows(np.arange(60) // 5)
    explicit = Released(np.ones((60, 4), bool), np.ones(60), np.zeros(4, np.int64), np.zeros(4))
    assert errors_of_groups(values, explicit, *rows, 3) == pytest.approx(errors_of_groups(values, None, *rows, 3))
    assert released_as(None, (60, 4), None, [0] * 4, [0.0] * 4) is None


@pytest.mark.parametrize("aggregator", ["mean", "median", "geometric-mean", "trimmed-mean", "mode"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_cost_that_is_lowered_is_the_error_of_the_release(aggregator, weighted, monkeypatch):
    rng = np.random.default_rng(4)
    x = np.round(rng.lognormal(size=(90, 2)) + 1.0, 1)
    table = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "w": rng.uniform(0.5, 3.0, 90)})
    table = table.with_columns(a=pl.when(pl.int_range(90) % 11 == 0).then(None).otherwise("a"))
    costs = []
    import shoal.release.searching as step

    real = step.search
    monkeypatch.setattr(step, "search", lambda *args: costs.append(real(*args)) or costs[-1])
    release = shoal.protect(
        table,
        4,
        ["a", "b"],
        method="optimal",
        weight="w" if weighted else None,
        aggregators=aggregator,
        options={"steps": 5000},
    )
    assert release.summary.method == "optimal"
    assert costs[0].cost == pytest.approx(release.summary.sse, rel=1e-9)


def test_better_parts_takes_each_part_from_where_it_costs_less():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(120, 2))
    block = np.arange(120) // 12  # parts are independent between blocks
    first, second = (block * 4 + rng.permuted(np.tile(np.arange(12) % 4, (10, 1)), axis=1).ravel() for _ in range(2))
    chosen = better_parts(values, None, first, second, 3)
    for b in range(10):
        rows = block == b
        both = [sse(values[rows], labels[rows]) for labels in (first, second)]
        assert sse(values[rows], chosen[rows]) <= min(both) + 1e-9
    assert sse(values, chosen) < min(sse(values, first), sse(values, second))


def test_combining_all_groups_of_a_tiny_table_gives_its_optimum():
    values = np.random.default_rng(6).normal(size=(9, 2))
    everything = []
    least = np.inf
    for parts in partitions(list(range(9)), 2):
        labels = np.empty(9, dtype=np.int64)
        for g, rows in enumerate(parts):
            labels[rows] = g
        everything.append(labels)
        least = min(least, sse(values, labels))
    seen = add_partitions(no_groups(), values, None, everything, 2)
    assert len(seen) == len({frozenset(np.flatnonzero(p == g)) for p in everything for g in np.unique(p)})
    drawn = draw(seen, 9, np.random.default_rng(0))
    assert sse(values, drawn.groups) == pytest.approx(least)


def test_what_fits_in_no_group_joins_the_nearest_with_room():
    values = np.array([[0.0], [1.0], [0.5], [10.0], [11.0], [10.5], [10.2], [0.6]])
    groups = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    near = np.array([[1], [0], [0], [4], [3], [4], [3], [2]])
    filled, window = fill(whole(values, 3), groups, near)
    assert filled.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
    assert window.tolist() == list(range(8))
    assert fill(whole(values, 2), groups, near) is None  # both groups are full
    assert fill(whole(values, 3), np.full(8, -1), near) is None


def test_regions_hold_every_group_whole_and_cross_no_block():
    values = np.random.default_rng(7).normal(size=(9000, 3))
    blocks = np.arange(9000) % 2
    groups = np.empty(9000, dtype=np.int64)
    groups[blocks == 0] = np.arange(4500) // 3
    groups[blocks == 1] = 1500 + np.arange(4500) // 3
    regions = cut_regions(values, groups, blocks, np.random.default_rng(0))
    assert len(regions) > 2
    assert sorted(np.concatenate(regions)) == list(range(9000))
    region_of = np.empty(9000, dtype=np.int64)
    for number, rows in enumerate(regions):
        assert len(set(blocks[rows])) == 1
        region_of[rows] = number
    assert all(len(set(region_of[groups == g])) == 1 for g in range(0, 3000, 97))


def test_large_tables_are_searched_by_regions_within_their_blocks():
    values = np.random.default_rng(8).normal(size=(8000, 2))
    blocks = (values[:, 0] > 0).astype(np.int64)
    problem = Problem(values, None, blocks, None, 3)
    found = solve(problem, Budget(steps=60 * 8000), threads=2)
    mdav = [sse(v, mdav_single(Records(v), 3, new_watch())) for v in (values[blocks == 0], values[blocks == 1])]
    assert problem.cost(found.groups) < 0.97 * sum(mdav)
    order, starts = group_rows(found.groups)
    assert all(len(set(blocks[order[a:b]])) == 1 for a, b in itertools.pairwise(starts))
    assert np.diff(starts).min() >= 3


def test_more_steps_never_lose_more_than_the_start():
    values = np.random.default_rng(11).lognormal(size=(200, 3))
    costs = [solve(whole(values, 3), Budget(steps=steps * 200)).cost for steps in (0, 10, 100, 2000)]
    assert costs[0] >= costs[1]
    assert costs[3] < costs[0]
    assert costs[0] <= sse(values, mdav_single(Records(values), 3, new_watch())) + 1e-9


@pytest.mark.parametrize("kind", ["normal", "clusters", "heavy tails", "weights", "missing"])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 11])
def test_not_even_a_search_without_a_step_loses_more_than_mdav(kind, k):
    for seed in range(6):
        rng = np.random.default_rng([seed, k])
        x = rng.standard_t(1.5, size=(300, 3)) if kind == "heavy tails" else rng.normal(size=(300, 3))
        if kind == "clusters":
            x += 20.0 * rng.normal(size=(9, 3))[rng.integers(9, size=300)]
        data = pl.DataFrame({f"v{j}": x[:, j] for j in range(3)} | {"w": rng.exponential(size=300)})
        if kind == "missing":
            data = data.with_columns(v1=pl.when(pl.Series(rng.random(300) < 0.1)).then(None).otherwise(pl.col("v1")))
        asked = {"k": k, "quasi_identifiers": ["v0", "v1", "v2"], "weight": "w" if kind == "weights" else None}
        by_mdav = shoal.protect(data, method="mdav", **asked).summary.information_loss
        found = shoal.protect(data, method="optimal", options={"steps": 1}, **asked).summary.information_loss
        assert found <= by_mdav * (1 + 1e-12)


def _where_mdav_is_cheaper_than_the_start():
    for seed in range(50):
        x = np.random.default_rng(seed).normal(size=(60, 2))
        searched = NumericSearch(Problem(x, None, np.zeros(60, dtype=np.int64), None, 4))
        state = searched.start(1)
        if state.cheaper is not None:
            return searched, state
    raise AssertionError("no such table")


def test_a_proof_begins_with_the_groups_that_are_returned():
    searched, state = _where_mdav_is_cheaper_than_the_start()
    assert searched.cost(state) < state.cost
    proved = searched.prove(state, time.monotonic() + 2.0, 1)
    assert proved.bound <= searched.cost(state)
    assert proved.cost is None or proved.cost < searched.cost(state)


def test_no_cost_is_told_that_was_not_reached():
    searched, state = _where_mdav_is_cheaper_than_the_start()
    told = []
    found = search(searched, 0, Budget(steps=600), tell=lambda part, cost, bound: told.append(cost))
    assert told[0] == pytest.approx(searched.cost(state))
    assert min(told) >= found.cost * (1 - 1e-9)


def test_takes_steps_that_suit_the_size():
    table = pl.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), schema=["a", "b"])
    release = shoal.protect(table, 3, ["a", "b"], method="optimal")
    assert release.summary.method == "optimal"
    assert release.summary.steps == [50 * 3000]
    larger = [NumericSearch(whole(np.random.default_rng(0).normal(size=(n, 2)), 3)) for n in (7_000, 70_000)]
    few, fewer = [one.usual_passes(one.start(1)) for one in larger]
    assert 3000 > few > fewer >= 10
    assert (optimal(Records(table.to_numpy()), 3, new_watch()) >= 0).all()


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("optimal", {"steps": 5, "time": 1.0}, "exclude each other"),
        ("optimal", {"steps": -1}, "at least 0"),
        ("mdav", {"time": 1.0}, "no option 'time'"),
    ],
)
def test_options_that_cannot_be_followed_are_errors(method, options, message):
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 5.0, 3.0, 4.0]})
    with pytest.raises(shoal.PlanError, match=message):
        shoal.protect(table, 2, ["a", "b"], method=method, options=options)


def test_refining_what_is_optimal_is_an_error():
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 5.0, 3.0, 4.0]})
    with pytest.raises(shoal.PlanError, match="refine: has no effect"):
        shoal.protect(table, 2, ["a", "b"], method="optimal", refine=True)


def test_time_and_steps_on_the_command_line(tmp_path):
    source = tmp_path / "in.csv"
    pl.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), schema=["a", "b", "c"]).write_csv(source)
    asked = ["protect", source, "-k", "3", "--all-numeric", "--json", "-m", "optimal", "-o"]
    timed = run(*asked, tmp_path / "timed.csv", "--time", "0.5s")
    assert timed.exit_code == 0, timed.stderr
    steps = json.loads(timed.stdout)["steps"][0]
    manifest = manifest_of(tmp_path / "timed.csv")
    assert manifest["plan_again"]["options"] == {"steps": steps}
    again = run(*asked, tmp_path / "again.csv", "--steps", steps)
    assert again.exit_code == 0, again.stderr
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "timed.csv").read_bytes()
    assert "write it as 10s" in run(*asked, tmp_path / "x.csv", "--time", "soon").stderr
    assert not (tmp_path / "x.csv").exists()
