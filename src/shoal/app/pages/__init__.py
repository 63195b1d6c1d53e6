"""The pages, one module for each step, and their addresses."""

from __future__ import annotations

from shoal.app.pages import choosing_k, comparing, exporting, history, meaning, opening, protecting, roles
from shoal.app.pages.opening import open_example
from shoal.app.runs import Run

__all__ = ["ROUTES", "found_so_far", "open_example"]

STEPS = (opening, roles, meaning, choosing_k, protecting, comparing, exporting, history)
ROUTES = [route for step in STEPS for route in step.ROUTES]


def found_so_far(run: Run) -> dict[str, object]:
    """Return what is told of a run beside its progress."""
    return choosing_k.found_so_far(run) if run.kind == "sweep" else {"released": run.release is not None}
