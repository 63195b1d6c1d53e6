"""Every method against its slow, obvious version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import reference_paths
from all_partitions import same_groups
from shoal.columns.scaling import Records
from shoal.kernels.missing_cells import filled_in
from shoal.kernels.spanning_tree import spanning_tree
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from shoal.partition.tsp import short_tour

SLOW = {
    "mdav": reference.mdav,
    "mdav-single": reference.mdav_single,
    "v-mdav": reference.v_mdav,
    "iv-mdav": reference.iv_mdav,
    "ldf": lambda x, k: reference.density_first(x, k, 1.0),
    "hdf": lambda x, k: reference.density_first(x, k, -1.0),
    "dbfs": reference.dbfs,
    "tfrp": reference.tfrp,
    "npn-mhm": reference_paths.npn_mhm,
    "md-mhm": lambda x, k: reference_paths.group_path(x, reference.dbfs(x, k), k),
    "mdav-mhm": lambda x, k: reference_paths.group_path(x, reference.mdav(x, k), k),
    "cbfs-mhm": lambda x, k: reference_paths.group_path(x, reference.mdav_single(x, k), k),
    "tsp-hm": reference_paths.tsp_hm,
    "mst": reference.mst,
    "k-ward": reference.k_ward,
    "two-step-ga": reference.two_step_ga,
}
VARIANTS = [
    *[(name, {}) for name in SLOW if name != "two-step-ga"],
    ("mst", {"large": "centroid"}),
    ("mst", {"large": "keep"}),
    ("two-step-ga", {"population": 6, "generations": 25}),
    ("two-step-ga", {"part": 2, "population": 4, "generations": 25, "seed": 9}),
    ("v-mdav", {"gamma": 1.1}),
    ("iv-mdav", {"gamma": 0.9, "cap": True}),
    ("iv-mdav", {"gamma": 0.9, "candidates": 3}),
    ("iv-mdav", {"gamma": 0.9, "outlier": 1.2}),
    ("tfrp", {"dissolve": False}),
]


def records_of(x):
    """Records from an array with NaN where missing, as methods that sort columns see them."""
    seen = ~np.isnan(x)
    return Records(np.nan_to_num(x), None if seen.all() else seen)


def points_of(x):
    """Points from an array of z-scores with NaN where missing."""
    return filled_in(x, ~np.isnan(x), np.zeros(x.shape[1]), np.ones(x.shape[1]))


def partition(name, x, k, **options):
    return METHODS[name].function(records_of(x), k, new_watch(), **options)


def draw(kind, n, d, seed):
    """Random records: continuous, on a coarse grid so that ties abound, in clusters, or with missing values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    if kind == "grid":
        x = rng.integers(0, 3, size=(n, d)).astype(float)
    if kind == "clusters":
        x += 6.0 * rng.integers(0, 4, size=(n, 1))
    if kind == "missing":
        x[rng.random((n, d)) < 0.25] = np.nan
    return x


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("kind", ["normal", "grid", "clusters", "missing"])
@pytest.mark.parametrize(("n", "k"), [(37, 3), (45, 5), (41, 2)])
def test_groups_are_those_of_the_slow_version(name, options, kind, n, k):
    x = points_of(draw(kind, n, 3, seed=n * k))
    expected = SLOW[name](x, k, **options)
    found = partition(name, x, k, **options)
    assert same_groups(found, expected)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 14), k=st.integers(2, 4), tied=st.booleans())
def test_univariate_is_optimal_among_all_cuts(seed, n, k, tied):
    n = max(n, k)
    x = draw("grid" if tied else "normal", n, 1, seed)
    labels = partition("univariate", x, k)
    assert np.bincount(labels).min() >= k
    assert reference.sse(x, labels) == pytest.approx(reference_paths.best_cut(x, np.argsort(x[:, 0]), k), abs=1e-12)


@given(seed=st.integers(0, 10_000), by=st.sampled_from(["pca", "sum"]))
def test_univariate_on_a_projection_is_optimal_along_its_order(seed, by):
    x = draw("normal", 12, 3, seed)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    axis = np.linalg.svd(x)[2][0] if by == "pca" else np.ones(3)
    labels = partition("univariate", x, 3, by=by)
    assert reference.sse(x, labels) == pytest.approx(reference_paths.best_cut(x, np.argsort(x @ axis), 3))


def test_individual_ranking_makes_runs_of_sorted_values():
    x = np.array([[5.0], [1.0], [4.0], [2.0], [3.0], [9.0], [7.0]])
    assert same_groups(partition("individual-ranking", x, 3), np.array([1, 0, 1, 0, 0, 1, 1]))


def test_missing_values_of_a_single_column_join_the_last_group():
    x = np.array([[5.0], [np.nan], [4.0], [1.0], [2.0]])
    for name in ("individual-ranking", "univariate"):
        assert same_groups(partition(name, x, 2), np.array([1, 1, 1, 0, 0]))


def test_a_stopped_method_returns_early():
    x = draw("normal", 200, 2, 1)
    for name in SLOW:
        watch = new_watch()
        watch[1] = 1
        METHODS[name].function(records_of(x), 3, watch)
        assert watch[0] == 0, name


def test_progress_counts_the_records_that_have_a_group():
    x = draw("normal", 90, 2, 1)
    for name in SLOW:
        watch = new_watch()
        METHODS[name].function(records_of(x), 3, watch)
        assert 60 < watch[0] <= 90, name


@given(seed=st.integers(0, 10_000), k=st.integers(2, 5), tied=st.booleans())
def test_methods_that_start_from_a_heuristic_never_lose_more_than_it(seed, k, tied):
    x = draw("grid" if tied else "normal", 45, 2, seed)
    for better, heuristic in (
        ("md-mhm", "dbfs"),
        ("mdav-mhm", "mdav"),
        ("cbfs-mhm", "mdav-single"),
        ("two-step-ga", "mdav"),
    ):
        options = {"generations": 5} if better == "two-step-ga" else {}
        assert (
            reference.sse(x, partition(better, x, k, **options)) <= reference.sse(x, partition(heuristic, x, k)) + 1e-9
        )


@given(seed=st.integers(0, 10_000), n=st.integers(5, 60), kind=st.sampled_from(["normal", "grid", "missing"]))
def test_the_tour_visits_every_record_once_and_is_no_longer_than_nearest_point_next(seed, n, kind):
    x = points_of(draw(kind, n, 2, seed))
    tour = short_tour(Records(x), new_watch())
    assert sorted(tour.tolist()) == list(range(n))
    length = np.sqrt([reference.distances(x, row) for row in x])
    start = reference_paths.nearest_point_next(x)
    assert length[tour, np.roll(tour, 1)].sum() <= length[start, np.roll(start, 1)].sum() + 1e-9


@pytest.mark.parametrize("kind", ["normal", "grid", "clusters", "rounded"])
def test_the_spanning_tree_of_many_records_is_that_of_few(kind, monkeypatch):
    x = np.round(draw("normal", 6000, 3, 1), 1) if kind == "rounded" else draw(kind, 6000, 3, 1)
    found = [spanning_tree(x, new_watch())]
    monkeypatch.setattr("shoal.kernels.spanning_tree.worth_indexing", lambda n: False)
    found.append(spanning_tree(x, new_watch()))
    trees = [sorted(zip(map(tuple, edges.tolist()), lengths.tolist(), strict=True)) for edges, lengths in found]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("kind", ["normal", "clusters", "grid"])
def test_k_ward_finds_the_same_groups_with_and_without_leaves(kind, monkeypatch):
    x = draw(kind, 900, 3, 4)
    found = [partition("k-ward", x, 4)]
    monkeypatch.setitem(METHODS["k-ward"].function.__globals__, "_FEW", 10_000)
    found.append(partition("k-ward", x, 4))
    assert np.array_equal(*found)


def test_the_genetic_algorithm_depends_on_the_seed_and_on_nothing_else():
    x = draw("normal", 80, 3, 1)
    groups = [partition("two-step-ga", x, 3, seed=seed) for seed in (0, 0, 1)]
    assert np.array_equal(groups[0], groups[1])
    assert not same_groups(groups[0], groups[2])
