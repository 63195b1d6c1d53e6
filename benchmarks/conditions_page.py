"""The page of results on conditions on groups, docs/results/conditions.md."""

from __future__ import annotations

from typing import Any

from conditions import ADULT_RECORDS
from markdown import DOCS, made_by, table, write
from record import load

Row = dict[str, Any]
_NAMES = {"t-merge": "`t-merge`", "k-first": "`k-first`", "t-first": "`t-first`", "mdav": "`mdav`, repaired",
          "optimal": "`optimal`"}  # fmt: skip


def conditions() -> None:
    """Write docs/results/conditions.md."""
    machine, rows = load("conditions")
    parts = [_INTRODUCTION, made_by("conditions", machine)]
    for column in ("FEDTAX", "FICA"):
        parts += [f"## Census, {column} confidential", _census([row for row in rows if row.get("column") == column])]
    parts += ["## Time", *_times([row for row in rows if row["part"] == "time"])]
    for part, title, made in (("adult", "## Adult", _adult), ("kept", "## Kept columns", _kept)):
        if found := [row for row in rows if row["part"] == part]:
            parts += [title, *made(found)]
    write(DOCS / "results" / "conditions.md", "\n\n".join(parts))


def _census(rows: list[Row]) -> str:
    cells = sorted({(row["t"], row["k"]) for row in rows})
    lost = {(row["t"], row["k"], row["method"]): row["loss"] for row in rows}
    lines = [[f"{t:g}", str(k), *(f"{lost[t, k, name]:.2f}" for name in _NAMES)] for t, k in cells]
    below = sum(
        lost[t, k, "optimal"] < min(lost[t, k, name] for name in ("t-merge", "k-first", "t-first")) for t, k in cells
    )
    alone = {row["k"]: row["alone"] for row in rows if row["method"] == "optimal"}
    said = ", ".join(f"{loss:.2f} % for k = {k}" for k, loss in sorted(alone.items()))
    return (
        "Information loss in percent. `optimal` is below all three published methods in "
        f"{below} of {len(cells)} cells. By k alone it loses {said}.\n\n" + table(("t", "k", *_NAMES.values()), lines)
    )


def _times(rows: list[Row]) -> list[str]:
    plain = {(row["along"], row["method"]): row["cpu"] for row in rows if row["t"] is None}
    lines = [
        [
            f"{row['along']:g}",
            f"`{row['method']}`",
            "none" if row["t"] is None else f"{row['t']:g}",
            f"{row['loss']:.2f}",
            f"{row['cpu']:.2f}",
            f"{row['cpu'] / plain[row['along'], row['method']]:.1f}",
        ]
        for row in rows
    ]
    head = ("correlation", "method", "t", "information loss, %", "CPU seconds", "times that without t")
    return [
        f"{rows[0]['records']} normal records in 3 columns, k = 5; the confidential column is lognormal, and its "
        "logarithm correlates with the first of them. CPU seconds of the whole run, kernels compiled before.",
        table(head, lines),
    ]


def _adult(rows: list[Row]) -> list[str]:
    lines = [
        [
            "; ".join(f"{name}: {_words(own)}" for name, own in row["asked"].items()),
            f"`{row['method']}`",
            f"{row['record_loss']:.2f}",
            f"{row['loss']:.2f}",
            f"{row['alone']:.2f}",
            f"{row['cpu']:.1f}",
        ]
        for row in rows
    ]  # fmt: skip
    head = ("asked", "method", "loss of records, %", "information loss, %", "by k alone, %", "CPU seconds")
    return [
        f"The first {ADULT_RECORDS} records, k = 5, with age, hours, years of education, marital status, race and sex "
        "as quasi-identifiers. `s-mdav` is repaired; `semantic-optimal` searches inside the conditions.",
        table(head, lines),
    ]


def _words(asked: dict[str, float]) -> str:
    return ", ".join(f"{what} {value:g}" for what, value in asked.items())


def _kept(rows: list[Row]) -> list[str]:
    total = sum(row["cpu"] for row in rows)
    lines = [[row["step"], f"{row['cpu']:.2f}"] for row in rows]
    return [
        f"What is looked at in kept columns of {rows[0]['records']} records in {rows[0]['columns']} columns: "
        f"{total:.1f} CPU seconds in all.",
        table(("what", "CPU seconds"), lines),
    ]


_INTRODUCTION = """# Conditions on groups

What it costs that groups keep a [condition](../conditions.md#what-a-group-gives-away) on a confidential column: by the
[published methods](../methods/t-closeness.md), by repairing the groups of `mdav`, and by `optimal` with the condition
inside the search. The searches of Census and Adult make 150 000 steps before the condition is known and as many after.
Every release was checked to keep what was asked."""
