"""Refinement: the sum of squares never rises, groups keep k, and every step finds what it is made for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import shoal
from shoal.columns.scaling import Records
from shoal.kernels.brute import open_brute_pool
from shoal.kernels.exchange import exchange, exchange_records, nearest_groups, open_cells
from shoal.kernels.group_sums import group_sums
from shoal.kernels.representatives import group_rows
from shoal.kernels.tree import open_tree_pool
from shoal.kernels.watch import new_watch
from shoal.partition.refine import _distil_groups, open_surroundings, refine

REFINABLE = sorted(name for name, method in shoal.METHODS.items() if not method.refine_mistakes(columns=1))


def refined(x, groups, k):
    return refine(Records(np.asarray(x, dtype=float)), np.asarray(groups), k, new_watch())


def table(n=400, d=3):
    x = np.random.default_rng(3).normal(size=(n, d))
    columns = {f"v{j}": x[:, j] for j in range(d)}
    return pl.DataFrame({**columns, "half": ["l", "r"] * (n // 2), "w": np.arange(1, n + 1) / n})


@given(seed=st.integers(0, 10_000), n=st.integers(4, 40), k=st.integers(2, 4), tied=st.booleans())
def test_the_sum_of_squares_never_rises_and_groups_keep_k(seed, n, k, tied):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, size=(n, 2)).astype(float) if tied else rng.normal(size=(n, 2))
    groups = np.minimum(rng.permutation(n) // k, n // k - 1)
    found = refined(x, groups, k)
    sizes = np.bincount(found)
    assert sizes.sum() == n
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert reference.sse(x, found) <= reference.sse(x, groups) + 1e-12


@pytest.mark.parametrize(
    ("x", "groups", "k", "expected"),
    [
        ([0, 0.1, 9, 9.1], [0, 0, 0, 0], 2, [[0, 1], [2, 3]]),
        ([0, 10, 0.1, 0.2, 10.1, 10.2], [0, 0, 1, 1, 2, 2], 2, [[0, 2, 3], [1, 4, 5]]),
        ([0, 0.1, 5, 10, 10.1, 5.1], [0, 0, 0, 1, 1, 1], 2, [[0, 1], [2, 5], [3, 4]]),
        ([0, 1, 9, 2, 10, 11], [0, 0, 0, 1, 1, 1], 3, [[0, 1, 3], [2, 4, 5]]),
    ],
    ids=["cut", "dissolve", "distil", "exchange"],
)
def test_each_step_finds_what_it_is_made_for(x, groups, k, expected):
    found = refined(np.array(x)[:, None], groups, k)
    assert sorted(np.flatnonzero(found == g).tolist() for g in np.unique(found)) == expected


@pytest.mark.parametrize("seed", range(5))
def test_no_single_move_or_change_of_places_would_gain_much_more(seed):
    x = np.random.default_rng(seed).normal(size=(40, 2))
    found = refined(x, reference.mdav(x, 3), 3)
    before = reference.sse(x, found)
    for a in range(40):
        for b in range(40):
            moved = found.copy()
            moved[a] = found[b]
            swapped = found.copy()
            swapped[a], swapped[b] = found[b], found[a]
            for other in (moved, swapped):
                if np.unique(other, return_counts=True)[1].min() >= 3 and np.bincount(other).max() <= 5:
                    assert reference.sse(x, other) > 0.99 * before


def _slow_exchange(x, groups, near, k):
    """Of all records in turn, each does what lowers the sum of squares most; all is computed anew each time."""
    groups, listed = groups.copy(), [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]

    def cost(rows):
        return ((x[rows] - x[rows].mean(axis=0)) ** 2).sum()

    for row in range(len(x)):
        a, best, found = groups[row], 1e-9, None
        own = np.flatnonzero(groups == a)
        for b in near[a]:
            others = np.flatnonzero(groups == b)
            if b == a:
                continue
            before = cost(own) + cost(others)
            if len(own) > k and len(others) < 2 * k - 1:
                saved = before - cost(own[own != row]) - cost(np.append(others, row))
                if saved > best + 1e-9:
                    best, found = saved, (b, None)
            for other in listed[b][groups[listed[b]] == b]:
                saved = before - cost(np.append(own[own != row], other)) - cost(np.append(others[others != other], row))
                if saved > best + 1e-9:
                    best, found = saved, (b, other)
        if found:
            groups[row] = found[0]
            if found[1] is not None:
                groups[found[1]] = a
    return groups


@pytest.mark.parametrize("kind", ["normal", "clusters", "heavy tails", "far away"])
@pytest.mark.parametrize("k", [2, 7, 12])
def test_no_exchange_is_passed_over_that_a_look_at_all_members_would_find(kind, k):
    rng = np.random.default_rng(k)
    x = rng.standard_t(1.5, size=(150, 3)) if kind == "heavy tails" else rng.normal(size=(150, 3))
    if kind == "clusters":
        x += 20.0 * rng.normal(size=(5, 3))[rng.integers(5, size=150)]
    if kind == "far away":
        x += 1000.0
    groups = np.minimum(rng.permutation(150) // k, 150 // k - 1) if kind == "normal" else reference.mdav(x, k)
    sums, sizes = group_sums(x, groups)
    near = nearest_groups(sums, sizes, 1)
    expected = _slow_exchange(x, groups, near, k)
    assert (expected != groups).any()
    everywhere = np.ones(len(sizes), dtype=np.bool_)
    order, starts = group_rows(groups)
    before, found = reference.sse(x, groups), groups.copy()
    looked, changed = np.zeros(150, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    gain = exchange(x, found, order, starts, sums, sizes, everywhere, near, k, open_cells(), looked, changed, 0)
    assert np.array_equal(found, expected)
    assert gain == pytest.approx(before - reference.sse(x, found))


@pytest.mark.parametrize("kind", ["normal", "clusters"])
@pytest.mark.parametrize("k", [3, 9])
def test_what_is_remembered_between_looks_changes_nothing(kind, k):
    rng = np.random.default_rng(k)
    x = rng.normal(size=(160, 3)) + (20.0 * rng.normal(size=(5, 3))[rng.integers(5, size=160)]) * (kind == "clusters")
    groups = np.minimum(rng.permutation(160) // k, 160 // k - 1)
    sums, sizes = group_sums(x, groups)
    near, everywhere = nearest_groups(sums, sizes, 1), np.ones(len(sizes), dtype=np.bool_)
    expected = groups
    for passes in range(1, 5):
        expected, found = _slow_exchange(x, expected, near, k), groups.copy()
        own = [part.copy() for part in (sums, sizes)]
        exchange_records(x, found, *own, k, near=near, at_face=everywhere, passes=passes, worth=0.0, cells=open_cells())
        assert np.array_equal(found, expected)


def test_records_that_found_nothing_better_are_not_looked_at_again():
    x = np.random.default_rng(0).normal(size=(2000, 3))
    groups = refined(x, reference.mdav(x, 10), 10)
    sums, sizes = group_sums(x, groups)
    near, everywhere = nearest_groups(sums, sizes, 1), np.ones(len(sizes), dtype=np.bool_)
    taken = []
    for passes in (1, 2):
        cells, own = open_cells(10**12), [part.copy() for part in (sums, sizes)]
        exchange_records(
            x, groups.copy(), *own, 10, near=near, at_face=everywhere, passes=passes, worth=-1.0, cells=cells
        )
        taken.append(10**12 - int(cells[0]))
    assert taken[1] < 1.6 * taken[0]


def _slow_distil(x, groups, k, stride):
    """Form groups of the k nearest records that can be spared around every so-manyth record, where that pays."""
    groups = groups.copy()
    for centre in range(0, len(x), stride):
        count, sizes = groups.max() + 1, np.bincount(groups)
        if count == len(x) // k or sizes[groups[centre]] <= k:
            continue
        near = np.lexsort([np.arange(len(x)), ((x - x[centre]) ** 2).sum(axis=1)])[: 4 * k]
        found, spare = groups.copy(), sizes - k
        for row in near:
            if spare[groups[row]] > 0 and (found == count).sum() < k:
                spare[groups[row]] -= 1
                found[row] = count
        if (found == count).sum() == k and reference.sse(x, found) < reference.sse(x, groups):
            groups = found
    return groups


def _around(pool, k):
    return open_surroundings(pool.values, k)._replace(pool=pool)


@pytest.mark.parametrize(("n", "k"), [(200, 3), (200, 8), (300, 20), (700, 40), (700, 64)])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_distilled_from_as_many_near_records_as_it_takes(n, k, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) + 10.0 * rng.normal(size=(4, 2))[rng.integers(4, size=n)]
    groups = np.minimum(np.argsort(np.argsort(x[:, 0])) // (k + k // 3), n // (k + k // 3) - 1)
    expected = _slow_distil(x, groups, k, max(1, k // 16))
    assert expected.max() > groups.max()
    for pool in (open_brute_pool(x), open_tree_pool(x)):
        assert np.array_equal(_distil_groups(_around(pool, k), groups.copy(), k, open_cells()), expected)


@pytest.mark.parametrize(("n", "k"), [(200, 4), (700, 40), (2000, 25)])
def test_what_is_known_of_the_surroundings_changes_no_group(n, k):
    x = np.random.default_rng(n).normal(size=(n, 3))
    known = open_surroundings(x, k)
    for name in ("mdav", "mst", "mst"):
        groups = shoal.METHODS[name].function(Records(x), k, new_watch())
        left, left_anew = open_cells(10**12), open_cells(10**12)
        refined = refine(Records(x), groups, k, new_watch(), left, known)
        assert np.array_equal(refined, refine(Records(x), groups, k, new_watch(), left_anew))
    assert known.counts.any()
    assert left[0] > left_anew[0]  # what was looked for before is not looked for again


def test_refining_ends_where_it_may_look_no_further_and_groups_keep_k():
    x = np.random.default_rng(0).normal(size=(600, 3))
    groups, costs = reference.mdav(x, 5), []
    for most in (1, 110_000, 128_000, 10**12, None):  # of which a round takes 108 000 beside exchanges
        cells = open_cells(most)
        found = refine(Records(x), groups.copy(), 5, new_watch(), cells)
        assert np.array_equal(found, refine(Records(x), groups.copy(), 5, new_watch(), open_cells(most)))
        assert (cells[0] <= 0) == (most is not None and most < 10**12)
        assert np.bincount(found).min() >= 5
        costs.append(reference.sse(x, found))
    assert reference.sse(x, groups) >= costs[0] >= costs[1] > costs[2] > costs[3] == costs[4]


@pytest.mark.parametrize("method", REFINABLE)
def test_every_method_loses_less_when_refined(method):
    columns = ["v0", "v1", "v2"]
    plain, better = (
        shoal.protect(table(), 4, columns, method=method, refine=refine, strata="half", weight="w")
        for refine in (False, True)
    )
    assert better.plan.refine
    assert better.summary.smallest_group >= 4
    assert better.summary.sse < plain.summary.sse
    for g in np.unique(better.groups):
        assert table().filter(pl.Series(better.groups == g))["half"].n_unique() == 1


def test_blocks_are_refined_one_by_one_and_the_number_of_threads_changes_nothing():
    cut = {"method": "spread-tree", "size": 50}
    columns = ["v0", "v1", "v2"]
    plain = shoal.protect(table(), 4, columns, method="mdav", blocking=cut)
    releases = [shoal.protect(table(), 4, columns, method="mdav", blocking=cut, refine=True, threads=t) for t in (1, 3)]
    assert releases[0].summary.sse < plain.summary.sse
    assert releases[0].data.equals(releases[1].data)
    mended = shoal.protect(table(), 4, columns, method="mdav", blocking=cut | {"repair": True}, refine=True)
    assert mended.summary.sse < releases[0].summary.sse


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method": "individual-ranking"}, "refine: has no effect with method 'individual-ranking'"),
        ({"method": "univariate", "quasi_identifiers": [["v0"], ["v1"]]}, "optimal for a single column"),
    ],
)
def test_refinement_without_effect_is_an_error(settings, says):
    with pytest.raises(shoal.PlanError, match=says):
        shoal.protect(table(), 4, refine=True, **{"quasi_identifiers": ["v0", "v1"], **settings})


def test_refinement_takes_missing_values():
    holes = table().with_columns(pl.when(pl.col("v0") > 1).then(None).otherwise(pl.col("v0")).alias("v0"))
    asked = {"k": 4, "quasi_identifiers": ["v0", "v1"], "method": "mdav"}
    plain, refined = (shoal.protect(holes, **asked, refine=refine).summary for refine in (False, True))
    assert refined.information_loss < plain.information_loss
