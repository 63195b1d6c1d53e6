"""The page of results on engines, docs/results/engines.md."""

from __future__ import annotations

import math
from typing import Any

from markdown import DOCS, made_by, put_between_marks, table, write
from record import load

_HEAD = (
    *("engine", "records", "blocks", "CPU seconds", "seconds", "peak memory, MiB", "put aside, MiB"),
    "information loss, %",
)
_INTRODUCTION = """# Engines

Normal records of five columns from a Parquet folder to another, by `mdav` with k = 3 in blocks of the 2^d-tree, whose
size is chosen by shoal, each run in a process of its own. DuckDB has 2 GiB for the whole process. Spark has two
executors of one core and 1.5 GiB each; its CPU time and memory are those of the driver, Java and all Python workers
together. Put aside is what was on disk at most beside input and output. What engines do: [Engines](../engines.md).

Sizes beyond 10 million are run one at a time: `python benchmarks/engines.py --only duckdb 25000000`."""
_BILLION = 1e9


def engines() -> None:
    """Write docs/results/engines.md."""
    machine, rows = load("engines")
    rows = sorted(rows, key=lambda row: (row["n"], ("memory", "duckdb", "spark").index(row["engine"])))
    lines = [
        [
            f"`{row['engine']}`",
            f"{row['n']:,}".replace(",", " "),
            str(row["blocks"]),
            f"{row['cpu']:.0f}",
            f"{row['seconds']:.0f}",
            str(row["peak_mib"]),
            str(row["aside_mib"]),
            f"{row['loss']:.4f}",
        ]
        for row in rows
    ]
    parts = [_INTRODUCTION, made_by("engines", machine), table(_HEAD, lines), _compared(rows), _billion(rows)]
    write(DOCS / "results" / "engines.md", "\n\n".join(parts))
    largest = max((row for row in rows if row["engine"] == "duckdb"), key=lambda row: row["n"])
    put_between_marks(DOCS / "tutorials.md", "ten-million", _largest(largest))


def _compared(rows: list[dict[str, Any]]) -> str:
    """Say how engines compare where all were run, and how DuckDB grows."""
    small = {row["engine"]: row for row in rows if row["n"] == min(row["n"] for row in rows)}
    times = [
        f"{name} {small[engine]['cpu'] / small['memory']['cpu']:.2f}"
        for engine, name in (("duckdb", "DuckDB"), ("spark", "Spark"))
        if engine in small
    ]
    millions = small["memory"]["n"] / 1e6
    told = f"At {millions:g} million records, in multiples of the CPU time of memory: {', '.join(times)}. "
    duck = [row for row in rows if row["engine"] == "duckdb"]
    if len(duck) > 1:
        power = _exponent([(row["n"], row["cpu"]) for row in duck])
        told += (
            f"CPU time of DuckDB grows with n to the power of {power:.2f} from the smallest to the largest size. What "
            "grows is the search inside blocks, whose time a record goes up with their size. A 2^d-tree of five "
            "columns cuts a leaf into 32, so that its blocks go up to the most that is allowed, some 330 000 records, "
            "and then down to a small part of it as n grows; at 2.5 million they are far below. Passes, sorting and "
            "writing grow in proportion to n. "
        )
    if len({row["loss"] for row in small.values()}) == 1:
        told += "The loss is the same to the last digit, as all cells are (`tests/test_engines.py`)."
    return told.strip()


def _billion(rows: list[dict[str, Any]]) -> str:
    """Say what a billion records would take, from the largest run of DuckDB and from Spark."""
    large = max((row for row in rows if row["engine"] == "duckdb"), key=lambda row: row["n"])
    times = _BILLION / large["n"]
    hours = large["cpu"] * times / 3600.0
    disk = large["aside_mib"] * times / 2**10
    told = (
        "## A billion records, on paper\n\n"
        "Nobody has run this. In proportion to the largest run of DuckDB, 10^9 records of five columns would take "
        f"{hours:.1f} CPU hours, since the work in a block depends on its size alone and all else grows with n, "
        f"but sorting, which adds a merge; {disk:.0f} GiB of disk for what is put aside; and the memory of the blocks "
        "at work, which does not grow with n. "
    )
    spark = [row for row in rows if row["engine"] == "spark"]
    if spark:
        one = max(spark, key=lambda row: row["n"])
        seconds = one["cpu"] * _BILLION / one["n"]
        told += (
            f"In proportion to Spark's run of {one['n'] / 1e6:g} million, a cluster would take {seconds / 3600.0:.1f} "
            f"CPU hours, on 100 cores {seconds / 6000.0:.0f} minutes, and shuffle each row twice, to its block and "
            "into order. The table of counts on the driver has an entry for each code, some million at most."
        )
    return told.strip()


def _largest(row: dict[str, Any]) -> str:
    """Say what the largest table took."""
    n = f"{row['n']:,}".replace(",", " ")
    return (
        f"{n} records of {row['d']} columns in {row['blocks']} blocks took {row['cpu']:.0f} CPU seconds and "
        f"{row['peak_mib']} MiB on two cores, and lost {row['loss']:.2f} %\n([Engines, measured](results/engines.md): "
        "`python benchmarks/run.py engines`)."
    )


def _exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of log CPU time on log n, by least squares."""
    x, y = [math.log(n) for n, _ in points], [math.log(seconds) for _, seconds in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    up = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return up / sum((a - mean_x) ** 2 for a in x)
