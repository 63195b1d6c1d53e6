"""Loss against time on a thousand to a million records: the tables of docs/results/optimal.md, and the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markdown import spread, table
from pictures import BLUE, INK, RED, save

Row = dict[str, Any]
_GREEN = "#2a7f3f"
_DRAWN = (5, 3)  # columns and k of the picture

MANY = """## A thousand to a million records

Normal records, all cores. Exact MDAV goes through the neighbour index; "by size" is what is done where nothing is said.
CPU and wall seconds are those of the partition: no file is read and nothing is compiled in them. Medians over seeds,
the least and the greatest in brackets; "saved" is the part of MDAV's loss."""

_PICTURE = """![Loss against time of optimal and MDAV at 1000 to 1 000 000 records](../images/optimal.png)

5 columns, k = 3; time on a logarithmic scale. Lines: how the loss of the longest search with seed 0 went down, and what
MDAV loses from the moment that it ends. Dots: what searches of all seeds lost in the end, for each time that they were
given. Dashed: what is proved about the least possible loss, for a thousand records."""


def many_tables(rows: Sequence[Row]) -> Iterator[str]:
    """Return a table for each number of records, and the picture."""
    for n in dict.fromkeys(row["n"] for row in rows):
        here = [row for row in rows if row["n"] == n]
        lines = [line for place in _places(here) for line in _lines(here, *place)]
        head = ("columns", "k", "method", "seeds", "CPU seconds", "wall seconds", "information loss, %", "saved, %")
        yield f"### {n:,} records".replace(",", " ")
        yield table(head, lines)
    yield _PICTURE


def _places(rows: Sequence[Row]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((row["d"], row["k"]) for row in rows))


def _lines(rows: Sequence[Row], d: int, k: int) -> Iterator[list[str]]:
    """Return a line for MDAV, for each time of optimal, and for the bound."""
    here = [row for row in rows if (row["d"], row["k"]) == (d, k)]
    mdav = _of(here, "mdav")[0]
    yield [str(d), str(k), "`mdav`", "", f"{mdav['cpu']:.2f}", f"{mdav['wall']:.2f}", f"{mdav['loss']:.4f}", ""]
    for seconds in _times(here):
        found = [row for row in _of(here, "optimal") if row["time"] == seconds]
        name = "`optimal`, by size" if seconds is None else f"`optimal`, {seconds} s"
        taken = [spread([row[clock] for row in found], 2 if clock == "cpu" else 1) for clock in ("cpu", "wall")]
        saved = [100 * (1 - row["loss"] / mdav["loss"]) for row in found]
        yield ["", "", name, str(len(found)), *taken, spread([row["loss"] for row in found], 4), spread(saved, 1)]
    for row in _of(here, "bound"):
        taken = [f"{row['cpu']:.0f}", f"{row['wall']:.0f}"]
        yield ["", "", f"proved in {row['allowed']:.0f} s", "", *taken, f"at least {row['loss']:.4f}", ""]


def _of(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method]


def _times(rows: Sequence[Row]) -> list[int | None]:
    """Return the times that searches were given, the default first."""
    return list(dict.fromkeys(row["time"] for row in _of(rows, "optimal")))


def save_many_picture(rows: Sequence[Row]) -> None:
    """Draw loss against time for each number of records, and save it as docs/images/optimal.png."""
    import altair as alt

    panels = [_panel(n, [row for row in rows if row["n"] == n]) for n in dict.fromkeys(row["n"] for row in rows)]
    rows_of_two = [alt.hconcat(*panels[at : at + 2], spacing=40) for at in range(0, len(panels), 2)]
    save(alt.vconcat(*rows_of_two, spacing=30), "optimal")


def _panel(n: int, rows: Sequence[Row]) -> Any:
    import altair as alt

    here = [row for row in rows if (row["d"], row["k"]) == _DRAWN]
    mdav, found = _of(here, "mdav")[0], _of(here, "optimal")
    longest = max((row for row in found if "curve" in row), key=lambda row: row["time"] or 0)
    first = min(row["wall"] for row in [mdav, *found])
    end = max(row["wall"] for row in found)
    lines = [_point(seconds, loss, "optimal") for seconds, loss in longest["curve"]]
    lines += [_point(seconds, mdav["loss"], "mdav") for seconds in (mdav["wall"], end)]
    lines += [_point(seconds, row["loss"], "proved") for row in _of(here, "bound") for seconds in (first, end)]
    names = ["mdav", "optimal", "proved"]
    colour = alt.Color("line:N", title=None, scale=alt.Scale(domain=names, range=[RED, BLUE, _GREEN]))
    dash = alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=names, range=[[1, 0], [1, 0], [5, 4]]))
    x = alt.X("seconds:Q", title="wall seconds, log scale", scale=alt.Scale(type="log", nice=False))
    y = alt.Y("loss:Q", title="information loss, %", scale=alt.Scale(zero=False))
    title = f"{n:,} records".replace(",", " ")
    base = alt.Chart(alt.Data(values=lines), width=360, height=240, title=title)
    ends = alt.Chart(alt.Data(values=[_point(row["wall"], row["loss"], "optimal") for row in found]))
    labels = alt.Chart(alt.Data(values=[_label(found, seconds) for seconds in _times(here)]))
    return (
        base.mark_line(interpolate="step-after", strokeWidth=2.2).encode(x=x, y=y, color=colour, strokeDash=dash)
        + ends.mark_circle(size=55, color=BLUE, opacity=0.6).encode(x=x, y=y)
        + labels.mark_text(dy=-12, color=INK, fontSize=11).encode(x=x, y=y, text="words:N")
    )


def _point(seconds: float, loss: float, line: str) -> Row:
    return {"seconds": max(seconds, 1e-3), "loss": loss, "line": line}


def _label(found: Sequence[Row], seconds: int | None) -> Row:
    """Return the words for a time, above the dots of its searches."""
    own = [row for row in found if row["time"] == seconds]
    words = "by size" if seconds is None else f"{seconds} s"
    middle = sorted(row["wall"] for row in own)[len(own) // 2]
    return {"seconds": middle, "loss": max(row["loss"] for row in own), "words": words}
