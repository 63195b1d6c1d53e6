"""The section about columns that are kept: what they give away of others, and of single records, in counts."""

from __future__ import annotations

from shoal.report.facts import Facts
from shoal.report.parts import Grid, Section

_WORDS = {
    "copy": "is it",
    "scaled": "is it in another unit",
    "determines": "determines it",
    "sum of kept": "add up to it, or differ by it",
    "tells": "tells it",
    "sum": "is the sum or difference of them",
    "unique": "is different in most records",
    "singles out": "tell records of a group apart",
}


def kept_columns(facts: Facts) -> Section | None:
    """Every finding with its count; for the internal edition, since others would learn where to look."""
    found = [one for one in facts.summary.get("kept_columns", []) if isinstance(one, dict)]
    if not found or not facts.edition.internal:
        return None
    rows = [
        [
            ", ".join(one["columns"]),
            _WORDS.get(one["kind"], one["kind"]),
            "" if one["kind"] == "singles out" else ", ".join(one["of"]),
            f"{one['records']} of {one['looked_at']}" + (f" (± {one['margin']:.1f} %)" if one["margin"] else ""),
            str(one["narrowed"]) if one["narrowed"] else "",
            one["reason"],
        ]
        for one in found
    ]
    told = "These columns are kept as they are. What can be read off them about others, and about single records:"
    columns = ["kept", "what it does", "quasi-identifiers", "records", "known to a tenth", "accepted because"]
    grid = Grid("What kept columns give away", columns, rows, texts=(1, 2, 5))
    return Section("kept", "Columns that are kept", told, [grid])
