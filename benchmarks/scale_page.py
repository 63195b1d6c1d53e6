"""The page of results on speed and blocking, docs/results/scale.md, and the table of README.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from markdown import DOCS, ROOT, made_by, put_between_marks, table, write
from pictures import BLUE, RED, save
from record import load

Row = dict[str, Any]
PARTS = ("speed", "methods", "awkward", "blocking", "sizes", "cost")


def scale() -> None:
    """Write docs/results/scale.md and the scale table of README.md."""
    machine, speed = load("speed")
    _, methods = load("methods")
    _, cut = load("blocking")
    _, sizes = load("sizes")
    _, cost = load("cost")
    write(
        DOCS / "results" / "scale.md",
        "\n\n".join(
            [
                "# Speed and blocking\n\nWhat these mean, and how the index and the blocks work: [Scale](../scale.md). "
                "CPU seconds, k = 3, normal data and one thread where nothing else is said.",
                made_by(" ".join(PARTS), machine).replace(f"pages.py {' '.join(PARTS)}", "pages.py scale"),
                "The parts were run at: " + ", ".join(f"{name} {load(name)[0]['commit']}" for name in PARTS) + ".",
                "## Exact MDAV: index, brute force, prototype",
                _index_table(speed),
                "## Growth with n",
                _growth_table(speed),
                "The exponent is that of a line through the logarithms.",
                "![CPU seconds of exact MDAV against the number of records](../images/growth.png)",
                "Lines: the index; dashed: brute force.",
                "## Where the index pays",
                _crossover_table(speed),
                "## Every other method",
                table(("method", "n", "d", "CPU seconds"), _lines(methods, "methods", "method", "n", "d", "cpu")),
                "## Where threads could pay inside one block",
                table(
                    ("n", "d", "building the tree", "3 nearest, us", "farthest, us", "all of mdav", "all of ldf"),
                    _lines(methods, "searches", "n", "d", "build", "nearest", "farthest", "mdav", "ldf"),
                ),
                "CPU seconds, and microseconds of a search (us). `ldf` and `hdf` begin with a search for every record.",
                table(
                    ("method", "n", "d", "wall seconds, one thread", "two threads", "load"),
                    _lines(methods, "threads", "method", "n", "d", "one", "two", "load"),
                ),
                "Load: how many threads wanted to run on the machine meanwhile. Where it is above the number of "
                "cores, this does not show what a second thread gains on an idle machine.",
                "## Exact MDAV on large tables, in a process of its own",
                table(
                    ("n", "d", "CPU seconds", "peak memory, MiB"), _lines(speed, "large", "n", "d", "cpu", "peak_mib")
                ),
                "## Data that is awkward for trees",
                table(
                    ("data", "n", "d", "CPU seconds"), _lines(load("awkward")[1], "awkward", "data", "n", "d", "cpu")
                ),
                "## Blocking of the reference sets",
                _reference_table(cut),
                "SSE of MDAV in the blocks, in brackets after boundary repair. Published: Domingo-Ferrer 2008, table "
                "3.3. Its other column, tables and figures: [Blocking as published](blocking.md).",
                "## Blocking of uniform records, L = 10 000",
                _simulated_table(cut),
                _simulated_text(cut),
                "## What the spread tree costs on uniform records",
                table(
                    ("n", "d", "k", "L", "repair", "SSE", "more than without blocks, %"),
                    _lines(cost, "cost", "n", "d", "k", "size", "repair", "sse", "percent_more"),
                ),
                "## The model behind `--block-size auto`",
                _model_table(cost),
                "What the constants mean is said in [Scale](../scale.md#blocking); they are fitted to the table above "
                "and to CPU seconds of MDAV on normal records in blocks of 10 000 to 300 000 with k = 3 and 10.",
                "## Block sizes of the spread tree",
                table(
                    ("data", "n", "d", "L", "blocks", "information loss, %", "CPU seconds"),
                    _lines(sizes, "size", "data", "n", "d", "size", "blocks", "loss", "cpu"),
                ),
                "![Information loss and CPU seconds against the block size](../images/block-size.png)",
                "## From Parquet to Parquet through the command line, `--blocking spread-tree`",
                table(
                    ("n", "d", "blocks", "wall seconds", "peak memory, MiB", "information loss, %"),
                    _lines(cut, "command line", "n", "d", "blocks", "wall", "peak_mib", "loss"),
                ),
            ]
        ),
    )
    put_between_marks(ROOT / "README.md", "scale", _index_table(speed))
    save(_growth_picture(speed), "growth")
    save(_size_picture(sizes), "block-size")


def _lines(rows: Iterable[Row], part: str, *names: str) -> list[list[str]]:
    return [[f"{row[name]}" for name in names] for row in rows if row["part"] == part]


def _index_table(rows: Iterable[Row]) -> str:
    lines = []
    for row in rows:
        if row["part"] != "index":
            continue
        line = [
            f"{row['n']}",
            f"{row['d']}",
            f"{row['brute']:.2f}",
            f"{row['index']:.2f}",
            _times(row["brute"], row["index"]),
        ]
        old = row["prototype"]
        lines.append([*line, f"{old:.2f}" if old else "", _times(old, row["index"]) if old else ""])
    return table(("n", "d", "brute force", "index", "times faster", "prototype", "times faster"), lines)


def _times(slow: float, fast: float) -> str:
    return f"{slow / fast:.1f}"


def _growth_table(rows: list[Row]) -> str:
    lines = []
    for d in sorted({row["d"] for row in rows if row["part"] == "growth"}):
        here = [row for row in rows if row["part"] == "growth" and row["d"] == d]
        slope = np.polyfit(np.log([row["n"] for row in here]), np.log([row["index"] for row in here]), 1)[0]
        lines.append([f"{d}", ", ".join(f"{row['n']}: {row['index']:.2f}" for row in here), f"{slope:.2f}"])
    return table(("d", "n: CPU seconds", "exponent"), lines)


def _crossover_table(rows: Iterable[Row]) -> str:
    names = ("d", "n", "brute", "index")
    return table(("d", "n", "brute force", "index"), _lines(rows, "crossover", *names))


def _reference_table(rows: Iterable[Row]) -> str:
    found: dict[tuple[str, int, int], Row] = {}
    for row in rows:
        if row["part"] == "reference":
            cell = found.setdefault((row["data"], row["size"], row["k"]), {})
            cell[row["method"], row["repair"]] = row["sse"]
            cell["published"] = cell.get("published") or row["published"]
    lines = []
    for (data, size, k), cell in found.items():
        both = [f"{cell[m, False]:.2f} ({cell[m, True]:.2f})" for m in ("2d-tree", "spread-tree")]
        lines.append([data, f"{size}", f"{k}", f"{cell[None, False]:.2f}", *both, f"{cell['published'] or ''}"])
    return table(("data", "L", "k", "no blocks", "2^d-tree", "spread tree", "published 2^d-tree"), lines)


def _model_table(rows: list[Row]) -> str:
    """Return the constants of the model by number of columns."""
    faces = {row["d"]: row["factor"] for row in rows if row["part"] == "model faces"}
    lines = [
        [f"{row['d']}", f"{row['microseconds']}", f"{row['exponent']}", f"{faces.get(row['d'], '')}"]
        for row in rows
        if row["part"] == "model"
    ]
    (of_k,) = (row["exponent"] for row in rows if row["part"] == "model k")
    (of_faces,) = (row["exponent"] for row in rows if row["part"] == "model faces k")
    (scan,) = (row for row in rows if row["part"] == "model scan")
    head = ("d", "t: microseconds a record at L = 10 000, k = 3", "b: exponent of L", "f: factor of the faces")
    return table(head, lines) + (
        f"\n\nExponent of k: g = {of_k} for the time, h = {of_faces} for the faces. With missing values: "
        f"({scan['record']} + {scan['column']} d) L / k microseconds a record."
    )


def _simulated_table(rows: Iterable[Row]) -> str:
    found: dict[tuple[int, int], Row] = {}
    for row in rows:
        if row["part"] == "simulated":
            found.setdefault((row["n"], row["d"]), {})[row["method"], row["repair"]] = row
    lines = []
    for (n, d), cell in found.items():
        tree, plain = cell["2d-tree", False], cell["univariate", False]
        ours, repaired = cell["spread-tree", False], cell["spread-tree", True]
        here, there = plain["sse"] / tree["sse"], tree["published"][1] / tree["published"][0]
        sums = [f"{row['sse']:.6g} ({row['cpu']:.0f} s)" for row in (tree, plain, ours, repaired)]
        lines.append([f"{n}", f"{d}", *sums, f"{here:.2f}", f"{there:.2f}"])
    head = ("n", "d", "2^d-tree", "univariate", "spread tree", "with repair", "ratio here", "ratio published")
    return table(head, lines)


def _simulated_text(rows: Iterable[Row]) -> str:
    """Say what the ratio is, and how far the univariate figures are from the printed ones."""
    plain = [row for row in rows if row["part"] == "simulated" and row["method"] == "univariate"]
    away = max(abs(100 * (row["sse"] / row["published"][1] - 1)) for row in plain)
    return (
        "Ratio: SSE of univariate blocking over that of the 2^d-tree, here and in table 3.2 of Domingo-Ferrer 2008. "
        f"Its unit is that of z-scores: the univariate figures agree to {away:.1f} %. Those of the tree differ in "
        "three to five columns: "
        "see [Blocking as published](blocking.md#loss-by-number-of-columns-table-32-and-figure-35)."
    )


def _growth_picture(rows: Iterable[Row]) -> Any:
    """CPU seconds of the index by n for each d, and of brute force where it was run; both axes logarithmic."""
    import altair as alt

    points = [{"n": r["n"], "seconds": r["index"], "d": f"{r['d']} columns"} for r in rows if r["part"] == "growth"]
    brute = [{"n": r["n"], "seconds": r["brute"], "d": f"{r['d']} columns"} for r in rows if r["part"] == "index"]
    brute = [point for point in brute if point["d"] in ("5 columns", "10 columns")]
    x = alt.X("n:Q", title="records", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=6))
    y = alt.Y("seconds:Q", title="CPU seconds", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=6))
    colour = alt.Color("d:N", title=None, sort=["3 columns", "5 columns", "10 columns"])
    index = alt.Chart(alt.Data(values=points), width=420, height=280).mark_line(point=True)
    dashed = alt.Chart(alt.Data(values=brute)).mark_line(point=True, strokeDash=[4, 3], opacity=0.7)
    return index.encode(x=x, y=y, color=colour) + dashed.encode(x=x, y=y, color=colour)


def _size_picture(rows: Iterable[Row]) -> Any:
    """Loss and time of the spread tree by block size, on two data sets."""
    import altair as alt

    panels = []
    for data in ("uniform", "log-normal"):
        points = [r for r in rows if r["part"] == "size" and r["d"] == 5 and r["data"] == data]
        points = [r for r in points if r["size"] != "auto"]
        base = alt.Chart(alt.Data(values=points), width=300, height=220, title=f"{data}, 5 columns")
        x = alt.X("size:Q", title="block size L", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=4))
        loss = alt.Y("loss:Q", title="information loss, %", scale=alt.Scale(zero=False), axis=alt.Axis(titleColor=BLUE))
        cpu = alt.Y("cpu:Q", title="CPU seconds", scale=alt.Scale(zero=True), axis=alt.Axis(titleColor=RED))
        lines = [base.mark_line(point={"color": c}, color=c).encode(x=x, y=y) for y, c in ((loss, BLUE), (cpu, RED))]
        panels.append(alt.layer(*lines).resolve_scale(y="independent"))
    return alt.hconcat(*panels, spacing=30)
