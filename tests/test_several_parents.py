"""Hierarchies whose names have several parents, against walks over every path to the root."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import shoal
from command_line import run
from shoal.columns.hierarchy import COUNTED, DISTANCES, NodeDistances, grow
from shoal.errors import DataError, PlanError

# a person is an organism and a cause, a robot a machine and a cause
PAIRS = [
    ("thing", "top"),
    ("living", "thing"),
    ("person", "living"),
    ("person", "cause"),
    ("cause", "top"),
    ("machine", "thing"),
    ("robot", "machine"),
    ("robot", "cause"),
    ("nurse", "person"),
    ("baker", "person"),
    ("tree", "living"),
]
COUNTS = {"nurse": 5, "baker": 3, "robot": 2, "tree": 7, "person": 1}


def ways_up(name):
    """Every path from a name to the root, both ends counted."""
    parents = [parent for child, parent in PAIRS if child == name]
    return [[name, *way] for parent in parents for way in ways_up(parent)] or [[name]]


NAMES = list(dict.fromkeys(name for pair in PAIRS for name in pair))
ABOVE = {name: {node for way in ways_up(name) for node in way} for name in NAMES}


def slow_distance(kind, a, b):
    common = ABOVE[a] & ABOVE[b]
    if kind in COUNTED:
        total = sum(COUNTS.get(name, 0) + 1 for name in NAMES)
        content = {
            top: -math.log(sum(COUNTS.get(name, 0) + 1 for name in NAMES if top in ABOVE[name]) / total)
            for top in NAMES
        }
        both, shared = content[a] + content[b], max(content[name] for name in common)
        if kind == "jiang-conrath":
            return (both - 2 * shared) / (2 * max(content.values()))
        return 0.0 if a == b else 1 - 2 * shared / both
    steps = {
        node: min(way.index(node) for way in ways_up(a) if node in way)
        + min(way.index(node) for way in ways_up(b) if node in way)
        for node in common
    }
    depth = {name: min(map(len, ways_up(name))) for name in NAMES}
    if kind == "path":
        return min(steps.values()) / (2 * (max(depth.values()) - 1))
    return min(steps[node] / (steps[node] + 2 * depth[node]) for node in common)


@pytest.mark.parametrize("kind", DISTANCES)
def test_distances_are_over_the_nearest_common_ancestor_of_all_paths(kind):
    grown = grow(PAIRS, several=True)
    counts = np.array([COUNTS.get(name, 0) for name in grown.names]) if kind in COUNTED else None
    matrix = NodeDistances.of(grown, kind, counts).matrix()
    for a in NAMES:
        for b in NAMES:
            assert matrix[grown.code_of(a), grown.code_of(b)] == pytest.approx(slow_distance(kind, a, b)), (a, b)
    first = grow([pair for pair in PAIRS if pair not in (("person", "cause"), ("robot", "cause"))])
    alone = NodeDistances.of(first).between(first.code_of("nurse"), first.code_of("robot"))
    assert NodeDistances.of(grown).between(grown.code_of("nurse"), grown.code_of("robot")) < alone


def test_what_is_above_and_below_follows_every_path():
    grown = grow(PAIRS, several=True)
    for a in NAMES:
        assert {grown.names[node] for node in grown.closure(np.array([grown.code_of(a)]))} == ABOVE[a]
        for b in NAMES:
            assert bool(grown.covers(grown.code_of(a), grown.code_of(b))) == (a in ABOVE[b])
    assert grown.names[grown.subsumer_of(grown.codes_of(["nurse", "robot"]))] == "cause"
    totals = grown.totals(np.array([COUNTS.get(name, 0) for name in grown.names]))
    assert totals[grown.code_of("cause")] == 5 + 3 + 1 + 2
    assert totals[0] == sum(COUNTS.values())
    assert grown.pruned(grown.codes_of(["nurse", "robot"])) == grow(
        [pair for pair in PAIRS if pair[0] not in ("tree", "baker")], several=True
    )


def test_a_cycle_over_a_second_parent_is_told():
    with pytest.raises(DataError, match="is a cycle"):
        grow([("a", "top"), ("b", "a"), ("c", "b"), ("a", "c")], several=True)
    with pytest.raises(DataError, match="has 2 parents"):
        grow(PAIRS)


@pytest.mark.parametrize("ending", [".csv", ".yaml"])
def test_a_file_keeps_all_parents_where_the_plan_says_so(tmp_path, ending):
    grown = grow(PAIRS, several=True)
    path = tmp_path / f"things{ending}"
    shoal.HierarchyInspection(grown).write(path)
    again = shoal.load_hierarchy({"file": path, "several_parents": "all"})
    assert {(again.names[c], again.names[p]) for c, p in again.others} == {
        (grown.names[c], grown.names[p]) for c, p in grown.others
    }
    with pytest.raises(DataError, match="has 2 parents"):
        shoal.load_hierarchy(path)


@pytest.mark.parametrize("method", ["sa-mdav", "s-mdav", "sa-mondrian", "mondrian-mixed", "semantic-optimal"])
def test_a_release_by_several_parents_keeps_k_and_tells_the_names(method):
    table = pl.DataFrame({"what": ["nurse"] * 5 + ["robot"] * 2 + ["baker"] + ["tree"] * 4})
    things = grow(PAIRS, several=True)
    release = shoal.protect(table, 3, "what", method=method, hierarchies={"what": things})
    assert release.data["what"].value_counts()["count"].min() >= 3
    assert shoal.load_hierarchy(release.plan.hierarchies["what"]) == things
    by_common = shoal.protect(
        table, 3, "what", method=method, hierarchies={"what": things}, aggregators="least-common-subsumer"
    )
    for before, after in zip(table["what"], by_common.data["what"], strict=True):
        assert after in ABOVE[before]


def test_python_takes_a_hierarchy_itself():
    jobs = shoal.load_hierarchy({"tree": {"work": {"craft": ["baker", "smith"], "office": ["clerk", "typist"]}}})
    table = pl.DataFrame({"job": ["baker", "smith", "clerk", "typist", "clerk", "baker"]})
    release = shoal.protect(table, 3, "job", method="sa-mdav", hierarchies={"job": jobs})
    as_tree = {"tree": {"work": {"craft": ["baker", "smith"], "office": ["clerk", "typist"]}}}
    other = shoal.protect(table, 3, "job", method="sa-mdav", hierarchies={"job": as_tree})
    assert release.data.equals(other.data)
    again = shoal.protect(table, plan=release.plan)
    assert again.data.equals(release.data)
    alone = shoal.load_hierarchy({"flat": True}, [])
    assert (
        shoal.load_hierarchy(shoal.Plan(k=2, quasi_identifiers=["a"], hierarchies={"a": alone}).hierarchies["a"])
        == alone
    )


def test_codes_and_intervals_make_a_hierarchy_by_one_option(tmp_path):
    codes = ["10.11", "10.12", "10.13", "46.1", "46.2", "47"] * 2
    table = pl.DataFrame({"nace": codes, "age": [21, 22, 34, 35, 48, 49] * 2})
    table.write_csv(tmp_path / "firms.csv")
    settings = {"nace": {"prefixes": [2]}, "age": {"intervals": [10]}}
    release = shoal.protect(table, 4, ["nace", "age"], method="sa-mdav", hierarchies=settings, nominal=[])
    words = ["protect", tmp_path / "firms.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "nace,age", "-m", "sa-mdav"]
    words += ["--hierarchy", "nace=prefixes:2", "--hierarchy", "age=intervals:10"]
    told = run(*words)
    assert told.exit_code == 0, told.output
    text = pl.read_csv(tmp_path / "out.csv", schema_overrides={"nace": pl.String})
    assert text["nace"].to_list() == release.data["nace"].to_list()
    assert shoal.load_hierarchy({"prefixes": True}, ["A01", "A02", "A"]).names == ("*", "A", "A0", "A01", "A02")
    for wrong in ("x", [0], [3, 1], [1.5]):
        with pytest.raises(PlanError, match="prefixes: "):
            shoal.HierarchySettings(prefixes=wrong)
    assert "write sizes with commas" in run(*words[:-1], "age=intervals:ten").output
