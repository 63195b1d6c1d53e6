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
of the columns, which `semantic-optimal` lowers, and the record loss is
[another](../methods/semantic-optimal.md#which-loss), which it lowers where that is asked for ("records"). Each method
releases its usual aggregators, but for the line that asks for centroids. Figures are medians over so many tables, with
the least and the largest; the commit is that of the last release that was made."""

_BOUND = """## How low it could be

Small tables with a bound, by which loss is lowered: what was released, the loss that no partition is below, and the
part that a better one could save at most. CPU seconds are those of the search and the proof."""


def mixed() -> None:
    """Write docs/results/mixed.md."""
    if not (RESULTS / "mixed.jsonl").exists():
        print("docs/results/mixed.md is not written: run benchmarks/run.py mixed first")
        return
    machine, rows = load("mixed")
    parts = [_INTRODUCTION, made_by("mixed", machine)]
    proved = [row for row in rows if row["how"] == "bound"]
    rows = [row for row in rows if row["how"] != "bound"]
    for n in sorted({row["n"] for row in rows}):
        here = defaultdict(list)
        for row in rows:
            if row["n"] == n:
                how = {"refine": " --refine", "blocking": ", blocks", "": ""}.get(row["how"], f", {row['how']}")
                here[row["method"] + how].append(row)
        lines = [_line(name, found) for name, found in here.items()]
        lines.sort(key=lambda line: float(line[1].split()[0]))
        columns = next(iter(here.values()))[0].get("columns", 6)
        parts.append(f"## {n} records, {columns} columns")
        parts.append(table(("method", "information loss, %", "record loss, %", "CPU seconds", "tables"), lines))
    if proved:
        parts += [_BOUND, _table_of_bounds(proved)]
    write(DOCS / "results" / "mixed.md", "\n\n".join(parts))


def _line(name: str, rows: list[Row]) -> list[str]:
    return [name, *(_spread([row[key] for row in rows]) for key in ("loss", "record_loss", "cpu")), str(len(rows))]


def _table_of_bounds(rows: list[Row]) -> str:
    """Return a line for each size and loss that is lowered."""
    here = defaultdict(list)
    for row in rows:
        here[row["n"], row["lower"]].append(row)
    lines = []
    for (n, lower), found in sorted(here.items()):
        lost = [row["loss"] if lower == "information" else row["record_loss"] for row in found]
        figures = [lost, *([row[key] or 0.0 for row in found] for key in ("bound", "gap", "cpu"))]
        lines.append([str(n), lower, *map(_spread, figures), str(len(found))])
    return table(("records", "lowered", "loss, %", "bound, %", "gap, %", "CPU seconds", "tables"), lines)


def _spread(values: list[float]) -> str:
    """Return the median, and the range of several."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
