"""The page of optimal against every fast method on tables of any size, docs/results/any-size.md."""

from __future__ import annotations

from statistics import median
from typing import Any

from markdown import DOCS, commits, made_by, processors, table, write
from record import load

Row = dict[str, Any]

_INTRODUCTION = """# optimal on tables of any size

What [`optimal`](../methods/optimal.md) loses where nothing is said, beside the fast method that loses least, refined or
not, on made-up tables of five columns: normal records, clusters, heavy tails (t with two degrees of freedom), rounded
numbers, and records that occur twice on the mean.

- Losses are percentages of what `mdav` loses; lower is better. Seconds are CPU seconds of the partition, of all cores:
  no file is read and nothing is compiled in them. "Wall" is how long the default took by the clock.
- "Allowed" is how long the default may take: as long as `mdav` twice, and a second. How far it searches is counted, not
  timed, so that the same table gives the same groups on any machine: it takes longer on a slower core than on this.
- Where the other method loses less than the default, the steps of the search are doubled until it loses no more, or
  takes longer than that method: "at the same time" is the last that does not. In bold: it loses more all the same."""


def any_size() -> None:
    """Write docs/results/any-size.md."""
    machine, rows = load("any-size")
    rows = sorted(rows, key=lambda row: (row["k"], row["strata"], row["n"]))
    origin = {**machine, "commit": commits(rows), "processor": processors(rows)}
    parts = [_INTRODUCTION, made_by("any-size", origin), _summary(rows), _core(rows)]
    head = ("records", "table", "optimal", "seconds", "wall", "allowed", "best other", "its loss", "its seconds")
    head += ("at the same time", "seconds")
    for k, strata in dict.fromkeys((row["k"], row["strata"]) for row in rows):
        here = [row for row in rows if (row["k"], row["strata"]) == (k, strata)]
        parts += [f"## k = {k}" + f", {strata} strata" * (strata > 1), table(head, map(_line, here))]
    write(DOCS / "results" / "any-size.md", "\n\n".join(parts))


def allowed(row: Row) -> float:
    """Return the seconds that the default may take."""
    return 2.0 * float(row["mdav_seconds"]) + 1.0


def _summary(rows: list[Row]) -> str:
    """Say of how many tables the promises hold."""
    above = sum(row["optimal"] > 100.0 for row in rows)
    worse = sum(_worse(row) for row in rows)
    late, busy = (sum(row[taken] > allowed(row) for row in rows) for taken in ("wall", "seconds"))
    longer = sum(row["optimal"] <= row["best_other"] and row["seconds"] > row["best_seconds"] for row in rows)
    return (
        f"Of {len(rows)} tables, the default loses more than `mdav` on {above} and is late on {late}; on {busy} "
        "it takes more CPU seconds, on several cores, than a single one may take. "
        f"Given the same time, another method loses less on {worse}. On {longer} the default is better but takes "
        "longer than that method alone, within the second that it may take in any case: given only the seconds of that "
        "method, a few milliseconds at 300 records, it would lose more on some."
    )


def _core(rows: list[Row]) -> str:
    """Say how fast the core is, so that seconds of another one can be held beside these."""
    seconds = median(row["yardstick"] for row in rows)
    return f"On this core `mdav` takes {seconds:.2f} s for 100 000 normal records of five columns at k = 3."


def _worse(row: Row) -> bool:
    return float(row["at_the_same_time"]) > float(row["best_other"])


def _line(row: Row) -> list[str]:
    """Return the cells of a table that was searched."""
    mark = "**" if _worse(row) else ""
    return [
        f"{row['n']:,}".replace(",", " "),
        row["kind"],
        f"{row['optimal']:.3f}",
        f"{row['seconds']:.2f}",
        f"{row['wall']:.2f}",
        f"{allowed(row):.2f}",
        f"`{row['best']}`",
        f"{row['best_other']:.3f}",
        f"{row['best_seconds']:.2f}",
        f"{mark}{row['at_the_same_time']:.3f}{mark}",
        f"{row['longer_seconds']:.2f}",
    ]
