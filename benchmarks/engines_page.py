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
executors of one core and 1.5 GiB each, with the settings for short runs of
[shoal on a cluster of Spark](../spark-cluster.md); its CPU time and memory are those of the driver, Java and all Python
workers together. Put aside is what was on disk at most beside input and output. The machine did other work at the same
time, so that seconds say little beside CPU seconds. What engines do: [Engines](../engines.md).

Sizes beyond 10 million are run one at a time: `python benchmarks/engines.py --only duckdb 25000000`."""
_BILLION = 1e9
_TUTORIAL = 10_000_000
_NAMES = {"duckdb": "DuckDB", "spark": "Spark"}
_PASSES = ("read", "declare", "scale", "look at rules", "block")


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
    made = made_by("engines", machine) + _other_commits(machine["commit"], rows)
    parts = [_INTRODUCTION, made, table(_HEAD, lines), _compared(rows), _billion(rows)]
    write(DOCS / "results" / "engines.md", "\n\n".join(parts))
    shown = next(row for row in rows if (row["engine"], row["n"]) == ("duckdb", _TUTORIAL))
    put_between_marks(DOCS / "tutorials.md", "ten-million", _shown(shown))


def _other_commits(last: str, rows: list[dict[str, Any]]) -> str:
    """Name the commits of runs that were made before the last."""
    others: dict[str, list[str]] = {}
    for row in rows:
        if row.get("commit", last) != last:
            others.setdefault(row["commit"], []).append(f"`{row['engine']}` {row['n'] / 1e6:g} million")
    return "".join(f" Of commit {commit}: {', '.join(runs)}." for commit, runs in others.items())


def _compared(rows: list[dict[str, Any]]) -> str:
    """Say how engines compare where all were run, and how they grow."""
    small = {row["engine"]: row for row in rows if row["n"] == min(row["n"] for row in rows)}
    times = [
        f"{name} {small[engine]['cpu'] / small['memory']['cpu']:.2f}"
        for engine, name in _NAMES.items()
        if engine in small
    ]
    millions = small["memory"]["n"] / 1e6
    told = f"At {millions:g} million records, in multiples of the CPU time of memory: {', '.join(times)}. "
    for engine, name in _NAMES.items():
        own = [(row["n"], row["cpu"]) for row in rows if row["engine"] == engine]
        if len(own) > 1:
            told += (
                f"CPU time of {name} grows with n to the power of {_exponent(own):.2f}, fitted over {len(own)} sizes "
                f"up to {max(own)[0] / 1e6:g} million. "
            )
    told += (
        "Passes, sorting and writing grow in proportion to n. The search inside blocks takes the longer a record the "
        "larger they are, and their size goes up and down: a 2^d-tree of five columns cuts a leaf into 32, so that "
        "blocks grow with n up to the most that is allowed and are a small part of it thereafter. "
    )
    sizes = {row["n"] for row in rows if row["engine"] == "duckdb"}
    missing = sorted(sizes - {row["n"] for row in rows if row["engine"] == "spark"})
    if missing:
        told += f"Spark has no recorded run of {' and '.join(f'{n / 1e6:g}' for n in missing)} million. "
    if len({row["loss"] for row in small.values()}) == 1:
        told += "The loss is the same to the last digit, as all cells are (`tests/test_engines.py`)."
    return told.strip()


def _billion(rows: list[dict[str, Any]]) -> str:
    """Say what a billion records would take, from the largest run of DuckDB and from Spark."""
    large = max((row for row in rows if row["engine"] == "duckdb"), key=lambda row: row["n"])
    times = _BILLION / large["n"]
    hours = large["cpu"] * times / 3600.0
    disk = large["aside_mib"] * times / 2**10
    laps = large["laps"]
    passes = sum(laps.get(name, 0.0) for name in _PASSES) / sum(laps.values())
    checks = laps["check"] / sum(laps.values())
    told = (
        "## A billion records, on paper\n\n"
        f"Nobody has run this. DuckDB took {large['cpu']:.0f} CPU seconds for {large['n'] / 1e6:g} million records: "
        f"{100 * passes:.0f} % of the time for passes that count and cut, {100 * checks:.0f} % for checks, and the "
        "rest for sorting rows into blocks and protecting these. All of it grows with n, since the work in a block "
        "depends on its size alone; sorting may add a merge. In proportion, 10^9 records of five columns would take "
        f"{hours:.1f} CPU hours, {disk:.0f} GiB of disk for what is put aside, and the memory of the blocks at work, "
        "which does not grow with n. "
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


def _shown(row: dict[str, Any]) -> str:
    """Say what the table of the tutorial took."""
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
