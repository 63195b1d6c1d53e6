"""Write the pages of results and the pictures: python benchmarks/pages.py [NAME ...].

Figures come from benchmarks/results, where run.py puts them; nothing is computed here but the picture of the example.
A page is a function in ``PAGES``; pictures need the extra ``report``, and that of the report
also ``dev`` and Chromium (pip install -e ".[dev,report]").
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import shoal
from any_size_page import any_size
from app_page import app
from blocking_page import blocking
from categories_page import categories
from conditions_page import conditions
from engines_page import engines
from gallery import gallery
from learning_page import learning
from markdown import DOCS, ROOT, made_by, put_between_marks, table, write
from measures_page import measures
from methods_page import SETS, methods
from mixed_page import mixed
from optimal_page import optimal
from pictures import BLUE, BLUES, INK, RED, save
from record import load
from report_page import report
from rule_sets_page import rule_sets
from rules_page import rules
from scale_page import scale
from sdcmicro_page import sdcmicro
from start_page import start
from sweep_page import sweep

KS = (3, 4, 5, 10)

Row = dict[str, Any]


def published() -> None:
    """Write docs/results/published.md, the table of README.md and docs/images/loss.png."""
    machine, rows = load("published")
    rows = [row for row in rows if row["data"] in SETS and not row["refined"]]
    parts = [_PUBLISHED_INTRODUCTION, made_by("published", machine)]
    for data, (name, records, columns) in SETS.items():
        here = [row for row in rows if row["data"] == data]
        parts.append(f"## {name}\n\n{records} records, {columns} columns, SST = {records * columns}.")
        parts.append(
            table(
                ("method", "k", "information loss, %", "SSE", "published", "difference, %", "CPU seconds"),
                [_published_line(row) for row in here],
            )
        )
    write(DOCS / "results" / "published.md", "\n\n".join(parts))
    put_between_marks(ROOT / "README.md", "results", _loss_table(rows, (3, 5, 10)))
    save(_loss_picture(rows), "loss")


def before_after() -> None:
    """Write docs/images/before-after.png: the embedded example, protected."""
    survey = shoal.example()
    release = shoal.protect(survey, k=5, quasi_identifiers=["age", "height", "hours", "income"], identifiers="name")
    save(_before_after_picture(_points(survey), _points(release.data)), "before-after")


PAGES: dict[str, Callable[[], None]] = {
    "published": published,
    "optimal": optimal,
    "any-size": any_size,
    "methods": methods,
    "before-after": before_after,
    "scale": scale,
    "blocking": blocking,
    "measures": measures,
    "sweep": sweep,
    "categories": categories,
    "mixed": mixed,
    "report": report,
    "rules": rules,
    "rule_sets": rule_sets,
    "conditions": conditions,
    "start": start,
    "engines": engines,
    "learning": learning,
    "sdcmicro": sdcmicro,
    "gallery": gallery,
    "app": app,
}

_PUBLISHED_INTRODUCTION = """# Published results

Every method on the three reference sets of the CASC project, beside the figures that were published for it. SSE and
information loss are defined in [How it works](../how-it-works.md#sse-sst-and-information-loss): z-scores with the
population standard deviation, information loss = 100 SSE / SST.

- Published for `mdav`, `mdav-single`, `v-mdav` and `iv-mdav`: SSE, table 1 of G. S. Rawat and B. Borah (IV-MDAV).
- Published for `ldf` and `hdf`: information loss in percent, table 1 of T.-H. Wen, J.-L. Lin and C.-H. Wang. The
  difference is taken after rounding to the digits that are printed there.
- For the others no figure on these sets is at hand: the column is empty.
- `v-mdav` has `gamma` = 0.2, and 1.1 on EIA, as in its published row. All other options are at their defaults.
- `individual-ranking` loses least because k holds for each column only, not for their combination.
- CPU seconds are those of the whole call, reading the file included, after a first call that loads the kernels.
- All methods side by side, also refined: [All methods](methods.md).

Not reproduced to all digits: `v-mdav` on Tarragona (up to 0.06 % lower here) and on EIA (up to 0.3 % lower), and
`iv-mdav` on Census at k = 4 (0.03 % higher). The other rows agree to five digits, or to all that are printed.
`tests/test_published.py` checks this.

![Information loss of all methods on the three sets](../images/loss.png)"""


def _published_line(row: Row) -> list[str]:
    """Return the cells of one result."""
    given = ", ".join(f"{name} = {value}" for name, value in row["options"].items())
    figure, difference = "", ""
    if row["published_sse"]:
        figure = f"SSE {row['published_sse']:.4f}"
        difference = _percent(row["sse"], row["published_sse"])
    elif row["published_loss"]:
        printed = f"{row['published_loss']:g}"
        figure = f"loss {printed} %"
        digits = len(printed.partition(".")[2])
        difference = _percent(round(row["loss"], digits), row["published_loss"])
    method = f"`{row['method']}`" + (f" {given}" if given else "")
    loss, sse = f"{row['loss']:.4f}", f"{row['sse']:.4f}"
    return [method, str(row["k"]), loss, sse, figure, difference, f"{row['cpu']:.2f}"]


def _loss_table(rows: Sequence[Row], ks: Sequence[int]) -> str:
    """Return a table of methods by sets and k: the loss here, and in brackets the published one."""
    cells = {(row["method"], row["data"], row["k"]): _loss_cell(row) for row in rows}
    head = ["method", *[f"{name}, k = {k}" if k == ks[0] else f"{k}" for name, _, _ in SETS.values() for k in ks]]
    lines = [
        [f"`{method}`", *[cells[method, data, k] for data in SETS for k in ks]]
        for method in dict.fromkeys(row["method"] for row in rows)
    ]
    return table(head, lines)


def _loss_cell(row: Row) -> str:
    _, records, columns = SETS[row["data"]]
    here = f"{row['loss']:.2f}"
    if row["published_sse"]:
        return f"{here} ({100 * row['published_sse'] / (records * columns):.2f})"
    return f"{here} ({row['published_loss']:.2f})" if row["published_loss"] else here


def _percent(here: float, there: float) -> str:
    """Return a difference in percent; no sign where it rounds to 0."""
    text = f"{100 * (here / there - 1):+.3f}"
    return "0.000" if float(text) == 0 else text


def _points(table: Any) -> list[Row]:
    """Return the distinct points of age and income, and how many records there are at each."""
    pairs = zip(table["age"], table["income"], strict=True)
    counts = Counter((age, income) for age, income in pairs if income is not None)
    return [{"age": age, "income": income / 1000, "records": count} for (age, income), count in counts.items()]


def _before_after_picture(before: list[Row], after: list[Row]) -> Any:
    import altair as alt

    def panel(points: list[Row], title: str, subtitle: str, colour: str) -> Any:
        heading = alt.TitleParams(title, subtitle=subtitle, subtitleFontSize=12, subtitleColor=INK, offset=10)
        legend = alt.Legend(
            values=[1, 5], orient="none", legendX=230, legendY=4, symbolFillColor="#999999", symbolOpacity=1
        )
        return (
            alt.Chart(alt.Data(values=points), width=370, height=290, title=heading)
            .mark_point(filled=True, opacity=0.6, stroke="white", strokeWidth=0.5)
            .encode(
                x=alt.X("age:Q", scale=alt.Scale(domain=[15, 95], nice=False)),
                y=alt.Y("income:Q", title="income, thousands", scale=alt.Scale(domain=[0, top], nice=True)),
                size=alt.Size(
                    "records:Q",
                    title="people at a point",
                    scale=alt.Scale(domain=[0, 5], range=[0, 120]),
                    legend=legend,
                ),
                fill=alt.value(colour),
            )
        )

    top = max(point["income"] for point in before)
    alone = sum(point["records"] == 1 for point in before)
    least = min(point["records"] for point in after)
    everybody = sum(point["records"] for point in before)
    return alt.hconcat(
        panel(before, "before", f"{alone} of {everybody} people are alone at their point", RED),
        panel(after, "after, k = 5", f"at least {least} people at every point", BLUE),
        spacing=36,
    )


def _loss_picture(rows: Sequence[Row]) -> Any:
    import altair as alt

    methods = list(dict.fromkeys(row["method"] for row in rows))
    ticks = (0.02, 0.1, 0.5, 1, 2, 5, 10, 20, 50)
    colour = alt.Color("k:O", scale=alt.Scale(domain=list(KS), range=BLUES))
    panels = []
    for data, (name, records, columns) in SETS.items():
        here = [row for row in rows if row["data"] == data]
        low, high = 0.8 * min(row["loss"] for row in here), 1.25 * max(row["loss"] for row in here)
        x_axis = alt.Axis(values=[t for t in ticks if low <= t <= high], format="~g", labelFlush=False)
        x = alt.X("loss:Q", title="information loss, %, log scale", axis=x_axis)
        x = x.scale(type="log", domain=[low, high], nice=False)
        y_axis = alt.Axis(domain=False, ticks=False, labels=not panels, labelPadding=8, grid=True)
        y = alt.Y("method:N", sort=methods, title=None, axis=y_axis)
        base = alt.Chart(
            alt.Data(values=here), width=240, height=27 * len(methods), title=f"{name}, {records} x {columns}"
        )
        panels.append(
            base.mark_line(color="#bbbbbb", strokeWidth=2).encode(x=x, y=y, detail="method:N")
            + base.mark_circle(size=80, opacity=1).encode(x=x, y=y, color=colour)
        )
    return alt.hconcat(*panels, spacing=24)


def main() -> None:
    """Write the pages named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PAGES)}; all where none is given")
    names = parser.parse_args().names
    unknown = set(names) - set(PAGES)
    if unknown:
        parser.error(f"there is no page {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}")
    for name in names or PAGES:
        PAGES[name]()


if __name__ == "__main__":
    main()
