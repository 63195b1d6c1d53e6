"""The page of the method optimal, docs/results/optimal.md, its table in README.md, and its picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markdown import DOCS, ROOT, made_by, put_between_marks, table, write
from methods_page import KS, SETS
from pictures import BLUE, INK, RED, save
from published import PUBLISHED_LOSS, PUBLISHED_SSE
from record import load

Row = dict[str, Any]
Place = tuple[str, int]

_PUBLISHED = ("mdav", "v-mdav", "iv-mdav", "ldf", "hdf")
_OPTIMAL = 0.01  # gap in percent below which a partition counts as the optimum
_INTRODUCTION = """# optimal

What the method [`optimal`](../methods/optimal.md) loses for a time, what is proved about the least possible loss, and
how its loss goes down on many records. Loss is 100 SSE / SST in percent, on z-scores; lower is better. Seed 0.

## The reference sets

- Published: SSE of MDAV, V-MDAV and IV-MDAV from table 1 of G. S. Rawat and B. Borah, divided by SST; loss of LDF and
  HDF from table 1 of T.-H. Wen, J.-L. Lin and C.-H. Wang.
- "Best other" is the least loss of the other methods as this repository computes them, with its name; their table is in
  [All methods](methods.md).
- Times are those of `--time`: the search, without reading and writing; "by size" is what is done where nothing is said.
- "Least known" is the least loss of all searches here and of the partitions that the proof came across; "proved" is the
  loss that no partition can be below, and the gap is the part of the least known that a better partition could save at
  most. Below 0.01 % it counts as the optimum, in bold. What the search missed in 60 s is the difference of columns."""

_BOUNDS = """The bounds: `python benchmarks/run.py bound`. Where the CPU seconds are far below the seconds taken, other
work had the cores, and more could be proved in the time."""

_MANY = """## Many records

Normal records, 5 columns, k = 3, two threads. Exact MDAV goes through the neighbour index. Seconds are wall seconds of
the partition; the file is not read and nothing is compiled in them."""


def optimal() -> None:
    """Write docs/results/optimal.md, the table of README.md and docs/images/optimal.png."""
    machine, rows = load("optimal")
    _, bounds = load("bound")
    many_machine, many = load("many")
    _, others = load("published")
    proved = {(row["data"], row["k"]): row for row in bounds if row["bound"] > 0.0}
    losses = {(row["data"], row["k"], row["time"]): row["loss"] for row in rows}
    whole = _reference(losses, proved, others)
    parts = [
        _INTRODUCTION,
        made_by("optimal", machine),
        whole,
        _BOUNDS,
        _proofs(proved),
        _MANY,
        f"`python benchmarks/run.py many`, commit {many_machine['commit']}.",
        *(_many_table(n, [row for row in many if row["n"] == n]) for n in dict.fromkeys(row["n"] for row in many)),
        "![Loss against time of optimal and MDAV](../images/optimal.png)",
    ]
    write(DOCS / "results" / "optimal.md", "\n\n".join(parts))
    put_between_marks(ROOT / "README.md", "optimal", whole)
    save(_picture(many), "optimal")


def _reference(
    losses: dict[tuple[str, int, int | None], float], proved: dict[Place, Row], others: Sequence[Row]
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
            least = _least(min(found), proved.get((data, k), {}))
            bound = proved[data, k]["bound"] if (data, k) in proved else math.nan
            gap = 100 * (least - bound) / least
            lines.append(
                [
                    name if place == 0 else "",
                    str(k),
                    *(f"{loss:.{digits}f}" for loss in published),
                    _best(data, k, digits, others),
                    *(f"{loss:.{digits}f}" for loss in found),
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


def _how(k: int, row: Row) -> str:
    """Say what proves a bound."""
    if row.get("branches", 1) > 1:
        return f"cuts and {row['branches']} branches"
    return "cuts" if k <= 6 else "the relaxation"


def _proofs(proved: dict[Place, Row]) -> str:
    lines = [
        [
            SETS[data][0],
            str(k),
            _down(row["bound"], 4),
            _how(k, row),
            f"{row['allowed']:.0f}",
            f"{row['wall']:.0f}",
            f"{row['cpu']:.0f}",
            row["commit"],
        ]
        for (data, k), row in proved.items()
    ]
    return table(("data", "k", "proved, %", "by", "seconds allowed", "seconds taken", "CPU seconds", "commit"), lines)


def _many_table(n: int, rows: Sequence[Row]) -> str:
    mdav = next(row for row in rows if row["method"] == "mdav")
    lines = [["`mdav`", f"{mdav['wall']:.1f}", f"{mdav['loss']:.4f}", "", f"{mdav['peak_mib']:.0f}"]]
    for row in rows:
        if row["method"] == "optimal":
            saved = f"{100 * (1 - row['loss'] / mdav['loss']):.1f}"
            cells = [f"`optimal`, {row['time']} s", f"{row['wall']:.1f}", f"{row['loss']:.4f}", saved]
            lines.append([*cells, f"{row['peak_mib']:.0f}"])
    head = ("method", "seconds", "information loss, %", "saved of MDAV's, %", "peak memory, MiB")
    return f"{n} records:\n\n" + table(head, lines)


def _picture(rows: Sequence[Row]) -> Any:
    import altair as alt

    panels = []
    for n in dict.fromkeys(row["n"] for row in rows):
        here = [row for row in rows if row["n"] == n]
        mdav = next(row for row in here if row["method"] == "mdav")
        longest = max((row for row in here if row["method"] == "optimal"), key=lambda row: row["time"])
        end = longest["curve"][-1][0]
        steps = [{"seconds": seconds, "loss": loss, "method": "optimal"} for seconds, loss in longest["curve"]]
        flat = [{"seconds": s, "loss": mdav["loss"], "method": "mdav"} for s in (mdav["wall"], end)]
        ended = [
            {"seconds": row["wall"], "loss": row["loss"], "words": f"--time {row['time']}s"}
            for row in here
            if row["method"] == "optimal"
        ]
        colour = alt.Color("method:N", title=None, scale=alt.Scale(domain=["mdav", "optimal"], range=[RED, BLUE]))
        x = alt.X("seconds:Q", title="seconds, log scale", scale=alt.Scale(type="log"))
        y = alt.Y("loss:Q", title="information loss, %", scale=alt.Scale(zero=False))
        base = alt.Chart(alt.Data(values=steps + flat), width=360, height=260, title=f"{n:,} records, 5 columns, k = 3")
        points = alt.Chart(alt.Data(values=ended)).encode(x=x, y=y)
        panels.append(
            base.mark_line(interpolate="step-after", strokeWidth=2.5).encode(x=x, y=y, color=colour)
            + points.mark_circle(size=70, color=BLUE, opacity=1)
            + points.mark_text(dx=4, dy=-10, align="right", color=INK, fontSize=12).encode(text="words:N")
        )
    return alt.hconcat(*panels, spacing=36)
