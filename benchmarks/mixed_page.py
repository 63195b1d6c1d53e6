"""The page of results on columns of any kind, docs/results/mixed.md."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import Any

from markdown import DOCS, made_by, table, write
from record import RESULTS, load

Row = dict[str, Any]

_INTRODUCTION = """# Columns of any kind

Made-up tables of three numbers (age, income, hours) and three categories with hierarchies (120, 48 and 16 names), which
all follow a few hidden traits; k = 3. Nearly all records are distinct. The information loss is the mean of the losses
of the columns, and the record loss is what `semantic-optimal` lowers
([Columns of any kind](../methods/mixed.md#the-loss)). Each method releases its usual aggregators, but for the line that
asks for centroids: least squares, which `semantic-optimal` releases otherwise, have a lower information loss and a
higher record loss than centroids. Figures are medians over so many tables, with the least and the largest."""


def mixed() -> None:
    """Write docs/results/mixed.md."""
    if not (RESULTS / "mixed.jsonl").exists():
        print("docs/results/mixed.md is not written: run benchmarks/run.py mixed first")
        return
    machine, rows = load("mixed")
    parts = [_INTRODUCTION, made_by("mixed", machine)]
    for n in sorted({row["n"] for row in rows}):
        here = defaultdict(list)
        for row in rows:
            if row["n"] == n:
                how = {"refine": " --refine", "centroid": ", centroids", "blocking": ", blocks"}.get(row.get("how"), "")
                here[row["method"] + how].append(row)
        lines = [_line(name, found) for name, found in here.items()]
        lines.sort(key=lambda line: float(line[1].split()[0]))
        columns = next(iter(here.values()))[0].get("columns", 6)
        parts.append(f"## {n} records, {columns} columns")
        parts.append(table(("method", "information loss, %", "record loss, %", "CPU seconds", "tables"), lines))
    write(DOCS / "results" / "mixed.md", "\n\n".join(parts))


def _line(name: str, rows: list[Row]) -> list[str]:
    return [name, *(_spread([row[key] for row in rows]) for key in ("loss", "record_loss", "cpu")), str(len(rows))]


def _spread(values: list[float]) -> str:
    """Return the median, and the range of several."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
