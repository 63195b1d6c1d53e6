"""Blocks of engines: every method and way to cut works or is refused, and no block is larger than was said."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.blocking.blocks import BLOCKINGS, IN_PASSES
from shoal.blocking.categories import cut_categories, line_ends, places_on_line
from shoal.blocking.spread_cells import cut_cells, grow_spread_tree
from shoal.columns.categories import Factor, nominal, semantic
from shoal.columns.hierarchy import grow
from shoal.engines.duckdb import DuckdbEngine
from shoal.partition.methods import METHODS
from shoal.plan.roles import Kind
from shoal.release.block_worker import BlockWorker
from tables_for_engines import PLANS, TABLE, digest

pytest.importorskip("duckdb")
SMALL = TABLE.head(200)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "in.parquet"
    SMALL.write_parquet(path)
    return path


def settings_of(name, blocking):
    method = METHODS[name]
    names = ["a", "b"] if Kind.NUMERIC in method.kinds else ["o"]
    options = {"steps": 100} if method.search else {}
    cut = {"method": blocking, "size": 80, "columns": names[:1]}
    if method.by_column:  # each column is cut by itself
        cut.pop("columns")
    asked = {"distinct": {"j": {"distinct": 2}}, "t": {"c": {"t": 0.3}}}.get(method.needs, {})
    return {
        **{"k": 3, "quasi_identifiers": names, "method": name, "options": options, "blocking": cut},
        **({"conditions": asked} if asked else {}),
    }


WAYS = list(zip(METHODS, cycle(IN_PASSES), strict=False))  # every method, each with one way, and every way with many


@pytest.mark.parametrize(("name", "blocking"), WAYS)
def test_every_method_works_block_by_block(name, blocking, small, tmp_path):
    """Walks the list of methods, so that a new one is tried without a change here."""
    plan = settings_of(name, blocking)
    if Kind.NUMERIC not in METHODS[name].kinds:
        plan["blocking"] = {"method": "categories", "size": 80}
    memory = shoal.protect(SMALL, **plan, engine="memory")
    shoal.protect(small, **plan, engine="duckdb", output=tmp_path / "out.parquet")
    assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(memory.data)
    assert memory.summary.smallest_group >= 3


@pytest.mark.parametrize("blocking", sorted(set(BLOCKINGS) - set(IN_PASSES)))
def test_ways_that_sort_all_records_are_refused_before_any_work(blocking, small, tmp_path):
    with pytest.raises(shoal.PlanError, match=f"'{blocking}' sorts all records"):
        shoal.protect(small, **settings_of("mdav", blocking), engine="duckdb", output=tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("case", ["equal records", "univariate", "spread tree", "categories alone", "numbers"])
@pytest.mark.parametrize("size", [16, 60])
def test_no_block_is_larger_than_twice_what_was_said(case, size, monkeypatch):
    seen = []
    protect = BlockWorker.protect

    def watched(self, block, frame):
        seen.append(len(frame))
        return protect(self, block, frame)

    monkeypatch.setattr(BlockWorker, "protect", watched)
    plan = {**PLANS[case], "blocking": {**PLANS[case]["blocking"], "size": size}}
    shoal.protect(TABLE, **plan, engine="memory")
    assert sum(seen) == len(TABLE)
    assert max(seen) <= 2 * size + plan["k"]
    assert min(seen) >= plan["k"]


def test_a_million_equal_records_are_dealt_out(tmp_path, monkeypatch):
    """No block of a table of equal records is larger than was said."""
    seen = []
    protect = BlockWorker.protect
    monkeypatch.setattr(
        BlockWorker, "protect", lambda self, block, frame: seen.append(len(frame)) or protect(self, block, frame)
    )
    n = 1_000_000
    table = pl.DataFrame({"x": np.ones(n), "y": np.r_[np.ones(n - 10), np.arange(10.0)]})
    table.write_parquet(tmp_path / "in.parquet")
    plan = {"k": 5, "quasi_identifiers": ["x", "y"], "method": "mdav", "blocking": {"method": "2d-tree", "size": 5000}}
    release = shoal.protect(tmp_path / "in.parquet", **plan, engine="duckdb", output=tmp_path / "out.parquet")
    assert release.summary.blocks == len(seen) >= n // 5000
    assert sum(seen) == n
    assert max(seen) <= 5000
    assert release.summary.smallest_group >= 5
    found = shoal.protect(table, **plan, engine="memory")
    assert digest(pl.read_parquet(tmp_path / "out.parquet")) == digest(found.data)
    assert release.summary.information_loss < 100.0


def test_blocks_of_categories_are_subtrees():
    """A subtree that is small enough is in one block; one that is too large is cut into its children."""
    places = grow([("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b"), ("a", "all"), ("b", "all")])
    labels = ["a1", "a2", "b1", "b2", "b3"]
    counts = [3, 4, 10, 2, 12]
    codes = np.repeat(np.arange(5), counts)
    column = semantic("j", Factor(codes, np.ones(len(codes), dtype=bool), labels), places, "wu-palmer")
    values, none = places_on_line(column), np.zeros(len(codes), dtype=np.int64)
    cut = cut_categories(lambda part: part(values, none), 1, 2, 12, line_ends(column))
    blocks = {label: set(cut.blocks(values, none)[codes == i]) for i, label in enumerate(labels)}
    assert blocks["a1"] == blocks["a2"]
    assert blocks["b1"] == blocks["b2"]
    assert len({min(own) for own in blocks.values()}) == 3
    assert sorted(cut.sizes.tolist()) == [7, 12, 12]


@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_codes_have_k_records_and_keep_strata(seed):
    rng = np.random.default_rng(seed)
    n, k, size = 400, 4, 40
    codes, strata = rng.integers(0, rng.integers(2, 60), size=n), rng.integers(0, 3, size=n)
    seen = rng.random(n) < 0.9
    column = nominal("c", Factor(codes, seen, [str(i) for i in range(60)]))
    values = places_on_line(column)
    cut = cut_categories(lambda part: part(values, strata), 3, k, size, line_ends(column))
    blocks = cut.blocks(values, strata)
    assert np.bincount(blocks).tolist() == cut.sizes.tolist()
    assert cut.sizes.min() >= k
    for stratum in range(3):
        assert not set(blocks[strata == stratum]) & set(blocks[strata != stratum])
    for code in range(60):  # equal records stay together
        for stratum in range(3):
            assert len(set(blocks[(codes == code) & seen & (strata == stratum)])) <= 1


def test_the_spread_tree_of_cells_keeps_clusters_together():
    rng = np.random.default_rng(5)
    middle = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    own = rng.integers(0, 4, size=2000)
    values = middle[own] + rng.normal(size=(2000, 2))
    none = np.zeros(2000, dtype=np.int64)
    cut = grow_spread_tree(lambda part: part(values, none), 1, 5, 700)
    blocks = cut.blocks(values, none)
    assert np.bincount(blocks).tolist() == cut.sizes.tolist()
    assert cut.sizes.max() <= 700
    assert cut.sizes.min() >= 5
    assert all(len(set(own[blocks == block])) == 1 for block in range(len(cut.sizes)))


def test_cells_that_cannot_be_cut_are_one_block():
    assert cut_cells(np.zeros((3, 2)), np.array([5, 5, 5]), 8, 10).tolist() == [0, 0, 0]
    assert cut_cells(np.array([[0.0], [1.0]]), np.array([1, 90]), 2, 10).tolist() == [0, 0]


def test_engines_number_rows_as_memory_does(small):
    engine = DuckdbEngine([small])
    assert engine.add_up(["a"], lambda frame, rows: pl.Series(rows)).sort().to_list() == list(range(200))
    engine.close()
