"""shoal demo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import shoal
from shoal.cli.shell import out, tell, told_errors
from shoal.cli.tables import plain_table, summary_table

if TYPE_CHECKING:
    from rich.table import Table


def demo() -> None:
    """Protect the embedded example and show the result."""
    with told_errors():
        survey = shoal.example()
        tell("a made-up survey of 1000 people: names removed, regions kept apart, k = 5", style="dim")
        release = shoal.protect(
            survey,
            k=5,
            quasi_identifiers=["age", "height", "hours", "income"],
            identifiers=["name"],
            persons=[],  # made-up names repeat, and tell nobody apart
            weight="weight",
            strata=["region"],
        )
        same = [row for row in range(len(survey)) if release.groups[row] == release.groups[0]]
        shown = [*same[:5], *[row for row in range(1, 4) if row not in same]]
        out().print(_frame_table("before", survey, shown, "bold red"))
        out().print(
            _frame_table(
                "after: the first five can no longer be told apart by age, height, hours and income",
                release.data,
                shown,
                "bold green",
            )
        )
        out().print(summary_table(release.summary))
        for note in release.summary.notes:
            out().print(f"note: {note}", markup=False, highlight=False)
        out().print("\nYour own table:  [bold]shoal inspect TABLE.csv -o plan.yaml[/bold], then")
        out().print("                 [bold]shoal protect TABLE.csv -o RELEASE.csv --plan plan.yaml[/bold]")


def _frame_table(title: str, frame: Any, rows: Sequence[int], style: str) -> Table:
    table = plain_table(*frame.columns, title=f"[{style}]{title}[/{style}]")
    for row in rows:
        values = [frame[name][row] for name in frame.columns]
        table.add_row(*["" if v is None else f"{v:.1f}" if isinstance(v, float) else str(v) for v in values])
    return table
