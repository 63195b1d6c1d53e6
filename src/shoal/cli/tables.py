"""Tables for the terminal that several commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shoal

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table with a heading for each column."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column)
    return table


def proof_row(summary: shoal.Summary) -> dict[str, str]:
    """Return what was proved about the loss, where that is anything."""
    if summary.gap is None or summary.bound is None:
        return {}
    return {"gap": f"{summary.gap:.2f} %: no partition loses less than {summary.bound:.4f} %"}


def summary_table(summary: shoal.Summary) -> Table:
    """Return the summary of a release, a line for each figure."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    sizes = f"{summary.groups} of {summary.smallest_group} to {summary.largest_group} records"
    rows = {
        "method": f"{summary.method}, k = {summary.k}",
        "records": f"{summary.records}",
        "groups": sizes,
        "information loss": f"{summary.information_loss:.4f} %",
        **({} if summary.record_loss is None else {"record loss": f"{summary.record_loss:.4f} %"}),
        **proof_row(summary),
        "SSE, SST": f"{summary.sse:.4f}, {summary.sst:.4f}",
        "suppressed cells": f"{summary.suppressed_cells}",
        **({"missing patterns": "ignored"} if summary.missing_patterns == "ignored" else {}),
        "seconds": f"{summary.seconds:.2f}",
        "peak memory": "unknown" if summary.peak_memory_mib is None else f"{summary.peak_memory_mib:.0f} MiB",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def rules_table(summary: shoal.Summary) -> Table:
    """Return how each rule was kept, and what it cost."""
    from rich.text import Text

    table = plain_table("rule", "kind", "kept by", "violations before, after", "guaranteed", "cost, %")
    for rule in summary.rules:
        table.add_row(
            Text(shoal.printable(rule.name), overflow="fold"),
            rule.kind,
            Text(rule.kept_by, overflow="fold"),
            f"{rule.violations_before}, {rule.violations_after}",
            "yes" if rule.guaranteed else "checked only",
            f"{rule.cost:.4f}",
        )
    return table
