"""Pages from templates: every text in them is escaped, and no page has a script or a style of its own inside."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

import shoal
from shoal.app import draft
from shoal.app.desk import Desk
from shoal.errors import counted, decimal, fewer_others, one_or_many

STEPS = {
    "open": "Open",
    "roles": "Roles",
    "meaning": "Hierarchies and rules",
    "choose": "Choose k",
    "protect": "Protect",
    "compare": "Compare",
    "export": "Report and export",
}


def template_text(name: str) -> str | None:
    """Return a template: one of the application's, or the parts that it shares with the report."""
    if name == "parts.html":
        return shoal.report_asset(name)
    place = files("shoal.app").joinpath("templates", name)
    return place.read_text(encoding="utf-8") if place.is_file() else None


@cache
def environment() -> jinja2.Environment:
    """Return the templates."""
    made = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(template_text),
    )
    made.filters |= {"plain_type": plain_type, "note": without_flags}
    made.filters |= {"count": lambda number: f"{number:,}", "figure": figure, "bytes": as_bytes, "json": json.dumps}
    made.globals |= {"steps": STEPS, "counted": counted, "one_or_many": one_or_many, "fewer_others": fewer_others}
    return made


def page(desk: Desk, template: str, step: str = "", status: int = 200, **content: Any) -> Response:
    """Return a page, with what every page shows: where it is, what is open, and whether the plan is whole."""
    specs: list[Any] = []

    def place(part: Any) -> str:
        """Return the id of a plot, whose specification goes to the end of the page."""
        specs.append(part["spec"])
        return f"plot-{len(specs) - 1}"

    table = desk.table_name()
    settings = desk.workspace.settings() if table else {}
    running = [run for run in desk.runs.all() if run.state == "running"]
    text = (
        environment()
        .get_template(template)
        .render(
            step=step,
            table=table,
            settings=settings,
            plan_yaml=plan_text(settings),
            mistakes=draft.why_not(settings) if table else [],
            can_undo=desk.workspace.can_undo(),
            running=running[0] if running else None,
            shared=desk.shared,
            version=shoal.__version__,
            place=place,
            specs=lambda: specs,
            **content,
        )
    )
    return HTMLResponse(text, status)


def plan_text(settings: dict[str, Any]) -> str:
    """Return the plan as YAML, as it is exported; as far as it goes where it does not fit together yet."""
    from shoal.app.workspace import as_yaml

    try:
        return draft.plan_of(settings).to_yaml()
    except shoal.PlanError:
        return as_yaml(settings) if settings else ""


def figure(value: Any, places: int = 2) -> str:
    """Write a figure for people."""
    if value is None:
        return ""
    return decimal(float(value), places) if isinstance(value, float) else f"{value:,}"


def plain_type(name: str) -> str:
    """Return the type of a column in words; as it is where there are none.

    >>> plain_type("Int64"), plain_type("Float32"), plain_type("Datetime(time_unit='us')"), plain_type("Binary")
    ('whole number', 'number', 'date and time', 'Binary')
    """
    words = {
        **dict.fromkeys(("Int", "UInt"), "whole number"),
        **dict.fromkeys(("Float", "Decimal"), "number"),
        **dict.fromkeys(("String", "Categorical", "Enum"), "text"),
        **{"Date": "date", "Datetime": "date and time", "Time": "time", "Duration": "duration", "Boolean": "yes or no"},
    }
    bare = re.match(r"[A-Za-z]*", name)
    return words.get(bare[0] if bare else "", name)


def without_flags(note: str) -> str:
    """Return a note without the flags of the command line in it.

    >>> without_flags("name it as persons (--persons)"), without_flags("grow (action: grow, or --action grow), or cap")
    ('name it as persons', 'grow (action: grow), or cap')
    """
    return re.sub(r" \(--[a-z-]+\)|, or --[a-z-]+( [a-z]+)?(?=\))", "", note)


def as_bytes(size: int) -> str:
    """Write a number of bytes.

    >>> as_bytes(3 * 2**30), as_bytes(1536)
    ('3 GiB', '1.5 KiB')
    """
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}"
