"""The page of the method optimal, docs/results/optimal.md, and its table in README.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from many_page import MANY, many_tables, save_many_picture
from markdown import DOCS, ROOT, commits, made_by, processors, put_between_marks, spread, table, write
from methods_page import KS, SETS
from published import PUBLISHED_LOSS, PUBLISHED_SSE
from record import load

Row = dict[str, Any]
Place = tuple[str, int]
Losses = dict[tuple[str, int, int | None], list[float]]  # of all seeds, by set, k and seconds

_PUBLISHED = ("mdav", "v-mdav", "iv-mdav", "ldf", "hdf")
_OPTIMAL = 0.01  # gap in percent below which a partition counts as the optimum
_INTRODUCTION = """# optimal

What the method [`optimal`](../methods/optimal.md) loses for a time, what is proved about the least possible loss, and
how its loss goes down on many records. Loss is 100 SSE / SST in percent, on z-scores; lower is better. Medians over
{seeds}, and in brackets the least and the greatest where they differ.

## The reference sets

- Published: SSE of MDAV, V-MDAV and IV-MDAV from table 1 of G. S. Rawat and B. Borah, divided by SST; loss of LDF and
  HDF from table 1 of T.-H. Wen, J.-L. Lin and C.-H. Wang.
- "Best other" is the least loss of the other methods as this repository computes them, with its name; their table is in
  [All methods](methods.md).
- Times are those of `--time`: the search, without reading and writing; "by size" is what is done where nothing is said.
- "Least known" is the least loss of all searches here and of the partitions that the proof came across; "proved" is the
  loss that no partition can be below, and the gap is the part of the least known that a better partition could save at
  most. Below 0.01 % it counts as the optimum, in bold. What a search misses is the difference of columns."""

_TAKEN = """Seconds that searches for a time took, with reading the file and measuring the release, which `--time` does
not count; load is how many threads wanted to run on the machine meanwhile."""

_BOUNDS = """The bounds: `python benchmarks/run.py bound`. Where the CPU seconds are far below the seconds taken, other
work had the cores, and more could be proved in the time."""


def optimal() -> None:
    """Write docs/results/optimal.md, the table of README.md and docs/images/optimal.png."""
    machine, rows = load("optimal")
    _, bounds = load("bound")
    many_machine, many = load("many")
    _, others = load("published")
    proved = {(row["data"], row["k"]): row for row in bounds if row["bound"] > 0.0}
    losses: Losses = {}
    for row in rows:
        losses.setdefault((row["data"], row["k"], row["time"]), []).append(row["loss"])
    seeds = max(map(len, losses.values()))
    parts = [
        _INTRODUCTION.format(seeds=f"{seeds} seed{'s' * (seeds > 1)}"),
        made_by("optimal", machine),
        _reference(losses, proved, others, spread),
        _TAKEN,
        _taken(rows),
        _BOUNDS,
        _proofs(proved),
        MANY,
        f"`python benchmarks/run.py many`, {many_machine['cores']} cores. Machine: {processors(many)}. "
        f"Commit: {commits(many)}.",
        *many_tables(many),
    ]
    write(DOCS / "results" / "optimal.md", "\n\n".join(parts))
    put_between_marks(ROOT / "README.md", "optimal", _reference(losses, proved, others, _middle))
    save_many_picture(many)


def _middle(losses: Sequence[float], digits: int) -> str:
    """Return the median alone."""
    return f"{statistics.median(losses):.{digits}f}"


def _taken(rows: Sequence[Row]) -> str:
    """Return what searches for a time took."""
    lines = []
    for seconds in sorted({row["time"] for row in rows if row["time"] is not None}):
        wall = [row["wall"] for row in rows if row["time"] == seconds]
        lines.append(
            [
                f"{seconds} s",
                str(len(wall)),
                spread(wall, 2),
                spread([row["load"] for row in rows if row["time"] == seconds], 1),
            ]
        )
    return table(("asked for", "searches", "seconds of the whole call", "load"), lines)


def _reference(
    losses: Losses, proved: dict[Place, Row], others: Sequence[Row], show: Callable[[Sequence[float], int], str]
) -> str:
    """Return the table of the reference sets."""
    times = sorted({seconds for _, _, seconds in losses if seconds is not None})
    head = [
        "data",
        "k",
        *(f"{name.upper()}, published" for name in _PUBLISHED),
        "best other here",
        "`optimal`, by size",
    ]
    head += [*(f"{seconds} s" for seconds in times), "least known", "proved", "gap, %"]
    lines = []
    for data, (name, records, columns) in SETS.items():
        for place, k in enumerate(KS):
            published = []
            for method in _PUBLISHED:
                sse, loss = PUBLISHED_SSE.get((data, method)), PUBLISHED_LOSS.get((data, method))
                published.append(100 * sse[place] / (records * columns) if sse else loss[place] if loss else math.nan)
            digits = 3 if data == "eia" else 2
            found = [losses[data, k, seconds] for seconds in (None, *times)]
            least = _least(min(map(min, found)), proved.get((data, k), {}))
            bound = proved[data, k]["bound"] if (data, k) in proved else math.nan
            gap = 100 * (least - bound) / least
            lines.append(
                [
                    name if place == 0 else "",
                    str(k),
                    *(f"{loss:.{digits}f}" for loss in published),
                    _best(data, k, digits, others),
                    *(show(seeds, digits) for seeds in found),
                    f"**{least:.4f}**" if gap < _OPTIMAL else f"{least:.4f}",
                    "" if math.isnan(bound) else _down(bound, 4),
                    "" if math.isnan(bound) else f"{gap:.3f}",
                ]
            )
    return table(head, lines)


def _least(searched: float, proof: Row) -> float:
    """Return the least loss known; that of searches is recorded to four digits, that of a proof to all."""
    known = proof.get("best", math.inf)
    return searched if searched < known - 5e-5 else known


def _best(data: str, k: int, digits: int, others: Sequence[Row]) -> str:
    """Return the least loss of the other methods for whole groups, with the method."""
    here = [row for row in others if row["data"] == data and row["k"] == k and row["method"] != "individual-ranking"]
    best = min(here, key=lambda row: row["loss"])
    return f"{best['loss']:.{digits}f} (`{best['method']}`{', refined' if best['refined'] else ''})"


def _down(value: float, digits: int) -> str:
    """Return a bound rounded down, so that what is printed is proved, too."""
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def _how(row: Row) -> str:
    """Say what proves a bound."""
    if row["branches"] > 1:
        return f"cuts and {row['branches']} branches"
    return f"{row['cuts']} cuts" if row["cuts"] else "the relaxation"


def _proofs(proved: dict[Place, Row]) -> str:
    lines = [
        [
            SETS[data][0],
            str(k),
            _down(row["bound"], 4),
            _how(row),
            f"{row['allowed']:.0f}",
            f"{row['wall']:.0f}",
            f"{row['cpu']:.0f}",
            row["commit"],
        ]
        for (data, k), row in proved.items()
    ]
    return table(("data", "k", "proved, %", "by", "seconds allowed", "seconds taken", "CPU seconds", "commit"), lines)
