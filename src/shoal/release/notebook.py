"""What a notebook shows of a release."""

from __future__ import annotations

from shoal.errors import decimal, ranged
from shoal.plan.notebook import fragment
from shoal.release.summary import Summary


def release_fragment(summary: Summary) -> str:
    """Return the summary of a release as a fragment of HTML, every text of it escaped."""
    rows = {
        "method": f"{summary.method}, k = {summary.k}",
        "records": f"{summary.records:,}",
        "groups": f"{summary.groups:,} of {ranged(summary.smallest_group, summary.largest_group, 'record')}",
        "information loss": f"{decimal(summary.information_loss)} %",
        **({} if summary.record_loss is None else {"record loss": f"{decimal(summary.record_loss)} %"}),
        "suppressed cells": f"{summary.suppressed_cells:,}",
        **({"missing patterns": "ignored"} if summary.missing_patterns == "ignored" else {}),
        "quasi-identifiers": "; ".join(", ".join(part.columns) for part in summary.sets),
    }
    told = 'release.report("report.html") writes the whole report.'
    return fragment("Release", rows, notes=summary.notes, told=told)
