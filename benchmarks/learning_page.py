"""The page of results on learning from releases, docs/results/learning.md, and its picture."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

from markdown import DOCS, made_by, table, write
from pictures import BLUE, RED, save
from record import load

Row = dict[str, Any]
_COLOURS = {"logistic regression": BLUE, "boosted trees": RED}


def learning() -> None:
    """Write docs/results/learning.md and docs/images/learning.png."""
    machine, rows = load("learning")
    models, ks = list(_COLOURS), list(dict.fromkeys(row["k"] for row in rows))
    lines = []
    for k in ks:
        here = [row for row in rows if row["k"] == k]
        by_model = [[row for row in here if row["model"] == model] for model in models]
        lines.append(
            [
                "original" if k is None else str(k),
                f"{mean(row['loss'] for row in here):.2f}",
                *(_with_spread([row["accuracy"] for row in own], 2) for own in by_model),
                *(_with_spread([row["auc"] for row in own], 4) for own in by_model),
            ]
        )
    head = ("k", "information loss, %", *(f"accuracy, {m}, %" for m in models), *(f"AUC, {m}" for m in models))
    splits = len({row["split"] for row in rows})
    parts = [
        _INTRODUCTION,
        made_by("learning", machine),
        table(head, lines),
        f"Means over {splits} splits of {rows[0]['records']} records to learn from, ± their standard deviation. Who "
        f"always says no is right in {mean(row['majority'] for row in rows):.2f} % of the cases.",
        "![Accuracy of two models against k](../images/learning.png)",
    ]
    write(DOCS / "results" / "learning.md", "\n\n".join(parts))
    save(_picture(rows), "learning")


def _with_spread(figures: list[float], digits: int) -> str:
    return f"{mean(figures):.{digits}f} ± {stdev(figures):.{digits}f}"


def _picture(rows: list[Row]) -> Any:
    """Draw the accuracy of each split and the mean against k, and the mean of the original as a line."""
    import altair as alt

    seen = alt.Data(values=[row for row in rows if row["k"] is not None])
    original = [
        {"model": model, "accuracy": mean(r["accuracy"] for r in rows if r["k"] is None and r["model"] == model)}
        for model in _COLOURS
    ]
    ticks = alt.Axis(values=sorted({row["k"] for row in rows if row["k"]}), grid=False)
    x = alt.X("k:Q", scale=alt.Scale(type="log", nice=False), axis=ticks, title="k, log scale")
    title = "accuracy on records as they are, %"
    y = alt.Y("accuracy:Q", scale=alt.Scale(zero=False), title=title)
    colour = alt.Color(
        "model:N", scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())), title="learnt by"
    )
    base = alt.Chart(seen, width=560, height=300)
    return (
        alt.Chart(alt.Data(values=original)).mark_rule(strokeDash=[5, 4], opacity=0.7).encode(y=y, color=colour)
        + base.mark_circle(size=28, opacity=0.45).encode(x=x, y=y, color=colour)
        + base.mark_line(strokeWidth=2.5).encode(x=x, y=alt.Y("mean(accuracy):Q", title=title), color=colour)
    )


_INTRODUCTION = """# Learning from a release

How well a model predicts when it has seen only a release. Adult, 32561 people: whether somebody earns more than 50000
dollars a year, from five numbers, which are the quasi-identifiers: age, years of education, capital gain, capital loss
and hours of work a week. [`Microaggregator`](../scikit-learn.md) with `method="mdav"` makes the release of the records
to learn from; the others are asked about as they are. Whether somebody earns more is confidential, and stays as it is.

Many people of Adult share their five numbers, so that a small k loses little. The dashed lines of the picture are
models that have seen the original."""
