"""The tables and figures of the report on 2^d-tree blocking made again, and record linkage in its blocks.

Tables 3.1 and 3.3 and figures 3.1 to 3.4 of J. Domingo-Ferrer, Blocking methods for microdata protection, 2008: uniform
records on [-10000, 10000] and EIA, z-scores, MDAV in the blocks. Table 3.2 and figure 3.5 come from the benchmark
``blocking``. Linkage: normal records and the reference sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import shoal
from blocking import TABLE_3_1, TABLE_3_2, TABLE_3_3, protect_timed, uniform
from published import DATA, data_folder
from record import Recorder, stopwatch
from shoal.blocking.blocks import BLOCKINGS
from shoal.blocking.two_d_tree import split_leaves
from shoal.kernels.watch import new_watch
from shoal.measures.comparison import compare
from shoal.measures.linkage import Linked, linkage_tasks, linked
from shoal.measures.pairs import Pair
from shoal.tables.table import open_table

TABLE_3_3_UNIVARIATE = {(100, 3): 663.435, (200, 3): 503.281, (100, 5): 1651.86, (200, 5): 1179.25}
FOUND = "RESREVENUE"  # the column whose figures at L = 200 are those of table 3.3
ORDERS = 30  # random orders of the rows, and so of the records that are equal in the column
SIZES = tuple(TABLE_3_1)
RECORDS = (100_000, 500_000, 1_000_000, 1_500_000, 2_000_000)
ONE_LEVEL_MORE = (2, 3, 4)  # columns in which L = 4000 halves the tree of table 3.2 once more
K = 3


def run(quick: bool) -> None:
    """Run all parts; each recorded line names its part."""
    recorder = Recorder("blocking_figures", quick)
    _linkage(recorder, quick)
    _eia(recorder)
    share = 50 if quick else 1
    _cells(recorder, 2_500_000 // share, share)
    for n in RECORDS:
        table = uniform(n // share, 2)
        for size in SIZES:
            for method in ("univariate", "2d-tree"):
                cut = {"method": method, "size": max(2 * K, size // share)}
                recorder.add(part="by L and n", n=len(table), d=2, **protect_timed(table, cut))
    for d in ONE_LEVEL_MORE:
        table = uniform(2_500_000 // share, d)
        cut = {"method": "2d-tree", "size": 4_000 // share}
        recorder.add(part="one level more", n=len(table), d=d, published=TABLE_3_2[d][0], **protect_timed(table, cut))


def _eia(recorder: Recorder) -> None:
    """Table 3.3: every column and both ways to cut by it, then random orders of the rows for the column found."""
    path = data_folder() / "casc" / "eia.csv"
    table = pl.read_csv(path).drop(DATA["eia"])
    for (size, k), printed in TABLE_3_3_UNIVARIATE.items():
        here = {"size": size, "k": k, "published": printed}
        for method in ("fixed-counts", "equal-counts", "univariate"):
            for column in table.columns:
                sse = _sse(table, k, {"method": method, "size": size, "columns": [column]})
                recorder.add(part="eia", method=method, column=column, **here, sse=round(sse, 4))
        tree = _sse(table, k, {"method": "2d-tree", "size": size})
        recorder.add(
            part="eia", method="2d-tree", column=None, **here | {"published": TABLE_3_3[size, k]}, sse=round(tree, 4)
        )
        cut = {"method": "fixed-counts", "size": size, "columns": [FOUND]}
        sums = [_sse(table.sample(fraction=1.0, shuffle=True, seed=seed), k, cut) for seed in range(ORDERS)]
        recorder.add(
            part="orders", column=FOUND, orders=ORDERS, **here, least=round(min(sums), 4), most=round(max(sums), 4)
        )


def _sse(table: pl.DataFrame, k: int, cut: dict[str, object]) -> float:
    return shoal.protect(table, k, table.columns, method="mdav", blocking=cut).summary.sse


def _cells(recorder: Recorder, n: int, share: int) -> None:
    """Table 3.1 and figure 3.1: intervals that hold records, cells, and blocks after small ones were fused."""
    plane = uniform(n, 2).to_numpy()
    for size, printed in TABLE_3_1.items():
        most = max(2 * K, size // share)
        recorder.add(
            part="cells", n=n, d=2, size=most, published=printed, published_intervals=2_500_000 // size,
            intervals=int(BLOCKINGS["univariate"](plane, K, most).max()) + 1,
            cells=int(split_leaves(plane, most).max()) + 1,
            blocks=int(BLOCKINGS["2d-tree"](plane, K, most).max()) + 1,
        )  # fmt: skip


def _linkage(recorder: Recorder, quick: bool) -> None:
    """Record linkage through the index, by looking at all, and by looking inside blocks, on one thread."""
    for method, size in (("index", 0), ("looking", 0), ("2d-tree", 100), ("spread-tree", 100)):
        _link(_known(*_normal(1_000, 2)), method, size)  # loads the kernels
    for data, drop in DATA.items():
        table = pl.read_csv(data_folder() / "casc" / f"{data}.csv").drop(drop)
        _compare_linkage(recorder, data, table, (100, 200))
    for n in (2_000, 5_000) if quick else (10_000, 30_000, 100_000):
        for d in (2, 5, 10):
            _compare_linkage(recorder, "normal", _normal(n, d)[0], (100, 1_000, 10_000))


def _compare_linkage(recorder: Recorder, data: str, table: pl.DataFrame, sizes: tuple[int, ...]) -> None:
    """Link a table to its release in every way."""
    released = shoal.protect(table, K, table.columns, method="mdav").data
    pairs = _known(table, released)
    ways: list[tuple[str, int]] = [("index", 0), ("looking", 0)]
    ways += [(m, size) for m in ("2d-tree", "spread-tree", "fixed-counts") for size in sizes if size < len(table)]
    for method, size in ways:
        recorder.add(
            part="linkage", data=data, n=len(table), d=table.width, k=K, method=method, size=size,
            **_link(pairs, method, size),
        )  # fmt: skip


def _normal(n: int, d: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return normal records and their release."""
    x = np.random.default_rng(0).normal(size=(n, d))
    table = pl.DataFrame({f"v{j}": x[:, j] for j in range(d)})
    return table, shoal.protect(table, K, table.columns, method="mdav").data


def _known(table: pl.DataFrame, released: pl.DataFrame) -> list[Pair]:
    return list(compare(open_table(table), open_table(released), quasi_identifiers=[table.columns]).known)


def _link(pairs: list[Pair], method: str, size: int) -> dict[str, Any]:
    """Time one linkage, with what it takes to cut the blocks; blocks have at most ``size`` records of each table."""
    n, blocks, apart = len(pairs[0].original), None, 0.0
    with stopwatch() as cutting:
        if method != "index":
            blocks = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        if size:
            # one tree over both tables, so that a record and its release meet wherever they lie in the same cell
            both = np.vstack([np.column_stack([pair.original for pair in pairs]), _released(pairs)])
            found = BLOCKINGS[method](both, K, 2 * size)
            blocks = found[:n], found[n:]
            apart = 100 * float((blocks[0] != blocks[1]).mean())
    with stopwatch() as linking:
        answer: Linked = linked([task(new_watch()) for task in linkage_tasks(pairs, blocks)], n)
    return {
        "blocks": 1 if blocks is None else len(np.unique(blocks[0])),
        "apart": round(apart, 3),
        "dbrl": round(answer.percent, 3),
        "error": round(answer.error, 3),
        "linked": answer.records,
        "cut": cutting["cpu"],
        "cpu": linking["cpu"],
        "microseconds": round(1e6 * (cutting["cpu"] / n + linking["cpu"] / answer.records), 2),
    }


def _released(pairs: list[Pair]) -> Any:
    return np.column_stack([pair.released for pair in pairs])
