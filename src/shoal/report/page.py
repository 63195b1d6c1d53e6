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

VEGA = "vega.js"


def page_of(facts: Facts) -> str:
    """Return a report as the text of an HTML file."""
    try:
        import altair  # noqa: F401 - tells at once whether it is there
        import jinja2
        import vl_convert  # noqa: F401
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra("a report", "report") from None

    from shoal.report.sections import sections_of
    from shoal.report.verdict import verdict

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(report_asset),
    )
    template = environment.get_template("page.html")
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
        sections=sections_of(facts),
        place=place,
        specs=embedded,
        style=Markup(report_asset("page.css")),
        script=Markup(report_asset("page.js")),
        vega=Markup(_vega()),
        today=datetime.now(UTC).date().isoformat(),
    )


def report_asset(name: str) -> str:
    """Return a file that reports are made with, for pages that look like them.

    Parameters
    ----------
    name : str
        ``page.css``, the style; ``parts.html``, the templates of what sections are made of; ``vega.js``, the scripts
        that draw, which need the extra ``report``.

    Examples
    --------
    >>> "--before" in report_asset("page.css")
    True
    """
    return _vega_bundle() if name == VEGA else files("shoal.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _vega_bundle() -> str:
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def _vega() -> str:
    """Return the scripts of Vega, as one text that can stand in a page."""
    return _in_script(_vega_bundle(), only_tags=True)


def _in_script(text: str, only_tags: bool = False) -> str:
    r"""Return a text that does not end the script that it stands in: in JSON every < is written as \u003c."""
    if only_tags:
        return text.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
