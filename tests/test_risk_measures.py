"""Measures of risk against scipy and slow versions of their definitions."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

import shoal
import slow_measures as slow
from shoal.blocking.blocks import BLOCKINGS
from shoal.kernels.agreement import count_patterns
from shoal.kernels.watch import new_watch
from shoal.measures import linkage, probabilistic_linkage
from shoal.measures.comparison import compare
from shoal.measures.pairs import NumericPair
from shoal.measures.probabilistic_linkage import estimate_m, pattern_weights
from shoal.tables.table import open_table
from small_tables import lettered


def mixed(n, seed, holes=0.0):
    """Return original and released numbers and categories, the latter with some noise; NaN and None are missing."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, 2)), 1)
    y = np.round(x + rng.normal(scale=0.4, size=x.shape), 1)
    a = rng.integers(0, 3, size=(n, 2)).astype(object)
    b = np.where(rng.random(a.shape) < 0.2, rng.integers(0, 3, size=a.shape), a).astype(object)
    for table in (x, y):
        table[rng.random(table.shape) < holes] = np.nan
    for table in (a, b):
        table[rng.random(table.shape) < holes] = None
    return x, y, a, b


def table_of(x, a):
    numbers = lettered(x)
    texts = [pl.Series(f"c{j}", [None if v is None else f"v{v}" for v in a[:, j]], dtype=pl.String) for j in range(2)]
    return numbers.with_columns(texts)


# distance-based record linkage


@pytest.mark.parametrize("k", [2, 5])
def test_linkage_of_a_microaggregated_table_is_that_of_all_pairs(k):
    original = np.random.default_rng(1).normal(size=(250, 3))
    released = shoal.protect(lettered(original), k, ["a", "b", "c"], method="mdav").data.to_numpy()
    found = shoal.measure(lettered(original), lettered(released))
    assert found.dbrl == pytest.approx(slow.dbrl(*slow.z_scores(original, released)))
    assert 0.0 < found.dbrl <= 100 / k
    assert found.linkage["dbrl"] == {"records": 250, "error": 0.0}


def test_linkage_through_many_leaves_is_that_of_scipys_tree():
    rng = np.random.default_rng(2)
    original = rng.normal(size=(20_000, 3))
    released = original + rng.normal(scale=0.05, size=original.shape)
    x, y = slow.z_scores(original, released)
    _, nearest = cKDTree(y).query(x)
    expected = 100 * np.mean(nearest == np.arange(len(x)))
    assert shoal.measure(lettered(original), lettered(released)).dbrl == pytest.approx(expected)


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_linkage_of_mixed_tables_is_that_of_all_pairs(holes):
    x, y, a, b = mixed(120, 3, holes)
    found = shoal.measure(table_of(x, a), table_of(y, b))
    assert found.dbrl == pytest.approx(slow.dbrl(*slow.z_scores(x, y), a, b))


def without_cells(table, share, seed):
    """Return a table in which all columns but the first are missing in some rows."""
    rng = np.random.default_rng(seed)
    holes = rng.random(len(table)) < share
    gaps = table.copy()
    gaps[holes, 1:] = np.nan
    return gaps


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_rows_with_missing_cells_do_not_take_the_links_of_the_others(share):
    original = np.random.default_rng(1).normal(size=(2000, 4))
    released = shoal.protect(lettered(original), 3, list("abcd"), method="mdav").data.to_numpy()
    whole = shoal.measure(lettered(original), lettered(released)).dbrl
    gaps = without_cells(released, share, 2)
    found = shoal.measure(lettered(original), lettered(gaps)).dbrl
    # those who lost their cells are harder to find, nobody else is
    assert found >= whole * (1 - share) * 0.97
    assert found <= whole


def test_linkage_with_missing_cells_through_the_index_is_that_of_all_pairs():
    original = np.random.default_rng(5).normal(size=(400, 3))
    rng = np.random.default_rng(6)
    released = original + rng.normal(scale=0.3, size=original.shape)
    original[rng.random(original.shape) < 0.1] = np.nan
    released[rng.random(released.shape) < 0.1] = np.nan
    found = shoal.measure(lettered(original), lettered(released))
    assert found.dbrl == pytest.approx(slow.dbrl(*slow.z_scores(original, released)))


def test_an_intruder_may_know_only_some_columns():
    x, y, a, b = mixed(120, 4)
    before, after = table_of(x, a), table_of(y, b)
    scaled = slow.z_scores(x, y)
    some = shoal.measure(before, after, known=["b", "c0"])
    assert some.dbrl == pytest.approx(slow.dbrl(scaled[0][:, 1:], scaled[1][:, 1:], a[:, :1], b[:, :1]))
    assert some.known == ["b", "c0"]
    assert some.k_anonymity == shoal.measure(before, after).k_anonymity
    one = shoal.measure(before, after, known="c1")
    assert one.dbrl == pytest.approx(slow.dbrl(np.empty((120, 0)), np.empty((120, 0)), a[:, 1:], b[:, 1:]))


def test_blocks_limit_what_is_compared():
    x, y, a, b = mixed(120, 5)
    found = shoal.measure(table_of(x, a), table_of(y, b), ["a", "b"], blocking=["c0"])
    assert found.dbrl == pytest.approx(slow.dbrl(*slow.z_scores(x, y), blocks=(a[:, 0], b[:, 0])))


@pytest.mark.parametrize("method", sorted(BLOCKINGS))
def test_linkage_inside_the_blocks_of_a_tree_is_that_of_all_pairs_of_a_block(method):
    original = np.random.default_rng(2).normal(size=(240, 3))
    released = shoal.protect(lettered(original), 3, ["a", "b", "c"], method="mdav").data.to_numpy()
    x, y = slow.z_scores(original, released)
    pairs = compare(open_table(lettered(original)), open_table(lettered(released))).known
    blocks = BLOCKINGS[method](np.vstack([x, y]), 3, 80)
    cut = blocks[:240], blocks[240:]
    (inside,) = [task(new_watch()) for task in linkage.linkage_tasks(pairs, cut)]
    (exact,) = [task(new_watch()) for task in linkage.linkage_tasks(pairs)]
    together = cut[0] == cut[1]
    assert 100 * inside.mean() == pytest.approx(slow.dbrl(x, y, blocks=cut))
    assert 0.5 < together.mean() < 1.0
    assert not inside[~together].any()
    # nobody else's record is nearer than among all
    assert (inside[together] >= exact[together] - 1e-12).all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2),
)
def test_ties_share_the_link(rows):
    values = np.array(rows, dtype=float)
    original, released = values[:, :2], values[:, 2:]
    if (original.std(axis=0) == 0.0).any():
        original = original + 10.0 * np.arange(len(rows))[:, None]
    found = shoal.measure(lettered(original), lettered(released))
    assert found.dbrl == pytest.approx(slow.dbrl(*slow.z_scores(original, released)))


def test_a_table_of_distinct_records_is_linked_to_itself_and_copies_share():
    x = np.arange(40.0)[:, None]
    assert shoal.measure(lettered(x), lettered(x)).dbrl == 100.0
    twice = np.repeat(x, 2, axis=0)
    assert shoal.measure(lettered(twice), lettered(twice)).dbrl == 50.0


@pytest.mark.parametrize("kind", ["index", "looking"])
def test_a_sample_comes_with_its_standard_error(kind, monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(3000, 2))
    y = x + rng.normal(scale=0.1, size=x.shape)
    before, after = lettered(x), lettered(y)
    if kind == "looking":  # a missing number keeps the index out
        before, after = (t.vstack(t[:1].with_columns(a=pl.lit(None, pl.Float64))) for t in (before, after))
    exact = shoal.measure(before, after).dbrl
    monkeypatch.setattr(linkage, "SAMPLE", 500)
    monkeypatch.setattr(linkage, "_LOOKS", 0)
    monkeypatch.setattr(linkage, "_FEWEST", 500)
    found = shoal.measure(before, after)
    assert found.linkage["dbrl"]["records"] == 500
    share = found.dbrl / 100
    expected = 100 * math.sqrt(share * (1 - share) / 499 * (1 - 500 / len(before)))
    assert found.linkage["dbrl"]["error"] == pytest.approx(expected, rel=1e-6)
    assert abs(found.dbrl - exact) < 4 * expected
    assert any("dbrl is from a random sample of 500" in note for note in found.notes)
    assert shoal.measure(before, after, threads=1).dbrl == found.dbrl


# probabilistic record linkage


def test_probabilistic_linkage_takes_the_heaviest_pair_of_all():
    x, y, a, b = mixed(90, 7)
    found = shoal.measure(table_of(x, a), table_of(y, b))
    codes = [banded(x, y, j) for j in range(2)] + [(a[:, j], b[:, j]) for j in range(2)]
    agrees = np.array([[[p == q for q in after] for p in before] for before, after in codes])
    u = agrees.mean(axis=(1, 2))
    patterns = np.tensordot(2 ** np.arange(4), agrees, axes=1)
    m = estimate_m(np.bincount(patterns.ravel(), minlength=16), u, 90)
    weights = np.log2(np.where(agrees, (m / u)[:, None, None], ((1 - m) / (1 - u))[:, None, None])).sum(axis=0)
    best = weights.max(axis=1)
    tied = (weights >= best[:, None] - 1e-7).sum(axis=1)
    expected = np.where(np.diag(weights) >= best - 1e-7, 1 / tied, 0).mean()
    assert found.probabilistic_linkage == pytest.approx(100 * expected)


def banded(x, y, j):
    cuts = np.unique(np.quantile(x[:, j], np.arange(1, 10) / 10))
    return np.searchsorted(cuts, x[:, j] - 1e-12), np.searchsorted(cuts, y[:, j] - 1e-12)


def test_em_finds_the_chances_that_pairs_were_drawn_with():
    rng = np.random.default_rng(8)
    m, u = np.array([0.95, 0.8, 0.9, 0.7]), np.array([0.1, 0.2, 0.05, 0.3])
    true, others = rng.random((5000, 4)) < m, rng.random((500_000, 4)) < u
    patterns = np.concatenate((true, others)) @ (1 << np.arange(4))
    found = estimate_m(np.bincount(patterns, minlength=16), u, 5000)
    assert found == pytest.approx(m, abs=0.03)


def test_weights_of_patterns_are_sums_of_logarithms():
    m, u = np.array([0.9, 0.6]), np.array([0.1, 0.3])
    expected = [math.log2(0.1 / 0.9 * 0.4 / 0.7), math.log2(0.9 / 0.1 * 0.4 / 0.7)]
    expected += [math.log2(0.1 / 0.9 * 0.6 / 0.3), math.log2(0.9 / 0.1 * 0.6 / 0.3)]
    assert pattern_weights(m, u) == pytest.approx(expected, abs=1e-8)


def test_patterns_are_counted_over_the_pairs_of_each_block():
    rng = np.random.default_rng(9)
    asked, codes = rng.integers(-1, 3, size=(30, 3)), rng.integers(-1, 3, size=(3, 50))
    blocks, starts = rng.integers(0, 2, size=30), np.array([0, 20, 50])
    counts = Counter(
        sum(1 << j for j in range(3) if asked[i, j] >= 0 and asked[i, j] == codes[j, r])
        for i in range(30)
        for r in range(starts[blocks[i]], starts[blocks[i] + 1])
    )
    found = count_patterns(asked.astype(np.int32), codes.astype(np.int32), starts, blocks, 3)
    assert found.tolist() == [counts[p] for p in range(8)]


def test_probabilistic_linkage_of_a_sample_says_so(monkeypatch):
    x, y, a, b = mixed(400, 10)
    exact = shoal.measure(table_of(x, a), table_of(y, b)).probabilistic_linkage
    monkeypatch.setattr(probabilistic_linkage, "_PAIRS", 0)
    monkeypatch.setattr(probabilistic_linkage, "_FEWEST", 100)
    found = shoal.measure(table_of(x, a), table_of(y, b))
    assert found.linkage["probabilistic_linkage"]["records"] == 100
    error = found.linkage["probabilistic_linkage"]["error"]
    assert 0 < error < 5
    assert abs(found.probabilistic_linkage - exact) < 5 * error


# interval disclosure


@pytest.mark.parametrize("seed", range(4))
def test_interval_disclosure_follows_its_definition(seed):
    rng = np.random.default_rng(seed)
    x = (rng.integers(0, 30, size=130) if seed % 2 else rng.normal(size=130)).astype(float)
    y = x + (rng.integers(-3, 4, size=130) if seed % 2 else rng.normal(scale=0.05, size=130))
    found = shoal.measure(pl.DataFrame({"x": x}), pl.DataFrame({"x": y}))
    expected = slow.interval_disclosure(x, y)
    assert (found.interval_disclosure, found.interval_disclosure_sd) == pytest.approx(expected)
    assert (found.interval_records, found.interval_records_sd) == pytest.approx(expected)


def test_records_are_inside_where_all_their_cells_are_and_suppressed_cells_are_not_disclosed():
    x = np.column_stack((np.arange(100.0), np.arange(100.0)))
    y = x.copy()
    y[:50, 1] = 1000.0
    found = shoal.measure(lettered(x), lettered(y))
    assert (found.interval_disclosure, found.interval_records) == (75.0, 50.0)
    y[:50, 1] = np.nan
    found = shoal.measure(lettered(x), lettered(y))
    assert (found.interval_disclosure, found.interval_records) == (75.0, 50.0)
    x[:50, 1] = np.nan
    found = shoal.measure(lettered(x), lettered(y))
    assert (found.interval_disclosure, found.interval_records) == (100.0, 100.0)


def test_intervals_of_a_single_width_are_the_shares_inside_and_average_to_the_figure():
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"a": rng.normal(size=200), "b": rng.lognormal(size=200)})
    released = shoal.protect(table, 4, ["a", "b"], method="mdav").data
    found = shoal.measure(table, released)
    for p in range(1, 11):
        x, y = table.to_numpy(), released.to_numpy()
        inside = np.abs(x - y) <= p / 100 * x.std(axis=0)
        assert found.interval_by_width["interval_disclosure_sd"][str(p)] == pytest.approx(100 * inside.mean())
        assert found.interval_by_width["interval_records_sd"][str(p)] == pytest.approx(100 * inside.all(axis=1).mean())
        cells = [(v, a, b) for v, u in zip(x.T, y.T, strict=True) for a, b in zip(v, u, strict=True)]
        ranks = np.array([slow.rank_distance(*cell) for cell in cells])
        assert found.interval_by_width["interval_disclosure"][str(p)] == pytest.approx(
            100 * (100 * ranks <= p * 200).mean()
        )
    for name, by_width in found.interval_by_width.items():
        assert list(by_width) == [str(p) for p in range(1, 11)]
        assert np.mean(list(by_width.values())) == pytest.approx(found[name])


def test_pairs_of_numbers_know_what_was_suppressed():
    there, kept = np.array([True, True, False]), np.array([True, False, False])
    assert NumericPair("x", np.zeros(3), np.zeros(3), there, kept).suppressed == 1
