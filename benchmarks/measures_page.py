"""The page of results on measures, docs/results/measures.md."""

from __future__ import annotations

from typing import Any

from markdown import DOCS, made_by, table, write
from record import load

Row = dict[str, Any]


def measures() -> None:
    """Write docs/results/measures.md."""
    machine, rows = load("measures")
    adult = next(row for row in rows if row["part"] == "adult")
    lowest = min((row for row in rows if row["part"] == "score" and row["known"] == 3), key=lambda row: row["score"])
    write(
        DOCS / "results" / "measures.md",
        "\n\n".join(
            [
                "# Measures: speed and scores\n\nWhat each measure means: [Measures](../measures.md).",
                made_by("measures", machine),
                "## All measures of utility and risk\n\nNormal data, MDAV with k = 5, in blocks from 200 000 records "
                "on, all columns quasi-identifiers, two tables in memory. CPU seconds of all threads. Peak memory of "
                "the process before and after measuring; before is what making the release took.",
                table(
                    ("n", "d", "CPU seconds", "wall seconds", "MiB before", "MiB after", "records linked", "DBRL, %"),
                    _lines(rows, "whole", "n", "d", "cpu", "wall", "peak_before_mib", "peak_mib", "linked", "dbrl"),
                ),
                "## Record linkage by itself\n\nEvery record linked, one thread, k = 5. A full matrix of distances "
                "would need the memory in the last column.",
                table(
                    ("n", "d", "CPU seconds", "DBRL, %", "matrix, GB"),
                    _lines(rows, "linkage", "n", "d", "cpu", "dbrl", "matrix_gb"),
                ),
                "## Scores on Census\n\nMDAV on the 13 columns, all in one set, or in sets of three in the order of "
                "their names. The intruder knows all 13 columns, or the three of the first set.",
                table(
                    ("k", "sets", "columns known", "PIL, %", "DBRL, %", "interval disclosure, %", "DR, %", "SCORE"),
                    _lines(rows, "score", "k", "sets", "known", "pil", "dbrl", "interval_disclosure", "dr", "score"),
                ),
                "Torra, Cano and Navarro-Arribas 2009 print a lowest score of 34.531, at k = 6, for Census with three "
                "more columns, in sets of three and without edit constraints. They do not say how many columns the "
                "intruder knows, nor the widths of the intervals. Here the lowest score in sets of three is "
                f"{lowest['score']:.3f}, at k = {lowest['k']}, if one set is known; if all columns are known it is "
                "above 50, since sets of three keep nearly every record apart.",
                f"## Global risk of Adult\n\nOccupation and native-country of the {adult['records']} complete records, "
                f"unprotected: {adult['global_risk']:.4f} %, published {adult['published']} %.",
            ]
        ),
    )


def _lines(rows: list[Row], part: str, *names: str) -> list[list[str]]:
    return [[str(row[name]) for name in names] for row in rows if row["part"] == part]
