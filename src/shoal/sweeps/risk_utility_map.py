"""The risk-utility map: every combination by its loss and risk, with the front, the knee and the recommendation.

The picture of Duncan, Keller-McNulty and Stokes 2001 ("Disclosure risk vs. data utility: the R-U confidentiality map"),
with loss in the place of utility, so that lower left is better. Needs the extra ``report``; nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from shoal.errors import MissingExtra
from shoal.measures.catalogue import MEASURES
from shoal.sweeps.recommendation import Axes
from shoal.sweeps.results import Result

# how each picture is saved; the page carries its scripts with it and opens without a network
PICTURES: dict[str, dict[str, Any]] = {
    "risk-utility.svg": {},
    "risk-utility.png": {"ppi": 144},
    "risk-utility.html": {"inline": True},
}

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; shapes say the same
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#f0e442")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
_INK, _PALE, _GREY = "#333333", "#e4e4e4", "#8a8a8a"
_WIDTH, _HEIGHT = 620, 400
_APART = 26  # points between two labels on the front


def can_draw() -> bool:
    """Whether the packages that pictures need are installed."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def draw(
    results: Sequence[Result],
    axes: Axes,
    front: Sequence[int],
    knee: int | None,
    recommended: int | None,
    subtitle: str,
) -> Any:
    """Return the map as an altair chart."""
    if find_spec("altair") is None:
        raise MissingExtra("the risk-utility map", "report")
    import altair as alt

    rows = _rows(results, axes, front)
    names = list(dict.fromkeys(row["method"] for row in rows))
    colours, shapes = zip(*map(style, range(len(names))), strict=True) if names else ((), ())
    x = alt.X("loss:Q", title=f"{MEASURES[axes.loss].label}, %  (less is better)")
    y = alt.Y("risk:Q", title=f"{MEASURES[axes.risk].label}, %  (less is better)")
    colour = alt.Color("method:N", title=None).scale(domain=names, range=list(colours))
    shape = alt.Shape("method:N", title=None).scale(domain=names, range=list(shapes))
    tooltip = [alt.Tooltip(f"{name}:{kind}", title=title, format=form) for name, kind, title, form in _TOLD]
    on_front = alt.InlineData(values=[row for row in rows if row["front"]])
    layers = [*_limits(axes), *_errors(results, axes, rows)]
    layers.append(alt.Chart(on_front).mark_line(color=_GREY, strokeWidth=1.5).encode(x=x, y=y, order="order:Q"))
    layers.append(
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=46)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=shape,
            tooltip=tooltip,
            opacity=alt.condition("datum.front", alt.value(1.0), alt.value(0.35)),
        )
    )
    labelled = alt.InlineData(values=_labelled(rows, [place for place in (knee, recommended) if place is not None]))
    layers.append(
        alt.Chart(labelled)
        .mark_text(align="right", baseline="top", dx=-5, dy=4, fontSize=11, color=_INK)
        .encode(x=x, y=y, text="label:N")
    )
    layers += _marked(rows, knee, recommended, x, y)
    title = alt.TitleParams(
        "Risk and loss of every method and k",
        subtitle=f"{subtitle}; the line is the front, whose points no other beats; numbers beside it are k",
    )
    return _styled(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=title))


_TOLD = (
    ("method", "N", "method", ""),
    ("k", "Q", "k", "d"),
    ("risk", "Q", "risk, %", ".2f"),
    ("loss", "Q", "loss, %", ".2f"),
)


def style(place: int) -> tuple[str, str]:
    """Return colour and shape of a method by its place; both go round, and no two of 64 have the same pair."""
    return _COLOURS[place % len(_COLOURS)], _SHAPES[(place + place // len(_COLOURS)) % len(_SHAPES)]


def _rows(results: Sequence[Result], axes: Axes, front: Sequence[int]) -> list[dict[str, Any]]:
    """Return the points of the map; combinations without a figure on an axis have none."""
    order = {place: i for i, place in enumerate(front)}
    return [
        {
            "place": place,
            "method": result.name,
            "k": result.k,
            "risk": getattr(result, axes.risk),
            "loss": getattr(result, axes.loss),
            "front": place in order,
            "order": order.get(place, -1),
            "label": str(result.k),
        }
        for place, result in enumerate(results)
        if getattr(result, axes.risk) is not None and getattr(result, axes.loss) is not None
    ]


def _labelled(rows: Sequence[dict[str, Any]], marked: Sequence[int]) -> list[dict[str, Any]]:
    """Return points of the front to write their k beside: k rising along it, and no label over another."""
    if not rows:
        return []
    wide, high = (max(row[axis] for row in rows) or 1.0 for axis in ("loss", "risk"))
    taken = [row for row in rows if row["place"] in marked]
    chosen: list[dict[str, Any]] = []
    for row in sorted((row for row in rows if row["front"]), key=lambda row: row["order"]):
        others = [*taken, *chosen]
        gaps = [
            ((row["loss"] - other["loss"]) / wide * _WIDTH) ** 2 + ((row["risk"] - other["risk"]) / high * _HEIGHT) ** 2
            for other in others
        ]
        rises = row["k"] > max((other["k"] for other in others if other["order"] < row["order"]), default=0)
        if rises and row["place"] not in marked and all(gap >= _APART**2 for gap in gaps):
            chosen.append(row)
    return chosen


def _marked(rows: Sequence[dict[str, Any]], knee: int | None, recommended: int | None, x: Any, y: Any) -> list[Any]:
    """Return a ring and a label for the knee and for the recommendation."""
    import altair as alt

    layers = []
    for place in dict.fromkeys(place for place in (recommended, knee) if place is not None):
        words = [word for word, at in (("knee", knee), ("recommended", recommended)) if at == place]
        own = next(row for row in rows if row["place"] == place)
        data = alt.InlineData(values=[own | {"label": f"{', '.join(words)}\nk = {own['k']}, {own['method']}"}])
        ring = alt.Chart(data).mark_point(size=240, stroke=_INK, strokeWidth=2, filled=False).encode(x=x, y=y)
        # a front falls, so the place to the upper right of its points is free; beyond the edge the picture grows
        text = (
            alt.Chart(data)
            .mark_text(
                align="left",
                baseline="top",
                dx=9,
                dy=-46,
                lineBreak="\n",
                lineHeight=17,
                fontSize=13,
                fontWeight="bold",
                color=_INK,
            )
            .encode(x=x, y=y, text="label:N")
        )
        layers += [ring, text]
    return layers


def _limits(axes: Axes) -> list[Any]:
    """Return a dashed line for each limit."""
    import altair as alt

    layers = []
    for axis, limit in (("y", axes.max_risk), ("x", axes.max_loss)):
        if limit is not None:
            data = alt.InlineData(values=[{"limit": limit}])
            rule = alt.Chart(data).mark_rule(color=_INK, strokeDash=[5, 4], strokeWidth=1.2)
            layers.append(rule.encode(**{axis: alt.Y("limit:Q") if axis == "y" else alt.X("limit:Q")}))
    return layers


def _errors(results: Sequence[Result], axes: Axes, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Return a cross of one standard error to each side for each point, where figures are estimates."""
    import altair as alt

    layers = []
    for axis, other, measure in (("loss", "risk", axes.loss), ("risk", "loss", axes.risk)):
        spans = []
        for row in rows:
            error = results[row["place"]].errors.get(measure)
            if error is not None:
                spans.append({other: row[other], "low": row[axis] - error, "high": row[axis] + error})
        if spans:
            rule = alt.Chart(alt.InlineData(values=spans)).mark_rule(color=_GREY, opacity=0.5, strokeWidth=1)
            if axis == "loss":
                layers.append(rule.encode(x="low:Q", x2="high:Q", y=f"{other}:Q"))
            else:
                layers.append(rule.encode(y="low:Q", y2="high:Q", x=f"{other}:Q"))
    return layers


def _styled(chart: Any) -> Any:
    """Give a chart its look: light, and large enough to read."""
    return (
        chart.configure(background="white", font="DejaVu Sans, Verdana, sans-serif", padding=14)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            labelColor=_INK,
            titleColor=_INK,
            gridColor=_PALE,
        )
        .configure_title(fontSize=15, color=_INK, anchor="start", subtitleFontSize=12, subtitleColor=_INK, offset=12)
        .configure_legend(
            labelFontSize=12, labelColor=_INK, orient="top-right", fillColor="white", padding=8, symbolOpacity=1
        )
        .configure_view(stroke=None)
    )
