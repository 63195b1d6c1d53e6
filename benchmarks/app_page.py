"""The table of a million rows in docs/app.md."""

from __future__ import annotations

from markdown import DOCS, made_by, put_between_marks, table
from record import load


def app() -> None:
    """Write what each page of the application takes on a large table."""
    machine, rows = load("app")
    by_step: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        by_step.setdefault(row["step"], {})[row["format"]] = row
    lines = [
        [step, *(f"{own[ending]['cpu']:.2f}" for ending in ("csv", "parquet")), f"{own['csv']['kib']:.0f}"]
        for step, own in by_step.items()
    ]
    head = ("what is asked for", "CSV, CPU seconds", "Parquet, CPU seconds", "size of the answer, KiB")
    told = f"{rows[0]['rows']:,} records of 10 columns, all figures of all records; no sample is taken."
    put_between_marks(DOCS / "app.md", "million", f"{made_by('app', machine)}\n\n{told}\n\n{table(head, lines)}")
