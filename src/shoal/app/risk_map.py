"""The risk-utility map of a sweep as a plot whose points can be taken with a click."""

from __future__ import annotations

from typing import Any

import shoal
from shoal.app.plot_look import INK, plot_look


def risk_map(found: shoal.Sweep) -> dict[str, Any]:
    """Return the map as Vega-Lite: risk to the right, loss upwards, limits as lines; a point knows its button."""
    axes = found.axes
    front = {id(result) for result in found.front}
    rows, line = [], []
    for place, result in enumerate(found.results):
        risk, loss = getattr(result, axes.risk), getattr(result, axes.loss)
        if risk is None or loss is None:
            continue
        best = result is found.recommended
        kind = "recommended" if best else "on the front" if id(result) in front else "beaten by another"
        row = {
            "risk": risk,
            "loss": loss,
            "k": result.k,
            "method": result.name,
            "kind": kind,
            "button": f"take-{place}",
        }
        rows.append(row)
        if id(result) in front:
            line.append(row)
    titles = [f"{shoal.MEASURES[name].label}, %" for name in (axes.risk, axes.loss)]
    x = {"field": "risk", "type": "quantitative", "axis": {"title": titles[0]}, "scale": {"zero": True}}
    y = {"field": "loss", "type": "quantitative", "axis": {"title": titles[1]}, "scale": {"zero": True}}
    colours = {"domain": ["recommended", "on the front", "beaten by another"],
               "range": ["var(--good)", "var(--after)", "var(--soft)"]}  # fmt: skip
    tips = [{"field": field, "type": "nominal"} for field in ("k", "method", "kind")]
    tips += [{"field": field, "type": "quantitative", "format": ".2f"} for field in ("risk", "loss")]
    layers: list[dict[str, Any]] = [
        {
            "data": {"name": "line"},
            "mark": {"type": "line", "color": "var(--after)", "strokeWidth": 1.5, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "order": {"field": "risk"}},
        },
        {
            "data": {"name": "points"},
            "mark": {"type": "point", "filled": True, "cursor": "pointer", "opacity": 0.9},
            "encoding": {
                "x": x,
                "y": y,
                "color": {"field": "kind", "type": "nominal", "scale": colours,
                          "legend": {"title": None, "orient": "top", "labelColor": INK, "symbolOpacity": 1}},
                "size": {"condition": {"test": "datum.kind === 'recommended'", "value": 240}, "value": 90},
                "tooltip": tips,
            },
        },
        {
            "data": {"name": "line"},
            "mark": {"type": "text", "dx": 9, "dy": -7, "align": "left", "fontSize": 11, "color": INK},
            "encoding": {"x": x, "y": y, "text": {"field": "k"}},
        },
    ]  # fmt: skip
    for limit, channel in ((axes.max_risk, "x"), (axes.max_loss, "y")):
        if limit is not None:
            rule = {"type": "rule", "color": "var(--bad)", "strokeDash": [5, 4]}
            layers.append({"data": {"name": "points"}, "mark": rule, "encoding": {channel: {"datum": limit}}})
    return {
        "datasets": {"points": rows, "line": line},
        "layer": layers,
        **plot_look(height=380, title_size=12),
    }
