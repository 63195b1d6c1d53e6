"""A map of two columns: records counted in cells, before and after, never drawn one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.app.plot_look import plot_look

if TYPE_CHECKING:
    import polars as pl

_BINS = 24
_NAMES = 12  # categories of a column that have a cell of their own
_OTHERS, _MISSING = "(others)", "(missing)"
Bins = tuple[float, float]  # where the first begins, and how wide each is


def maps(before: pl.DataFrame, after: pl.DataFrame, x: str, y: str) -> list[dict[str, Any]]:
    """Return two plots with the same cells, as Vega-Lite: the original, and the release."""
    import polars as pl

    axes: list[tuple[pl.Series, pl.Series, Bins | None]] = []
    for name in (x, y):
        if all(frame.get_column(name).dtype.is_numeric() for frame in (before, after)):
            axes.append(_number_cells(before.get_column(name), after.get_column(name)))
        else:
            axes.append(_name_cells(before.get_column(name), after.get_column(name)))
    counted = []
    for side in (0, 1):
        cells = pl.DataFrame({"x": axes[0][side], "y": axes[1][side]}).drop_nulls()
        counted.append(cells.group_by("x", "y").len("records").sort("x", "y"))
    highest = max((int(cells.get_column("records").max() or 1) for cells in counted), default=1)  # type: ignore[arg-type]
    names, bins = (x, y), (axes[0][2], axes[1][2])
    return [_plot(cells.to_dicts(), names, bins, highest) for cells in counted]


def _number_cells(before: pl.Series, after: pl.Series) -> tuple[pl.Series, pl.Series, Bins]:
    """Return the lower end of each value's bin in both tables, and the bins; outliers are in the last ones."""
    import polars as pl

    both = pl.concat([before.cast(pl.Float64).alias(""), after.cast(pl.Float64).alias("")]).drop_nulls()
    both = both.filter(both.is_finite())
    if not len(both):
        return before.cast(pl.Float64), after.cast(pl.Float64), (0.0, 1.0)
    low, high = float(both.quantile(0.005) or 0.0), float(both.quantile(0.995) or 0.0)
    width = (high - low) / _BINS or 1.0

    def cells(series: pl.Series) -> pl.Series:
        place = ((series.cast(pl.Float64) - low) / width).floor().clip(0, _BINS - 1)
        return (place * width + low).fill_nan(None)

    return cells(before), cells(after), (low, width)


def _name_cells(before: pl.Series, after: pl.Series) -> tuple[pl.Series, pl.Series, None]:
    """Return the name of each value in both tables, the commonest by themselves."""
    import polars as pl

    texts = [series.cast(pl.String).alias("") for series in (before, after)]
    common = pl.concat(texts).drop_nulls().value_counts(sort=True).get_column("").head(_NAMES)

    def cells(text: pl.Series) -> pl.Series:
        known = text.is_in(common.implode())
        frame = pl.DataFrame({"text": text, "known": known})
        named = pl.when(pl.col("text").is_null()).then(pl.lit(_MISSING)).when(pl.col("known")).then(pl.col("text"))
        return frame.select(named.otherwise(pl.lit(_OTHERS)).alias("")).get_column("")

    return cells(texts[0]), cells(texts[1]), None


def _plot(
    rows: list[dict[str, Any]], names: tuple[str, str], bins: tuple[Bins | None, Bins | None], highest: int
) -> dict[str, Any]:
    """Return the map of one table; cells get darker with the root of their records, so that few are seen, too."""
    told = [{**row, "x2": _end(row["x"], bins[0]), "y2": _end(row["y"], bins[1])} for row in rows]
    encoding: dict[str, Any] = {
        "opacity": {
            "field": "records",
            "type": "quantitative",
            "scale": {"type": "sqrt", "domain": [0, highest], "range": [0.12, 1]},
            "legend": None,
        },
        "tooltip": [{"field": "records", "type": "quantitative", "format": ","}],
    }
    for place, name, own in zip("xy", names, bins, strict=True):
        channel: dict[str, Any] = {"field": place, "axis": {"title": name[:40], "labelLimit": 90}}
        if own:
            scale = {"zero": False, "nice": False, "domain": [own[0], own[0] + _BINS * own[1]]}
            encoding[place] = {**channel, "type": "quantitative", "scale": scale}
            encoding[f"{place}2"] = {"field": f"{place}2"}
        else:
            encoding[place] = {**channel, "type": "nominal"}
    return {
        "data": {"name": "cells"},
        "datasets": {"cells": told},
        "mark": {"type": "rect", "color": "var(--after)"},
        "encoding": encoding,
        **plot_look(height=280, title_size=11),
    }


def _end(value: Any, bins: Bins | None) -> Any:
    return value if bins is None else value + bins[1]
