"""Blocks: at least k records each, at most L where promised, cut as published, and repaired across their faces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from command_line import run
from reference import sse
from shoal.blocking import size as sizing
from shoal.blocking.blocks import BLOCKINGS
from shoal.blocking.fusing import fuse_small_blocks
from shoal.blocking.repair import repair_boundaries
from shoal.blocking.size import block_size
from shoal.blocking.two_d_tree import leaves_of_codes, split_leaves
from shoal.columns.scaling import Records
from shoal.kernels import chunks
from shoal.kernels.watch import new_watch
from small_tables import normal, table_of

DROP = ["UTILNAME", "STATE", "YEAR", "MONTH"]
# Solanas et al., Table 3.3: SSE of MDAV in the blocks of a 2^d-tree on EIA, by L and k
PUBLISHED = {(100, 3): 456.846, (200, 3): 464.589, (100, 5): 713.095, (200, 5): 734.925}


AWKWARD = {
    "normal": normal(500, 3),
    "all equal": np.ones((300, 2)),
    "90 % duplicates": np.vstack([np.zeros((450, 2)), normal(50, 2)]),
    "one column": normal(400, 1),
    "40 columns": normal(300, 40),
    "heavy tails": np.exp(5 * normal(400, 2)),
    "few values": np.random.default_rng(1).integers(0, 2, size=(400, 3)).astype(float),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("name", BLOCKINGS)
def test_every_block_has_at_least_k_records_and_every_record_one_block(name, case):
    blocks = BLOCKINGS[name](AWKWARD[case], 5, 50)
    sizes = np.bincount(blocks)
    assert sizes.min() >= 5
    assert sizes.sum() == len(AWKWARD[case])
    if name in ("spread-tree", "equal-counts"):
        assert sizes.max() <= 50


@given(seed=st.integers(0, 1000), n=st.integers(4, 120), d=st.integers(1, 3), name=st.sampled_from(sorted(BLOCKINGS)))
def test_blocks_are_never_too_small(seed, n, d, name):
    x = np.random.default_rng(seed).integers(0, 5, size=(n, d)).astype(float)
    assert np.bincount(BLOCKINGS[name](x, 4, 10)).min() >= 4


def sorted_and_divided(x, k, size):
    """Sort by the blocking variable, divide as often as needed: a list of lists of rows, with nothing below k."""
    waiting = [row for _, row in sorted((value, row) for row, value in enumerate(x))]
    blocks = []
    while waiting:
        taken, waiting = waiting[:size], waiting[size:]
        if len(taken) < k and blocks:
            blocks[-1] += taken
        else:
            blocks.append(taken)
    return blocks


@given(seed=st.integers(0, 1000), n=st.integers(4, 90), k=st.integers(1, 4), size=st.integers(8, 25))
def test_fixed_counts_are_the_sorted_column_cut_every_l_records(seed, n, k, size):
    x = np.random.default_rng(seed).integers(0, 12, size=(n, 2)).astype(float)  # many ties
    found = BLOCKINGS["fixed-counts"](x, k, size)
    for block, rows in enumerate(sorted_and_divided(x[:, 0], k, size)):
        assert sorted(rows) == np.flatnonzero(found == block).tolist()


def test_fixed_counts_leave_the_rest_to_the_last_block_where_equal_counts_share_it():
    x = normal(1010, 1)
    assert np.bincount(BLOCKINGS["fixed-counts"](x, 3, 100)).tolist() == [100] * 10 + [10]
    assert np.bincount(BLOCKINGS["fixed-counts"](x, 11, 100)).tolist() == [100] * 9 + [110]
    assert set(np.bincount(BLOCKINGS["equal-counts"](x, 3, 100)).tolist()) == {91, 92}


def test_fixed_counts_by_a_column_of_the_plan_and_of_the_command_line(tmp_path):
    settings = {"k": 4, "quasi_identifiers": ["a", "b"], "method": "mdav"}
    plan = shoal.Plan(**settings, blocking={"method": "fixed-counts", "size": 90, "columns": ["b"]})
    release = shoal.protect(table(), plan=plan)
    order = np.argsort(table()["b"].to_numpy())
    for start in range(0, 400, 90):
        inside, outside = (
            release.groups[order[start : start + 90]],
            release.groups[np.delete(order, slice(start, start + 90))],
        )
        assert not set(inside) & set(outside)
    table().write_csv(tmp_path / "in.csv")
    words = ["protect", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "-k", "4", "-q", "a,b", "--method", "mdav"]
    result = run(*words, "--blocking", "fixed-counts", "--block-size", "90", "--block-columns", "b")
    assert result.exit_code == 0, result.output
    assert np.allclose(pl.read_csv(tmp_path / "out.csv")["a"], release.data["a"])


def slow_cells(x, low, high, size):
    """Split a cell at the midpoint of every axis, one record at a time."""
    if len(x) <= size:
        return [sorted(map(tuple, x))] if len(x) else []
    middle = (low + high) / 2
    cells = []
    for side in np.ndindex(*[2] * x.shape[1]):
        upper = np.array(side, dtype=bool)
        inside = ((x >= middle) == upper).all(axis=1)
        cells += slow_cells(x[inside], np.where(upper, middle, low), np.where(upper, high, middle), size)
    return cells


@pytest.mark.parametrize(("n", "d", "size"), [(300, 2, 20), (200, 3, 10), (100, 1, 7)])
def test_cells_of_the_2d_tree_are_halved_at_midpoints(n, d, size):
    x = normal(n, d)
    cells = split_leaves(x, size)
    found = sorted(sorted(map(tuple, x[cells == c])) for c in np.unique(cells))
    assert found == sorted(slow_cells(x, x.min(axis=0), x.max(axis=0), size))


def halved_cells(x, low, high, size, levels=30):
    """Row numbers of the cells, halved with a dictionary of the sides, which any number of columns allows."""
    sides = {}
    for row, record in enumerate(x):
        sides.setdefault(tuple(record >= (low + high) / 2), []).append(row)
    if len(x) <= size or levels == 0:
        return [list(range(len(x)))]
    found = []
    for side, rows in sides.items():
        upper, middle = np.array(side), (low + high) / 2
        inner = halved_cells(x[rows], np.where(upper, middle, low), np.where(upper, high, middle), size, levels - 1)
        found += [[rows[row] for row in cell] for cell in inner]
    return found


@pytest.mark.parametrize("d", [3, 11, 40, 64, 70, 130])
def test_cells_are_the_same_where_codes_take_several_words(d):
    x = normal(500, d)
    x[100:300] = x[0] + 1e-5 * normal(200, d, 1)  # many levels deep
    x[300:330] = x[300]  # never apart
    low, high = x.min(axis=0), x.max(axis=0)
    cells = split_leaves(x, 8)
    found = sorted(np.flatnonzero(cells == c).tolist() for c in range(cells.max() + 1))
    assert found == sorted(halved_cells(x, low, high, 8))
    assert np.bincount(cells).max() == 30


def test_cells_follow_from_a_table_of_codes_that_something_else_counted():
    x = np.random.default_rng(3).random((2000, 4))
    low, width = x.min(axis=0), x.max(axis=0) - x.min(axis=0)
    places = np.minimum(((x - low) / width * 2**16).astype(int), 2**16 - 1)
    text = ["".join("".join(bits) for bits in zip(*(f"{p:016b}" for p in row), strict=True)) for row in places]
    table = pl.DataFrame({"code": text}).group_by("code").len().sort("code")
    codes = np.array([int(code, 2) for code in table["code"]], dtype=np.uint64)
    cells, full = leaves_of_codes(np.zeros(len(codes), dtype=np.int64), codes, table["len"].to_numpy(), 16, 4, 50)
    leaf_of = dict(zip(table["code"], cells.tolist(), strict=True))
    assert not full.any()
    assert split_leaves(x, 50).tolist() == [leaf_of[code] for code in text]


def test_uniform_records_make_the_published_number_of_cells():
    x = np.random.default_rng(0).uniform(-10000, 10000, size=(100_000, 2))
    # as in Table 3.1, all cells of a level or none exceed L: 24 and 98, 98 and 391, 391 and 1563 records on average
    assert [len(np.unique(split_leaves(x, size))) for size in (50, 200, 800)] == [4096, 1024, 256]


def test_small_blocks_join_the_nearest_centroid():
    x = np.array([[0.0], [0.2], [0.4], [3.0], [9.0], [9.1], [9.2]])
    assert fuse_small_blocks(x, np.array([0, 0, 0, 1, 2, 2, 2]), 2).tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("size", "k"), PUBLISHED)
def test_the_2d_tree_on_eia_is_as_published_or_better(reference_data, size, k):
    summary = shoal.protect(
        reference_data / "casc" / "eia.csv",
        k,
        method="mdav",
        identifiers=DROP,
        all_numeric=True,
        blocking={"method": "2d-tree", "size": size},
    ).summary
    assert summary.sse <= 1.02 * PUBLISHED[size, k]
    assert summary.blocks > 100


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("size", [100, 200])
@pytest.mark.parametrize("data", ["tarragona", "census", "eia"])
def test_the_spread_tree_loses_less_than_the_2d_tree_on_every_reference_set(reference_data, data, size, k):
    found = [
        shoal.protect(
            reference_data / "casc" / f"{data}.csv",
            k,
            method="mdav",
            identifiers=DROP if data == "eia" else [],
            all_numeric=True,
            blocking={"method": method, "size": size},
        ).summary.sse
        for method in ("spread-tree", "2d-tree")
    ]
    assert found[0] < found[1]


@pytest.mark.parametrize("d", [2, 3, 5, 10])
def test_the_spread_tree_loses_less_than_the_2d_tree_on_uniform_records(d):
    x = np.random.default_rng(d).uniform(-10_000, 10_000, size=(50_000, d))
    table = table_of(x)
    found = [
        shoal.protect(table, 3, table.columns, method="mdav", blocking={"method": method, "size": 2_000}).summary.sse
        for method in ("spread-tree", "2d-tree")
    ]
    assert found[0] < found[1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["2d-tree", "spread-tree", "equal-counts"])
def test_repair_lowers_the_loss_and_keeps_k(seed, name):
    x = normal(800, 5, seed)
    blocks = BLOCKINGS[name](x, 3, 100)
    groups = np.empty(len(x), dtype=np.int64)
    for b in np.unique(blocks):
        rows = blocks == b
        groups[rows] = 1000 * b + shoal.METHODS["mdav"].function(Records(x[rows]), 3, new_watch())
    groups = np.unique(groups, return_inverse=True)[1]
    repaired = repair_boundaries(x, groups, blocks, 3)
    assert np.bincount(repaired).min() >= 3
    assert np.bincount(repaired).max() <= max(5, np.bincount(groups).max())
    assert sse(x, repaired) < 0.98 * sse(x, groups)


def test_repair_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(chunks, "_CHUNK", 20)
    x = normal(2000, 3)
    blocks = BLOCKINGS["spread-tree"](x, 3, 300)
    groups = shoal.METHODS["mdav"].function(Records(x), 3, new_watch())
    one, three = (repair_boundaries(x, groups, blocks, 3, threads) for threads in (1, 3))
    assert np.array_equal(one, three)


def test_repair_never_mixes_strata():
    cut = {"method": "equal-counts", "size": 40, "repair": True}
    release = shoal.protect(table(), 4, ["a", "b", "c"], strata="half", blocking=cut, method="mdav")
    plain = shoal.protect(
        table(), 4, ["a", "b", "c"], strata="half", blocking={"method": "equal-counts", "size": 40}, method="mdav"
    )
    assert release.summary.sse < plain.summary.sse
    for g in np.unique(release.groups):
        assert table().filter(pl.Series(release.groups == g))["half"].n_unique() == 1


def table(n=400):
    x = normal(n, 3)
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "half": ["l", "r"] * (n // 2)})


@pytest.mark.parametrize("method", sorted(BLOCKINGS))
@pytest.mark.parametrize("repair", [False, True])
def test_a_blocked_release_keeps_its_promises_on_any_number_of_threads(method, repair):
    cut = {"method": method, "size": 40, "repair": repair}
    releases = [
        shoal.protect(table(), 4, ["a", "b", "c"], strata="half", blocking=cut, threads=threads, method="mdav")
        for threads in (1, 2, 5)
    ]
    assert releases[0].summary.smallest_group >= 4
    assert releases[0].summary.blocks >= 8
    for other in releases[1:]:
        assert releases[0].data.equals(other.data)


def test_blocks_as_large_as_the_table_change_nothing():
    whole = shoal.protect(table(), 4, ["a", "b"], method="mdav")
    blocked = shoal.protect(table(), 4, ["a", "b"], blocking={"method": "spread-tree", "size": 400}, method="mdav")
    assert whole.data.equals(blocked.data)


@pytest.mark.parametrize(
    ("blocking", "says"),
    [
        ({"method": "3d-tree"}, "blocking.method: must be '2d-tree'"),
        ({"method": "2d-tree", "size": 5}, "blocking.size: must be at least 2 k = 8"),
        ({"method": "univariate", "columns": ["a", "b"]}, "takes one column"),
        ({"method": "fixed-counts", "columns": ["a", "b"]}, "takes one column"),
        ({"method": "2d-tree", "columns": ["aa"]}, "'aa' is not a quasi-identifier; did you mean 'a'"),
        ({"method": "2d-tree", "sise": 50}, "there is no setting"),
    ],
)
def test_wrong_blocking_is_an_error_that_says_what(blocking, says):
    with pytest.raises(shoal.PlanError, match=says):
        shoal.protect(table(), 4, ["a", "b", "c"], blocking=blocking)


def test_repair_takes_missing_values():
    holes = table().with_columns(pl.when(pl.col("a") > 1).then(None).otherwise(pl.col("a")).alias("a"))
    asked = {"k": 4, "quasi_identifiers": ["a", "b"], "method": "mdav"}
    cut = {"method": "2d-tree", "size": 60}
    plain, repaired = (shoal.protect(holes, **asked, blocking={**cut, "repair": on}).summary for on in (False, True))
    assert repaired.information_loss < plain.information_loss


def test_small_tables_are_one_block():
    for d in (1, 2, 5, 10, 60):
        assert block_size(5_000, d, 3) == 5_000
    # exact, these take seconds
    assert block_size(200_000, 5, 3) == 200_000


def test_automatic_block_sizes_shrink_with_the_number_of_columns():
    n = 10**8
    sizes = [block_size(n, d, 3) for d in (5, 10, 20, 60)]
    assert sizes == sorted(sizes, reverse=True)
    assert 5_000 <= sizes[-1] < sizes[0] < n


@pytest.mark.parametrize("d", [5, 10, 20])
def test_larger_groups_have_larger_blocks_since_they_are_fewer_to_search_for(d):
    sizes = [block_size(10**8, d, k) for k in (3, 5, 10, 30)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] < 10**8


def test_blocks_are_no_larger_than_it_takes_to_lose_next_to_nothing():
    """In two columns few records lie near a face, and larger groups feel it even less."""
    few, many = block_size(10**8, 2, 3), block_size(10**8, 2, 30)
    assert 5_000 < many < few < block_size(10**8, 3, 3)
    for k, length in ((3, few), (30, many)):
        more = sizing._FACES[0] * (k / 3) ** sizing._FACE_EXPONENT_OF_K * ((3 / length) ** 0.5 - (3 / 10**8) ** 0.5)
        assert more == pytest.approx(0.002, rel=0.001)


def test_a_table_that_is_cut_is_cut_into_eight_or_more():
    assert block_size(10**6, 5, 3) == 10**6 // 8


def test_the_time_that_is_predicted_stays_within_the_budget():
    for n in (300_000, 3_000_000, 30_000_000):
        for d, base, exponent in zip(sizing._COLUMNS, sizing._MICROSECONDS, sizing._EXPONENTS, strict=True):
            for k in (3, 10):
                length = block_size(n, d, k)
                microseconds = base * (length / 10_000) ** exponent * (k / 3) ** sizing._EXPONENT_OF_K
                assert length <= 5_000 or n * microseconds <= 1.001 * max(10e6, 10 * n)


def test_the_model_of_block_sizes_is_the_one_that_was_measured():
    path = Path(__file__).parent.parent / "benchmarks" / "results" / "cost.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    time = [row for row in rows if row.get("part") == "model"]
    assert tuple(row["d"] for row in time) == sizing._COLUMNS
    assert tuple(row["microseconds"] for row in time) == sizing._MICROSECONDS
    assert tuple(row["exponent"] for row in time) == sizing._EXPONENTS
    faces = [row for row in rows if row.get("part") == "model faces"]
    assert tuple(row["d"] for row in faces) == sizing._FACE_COLUMNS
    assert tuple(row["factor"] for row in faces) == sizing._FACES
    (of_k,) = (row for row in rows if row.get("part") == "model k")
    (of_faces,) = (row for row in rows if row.get("part") == "model faces k")
    assert of_k["exponent"] == sizing._EXPONENT_OF_K
    assert of_faces["exponent"] == sizing._FACE_EXPONENT_OF_K


def test_the_recorded_figures_are_those_that_the_page_draws_its_conclusions_from():
    folder = Path(__file__).parent.parent / "benchmarks" / "results"
    rows, earlier = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
        for name in ("blocking_figures", "blocking")
    )
    univariate = [row for row in earlier if row["part"] == "simulated" and row["method"] == "univariate"]
    assert [row["d"] for row in univariate] == [2, 3, 4, 5, 10]
    for row in univariate:
        assert row["sse"] == pytest.approx(row["published"][1], rel=4e-3), row["d"]
    sums = {(row["n"], row["size"], row["method"]): row["sse"] for row in rows if row["part"] == "by L and n"}
    for (n, size, method), found in sums.items():
        if method == "2d-tree":
            assert found < sums[n, size, "univariate"], (n, size)
            assert found == pytest.approx(sums[100_000, size, method], rel=0.1), (n, size)
    linkage = {(r["data"], r["n"], r["d"], r["method"], r["size"]): r for r in rows if r["part"] == "linkage"}
    for (*table_, _, size), row in linkage.items():
        exact = linkage[*table_, "index", 0]
        assert size == 0 or row["dbrl"] < exact["dbrl"] + 4 * row["error"]
        assert size > 0 or row["dbrl"] == pytest.approx(exact["dbrl"], abs=4 * row["error"] + 1e-9)


def test_automatic_blocks_of_a_table_are_those_of_the_model(monkeypatch):
    monkeypatch.setattr(sizing, "_LEAST", 50)
    monkeypatch.setattr(sizing, "_BUDGET", 2e-4)
    release = shoal.protect(table(), 4, ["a", "b", "c"], blocking="equal-counts", method="mdav")
    assert release.summary.blocks == -(-400 // block_size(400, 3, 4)) > 1
    holes = table().with_columns(pl.when(pl.col("a") > 1).then(None).otherwise(pl.col("a")).alias("a"))
    release = shoal.protect(holes, 4, ["a", "b", "c"], blocking="equal-counts", method="mdav")
    assert release.summary.blocks == -(-400 // block_size(400, 4, 4))
