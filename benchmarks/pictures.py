"""Pictures of the pages: one look for all, and saving them as PNG. Needs the extra ``report``."""

from __future__ import annotations

from typing import Any

from markdown import DOCS, ROOT

INK, PALE, RED, BLUE = "#333333", "#e4e4e4", "#c8553d", "#2f6690"
BLUES = ["#a9cce3", "#5fa3cf", "#2f6690", "#12304a"]  # k = 3, 4, 5, 10


def save(chart: Any, name: str) -> None:
    """Write a chart as docs/images/NAME.png, the same look for all."""
    path = DOCS / "images" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    look = (
        chart.configure(background="white", font="DejaVu Sans", padding=14)
        .configure_axis(
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal", labelColor=INK, titleColor=INK, gridColor=PALE
        )
        .configure_header(labelFontSize=14, labelFontWeight="bold", labelColor=INK, title=None)
        .configure_title(fontSize=14, color=INK, anchor="start", fontWeight="bold")
        .configure_legend(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelColor=INK, titleColor=INK)
        .configure_view(stroke=None)
    )
    look.save(str(path), ppi=144)
    print(path.relative_to(ROOT))
