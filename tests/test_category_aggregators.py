"""What is released for a group of categories, against slow versions and by hand; and the command line."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from command_line import run
from shoal.aggregate.categories import aggregate_category
from shoal.columns.categories import Factor, ordinal, semantic
from shoal.columns.hierarchy import distance_matrix, grow
from shoal.kernels.numbering import number_keys
from shoal.kernels.representatives import group_rows

TREE = grow([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("x", "top"), ("y", "top"), ("e", "top")])
LEVELS = ["0", "1", "2", "3", "4"]


def drawn(labels, n=200, groups=12, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.choice(labels, n).tolist()
    seen = list(dict.fromkeys(values))
    factor = Factor(np.array([seen.index(v) for v in values]), np.ones(n, dtype=bool), seen)
    return (
        values,
        factor,
        np.concatenate([np.arange(groups), rng.integers(0, groups, n - groups)]),
        rng.uniform(1, 3, n),
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("aggregator", "power"), [("centroid", 1), ("least-squares", 2)])
def test_the_centroid_has_the_least_sum_of_distances(aggregator, power, weighted):
    values, factor, groups, weights = drawn(["a", "b", "c", "d", "e", "x"])
    column = semantic("c", factor, TREE, "wu-palmer")
    released, observed = aggregate_category(column, group_rows(groups), 2, aggregator, weights if weighted else None)
    assert observed.all()
    every = distance_matrix(TREE) ** power
    for g in range(groups.max() + 1):
        rows = np.flatnonzero(groups == g)
        share = weights[rows] if weighted else np.ones(len(rows))
        sums = share @ every[TREE.codes_of([values[row] for row in rows])]
        chosen = TREE.code_of(column.names[released[rows[0]]])
        assert sums[chosen] == pytest.approx(sums.min())


def test_the_least_common_subsumer_is_above_all_and_no_lower_name_is():
    values, factor, groups, _ = drawn(["a", "b", "c", "d", "e"], n=40)
    column = semantic("c", factor, TREE, "wu-palmer")
    released, observed = aggregate_category(column, group_rows(groups), 1, "least-common-subsumer")
    assert observed.all()
    for g in range(groups.max() + 1):
        codes = TREE.codes_of([values[row] for row in np.flatnonzero(groups == g)])
        above = [node for node in range(len(TREE)) if TREE.covers(node, codes).all()]
        deepest = max(above, key=lambda node: TREE.depth[node])
        assert column.names[released[np.flatnonzero(groups == g)[0]]] == TREE.names[deepest]


def test_the_median_is_the_lower_one_and_the_convex_median_fills_valleys():
    values = ["0"] * 4 + ["1"] + ["4"] * 4
    labels = ["0", "1", "4"]
    factor = Factor(np.array([labels.index(v) for v in values]), np.ones(9, dtype=bool), labels)
    column = ordinal("c", factor, LEVELS)
    grouping = group_rows(np.zeros(9, dtype=np.int64))
    assert aggregate_category(column, grouping, 3, "median")[0].tolist() == [1] * 9
    # frequencies 4 1 0 0 4 become 4 4 4 4 4, whose median is the level in the middle
    assert aggregate_category(column, grouping, 3, "convex-median")[0].tolist() == [2] * 9


def test_keys_are_numbered_by_first_appearance():
    keys = np.random.default_rng(0).integers(-5000, 5000, 60_000)
    numbers, first, counts = number_keys(keys)
    seen = list(dict.fromkeys(keys.tolist()))
    assert keys[first].tolist() == seen
    assert np.array_equal(keys[first][numbers], keys)
    assert np.array_equal(counts, np.bincount(numbers))


def test_the_command_line_takes_hierarchies_orders_and_weights(tmp_path):
    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "job": rng.choice(["nurse", "doctor", "cook"], 60),
            "school": rng.choice(["low", "high"], 60),
            "ward": rng.choice([1, 2], 60),
            "age": rng.integers(20, 60, 60),
        }
    ).write_csv(tmp_path / "in.csv")
    (tmp_path / "jobs.csv").write_text("nurse;health;job\ndoctor;health;job\ncook;food;job\n", encoding="utf-8")
    words = ["protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", 4, "-q", "job,school,ward,age"]
    words += ["-m", "sa-mdav", "--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--order", "school=low,high"]
    words += ["--nominal", "ward", "--column-weight", "age=2", "--json"]
    result = run(*words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["smallest_group"] >= 4
    assert told["loss"] == told["information_loss"]
    assert set(told["loss_by_column"]) == {"job", "school", "ward", "age"}
    released = pl.read_csv(tmp_path / "out.csv")
    assert told["distinct_after"] == released.n_unique()
    assert told["global_risk"] == pytest.approx(100.0 * released.n_unique() / 60)
    assert told["distinct_before"] == pl.read_csv(tmp_path / "in.csv").n_unique()
    result = run(*words[:-3], "--column-weight", "age=much")
    assert result.exit_code == 2
    assert "--column-weight age=much: must be a number" in result.stderr
