"""Pictures of what each measure means, drawn from a small release, and the gallery: docs/gallery.md.

``python benchmarks/pages.py gallery``. Every point, line and bar comes from one table of 30 people, released with k = 3
by `mdav`; figures in captions are those that ``release.measure()`` gives for it.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

import shoal
from markdown import DOCS, write
from pictures import BLUE, INK, PALE, RED, save

Row = dict[str, Any]
_SIZE = {"width": 300, "height": 220}
_X = alt.X("age:Q", scale=alt.Scale(domain=[15, 85], nice=False))
_Y = alt.Y("income:Q", title="income, thousands", scale=alt.Scale(domain=[5, 75], nice=False))


def people() -> pl.DataFrame:
    """Return 30 people: age, income, and an illness that is confidential."""
    random = np.random.default_rng(4)
    age = np.concatenate([random.normal(30, 6, 12), random.normal(50, 7, 10), random.normal(70, 5, 8)])
    income = 20 + 0.4 * age + random.normal(0, 8, 30)
    return pl.DataFrame(
        {"age": age.round(1), "income": income.round(1), "illness": random.choice(["flu", "asthma", "gout"], 30)}
    )


def release_of(table: pl.DataFrame, k: int = 3) -> shoal.Release:
    """Return the release that all pictures are about."""
    return shoal.protect(table, k, ["age", "income"], confidential="illness", method="mdav", progress=False)


def _pairs(table: pl.DataFrame, release: shoal.Release) -> list[Row]:
    """Return each person with the released values, and where record linkage leads."""
    before, after = (t.select("age", "income").to_numpy() for t in (table, release.data))
    scale = before.std(axis=0)
    places = np.unique(after, axis=0)
    rows = []
    for at, (own, released) in enumerate(zip(before, after, strict=True)):
        nearest = places[np.argmin((((places - own) / scale) ** 2).sum(axis=1))]
        rows.append(
            {
                **dict(zip(("age", "income"), own.tolist(), strict=True)),
                **dict(zip(("age_released", "income_released"), released.tolist(), strict=True)),
                **dict(zip(("age_nearest", "income_nearest"), nearest.tolist(), strict=True)),
                "right": "own group" if np.array_equal(nearest, released) else "another group",
                "illness": table["illness"][at],
                "group": int(release.groups[at]),
            }
        )
    return rows


def _to(data: Any, where: str, colour: Any) -> Any:
    """Draw lines from each person to another place."""
    return (
        alt.Chart(data, **_SIZE)
        .mark_rule(strokeWidth=1.2, opacity=0.8)
        .encode(x=_X, y=_Y, x2=f"age_{where}:Q", y2=f"income_{where}:Q", color=colour)
    )


def _points(data: Any, colour: str, size: int, *, released: bool = False) -> Any:
    x = _X if not released else alt.X("age_released:Q", scale=alt.Scale(domain=[15, 85], nice=False), title="age")
    y = (
        _Y
        if not released
        else alt.Y("income_released:Q", scale=alt.Scale(domain=[5, 75], nice=False), title="income, thousands")
    )
    return alt.Chart(data, **_SIZE).mark_circle(size=size, color=colour, opacity=1).encode(x=x, y=y)


def _loss(rows: list[Row]) -> Any:
    data = alt.Data(values=rows)
    return _to(data, "released", alt.value("#999999")) + _points(data, BLUE, 26) + _points(data, RED, 70, released=True)


def _linkage(rows: list[Row]) -> Any:
    data = alt.Data(values=rows)
    colour = alt.Color(
        "right:N",
        scale=alt.Scale(domain=["own group", "another group"], range=[RED, "#999999"]),
        title="nearest released place",
    )
    return _to(data, "nearest", colour) + _points(data, BLUE, 26) + _points(data, INK, 60, released=True)


def _interval(rows: list[Row]) -> Any:
    spread = float(np.std([row["income"] for row in rows], ddof=1))
    shown = sorted(rows, key=lambda row: (row["income_released"], row["income"]))[:12]
    values = [
        {
            "place": at,
            "income": row["income"],
            "low": row["income_released"] - 0.1 * spread,
            "high": row["income_released"] + 0.1 * spread,
            "inside": "inside" if abs(row["income"] - row["income_released"]) <= 0.1 * spread else "outside",
        }
        for at, row in enumerate(shown)
    ]
    base = alt.Chart(alt.Data(values=values), **_SIZE)
    y = alt.Y("place:O", title="twelve people", axis=alt.Axis(labels=False, ticks=False))
    colour = alt.Color("inside:N", scale=alt.Scale(domain=["inside", "outside"], range=[RED, BLUE]), title="income is")
    x = alt.X("low:Q", title="income, thousands", scale=alt.Scale(zero=False))
    return base.mark_bar(height=8, color="#cccccc").encode(y=y, x=x, x2="high:Q") + base.mark_circle(
        size=60, opacity=1
    ).encode(y=y, x="income:Q", color=colour)


def _uniques(rows: list[Row]) -> Any:
    def counts(x: str, y: str, what: str) -> list[Row]:
        found: dict[tuple[float, float], int] = {}
        for row in rows:
            found[row[x], row[y]] = found.get((row[x], row[y]), 0) + 1
        sizes = list(found.values())
        return [{"table": what, "size": s, "records": s * sizes.count(s)} for s in sorted(set(sizes))]

    values = counts("age", "income", "original") + counts("age_released", "income_released", "released")
    return (
        alt.Chart(alt.Data(values=values), width=140, height=200)
        .mark_bar(size=26)
        .encode(
            x=alt.X("size:O", title="people at a place", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("records:Q", title="people"),
            color=alt.Color("table:N", scale=alt.Scale(range=[RED, BLUE]), legend=None),
            column=alt.Column("table:N", title=None),
        )
    )


def _diversity(rows: list[Row]) -> Any:
    whole = [{"group": "all", "illness": row["illness"]} for row in rows]
    groups = [{"group": str(row["group"] + 1), "illness": row["illness"]} for row in rows]
    order = ["all", *sorted({row["group"] for row in groups}, key=int)]
    return (
        alt.Chart(alt.Data(values=whole + groups), width=360, height=200)
        .mark_bar()
        .encode(
            x=alt.X("group:N", sort=order, title="group", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count():Q", stack="normalize", title="share", axis=alt.Axis(format="%")),
            color=alt.Color("illness:N", scale=alt.Scale(range=[RED, BLUE, "#bbbbbb"])),
        )
    )


def _distribution(rows: list[Row]) -> Any:
    values = [{"table": "original", "income": row["income"]} for row in rows]
    values += [{"table": "released", "income": row["income_released"]} for row in rows]
    return (
        alt.Chart(alt.Data(values=values), **_SIZE)
        .transform_window(rank="rank()", sort=[{"field": "income"}], groupby=["table"])
        .transform_calculate(share=f"datum.rank / {len(rows)}")
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=alt.X("income:Q", title="income, thousands", scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="people with less", axis=alt.Axis(format="%")),
            color=alt.Color("table:N", scale=alt.Scale(range=[RED, BLUE]), title=None),
        )
    )


def _relation(rows: list[Row]) -> Any:
    data = [{"table": "original", "age": row["age"], "income": row["income"]} for row in rows]
    data += [{"table": "released", "age": row["age_released"], "income": row["income_released"]} for row in rows]
    base = alt.Chart(alt.Data(values=data), **_SIZE)
    colour = alt.Color("table:N", scale=alt.Scale(range=[RED, BLUE]), title=None)
    line = base.transform_regression("age", "income", groupby=["table"]).mark_line(strokeWidth=2.5)
    return base.mark_circle(size=34, opacity=0.5).encode(x=_X, y=_Y, color=colour) + line.encode(
        x=_X, y=_Y, color=colour
    )


def _guide() -> Any:
    """Draw which method to take, as questions with answers."""
    boxes = [
        (0, 4, "What are the quasi-identifiers?", False),
        (-1.5, 3, "numbers and dates", False),
        (1.5, 3, "categories among them", False),
        (1.5, 2, "semantic-optimal", True),
        (-2.5, 2, "one column", False),
        (-0.6, 2, "several columns", False),
        (-2.5, 1, "univariate", True),
        (-1.2, 1, "optimal (the default)", True),
        (0.25, 1, "very many records", False),
        (0.25, 0, "mdav in blocks, or DuckDB", True),
        (1.8, 1, "k per column is enough", False),
        (1.8, 0, "individual-ranking", True),
    ]
    links = [(0, 1), (0, 2), (2, 3), (1, 4), (1, 5), (4, 6), (5, 7), (5, 8), (8, 9), (5, 10), (10, 11)]
    lines = [{"x": boxes[a][0], "y": boxes[a][1] - 0.2, "x2": boxes[b][0], "y2": boxes[b][1] + 0.2} for a, b in links]
    values = [{"x": x, "y": y, "text": text, "end": end} for x, y, text, end in boxes]
    x, y = (alt.X("x:Q", scale=alt.Scale(domain=[-3.1, 2.8]), axis=None), alt.Y("y:Q", axis=None))
    base = alt.Chart(alt.Data(values=values), width=760, height=330).encode(x=x, y=y)
    fill = alt.condition("datum.end", alt.value("#dbe8f1"), alt.value("#f4f4f4"))
    return (
        alt.Chart(alt.Data(values=lines)).mark_rule(color="#999999").encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
        + base.transform_calculate(
            low="datum.x - (0.034 * length(datum.text) + 0.08)", high="datum.x + (0.034 * length(datum.text) + 0.08)"
        )
        .mark_bar(height=30, cornerRadius=6, stroke=PALE)
        .encode(x=alt.X("low:Q", axis=None), x2="high:Q", color=fill)
        + base.mark_text(fontSize=13, color=INK).encode(text="text:N")
    )


def _by_k(table: pl.DataFrame) -> Any:
    rows = []
    for k in range(2, 11):
        measured = release_of(table, k).measure()
        rows += [
            {"k": k, "what": "information loss", "percent": measured.information_loss},
            {"k": k, "what": "record linkage", "percent": measured.dbrl},
        ]
    return (
        alt.Chart(alt.Data(values=rows), **_SIZE)
        .mark_line(point=True, strokeWidth=2.5)
        .encode(
            x=alt.X("k:O", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("percent:Q", title="%"),
            color=alt.Color("what:N", scale=alt.Scale(range=[BLUE, RED]), title=None),
        )
    )


def gallery() -> None:
    """Write docs/gallery.md and the pictures measure-*.png, which-method.png and loss-and-risk.png."""
    table = people()
    release = release_of(table)
    rows, found = _pairs(table, release), release.measure()
    drawn = {
        "loss": _loss, "linkage": _linkage, "interval": _interval, "uniques": _uniques, "diversity": _diversity,
        "distribution": _distribution, "relation": _relation,
    }  # fmt: skip
    for name, draw in drawn.items():
        save(draw(rows), f"measure-{name}")
    save(_guide(), "which-method")
    save(_by_k(table), "loss-and-risk")
    figures = {
        "loss": f"{found.information_loss:.1f}",
        "dbrl": f"{found.dbrl:.1f}",
        "interval": f"{found.interval_by_width['interval_disclosure_sd']['10']:.1f}",
        "k": f"{found.k_anonymity}",
        "before": f"{found.sample_uniques_original}",
        "l": f"{found.l_diversity['illness']:.2g}" if isinstance(found.l_diversity, dict) else f"{found.l_diversity}",
        "t": f"{found.t_closeness['illness']:.2f}" if isinstance(found.t_closeness, dict) else f"{found.t_closeness}",
        "correlation": f"{found.correlation_difference:.3f}",
    }
    write(DOCS / "gallery.md", _PAGE.format(**figures))


_PAGE = """# Gallery

What the measures mean, in pictures of one small release: 30 people, their age and income released with `mdav` and k =
3. The illness is confidential and kept. `python benchmarks/pages.py gallery` draws them; every figure is that of
`release.measure()`. The formulas are in [Measures](measures.md).

## What is kept

**Information loss: {loss} %.** Blue are people, red the values released for their groups. The loss is the squared
length of the grey lines, as part of that to the centre of all.
[`information_loss`](measures.md#information_loss-numeric_loss-category_loss), and [`il1s`](measures.md#il1s) with
plain lengths.

![People, the centre of their group, and the lines between](images/measure-loss.png)

**Distributions.** The curves of a column before and after. `kolmogorov_smirnov` is the largest distance between them
upwards, `wasserstein` the area between them; `pil` compares means, variances and quantiles.
[Measures](measures.md#kolmogorov_smirnov-wasserstein)

![Distribution of incomes before and after](images/measure-distribution.png)

**Relations.** A line through both tables. `coefficients_kept` asks whether the coefficients of such a regression are
still inside their intervals, `correlation_difference` ({correlation} here) how far correlations have moved.
[Measures](measures.md#coefficients_kept)

![Income against age, with a line through both tables](images/measure-relation.png)

## What is at risk

**Record linkage: {dbrl} %.** An intruder knows ages and incomes, and takes the nearest released place for each
person. A red line leads to the right group, where the person is one of three or more: it counts as one part in the
size of the group. [`dbrl`](measures.md#dbrl)

![Lines from people to the nearest released place](images/measure-linkage.png)

**Interval disclosure: {interval} %.** A grey bar is the released income and a tenth of a standard deviation on both
sides. A red income is inside: whoever takes the released value for the income is nearly right.
[`interval_disclosure_sd`](measures.md)

![Incomes inside and outside of the bars round released values](images/measure-interval.png)

**Uniques: {before} people are alone before, nobody after.** After, everybody shares age and income with at least {k}
people, which is [`k_anonymity`](measures.md#k_anonymity-l_diversity-alpha-t_closeness-delta_presence).

![How many people share their values, before and after](images/measure-uniques.png)

**What a group gives away.** k says nothing about illnesses. `l_diversity` ({l}) is the fewest different ones of a
group, `t_closeness` ({t}) how far a group is from the shares of all.
[Conditions](conditions.md#what-a-group-gives-away) keep both in bounds.

![Shares of illnesses in all groups](images/measure-diversity.png)

## How to choose

**Loss and risk against k.** Both change with k, in steps. `shoal sweep` draws this for your table
([Sweeps](sweeps.md)).

![Information loss and record linkage against k](images/loss-and-risk.png)

**Which method.** Where none is named, one is taken that suits most tables ([Choosing
a method](choosing-k.md#choosing-a-method)).

![Questions that lead to a method](images/which-method.png)

## What comes out

A release before and after, [the report](report.md), and [the application](app.md):

![Ages and incomes of the example before and after](images/before-after.png)

![The first page of a report](images/report.png)

![The application: what a choice means](images/app-meaning.png)"""
