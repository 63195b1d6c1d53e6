"""What all plots of the application share: their width, and the colours of the page, light or dark."""

from __future__ import annotations

from typing import Any

INK, _LINE = "var(--soft)", "var(--line)"
_AXIS = {"labelColor": INK, "titleColor": INK, "gridColor": _LINE, "domainColor": _LINE, "tickColor": _LINE}


def plot_look(height: int, title_size: int) -> dict[str, Any]:
    """Return the size and the settings of a plot, as Vega-Lite."""
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": {
            "background": "transparent",
            "font": "system-ui, sans-serif",
            "aria": False,
            "view": {"stroke": None},
            "axis": {**_AXIS, "labelFontSize": 11, "titleFontSize": title_size, "titleFontWeight": "normal"},
        },
    }
