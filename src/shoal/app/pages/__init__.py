"""The pages, one module for each step, and their addresses."""

from __future__ import annotations

from shoal.app.pages import exporting, history, opening, protecting, roles
from shoal.app.pages.opening import open_example
from shoal.app.runs import Run

__all__ = ["ROUTES", "found_so_far", "open_example"]

ROUTES = [*opening.ROUTES, *roles.ROUTES, *protecting.ROUTES, *exporting.ROUTES, *history.ROUTES]


def found_so_far(run: Run) -> dict[str, object]:
    """Return what is told of a run beside its progress."""
    return {"released": run.release is not None}
