"""The page of results on engines, docs/results/engines.md."""

from __future__ import annotations

import math
from typing import Any

from markdown import DOCS, made_by, put_between_marks, table, write
from record import load

_HEAD = ("engine", "records", "blocks", "CPU seconds", "seconds", "peak memory, MiB", "information loss, %")
_INTRODUCTION = """# Engines

Normal records of five columns from a Parquet folder to another, by `mdav` with k = 3 in blocks of the 2^d-tree, whose
size is chosen by shoal, each run in a process of its own. DuckDB has 2 GiB for the whole process; the peak is that of
the process. What engines do: [Engines](../engines.md)."""


def engines() -> None:
    """Write docs/results/engines.md."""
    machine, rows = load("engines")
    lines = [
        [
            f"`{row['engine']}`",
            f"{row['n']:,}".replace(",", " "),
            str(row["blocks"]),
            f"{row['cpu']:.0f}",
            f"{row['seconds']:.0f}",
            str(row["peak_mib"]),
            f"{row['loss']:.4f}",
        ]
        for row in rows
    ]
    small = {row["engine"]: row for row in rows if row["n"] == min(row["n"] for row in rows)}
    ratio = small["duckdb"]["cpu"] / small["memory"]["cpu"]
    told = f"At {small['duckdb']['n'] / 1e6:g} million records DuckDB takes {ratio:.2f} times the CPU time of memory. "
    duck = [row for row in rows if row["engine"] == "duckdb"]
    if len(duck) > 1:
        told += f"CPU time grows with n to the power of {_exponent([(row['n'], row['cpu']) for row in duck]):.2f}. "
    if small["duckdb"]["loss"] == small["memory"]["loss"]:
        told += "The loss is the same to the last digit, as all cells are (`tests/test_engines.py`). "
    told += "Spark is not measured here."
    put_between_marks(DOCS / "tutorials.md", "ten-million", _largest(duck[-1]))
    write(
        DOCS / "results" / "engines.md",
        "\n\n".join([_INTRODUCTION, made_by("engines", machine), table(_HEAD, lines), told]),
    )


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
