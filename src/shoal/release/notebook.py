"""What a notebook shows of a release: a small table, without scripts."""

from __future__ import annotations

from html import escape
from typing import Any

from shoal.errors import printable
from shoal.release.summary import Summary

_CELL = "text-align:left;padding:.2em 1em .2em 0;vertical-align:top"


def release_fragment(summary: Summary) -> str:
    """Return the summary of a release as a fragment of HTML, every text of it escaped."""
    rows = {
        "method": f"{summary.method}, k = {summary.k}",
        "records": f"{summary.records:,}",
        "groups": f"{summary.groups:,} of {summary.smallest_group:,} to {summary.largest_group:,} records",
        "information loss": f"{summary.information_loss:.2f} %",
        **({} if summary.record_loss is None else {"record loss": f"{summary.record_loss:.2f} %"}),
        "suppressed cells": f"{summary.suppressed_cells:,}",
        **({"missing patterns": "ignored"} if summary.missing_patterns == "ignored" else {}),
        "quasi-identifiers": "; ".join(", ".join(map(printable, part.columns)) for part in summary.sets),
    }
    lines = "".join(_row(name, value) for name, value in rows.items())
    notes = "".join(f"<li>{escape(printable(note))}</li>" for note in summary.notes)
    told = f"<ul>{notes}</ul>" if notes else ""
    return (
        f'<div><table><caption style="text-align:left"><strong>Release</strong></caption><tbody>{lines}</tbody></table>'
        f"{told}<p>release.report(&quot;report.html&quot;) writes the whole report.</p></div>"
    )


def _row(name: str, value: Any) -> str:
    return f'<tr><th scope="row" style="{_CELL}">{escape(name)}</th><td style="{_CELL}">{escape(str(value))}</td></tr>'
