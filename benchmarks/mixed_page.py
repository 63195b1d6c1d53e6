"""The page of results on columns of any kind, docs/results/mixed.md."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from markdown import DOCS, commits, made_by, spread, table, write
from record import RESULTS, load

Row = dict[str, Any]

_INTRODUCTION = """# Columns of any kind

Made-up tables of three numbers (age, income, hours) and three categories with hierarchies (120, 48 and 16 names), which
all follow a few hidden traits, k = 3; nearly all records are distinct. And Adult: age, years of education and hours,
workclass, marital status and occupation of 30162 records, k = 3 and 10. The information loss is the mean of the losses
of the columns, which `semantic-optimal` lowers, and the record loss is
[another](../methods/semantic-optimal.md#which-loss), which it lowers where that is asked for ("records"), and which
`--refine` lowers. Each method releases its usual aggregators, but for the line that asks for centroids. Figures are
medians over so many tables, with the least and the largest in brackets; the commits are those at which they were
recorded. The memory is the most that the process had used until then."""

_HEAD = ("method", "information loss, %", "record loss, %", "CPU seconds", "seconds", "MiB", "tables", "commit")
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
    for place in sorted({_place(row) for row in rows}):
        here = defaultdict(list)
        for row in rows:
            if _place(row) == place:
                how = {"refine": " --refine", "blocking": ", blocks", "": ""}.get(row["how"], f", {row['how']}")
                here[row["method"] + how].append(row)
        lines = [_line(name, found) for name, found in here.items()]
        lines.sort(key=lambda line: float(line[1].split()[0]))
        data, n, k = place
        parts.append(f"## Adult, k = {k}" if data == "adult" else f"## {n} records")
        parts.append(table(_HEAD, lines))
    if proved:
        parts += [_BOUND, _table_of_bounds(proved)]
    write(DOCS / "results" / "mixed.md", "\n\n".join(parts))


def _place(row: Row) -> tuple[str, int, int]:
    """Return the table that a row is about, and k; made-up tables stand first in a page, by size."""
    return ("adult" if row.get("data") == "adult" else "", row["n"], row.get("k", 3))


def _line(name: str, rows: list[Row]) -> list[str]:
    figures = (spread([row[key] for row in rows], 2) for key in ("loss", "record_loss", "cpu", "wall"))
    memory = f"{max(row['peak_mib'] for row in rows):.0f}"
    return [name, *figures, memory, str(len(rows)), commits(rows)]


def _table_of_bounds(rows: list[Row]) -> str:
    """Return a line for each size and loss that is lowered."""
    here = defaultdict(list)
    for row in rows:
        here[row["n"], row["lower"]].append(row)
    lines = []
    for (n, lower), found in sorted(here.items()):
        lost = [row["loss"] if lower == "information" else row["record_loss"] for row in found]
        figures = [lost, *([row[key] or 0.0 for row in found] for key in ("bound", "gap", "cpu"))]
        lines.append([str(n), lower, *(spread(figure, 2) for figure in figures), str(len(found)), commits(found)])
    return table(("records", "lowered", "loss, %", "bound, %", "gap, %", "CPU seconds", "tables", "commit"), lines)
