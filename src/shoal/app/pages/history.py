"""History: every run of the workspace; go back to its plan, name it, compare it, remove it."""

from __future__ import annotations

from starlette.responses import Response

from shoal.app import draft
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.rendering import page


def show(desk: Desk, asked: Asked) -> Response:
    """Show all runs, the latest first."""
    return page(desk, "history.html", "history", runs=desk.runs.all("protect", "sweep"), path=desk.table_path())


def rename(desk: Desk, asked: Asked) -> Response:
    """Give a run a name."""
    desk.runs.rename(asked.path["number"], asked.field("name"))
    return go_to("/history")


def remove(desk: Desk, asked: Asked) -> Response:
    """Remove a run and what it made."""
    desk.runs.remove(desk.run(asked.path["number"]).number)
    return go_to("/history")


def take(desk: Desk, asked: Asked) -> Response:
    """Have the plan of a run as the plan that is worked on; Undo brings back the one before."""
    run = desk.run(asked.path["number"])
    if run.asked.get("path") != desk.table_path():
        raise LookupError("the run is of another table")
    plan = draft.in_sets(run.plan.to_dict())
    with desk.workspace.changed_settings() as settings:
        settings.clear()
        settings.update(plan)
    return go_to("/roles")


ROUTES = [
    ("GET", "/history", show),
    ("POST", "/run/{number}/name", rename),
    ("POST", "/run/{number}/remove", remove),
    ("POST", "/run/{number}/take", take),
]
