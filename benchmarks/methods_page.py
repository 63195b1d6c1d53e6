"""The page that compares all methods, docs/results/methods.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown import DOCS, made_by, table, write
from record import load

KS = (3, 4, 5, 10)
SETS = {"tarragona": ("Tarragona", 834, 13), "census": ("Census", 1080, 13), "eia": ("EIA", 4092, 11)}

Row = dict[str, Any]

_INTRODUCTION = """# All methods

Loss and time of every method on the three reference sets of the CASC project, as it is and after
[refinement](../methods/refinement.md). Lower is better. What the methods do is on [their pages](../methods/README.md);
published figures are in [Published results](published.md).

- Loss is 100 SSE / SST in percent, on z-scores. Options are at their defaults, but `gamma` = 1.1 for `v-mdav` on EIA,
  and the seed is 0.
- Seconds are CPU seconds of the whole call, reading the file included, after a first call that loads the kernels.
- `individual-ranking` loses least because k holds for each column only, not for their combination; it cannot be
  refined."""


def methods() -> None:
    """Write docs/results/methods.md."""
    machine, rows = load("published")
    parts = [
        _INTRODUCTION,
        made_by("published", machine).replace("pages.py published", "pages.py methods"),
    ]
    head = ["method", *_per_k("k = "), *_per_k("refined, k = ")]
    head += ["seconds, k = 3", "10", "refined, seconds, k = 3", "10"]
    for data, (name, records, columns) in SETS.items():
        here = [row for row in rows if row["data"] == data]
        found = {(row["method"], row["refined"], row["k"]): row for row in here}
        names = dict.fromkeys(row["method"] for row in here)
        parts.append(f"## {name}\n\n{records} records, {columns} columns. Information loss in percent.")
        parts.append(table(head, [_line(method, found) for method in names]))
    parts.append(_many_records([row for row in rows if row["data"] == "normal"]))
    write(DOCS / "results" / "methods.md", "\n\n".join(parts))


def _per_k(first: str) -> list[str]:
    """Return the heads of the columns for each k; only the first says what they are."""
    return [f"{first}{k}" if k == KS[0] else f"{k}" for k in KS]


def _line(method: str, found: dict[tuple[str, bool, int], Row]) -> list[str]:
    """Return the cells of one method."""
    losses, times = [], []
    for refined in (False, True):
        rows = [found.get((method, refined, k)) for k in KS]
        losses += [f"{row['loss']:.3f}" if row else "" for row in rows]
        times += [f"{row['cpu']:.2f}" if row else "" for row in (rows[0], rows[-1])]
    return [f"`{method}`", *losses, *times]


def _many_records(rows: Sequence[Row]) -> str:
    """Return the section on many normal records."""
    lines = [
        [f"`{row['method']}`" + (", refined" if row["refined"] else ""), f"{row['loss']:.3f}", f"{row['cpu']:.1f}"]
        for row in rows
    ]
    return f"## {rows[0]['records']} normal records\n\n5 columns, k = 3, one thread, no blocks.\n\n" + table(
        ("method", "information loss, %", "CPU seconds"), lines
    )
