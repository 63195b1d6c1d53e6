"""The promise of the neighbour index: the groups, and every single answer, are those of looking at every record."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.columns.scaling import Records
from shoal.kernels import pool as pools
from shoal.kernels import spanning_tree
from shoal.kernels.brute import open_brute_pool
from shoal.kernels.compiling import kernel
from shoal.kernels.tree import open_tree_pool
from shoal.kernels.watch import new_watch
from shoal.partition.methods import METHODS

NUMERIC = [name for name, method in METHODS.items() if not method.mixed]

# What the options are tried with. A new option that is not named here fails the test of its method.
TRIED = {
    ("v-mdav", "gamma"): [0.0, 0.2, 0.9, 1.1, 3.0],
    ("iv-mdav", "gamma"): [0.3, 1.16],
    ("iv-mdav", "candidates"): [2, 3],
    ("iv-mdav", "outlier"): [None, 0.8, 1.5],
    ("fuzzy-c-means", "fuzziness"): [1.2],
    ("fuzzy-c-means", "clusters"): [4],
    ("two-step-ga", "part"): [2, 5],
    ("two-step-ga", "population"): [3],
    ("two-step-ga", "generations"): [2],
    ("optimal", "steps"): [300],
    ("optimal", "time"): [None],
    ("optimal", "gap"): [None],
    ("optimal", "bound"): [None],
}


def _normal(rng, n, d):
    return rng.normal(size=(n, d))


def _clusters(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 1) + 9.0 * rng.integers(0, 8, size=(n, 1))


FAMILIES = {
    "normal": _normal,
    "clusters": _clusters,
    "ties": lambda rng, n, d: rng.integers(0, rng.integers(2, 30), size=(n, d)) / rng.choice([1.0, 7.0]),
    "duplicates": lambda rng, n, d: rng.normal(size=(n // 4 + 1, d))[rng.integers(0, n // 4 + 1, size=n)].round(1),
    "mostly zero": lambda rng, n, d: np.where(rng.random((n, 1)) < 0.8, 0.0, rng.normal(size=(n, d)).round(1)),
    "heavy tails": lambda rng, n, d: np.exp(rng.integers(2, 40) * rng.normal(size=(n, d))),
    "powers of two": lambda rng, n, d: 2.0 ** rng.integers(-300, 300, size=(n, d)),
    "too small for squares": lambda rng, n, d: np.where(
        rng.random((n, d)) < 0.1, 1.0, rng.normal(size=(n, d)) * 1e-161
    ),
    "far away": lambda rng, n, d: rng.normal(size=(n, d)).round(2) + 1e8,
}


@st.composite
def tables(draw):
    """Records of every family, some with a constant column, with sizes that make the tree be built anew or not."""
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    n, d = draw(st.sampled_from([40, 127, 129, 200, 333, 600])), draw(st.integers(1, 3))
    x = FAMILIES[draw(st.sampled_from(sorted(FAMILIES)))](rng, n, d)
    if draw(st.booleans()):
        x[:, 0] = 3.0
    return np.ascontiguousarray(x)


@contextmanager
def index(used):
    """Let every pool and tree use the index, or none."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pools, spanning_tree):
            patch.setattr(module, "worth_indexing", lambda n: used)
        yield


def partition(name, x, k, options, indexed):
    drawn = {"seed": 1} if METHODS[name].seeded else {}
    with index(indexed):
        return METHODS[name].function(Records(x), k, new_watch(), **options, **drawn)


def values_of(name, option):
    if option.choices:
        return list(option.choices)
    return [False, True] if option.kind is bool else TRIED[name, option.name]


@pytest.mark.parametrize("name", NUMERIC)
def test_every_method_finds_the_groups_of_looking_at_every_record(name):
    given_options = {option.name: st.sampled_from(values_of(name, option)) for option in METHODS[name].options}

    @settings(max_examples=5 if name == "optimal" else 20)
    @given(x=tables(), k=st.sampled_from([2, 3, 5, 10]), options=st.fixed_dictionaries(given_options))
    def same(x, k, options):
        assert np.array_equal(partition(name, x, k, options, True), partition(name, x, k, options, False))

    same()


@pytest.mark.parametrize(("seed", "k", "gamma"), [(1, 5, 1.1), (3, 10, 1.1), (1, 5, 0.9)])
def test_v_mdav_is_the_same_on_both_sides_of_the_threshold(seed, k, gamma):
    for n in (4999, 5000, 5001):
        x = np.random.default_rng(seed).normal(size=(n, 3))
        found = METHODS["v-mdav"].function(Records(x), k, new_watch(), gamma=gamma)
        assert np.bincount(found).min() >= k
        assert np.array_equal(found, partition("v-mdav", x, k, {"gamma": gamma}, False))


FARTHEST_FROM_CENTROID, FARTHEST, NEAREST, NEAREST_TO_POINT, REMOVE = range(5)


@kernel
def _answer(pool, questions, points, count, left, rows_out, distances_out):
    """Put questions (m, 2), what and about which row, to a pool; rows may have left, but leave only once."""
    for q in range(questions.shape[0]):
        what, row = questions[q]
        rows, distances = rows_out[q], distances_out[q]
        if pool.size[0] <= count:
            return
        if what == FARTHEST_FROM_CENTROID:
            rows[0] = pools.farthest_from_centroid(pool)
        elif what == FARTHEST:
            rows[0] = pools.farthest(pool, row)
        elif what == NEAREST:
            pools.nearest(pool, row, count, rows, distances)
        elif what == NEAREST_TO_POINT:
            pools.nearest_to_point(pool, points[q], count, rows, distances)
        elif not left[row]:
            pools.remove(pool, row)
            left[row] = True


def answers(opened, questions, points, count):
    n, m = len(opened.values), len(questions)
    rows, distances = np.full((m, count), -1), np.full((m, count), -1.0)
    _answer(opened, questions, points, count, np.zeros(n, dtype=bool), rows, distances)
    return rows, distances


@st.composite
def interrogations(draw):
    """A table, and questions about it: most take a record away, some of them the largest first."""
    x = draw(tables())
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    rows = rng.permutation(len(x)) if draw(st.booleans()) else np.argsort(-np.abs(x).max(axis=1), kind="stable")
    questions = np.column_stack([rng.integers(0, 4, size=4 * len(x)), rng.integers(0, len(x), size=4 * len(x))])
    questions[::2] = np.column_stack([np.full(len(x), REMOVE), rows]).repeat(2, axis=0)
    points = x[rng.integers(0, len(x), size=len(questions))] * rng.choice([1.0, -0.5, 1e30], size=(len(questions), 1))
    return x, questions, points, draw(st.sampled_from([1, 2, 7]))


@settings(max_examples=150)
@given(interrogations())
def test_every_answer_of_the_index_is_that_of_looking_at_every_record(asked):
    x, questions, points, count = asked
    rows, distances = answers(open_tree_pool(x), questions, points, count)
    slow_rows, slow_distances = answers(open_brute_pool(x), questions, points, count)
    assert np.array_equal(rows, slow_rows)
    assert np.array_equal(distances, slow_distances)


@given(interrogations())
def test_no_answer_names_a_record_that_has_left(asked):
    x, questions, points, count = asked
    rows, _ = answers(open_tree_pool(x), questions, points, count)
    here = np.ones(len(x), dtype=bool)
    for (what, row), found in zip(questions, rows, strict=True):
        if here.sum() <= count:
            break
        if what == REMOVE:
            here[row] = False
        else:
            assert here[found[found >= 0]].all()
