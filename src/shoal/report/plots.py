"""The plots, as Vega-Lite from altair. Colours are variables of the page, so plots follow its light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from shoal.report.before_after import CategoryShape, NumberShape
from shoal.report.editions import Edition, moment, short

BEFORE, AFTER = "var(--before)", "var(--after)"
LEVELS = (-0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9)
_STEPS = [f"var(--c{step})" for step in range(len(LEVELS) + 1)]  # from -1, the darkest of one hue, to 1
_DAY = 86_400_000.0

Spec = dict[str, Any]


def histogram(shape: NumberShape, edition: Edition) -> Spec:
    """Draw a column of numbers: what was released as bars, what was there before as a line round it."""
    widths = [high - low for low, high in zip(shape.edges, shape.edges[1:], strict=False)]
    unit = sorted(widths)[len(widths) // 2]
    sides = (shape.before.counts, shape.after.counts)
    shares = [[edition.share(n, total) for n in counts] for counts, total in zip(sides, shape.totals, strict=True)]
    labels = bin_labels(shape)
    bars = [
        {
            "from": low,
            "to": high,
            "values": label,
            "before": f"{was:g} %",
            "after": f"{now:g} %",
            "height": round(now * unit / width, 3),
        }
        for low, high, width, label, was, now in zip(
            shape.edges, shape.edges[1:], widths, labels, *shares, strict=False
        )
    ]
    heights = [round(was * unit / width, 3) for was, width in zip(shares[0], widths, strict=True)]
    outline = [{"at": shape.edges[0], "height": 0}]
    outline += [{"at": at, "height": height} for at, height in zip(shape.edges, heights, strict=False)]
    outline += [{"at": shape.edges[-1], "height": heights[-1]}, {"at": shape.edges[-1], "height": 0}]
    outline = [{"n": place, **point} for place, point in enumerate(outline)]
    thousands = not shape.date and max(abs(edge) for edge in shape.edges) >= 1e4
    heading = "% of the records" if len(set(widths)) == 1 or edition.internal else "% for a bin of usual width"
    return _filled(_histogram_form(shape.date, thousands, heading), 170, bars=bars, outline=outline)


@cache
def _histogram_form(date: bool, thousands: bool, heading: str) -> Spec:
    """Return a histogram without data: all of those with such an axis."""
    import altair as alt

    kind = "T" if date else "Q"
    scale = alt.Scale(type="utc", nice=False) if date else alt.Scale(zero=False, nice=False)
    axis = alt.Axis(title=None, grid=False, tickCount=5, labelOverlap=True, labelFlush=True)
    if thousands:
        axis.format = "~s"
    tall = alt.Axis(title=heading, tickCount=4)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("values", "before", "after")]
    x = alt.X(f"from:{kind}", scale=scale, axis=axis)
    return _page_form(
        alt.layer(
            alt.Chart(_data("bars"))
            .mark_bar(color=AFTER, opacity=0.72, stroke="var(--card)", strokeWidth=0.5, binSpacing=0)
            .encode(x=x, x2="to", y=alt.Y("height:Q", axis=tall), y2=alt.datum(0), tooltip=tips),
            alt.Chart(_data("outline"))
            .mark_line(color=BEFORE, strokeWidth=2, interpolate="step-after")
            .encode(x=alt.X(f"at:{kind}", scale=scale), y="height:Q", order="n:O"),
        )
    )


def zeros(shape: NumberShape, edition: Edition) -> Spec:
    """Draw how many values of a column are exactly 0, before and after."""
    assert shape.zeros is not None
    rest = [sum(side.counts) for side in (shape.before, shape.after)]
    told = CategoryShape(shape.name, ["0", "not 0"], [shape.zeros[0], rest[0]], [shape.zeros[1], rest[1]])
    return frequencies(told, edition)


def bin_labels(shape: NumberShape) -> list[str]:
    """Say which values each bin holds."""
    labels = []
    last = len(shape.edges) - 2
    for place, (low, high) in enumerate(zip(shape.edges, shape.edges[1:], strict=False)):
        first, second = write_value(shape, low), write_value(shape, high)
        if last == 0 and shape.open_below and shape.open_above:
            label = "all values"
        elif place == 0 and shape.open_below:
            label = f"below {second}"
        elif place == last and shape.open_above:
            label = f"{first} and above"
        elif shape.whole and not shape.date and high - low >= 1.0:
            end = write_value(shape, high - 1.0)
            label = first if end == first else f"{first} to {end}"
        else:
            label = f"{first} to below {second}"
        labels.append(label)
    return labels


def write_value(shape: NumberShape, value: float | None, digits: int = 6) -> str:
    """Write a value of a column for people."""
    if shape.date:
        return moment(value, all(edge % _DAY == 0.0 for edge in shape.edges))
    return short(value, digits)


def frequencies(shape: CategoryShape, edition: Edition) -> Spec:
    """Draw the shares of categories before and after, one above the other."""
    rows = []
    for label, was, now in category_rows(shape, edition):
        for table, share in (("before", was), ("after", now)):
            rows.append({"category": label, "table": table, "share": share, "told": f"{share:g} %"})
    return _filled(_frequencies_form(), max(60, 17 * len(rows)), rows=rows)


@cache
def _frequencies_form() -> Spec:
    import altair as alt

    y = alt.Y("category:N", sort=None, axis=alt.Axis(title=None, ticks=False, domain=False, labelLimit=170))
    return _page_form(
        alt.Chart(_data("rows"))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            y=y,
            yOffset=alt.YOffset("table:N", sort=["before", "after"]),
            x=alt.X("share:Q", axis=alt.Axis(title="% of the records", tickCount=5)),
            color=_two_tables(),
            tooltip=[
                alt.Tooltip(f"{f}:N", title=t)
                for f, t in (("category", "category"), ("table", "table"), ("told", "share"))
            ],
        )
    )


def category_rows(shape: CategoryShape, edition: Edition) -> list[tuple[str, float, float]]:
    """Return categories with their shares in percent before and after."""
    missing_before = 0 if shape.missing_before < edition.least else shape.missing_before
    totals = [
        sum(counts) + others + missing
        for counts, others, missing in (
            (shape.before, shape.others_before, missing_before),
            (shape.after, shape.others_after, shape.missing_after),
        )
    ]
    rows = list(zip(shape.labels, shape.before, shape.after, strict=True))
    if shape.others:
        rows.append(
            (f"({shape.others} other)" if edition.internal else "(others)", shape.others_before, shape.others_after)
        )
    if missing_before or shape.missing_after:
        rows.append(("(missing)", missing_before, shape.missing_after))
    return [(label, edition.share(was, totals[0]), edition.share(now, totals[1])) for label, was, now in rows]


def _two_tables() -> Any:
    import altair as alt

    return alt.Color("table:N", scale=alt.Scale(domain=["before", "after"], range=[BEFORE, AFTER]), legend=None)


def bars(rows: Sequence[tuple[str, float, str]], title: str, colour: str = AFTER, tall: int = 20) -> Spec:
    """Draw a bar with a name for each row: name, length, and what is told of it."""
    import altair as alt

    values = [{"name": name, "value": value, "told": told} for name, value, told in rows]
    y = alt.Y(
        "name:N",
        sort=[name for name, _, _ in rows],
        axis=alt.Axis(title=None, ticks=False, domain=False, labelLimit=190, labelPadding=6),
    )
    chart = alt.Chart(_data("rows")).encode(
        y=y, tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("told:N", title=title)]
    )
    x = alt.X("value:Q", axis=alt.Axis(title=title, tickCount=6))
    drawn = chart.mark_bar(color=colour, cornerRadiusEnd=2).encode(x=x)
    if len(rows) <= 30:
        drawn = drawn + chart.mark_text(align="left", dx=5, fontSize=11, color="var(--ink)").encode(x=x, text="told:N")
    return _page_spec(drawn, tall * len(rows), rows=values)


def columns(rows: Sequence[tuple[str, int, str]], title: str, x_title: str) -> Spec:
    """Draw an upright bar for each row: name, height, and what is told of it."""
    import altair as alt

    values = [{"name": name, "value": value, "told": told} for name, value, told in rows]
    return _page_spec(
        alt.Chart(_data("rows"))
        .mark_bar(color=AFTER, cornerRadiusEnd=2, size=min(44, 400 // len(rows)))
        .encode(
            x=alt.X(
                "name:N", sort=[name for name, _, _ in rows], axis=alt.Axis(title=x_title, labelAngle=0, ticks=False)
            ),
            y=alt.Y("value:Q", axis=alt.Axis(title=title, tickCount=5)),
            tooltip=[alt.Tooltip("name:N", title=x_title), alt.Tooltip("told:N", title=title)],
        ),
        200,
        rows=values,
    )


def heatmap(names: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> Spec:
    """Draw a matrix of correlations."""
    import altair as alt

    many = len(names) > 24
    values = [
        {"y": row, "x": column, "r": None if r is None else round(r, 2)}
        for row, line in zip(names, matrix, strict=True)
        for column, r in zip(names, line, strict=True)
    ]
    axis, turned = (
        alt.Axis(title=None, ticks=False, domain=False, labelLimit=110, labelOverlap=many, labelAngle=angle)
        for angle in (0, -45 if len(names) > 3 else 0)
    )
    chart = alt.Chart(_data("rows")).encode(
        x=alt.X("x:N", sort=None, axis=turned),
        y=alt.Y("y:N", sort=None, axis=axis),
        tooltip=[alt.Tooltip(f"{f}:N", title=t) for f, t in (("y", "column"), ("x", "and"), ("r", "correlation"))],
    )
    colour = alt.Color("r:Q", scale=alt.Scale(type="threshold", domain=list(LEVELS), range=_STEPS), legend=None)
    drawn = chart.mark_rect(stroke="var(--card)", strokeWidth=0 if many else 1).encode(color=colour)
    if len(names) <= 10:
        ink = alt.condition("abs(datum.r) >= 0.5", alt.value("var(--on-strong)"), alt.value("var(--on-weak)"))
        drawn = drawn + chart.mark_text(fontSize=11).encode(text=alt.Text("r:Q", format=".2f"), color=ink)
    return _page_spec(drawn, max(140, min(34 * len(names) + 20, 460)), rows=values)


def _data(name: str) -> Any:
    """Return data by their name: altair need not look at every row of them."""
    import altair as alt

    return cast("Any", alt).NamedData(name=name)  # not typed there


def _page_spec(chart: Any, height: int, **rows: list[dict[str, Any]]) -> Spec:
    """Return a chart as wide as its place, in the look of the page, with its rows by the names of their data."""
    return _filled(_page_form(chart), height, **rows)


def _filled(form: Spec, height: int, **rows: list[dict[str, Any]]) -> Spec:
    """Return a form of a chart with its height, and its rows by the names of their data."""
    return {**form, "height": height, "datasets": rows}


def _page_form(chart: Any) -> Spec:
    """Return a chart as wide as its place, in the look of the page, without its data."""
    ink, line = "var(--soft)", "var(--line)"
    whole = chart.properties(width="container", height=0)
    spec: Spec = whole.to_dict(validate=False)  # always the same forms, which the tests draw
    spec["datasets"] = {}
    spec["config"] = {
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "padding": 4,
        "aria": False,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "gridColor": line,
            "domainColor": line,
            "tickColor": line,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
        },
    }
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec.pop("usermeta", None)
    return spec
