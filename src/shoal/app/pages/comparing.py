"""Compare: a release beside its original, column by column; two releases side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

import shoal
from shoal.app.asking import Asked
from shoal.app.desk import Desk
from shoal.app.endings import is_text
from shoal.app.rendering import page
from shoal.app.runs import Run
from shoal.app.two_columns import maps
from shoal.app.workspace import NotThere, read_json

FIRST = ("distributions", "categories", "correlations", "changes", "highest-risk", "groups")
_NEVER = ("origin",)  # the plan, which the page of exports has


def show(desk: Desk, asked: Asked) -> Response:
    """Show a release beside its original, or two releases."""
    desk.opened()
    run, runs = desk.chosen_release(asked.field("run"))
    if run is None or not run.release:
        return page(desk, "compare.html", "compare", run=None, runs=runs)
    other = desk.run(asked.field("with")) if asked.field("with") else None
    if other is not None and (not other.release or other.number == run.number):
        other = None
    return page(
        desk,
        "compare.html",
        "compare",
        run=run,
        other=other,
        runs=runs,
        sections=_sections(run),
        measured=_side_by_side(run, other),
        pairs=_pairs(run, other) if other else [],
        drawn=None if other else _map(desk, asked, run),
    )


def _sections(run: Run) -> list[dict[str, Any]]:
    """Return what is told of a release, distributions first; empty while it is being measured."""
    found = [section for section in read_json(run.folder / "sections.json") or [] if section["anchor"] not in _NEVER]
    order = {anchor: place for place, anchor in enumerate(FIRST)}
    return sorted(found, key=lambda section: order.get(section["anchor"], len(order)))


def _side_by_side(run: Run, other: Run | None) -> list[dict[str, Any]]:
    """Return every measure of one release or of two, and which of the two is better."""
    both = [one.measures or {} for one in (run, other) if one]
    rows = []
    for measure in shoal.MEASURES.values():
        values: list[Any] = [found.get(measure.name) for found in both]
        if not all(isinstance(value, int | float) for value in values) or not values:
            continue
        better = None
        if len(values) == 2 and values[0] != values[1] and measure.better in ("lower", "higher"):
            better = int((values[1] < values[0]) == (measure.better == "lower"))
        rows.append({"measure": measure, "values": values, "better": better})
    return rows


def _cards(run: Run) -> dict[str, dict[str, Any]]:
    return {
        card["title"]: card
        for section in _sections(run)
        if section["anchor"] in ("distributions", "categories")
        for part in section["parts"]
        if part["kind"] == "cards"
        for card in part["cards"]
    }


def _named_cards(run: Run) -> dict[str, dict[str, Any]]:
    """Return the cards of a release with tables that say whose they are, since those of another stand beside them."""
    cards = _cards(run)
    for card in cards.values():
        for part in card["parts"]:
            if part.get("figures"):
                part["figures"]["caption"] += f" ({run.name})"
    return cards


def _pairs(run: Run, other: Run) -> list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    """Return the columns of two releases, each with what is drawn of it in either."""
    first, second = _named_cards(run), _named_cards(other)
    return [(name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])]


def _map(desk: Desk, asked: Asked, run: Run) -> dict[str, Any] | None:
    """Draw a map of two columns of the original and of the release; the first two that changed where none is named."""
    opened = desk.opened()
    if run.asked.get("path") != str(opened.path) or run.release is None:
        return None
    plan = run.plan
    after = released(run.release, plan)
    names = [name for name in opened.columns if name in after.columns]
    changed = [name for part in plan.quasi_identifiers for name in part if name in names] or names
    x = opened.column(asked.field("x")) if asked.has("x") else changed[0]
    y = opened.column(asked.field("y")) if asked.has("y") else changed[min(1, len(changed) - 1)]
    if x not in names or y not in names:
        raise NotThere("the column is not in the release")
    plots = [
        {"kind": "plot", "spec": spec, "label": f"Map of {x} and {y} {when}", "caption": "", "figures": None}
        for when, spec in zip(("before", "after"), maps(opened.frame, after, x, y), strict=True)
    ]
    places = {name: place for place, name in enumerate(opened.columns) if name in names}
    return {"x": x, "y": y, "plots": plots, "places": places}


_read: dict[tuple[Path, int], Any] = {}


def released(path: Path, plan: shoal.Plan) -> Any:
    """Return a release as a table; the last one is kept in memory."""
    key = (path, path.stat().st_mtime_ns)
    if key not in _read:
        frame = shoal.read_table(path, plan.reading if is_text(path) else None)
        _read.clear()
        _read[key] = frame
    return _read[key]


ROUTES = [("GET", "/compare", show)]
