"""The page: one HTML file with its style, its scripts and the figures of its plots, and nothing from anywhere else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from shoal.errors import MissingExtra
from shoal.report.facts import Facts
from shoal.report.parts import Plot


def page_of(facts: Facts) -> str:
    """Return a report as the text of an HTML file."""
    try:
        import altair  # noqa: F401 - tells at once whether it is there
        import jinja2
        import vl_convert  # noqa: F401
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra("a report", "report") from None

    from shoal.report.sections import SECTIONS
    from shoal.report.verdict import verdict

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_asset("page.html"))
    specs: list[dict[str, Any]] = []

    def place(plot: Plot) -> str:
        """Return the id of a plot, whose specification goes to the end of the page."""
        specs.append(plot.spec)
        return f"plot-{len(specs) - 1}"

    def embedded() -> Markup:
        return Markup(_in_script(json.dumps(specs, separators=(",", ":"), ensure_ascii=True)))

    return template.render(
        facts=facts,
        verdict=verdict(facts),
        sections=[section for make in SECTIONS if (section := make(facts))],
        place=place,
        specs=embedded,
        style=Markup(_asset("page.css")),
        script=Markup(_asset("page.js")),
        vega=Markup(_vega()),
        today=datetime.now(UTC).date().isoformat(),
    )


def _asset(name: str) -> str:
    return files("shoal.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Return the scripts of Vega, as one text that can stand in a page."""
    import vl_convert

    return _in_script(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), only_tags=True)


def _in_script(text: str, only_tags: bool = False) -> str:
    r"""Return a text that does not end the script that it stands in: in JSON every < is written as \u003c."""
    if only_tags:
        return text.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
