"""The tree and its distances, against walks from parent to parent, and the problems that growing one can find."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.columns.hierarchy import (
    COUNTED,
    DISTANCES,
    Hierarchy,
    NodeDistances,
    distance_matrix,
    grow,
    load_hierarchy,
    order_values,
)
from shoal.errors import DataError, PlanError
from slow_hierarchy import above, subsumer, trees


def slow_distance(pairs, kind, counts, a, b):
    """The formulas, each level found by walking."""
    names = {name for pair in pairs for name in pair} | {a, b}
    common = subsumer(pairs, a, b)
    if kind in COUNTED:
        at_or_below = {top: [name for name in names if top in above(pairs, name)] for top in (a, b, common)}
        total = sum(counts[name] + 1 for name in names)
        content = {top: -math.log(sum(counts[n] + 1 for n in under) / total) for top, under in at_or_below.items()}
        both = content[a] + content[b]
        if kind == "jiang-conrath":
            every = [sum(counts[n] + 1 for n in names if top in above(pairs, n)) for top in names]
            return (both - 2 * content[common]) / (2 * math.log(total / min(every)))
        return 0.0 if both == 0 else 1 - 2 * content[common] / both
    depth = {name: len(above(pairs, name)) for name in names}
    if kind == "path":
        edges = above(pairs, a).index(common) + above(pairs, b).index(common)
        return edges / max(2 * (max(depth.values()) - 1), 1)
    return 1 - 2 * depth[common] / (depth[a] + depth[b])


@given(trees())
def test_a_grown_hierarchy_has_the_parents_that_were_given(tree):
    pairs, root = tree
    grown = grow(pairs, root=root)
    assert grown.names[grown.root] == root
    assert {(grown.names[i], grown.names[p]) for i, p in enumerate(grown.parent) if p >= 0} == set(pairs)
    for code, name in enumerate(grown.names):
        path = above(pairs, name)
        assert grown.depth[code] == len(path)
        assert [grown.names[a] for a in grown.ancestors(code)] == path[1:]
        assert {grown.names[c] for c in grown.children(code)} == {child for child, parent in pairs if parent == name}
        assert {grown.names[c] for c in grown.below(code)} == {n for n in grown.names if name in above(pairs, n)}
        assert grown.leaves[code] == (len(grown.children(code)) == 0)
        assert grown.code_of(name) == code


@given(trees(), st.data())
def test_least_common_subsumers_are_those_found_by_walking(tree, data):
    pairs, root = tree
    grown = grow(pairs, root=root)
    a, b = np.meshgrid(np.arange(len(grown)), np.arange(len(grown)))
    found = grown.least_common_subsumer(a, b)
    for i, j, common in zip(a.ravel(), b.ravel(), found.ravel(), strict=True):
        assert grown.names[common] == subsumer(pairs, grown.names[i], grown.names[j])
    members = data.draw(st.lists(st.integers(0, len(grown) - 1), min_size=1))
    common = members[0]
    for other in members[1:]:
        common = int(grown.least_common_subsumer(common, other))
    assert grown.subsumer_of(np.array(members)) == common


@settings(max_examples=60)
@given(trees(), st.data())
def test_values_are_ordered_with_subtrees_together_and_parents_after_their_children(tree, data):
    pairs, root = tree
    grown = grow(pairs, root=root)
    values = np.unique(data.draw(st.lists(st.integers(0, len(grown) - 1), min_size=1)))
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values))), dtype=float)
    places, mixed = order_values(grown, values, counts, NodeDistances.of(grown).matrix(values, values))
    for place in (places, mixed):
        assert sorted(place[values]) == list(range(len(values)))
        for node in range(len(grown)):
            run = place[[value for value in values if grown.covers(node, value)]]
            assert len(run) == 0 or run.max() - run.min() == len(run) - 1
    for value in values:
        assert all(places[value] > places[other] for other in values if other != value and grown.covers(value, other))


def test_the_order_of_siblings_has_near_ones_side_by_side_and_does_not_follow_the_rows():
    pairs = [("a", "x"), ("b", "x"), ("c", "x"), ("p", "a"), ("q", "c"), ("x", "top"), ("y", "top")]
    for turn in range(len(pairs)):
        grown = grow(pairs[turn:] + pairs[:turn])
        values = np.sort(grown.codes_of(["p", "b", "q", "y"]))
        counts = np.array([{"p": 4.0, "b": 1.0, "q": 2.0, "y": 9.0}[grown.names[value]] for value in values])
        places, _ = order_values(grown, values, counts, NodeDistances.of(grown).matrix(values, values))
        order = [grown.names[value] for value in values[np.argsort(places[values])]]
        assert order == ["q", "b", "p", "y"]  # b is nearer to both than they are to each other; q is rarer than p


def test_siblings_with_an_order_of_their_own_keep_it():
    ages = load_hierarchy({"intervals": [10]}, ["25", "3", "14"])
    values = np.sort(ages.codes_of(["25", "3", "14"]))
    places, _ = order_values(ages, values, np.array([9.0, 5.0, 1.0]), NodeDistances.of(ages).matrix(values, values))
    assert [ages.names[value] for value in values[np.argsort(places[values])]] == ["3", "14", "25"]


def test_the_mixed_traversal_puts_a_value_before_those_below_it_where_that_is_nearer():
    grown = grow([("a", "top"), ("b", "top"), ("x", "b"), ("y", "x"), ("z", "y")])
    values = np.sort(grown.codes_of(["a", "b", "z"]))
    counts = np.array([1.0, 2.0, 3.0])
    places, mixed = order_values(grown, values, counts, NodeDistances.of(grown).matrix(values, values))
    assert [grown.names[value] for value in values[np.argsort(places[values])]] == ["a", "z", "b"]
    assert [grown.names[value] for value in values[np.argsort(mixed[values])]] == ["a", "b", "z"]


@settings(max_examples=60)
@given(trees(12), st.sampled_from(DISTANCES), st.data())
def test_distances_follow_the_formulas_and_are_symmetric_and_zero_on_equal_values_only(tree, kind, data):
    pairs, root = tree
    grown = grow(pairs, root=root)
    counts = {name: data.draw(st.integers(0, 9)) for name in grown.names}
    frequencies = np.array([counts[name] for name in grown.names]) if kind in COUNTED else None
    matrix = distance_matrix(grown, kind, frequencies)
    slow = [[slow_distance(pairs, kind, counts, a, b) for b in grown.names] for a in grown.names]
    np.testing.assert_allclose(matrix, slow, atol=1e-12)
    assert np.array_equal(matrix, matrix.T)
    assert np.array_equal(matrix == 0, np.eye(len(grown), dtype=bool))
    assert matrix.max() <= 1


@settings(max_examples=50)
@given(trees(), st.data())
def test_a_pruned_hierarchy_keeps_the_distances_and_holds_every_best_centre(tree, data):
    pairs, root = tree
    grown = grow(pairs, root=root)
    values = np.array(data.draw(st.lists(st.integers(0, len(grown) - 1), min_size=1)))
    pruned = grown.pruned(values)
    kept = grown.codes_of(pruned.names)
    assert set(pruned.names) == {n for v in values for n in above(pairs, grown.names[v])}
    whole = distance_matrix(grown)
    np.testing.assert_array_equal(distance_matrix(pruned), whole[np.ix_(kept, kept)])
    sums = whole[:, values].sum(axis=1)
    assert sums[kept].min() == pytest.approx(sums.min())
    outside = np.setdiff1d(np.arange(len(grown)), kept)
    assert np.all(sums[outside] > sums[kept].min())


def test_pairs_and_parts_of_the_matrix_agree_with_the_whole(monkeypatch):
    rng = np.random.default_rng(1)
    grown = grow([(f"n{i}", f"n{rng.integers(0, i)}") for i in range(1, 200)])
    frequencies = rng.integers(0, 20, len(grown))
    monkeypatch.setattr("shoal.columns.hierarchy.distances._PIECE", 64)
    for kind in DISTANCES:
        measured = NodeDistances.of(grown, kind, frequencies if kind in COUNTED else None)
        whole = measured.matrix()
        rows, columns = rng.integers(0, 200, 30), rng.integers(0, 200, 40)
        np.testing.assert_array_equal(measured.matrix(rows, columns), whole[np.ix_(rows, columns)])
        np.testing.assert_array_equal(measured.between(rows, columns[:30]), whole[rows, columns[:30]])


def test_a_hundred_thousand_nodes_answer_by_their_ancestors():
    rng = np.random.default_rng(2)
    above = np.concatenate([[0], rng.integers(np.arange(1, 100_000) // 3, np.arange(1, 100_000))])
    pairs = [(f"n{i}", f"n{above[i]}") for i in range(1, 100_000)]
    grown = grow(pairs)
    a, b = rng.integers(0, len(grown), 1000), rng.integers(0, len(grown), 1000)
    found = grown.least_common_subsumer(a, b)
    lookup = dict(pairs)
    for i, j, common in zip(a[:100], b[:100], found[:100], strict=True):
        one, other = [grown.names[i]], [grown.names[j]]
        for path in (one, other):
            while path[-1] in lookup:
                path.append(lookup[path[-1]])
        assert grown.names[common] == next(name for name in one if name in set(other))


def test_a_hierarchy_of_one_node_has_no_distances():
    alone = grow([], root="all")
    assert alone.names == ("all",)
    for kind in DISTANCES:
        assert distance_matrix(alone, kind, np.array([3]) if kind in COUNTED else None) == 0


def test_all_problems_are_told_at_once():
    pairs = [("a", "root"), ("a", "b"), ("b", "root"), ("x", "y"), ("y", "z"), ("z", "x"), ("q", "other")]
    with pytest.raises(DataError) as caught:
        grow(pairs)
    assert caught.value.mistakes == [
        "'a' has 2 parents, 'root' and 'b'; give it one",
        "'x' -> 'y' -> 'z' -> 'x' is a cycle: no name can be above itself",
        "2 names have nothing above them, 'root' and 'other'; give them one root in common",
    ]


@pytest.mark.parametrize(
    ("pairs", "root", "told"),
    [
        ([], None, "the hierarchy is empty"),
        ([("a", "a")], None, "'a' -> 'a' is a cycle"),
        ([("a", "b")], "a", "'a' is to be the root, and has 'b' above it"),
        ([("a", "b"), ("c", "d")], "b", "'d' cannot be reached from the root 'b'"),
        ([("a", "b"), ("c", "b"), ("d", "e"), ("e", "d")], None, "'d' -> 'e' -> 'd' is a cycle"),
    ],
)
def test_each_problem_is_told(pairs, root, told):
    with pytest.raises(DataError, match=told):
        grow(pairs, root=root)


def test_a_name_that_is_not_there_gives_the_nearest():
    with pytest.raises(DataError, match="'Span' is not in the hierarchy; did you mean 'Spain'"):
        grow([("Spain", "world")]).code_of("Span")


@pytest.mark.parametrize(
    ("kind", "frequencies", "told"),
    [
        ("wu-plmer", None, "there is no distance 'wu-plmer'; did you mean 'wu-palmer'?"),
        ("information-content", None, "needs the frequencies"),
        ("path", [1, 1], "takes no frequencies"),
        ("information-content", [1], "one number for each node"),
        ("information-content", [1, -1], "none below 0"),
    ],
)
def test_a_distance_that_makes_no_sense_is_refused(kind, frequencies, told):
    grown = grow([("a", "b")])
    with pytest.raises(PlanError, match=told):
        distance_matrix(grown, kind, None if frequencies is None else np.array(frequencies))


@pytest.mark.parametrize(
    ("names", "parent"),
    [((), []), (("a",), [0]), (("a", "b"), [-1, 1]), (("a", "a"), [-1, 0]), (("a", "b", "c", "d"), [-1, 0, 0, 1])],
)
def test_a_hierarchy_that_is_no_tree_in_pre_order_cannot_be_made(names, parent):
    with pytest.raises(ValueError, match=r"node|parent"):
        Hierarchy(names, np.array(parent, dtype=np.int64))


def test_hierarchies_are_equal_by_what_they_hold():
    one, same = grow([("a", "b"), ("c", "b")]), grow([("a", "b"), ("c", "b"), ("a", "b")])
    assert one == same
    assert hash(one) == hash(same)
    assert one != grow([("c", "b"), ("a", "b")])
    assert Counter([one, same]) == {one: 2}
