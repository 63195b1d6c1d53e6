"""The neighbour index against brute force: the same groups, ties included, on data that is awkward for trees."""

from __future__ import annotations

import threading
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import reference
from all_partitions import same_groups
from shoal.columns.scaling import Records
from shoal.kernels import chunks
from shoal.kernels import pool as pools
from shoal.kernels.compiling import kernel
from shoal.kernels.equal_records import find_equal
from shoal.kernels.tree import open_tree_pool
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS
from small_tables import normal

TFRP = import_module("shoal.partition.tfrp")  # the package has a function of that name
INDEXED = ["mdav", "mdav-single", "v-mdav", "iv-mdav", "ldf", "hdf", "dbfs", "tfrp"]


def mostly_duplicates():
    x = normal(900, 3)
    x[np.random.default_rng(1).random(900) < 0.9] = x[0]
    return x


AWKWARD = {
    "normal": normal(1000, 3),
    "all equal": np.ones((500, 2)),
    "90 % duplicates": mostly_duplicates(),
    "integers with few values": np.random.default_rng(2).integers(0, 3, size=(900, 4)).astype(float),
    "one dominant column": normal(600, 3) * [1e9, 1.0, 1e-9],
    "heavy tails": np.exp(5 * normal(700, 2)),
    "far from the origin": normal(600, 2) + 1e8,
    "tiny": normal(600, 2) * 1e-100,
    "huge": normal(600, 2) * 1e100,
    "60 columns": normal(400, 60),
    "one column": normal(800, 1),
    "a line": np.linspace(0, 1, 700)[:, None] * np.ones(3),
    "signed zeros": np.where(normal(400, 2) > 0, 0.0, -0.0),
}


def partition(method, x, indexed, monkeypatch, k=3, **options):
    monkeypatch.setattr(pools, "worth_indexing", lambda n: indexed)
    return METHODS[method].function(Records(x), k, new_watch(), **options)


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("method", INDEXED)
def test_groups_are_those_of_brute_force(method, case, monkeypatch):
    x = AWKWARD[case]
    with_index = partition(method, x, True, monkeypatch)
    without = partition(method, x, False, monkeypatch)
    assert np.array_equal(with_index, without)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("case", ["normal", "grid", "clusters", "equal"])
def test_tfrp_dissolves_the_same_groups_when_pools_of_centroids_are_opened_again_and_again(case, indexed, monkeypatch):
    x = normal(300, 2, 5)
    if case == "grid":  # centroids coincide and are equally far away
        x = np.random.default_rng(6).integers(0, 9, size=(300, 2)).astype(float)
    elif case == "clusters":
        x += 9.0 * np.random.default_rng(7).integers(0, 12, size=(300, 1))
    elif case == "equal":
        x[::2] = x[0]
    opened = []

    def counting(values):
        opened.append(len(values))
        return pools.open_pool(values)

    monkeypatch.setattr(TFRP, "_LISTED", 3)
    monkeypatch.setattr(TFRP, "open_pool", counting)
    found = partition("tfrp", x, indexed, monkeypatch)
    assert len(opened) > 4
    # records with a mask are compared with every centroid, one by one
    scanned = METHODS["tfrp"].function(Records(x, np.ones(x.shape, dtype=bool)), 3, new_watch())
    assert np.array_equal(found, scanned)
    if case != "grid":  # where sums of squares tie, the rounding of the slow version may decide otherwise
        assert same_groups(found, reference.tfrp(x, 3))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 400),
    d=st.integers(1, 4),
    k=st.integers(2, 3),
    spread=st.integers(1, 60),
)
def test_mdav_is_the_same_with_many_ties(seed, n, d, k, spread):
    x = np.random.default_rng(seed).integers(0, spread, size=(n, d)).astype(float) / 7.0
    with pytest.MonkeyPatch.context() as patch:
        assert np.array_equal(partition("mdav", x, True, patch, k), partition("mdav", x, False, patch, k))


@pytest.mark.parametrize("kind", ["brute", "tree"])
@pytest.mark.parametrize("method", ["ldf", "hdf"])
def test_groups_do_not_depend_on_the_threads_of_a_method(method, kind, monkeypatch):
    x = normal(1200, 4).round(1)
    monkeypatch.setattr(pools, "worth_indexing", lambda n: kind == "tree")
    monkeypatch.setattr(chunks, "_CHUNK", 50)
    used = set()

    def noting(pool):
        used.add(threading.get_ident())
        return pools.own_workspace(pool)

    monkeypatch.setattr(chunks, "own_workspace", noting)
    found = [METHODS[method].function(Records(x, threads=threads), 3, new_watch()) for threads in (1, 2, 5)]
    assert len(used) > 1
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@kernel
def _drain(pool, steps, out):
    """Alternate searches and removals, so that the tree shrinks and is built anew."""
    rows, distances = np.empty(4, np.int64), np.empty(4)
    for step in range(steps):
        out[step, 0] = pools.farthest_from_centroid(pool)
        out[step, 1] = pools.farthest(pool, out[step, 0])
        pools.nearest(pool, out[step, 1], 4, rows, distances)
        out[step, 2:6] = rows
        pools.remove(pool, rows[step % 4])


def test_searches_stay_exact_while_records_leave():
    x = normal(1500, 4)
    x[::5] = x[0]
    found = []
    for opener in (open_tree_pool, pools.brute.open_brute_pool):
        out = np.zeros((1450, 6), np.int64)
        _drain(opener(x), len(out), out)
        found.append(out)
    assert np.array_equal(*found)


def test_nearest_agrees_with_an_independent_tree():
    x = normal(2000, 5)
    out = np.zeros((1, 6), np.int64)
    _drain(open_tree_pool(x), 1, out)
    assert out[0, 2:6].tolist() == cKDTree(x).query(x[out[0, 1]], 4)[1].tolist()


@pytest.mark.parametrize("count", [1, 24, 25, 26, 60, 333, 700])
@pytest.mark.parametrize("opener", [open_tree_pool, pools.brute.open_brute_pool])
@pytest.mark.parametrize("tied", [False, True])
def test_few_and_many_nearest_are_sorted_by_distance_and_row(count, opener, tied):
    rng = np.random.default_rng(count)
    x = rng.integers(0, 3, size=(700, 3)).astype(float) if tied else rng.normal(size=(700, 3))
    pool = opener(x)
    for row in (0, 350, 699):
        squares = ((x - x[row]) ** 2).sum(axis=1)
        expected = np.lexsort([np.arange(700), squares])[:count]
        rows, distances = np.empty(count, dtype=np.int64), np.empty(count)
        _nearest(pool, row, count, rows, distances)
        assert rows.tolist() == expected.tolist()
        assert distances == pytest.approx(squares[expected])


@kernel
def _nearest(pool, row, count, rows, distances):
    pools.nearest(pool, row, count, rows, distances)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_equal_records_are_chained_in_order(rows):
    x = np.array(rows, dtype=float)
    place_of, first, after, before = find_equal(x)
    distinct = list(dict.fromkeys(rows))
    assert [rows[row] for row in first] == distinct
    assert [distinct[place] for place in place_of] == rows
    for place, start in enumerate(first):
        chain = [int(start)]
        while after[chain[-1]] >= 0:
            assert before[after[chain[-1]]] == chain[-1]
            chain.append(int(after[chain[-1]]))
        assert chain == [row for row, value in enumerate(rows) if value == distinct[place]]
