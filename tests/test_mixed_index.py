"""The neighbour index of records of any kind: every method has the groups that looking at all records gives."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.columns.categories import Factor, nominal, ordinal, semantic
from shoal.columns.hierarchy import grow
from shoal.columns.mixed import Mixed, mix
from shoal.columns.numbers import Column
from shoal.columns.scaling import fit_scale
from shoal.kernels.box_search import farthest_in, nearest_in
from shoal.kernels.box_tree import leave, open_boxes
from shoal.kernels.watch import new_watch
from shoal.partition import mdav_by_record, near_centres, semantic_mdav
from shoal.partition.methods import METHODS

OPTIONS = {
    "sa-mdav": ({}, {"rare": 2}, {"dissolve": True}),
    "sa-mdav-static": ({}, {"rare": 1}),
    "s-mdav": ({}, {"around": "seed"}),
    "mdav-generic": ({},),
}
CASES = [(method, options) for method, several in OPTIONS.items() for options in several]
EDGES = [(f"leaf{a}.{b}", f"part{a}") for a in range(4) for b in range(3)] + [(f"part{a}", "all") for a in range(4)]


def records(n: int, *, missing: bool, repeated: bool, numbers: bool = True, distance: str = "wu-palmer") -> Mixed:
    rng = np.random.default_rng([n, missing, repeated, numbers])

    def seen() -> np.ndarray:
        return rng.random(n) >= 0.15 if missing else np.ones(n, dtype=bool)

    def factor(labels: list[str]) -> Factor:
        return Factor(rng.integers(len(labels), size=n), seen(), labels)

    hierarchy = grow(EDGES)
    columns = [
        semantic("job", factor([a for a, _ in EDGES if a.startswith("leaf")]), hierarchy, distance),
        ordinal("school", factor(["low", "mid", "high"]), ["low", "mid", "high"]),
        nominal("sex", factor(["f", "m", "x"])),
        nominal("town", factor([f"t{t}" for t in range(600)])),  # too many for a table of distances
    ]
    if numbers:
        values = rng.integers(6, size=n).astype(float) if repeated else rng.normal(size=n)
        columns += [Column("age", values, seen()), Column("pay", np.round(rng.lognormal(size=n), 1), seen())]
    if repeated:
        columns = [column for column in columns if column.name != "town"]
    scales = [fit_scale(column, "z-score") if isinstance(column, Column) else None for column in columns]
    return mix(columns, scales, [1.0 + 0.5 * (j % 2) for j in range(len(columns))])


def both_ways(monkeypatch: pytest.MonkeyPatch, method: str, options: dict, table: Mixed, k: int) -> list[np.ndarray]:
    found = []
    for on in (False, True):
        for module in (semantic_mdav, mdav_by_record, near_centres):
            monkeypatch.setattr(module, "worth_boxes", lambda m, on=on: on and m > 0)
        found.append(METHODS[method].function(table, k, new_watch(), **options))
    return found


@pytest.mark.parametrize("shape", ["numbers", "categories"])
@pytest.mark.parametrize("repeated", [False, True], ids=["", "repeated"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize(("method", "options"), CASES)
def test_groups_are_those_of_a_look_at_every_record(monkeypatch, method, options, missing, repeated, shape):
    for n, k in ((7, 2), (40, 3), (333, 5), (900, 3)):
        table = records(n, missing=missing, repeated=repeated, numbers=shape == "numbers")
        brute, indexed = both_ways(monkeypatch, method, options, table, k)
        assert np.array_equal(brute, indexed), (n, k)


def slow_distance(table: Mixed, i: int, other: int) -> float:
    """The distance as it is written down: the weighted sum of those of the cells."""
    metric, total = table.by_distance, 0.0
    for j, kind in enumerate(metric.kinds):
        a, b = table.values[i, j], table.values[other, j]
        if np.isnan(a) and np.isnan(b):
            off = 0.0
        elif np.isnan(a) or np.isnan(b):
            there = b if np.isnan(a) else a
            off = 1.0 if kind else np.sqrt((there - metric.mean[j]) ** 2 + metric.deviation[j] ** 2)
        elif kind == 0:
            off = abs(a - b)
        elif kind == 1:
            off = float(a != b)
        else:
            off = metric.tables[metric.offset[j] + int(a) * metric.width[j] + int(b)]
        total += metric.weights[j] * off
    return total


@pytest.mark.parametrize("distance", ["wu-palmer", "path"])
@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
def test_the_nearest_and_the_farthest_are_found_while_records_leave(missing, distance):
    table = records(200, missing=missing, repeated=True, distance=distance)
    m = len(table.counts)
    tree = open_boxes(table.values, table.by_distance, table.keys)
    numbers, found, off = np.arange(m), np.empty(4, dtype=np.int64), np.empty(4)
    remain = set(range(m))
    for i in np.random.default_rng(1).permutation(m)[: m - 6].tolist():
        far = {other: slow_distance(table, other, i) for other in remain}
        nearest = sorted((off, other) for other, off in far.items() if other != i)[:4]
        assert nearest_in(tree, table.values[i], numbers, i, found, off) == len(nearest)
        assert found.tolist() == [other for _, other in nearest]
        assert farthest_in(tree, table.values[i], numbers) == min(far, key=lambda other: (-far[other], other))
        leave(tree, i)
        remain.remove(i)
