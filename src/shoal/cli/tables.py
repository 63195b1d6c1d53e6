"""Tables for the terminal that several commands print."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import shoal
from shoal.errors import decimal, one_or_many, ranged

if TYPE_CHECKING:
    from rich.table import Table

MUCH = 50.0  # percent that a column loses, beyond which the loss of each is shown
_SHORT = 16  # letters of a name that fit a line of 80 beside all else
_SHOWN = 12  # columns whose loss is shown


def plain_table(*columns: str, title: str | None = None, whole: Collection[int] = ()) -> Table:
    """Return an empty table with a heading for each column; the cells at the places ``whole`` keep to one line."""
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),  # two spaces between columns, with that of the box: many have to fit a line of 80
        header_style="bold",
    )
    for place, column in enumerate(columns):
        table.add_column(column, no_wrap=place in whole)
    return table


def named_rows(*columns: str, names: Iterable[str], whole: Collection[int] = ()) -> Table:
    """Return an empty table whose first column is for names: on one line where all are short, folded otherwise."""
    short = all(len(shoal.printable(name)) <= _SHORT for name in names)
    return plain_table(*columns, whole=(0, *whole) if short else whole)


def proof_row(summary: shoal.Summary) -> dict[str, str]:
    """Return what was proved about the loss, where that is anything."""
    if summary.gap is None or summary.bound is None:
        return {}
    if summary.bound == 0.0 < summary.gap:
        return {"gap": "nothing is proved"}
    return {"gap": f"{decimal(summary.gap)} %: no partition loses less than {decimal(summary.bound, 4)} %"}


def loss_rows(summary: shoal.Summary) -> dict[str, str]:
    """Return the loss of each column, the largest first, where one of several loses more than half."""
    losses = sorted(summary.loss_by_column.items(), key=lambda own: -own[1])
    if len(losses) < 2 or losses[0][1] <= MUCH:
        return {}
    told = ", ".join(f"{shoal.printable(name)} {decimal(loss)} %" for name, loss in losses[:_SHOWN])
    return {"loss by column": told + (f" and {len(losses) - _SHOWN} more" if len(losses) > _SHOWN else "")}


def loss_advice(summary: shoal.Summary) -> list[str]:
    """Name the columns of several that lose more than half of what there was to lose, and say what to do."""
    much = {name: loss for name, loss in summary.loss_by_column.items() if loss > MUCH}
    if not much or len(summary.loss_by_column) < 2:
        return []
    worst = sorted(much.items(), key=lambda own: -own[1])
    told = ", ".join(f"{shoal.printable(name)} ({decimal(loss, 1)} %)" for name, loss in worst[:_SHOWN])
    remedies = "another --scaling or a smaller k"
    if shoal.METHODS[summary.method].mixed:
        remedies = f"a --column-weight above 1, {remedies}"
    it = one_or_many(len(much), "it", "them")
    return [f"more than half is lost of {told}; {remedies} may keep more of {it}"]


def summary_table(summary: shoal.Summary) -> Table:
    """Return the summary of a release, a line for each figure."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    sizes = f"{summary.groups} of {ranged(summary.smallest_group, summary.largest_group, 'record')}"
    rows = {
        "method": f"{summary.method}, k = {summary.k}",
        "records": f"{summary.records}",
        "groups": sizes,
        "information loss": f"{decimal(summary.information_loss, 4)} %",
        **_without_rules(summary),
        **_conditions(summary),
        **({} if summary.record_loss is None else {"record loss": f"{decimal(summary.record_loss, 4)} %"}),
        **loss_rows(summary),
        **proof_row(summary),
        "SSE, SST": f"{decimal(summary.sse, 4)}, {decimal(summary.sst, 4)}",
        **_decimals(summary),
        "suppressed cells": f"{summary.suppressed_cells}",
        **({"missing patterns": "ignored"} if summary.missing_patterns == "ignored" else {}),
        "seconds": f"{summary.seconds:.2f}",
        "peak memory": "unknown" if summary.peak_memory_mib is None else f"{summary.peak_memory_mib:.0f} MiB",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def private_table(release: shoal.PrivateRelease) -> Table:
    """Return what a release that is differentially private promises, and how large its noise is."""
    table = plain_table("column", "bounds", "epsilon", "scale of the noise", title=release.summary.guarantee)
    for name, own in release.summary.columns.items():
        low, high = own.bounds
        table.add_row(shoal.printable(name), f"{low:g} to {high:g}", own.epsilon, f"{own.scale:.4g}")
    return table


def _decimals(summary: shoal.Summary) -> dict[str, str]:
    told = [f"{shoal.printable(name)} {count}" for name, count in summary.decimals.items()]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return {"decimals": ", ".join(told[:_SHOWN]) + more} if told else {}


def _without_rules(summary: shoal.Summary) -> dict[str, str]:
    loss = summary.loss_without_rules
    return {} if loss is None else {"without rules": f"{decimal(loss, 4)} %"}


def _conditions(summary: shoal.Summary) -> dict[str, str]:
    """Return what groups keep of confidential columns, and what the loss would be with k alone."""
    told = [
        f"{shoal.printable(one.column)}: "
        + ", ".join(f"{name} {decimal(value, 3)}" for name, value in one.reached.items())
        for one in summary.conditions
    ]
    rows = {"kept of": "; ".join(told)} if told else {}
    without = summary.loss_without_conditions
    return rows if without is None else {"with k alone": f"{decimal(without, 4)} %", **rows}


def rules_table(summary: shoal.Summary) -> Table:
    """Return how each rule was kept, and what it cost."""
    from rich.text import Text

    table = plain_table("rule", "kind", "kept by", "violations before, after", "guaranteed", "cost, %", "in its groups")
    for rule in summary.rules:
        table.add_row(
            Text(shoal.printable(rule.name), overflow="fold"),
            rule.kind,
            Text(rule.kept_by, overflow="fold"),
            f"{rule.violations_before}, {rule.violations_after}",
            "yes" if rule.guaranteed else "checked only",
            "" if rule.cost is None else decimal(rule.cost, 4),
            decimal(rule.cost_in_groups, 4),
        )
    return table
