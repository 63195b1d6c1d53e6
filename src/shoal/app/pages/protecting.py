"""Protect: the method, its options and all other settings of the plan; a run, as it goes on and as it ended."""

from __future__ import annotations

from starlette.responses import Response

import shoal
from shoal.app import draft, given_plans, plan_fields
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.endings import of_release
from shoal.app.fitting import why_unfit
from shoal.app.rendering import page, plan_text
from shoal.app.runs import Run


def show(desk: Desk, asked: Asked) -> Response:
    """Show what will be done, and how to change it."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    method = settings.get("method")
    return page(
        desk,
        "protect.html",
        "protect",
        opened=opened,
        methods={name: why_unfit(opened, settings, one) for name, one in shoal.METHODS.items()},
        method=shoal.METHODS.get(method) if method else None,
        options=settings.get("options") or {},
        others=plan_fields.others(settings),
        sets=settings.get("quasi_identifiers") or [],
        roles=draft.roles(settings),
        latest=desk.runs.all("protect")[:5],
    )


def change(desk: Desk, asked: Asked) -> Response:
    """Take k, the method with its options, and other settings from the form."""
    mistakes: list[str] = []
    with desk.workspace.changed_settings() as settings:
        before = dict(settings)
        if asked.has("k"):
            settings["k"] = asked.whole("k", int(settings.get("k", 5)), most=10**6)
        if asked.has("method"):
            method = asked.field("method")
            draft.give(settings, "method", method if method in shoal.METHODS else None)
            if settings.get("method") != before.get("method"):
                settings.pop("options", None)  # those of another method
            elif method in shoal.METHODS:
                given = {name[7:]: value for name, value in asked.form if name.startswith("option_")}
                try:
                    draft.give(settings, "options", draft.options_of(method, given, before.get("options") or {}))
                except shoal.PlanError as error:
                    mistakes += error.mistakes
        mistakes += plan_fields.take(settings, asked)
        if desk.shared and settings.get("engine") != before.get("engine"):
            mistakes.append(given_plans.NO_ENGINE)
        if mistakes:
            settings.clear()
            settings.update(before)
    if mistakes:
        raise shoal.PlanError(mistakes)
    return go_to("/protect")


def start(desk: Desk, asked: Asked) -> Response:
    """Start a run of the plan as it stands."""
    run = start_protecting(desk, plan_text_or_mistakes(desk))
    return go_to(f"/run/{run.number}")


def plan_text_or_mistakes(desk: Desk) -> str:
    """Return the plan as YAML; raises PlanError where it does not fit together."""
    settings = desk.workspace.settings()
    draft.plan_of(settings)
    return plan_text(settings)


def start_protecting(desk: Desk, plan: str) -> Run:
    """Start a run of a plan on the table that is open; the release has the format of the table where that can be."""
    opened = desk.opened()
    return desk.runs.start(
        "protect",
        plan,
        path=str(opened.path),
        table=opened.path.name,
        records=opened.records,
        output=f"release{of_release(opened.path)}",
    )


def show_run(desk: Desk, asked: Asked) -> Response:
    """Show a run: how it goes on, or how it ended."""
    run = desk.run(asked.path["number"])
    if run.kind == "sweep":
        return go_to(f"/choose?run={run.number}")
    step = {"protect": "protect", "export": "export"}.get(run.kind, "")
    plan = run.plan
    return page(
        desk,
        "run.html",
        step,
        run=run,
        plan=plan,
        can_stop=run.kind == "protect" and draft.searches(plan.method),
        lines=run.progress(),
        summary=run.summary,
        measures=run.measures,
    )


def stop(desk: Desk, asked: Asked) -> Response:
    """End a search and keep the best that it has."""
    desk.runs.stop(desk.run(asked.path["number"]).number)
    return go_to(f"/run/{asked.path['number']}")


def cancel(desk: Desk, asked: Asked) -> Response:
    """End a run and keep nothing."""
    desk.runs.cancel(desk.run(asked.path["number"]).number)
    return go_to(f"/run/{asked.path['number']}")


def again(desk: Desk, asked: Asked) -> Response:
    """Start a run again that was lost, cancelled or failed."""
    run = desk.run(asked.path["number"])
    more = {name: value for name, value in run.asked.items() if name not in ("kind", "when", "name", "resumed")}
    text = (run.folder / "plan.yaml").read_text(encoding="utf-8")
    if run.kind == "sweep":
        started = desk.runs.start(
            run.kind,
            text,
            **more,
            resumed=run.number if (run.folder / "sweep" / "results").is_dir() else None,
        )
        return go_to(f"/choose?run={started.number}")
    return go_to(f"/run/{desk.runs.start(run.kind, text, **more).number}")


ROUTES = [
    ("GET", "/protect", show),
    ("POST", "/protect", change),
    ("POST", "/protect/run", start),
    ("GET", "/run/{number}", show_run),
    ("POST", "/run/{number}/stop", stop),
    ("POST", "/run/{number}/cancel", cancel),
    ("POST", "/run/{number}/again", again),
]
