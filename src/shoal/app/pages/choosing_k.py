"""Choose k: a sweep over k and methods, drawn while it runs; limits, the recommendation, and taking a point."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

import shoal
from shoal.app import draft
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.fitting import why_unfit
from shoal.app.pages.protecting import plan_text_or_mistakes
from shoal.app.rendering import page
from shoal.app.risk_map import risk_map
from shoal.app.runs import Run
from shoal.app.workspace import NotThere

KS = "2,3,4,5,7,10,15,20"
_USUAL = (("optimal", "semantic-optimal"), ("mdav", "sa-mdav"))  # of each the first that takes the columns
LARGE = 20_000  # records from which a sweep is of samples
_SAMPLE = 5_000
RISKS = ("dbrl", "dr", "global_risk", "interval_disclosure")
LOSSES = ("information_loss", "record_loss", "pil", "il1s")


def show(desk: Desk, asked: Asked) -> Response:
    """Show the latest sweep of the table, or how to start one."""
    opened = desk.opened()
    settings = desk.workspace.settings()
    run = next((one for one in desk.runs.all("sweep") if one.asked.get("path") == str(opened.path)), None)
    number = asked.field("run")
    run = desk.run(number) if number else run
    fitting = {name: why_unfit(opened, settings, method) for name, method in shoal.METHODS.items()}
    usual = [next((name for name in names if not fitting[name]), None) for names in _USUAL]
    return page(
        desk,
        "choose.html",
        "choose",
        opened=opened,
        run=run,
        ks=KS,
        fitting={name: method.doc for name, method in shoal.METHODS.items() if not fitting[name]},
        usual=usual,
        large=opened.records > LARGE,
        sample=_SAMPLE,
        risks={name: shoal.MEASURES[name].label for name in RISKS},
        losses={name: shoal.MEASURES[name].label for name in LOSSES},
        now=settings.get("k"),
        **_found(run, asked),
    )


def _found(run: Run | None, asked: Asked) -> dict[str, Any]:
    """Return what a sweep has found, weighed as asked for."""
    found = shoal.read_sweep(run.folder / "sweep") if run else None
    risk, loss = asked.field("risk"), asked.field("loss")
    limits = {name: asked.number(name) if asked.has(f"with_{name}") else None for name in ("max_risk", "max_loss")}
    if found is None:
        return {"found": None, "plot": None, "limits": limits, "ranges": asked}
    weighed = found.judge(risk=risk if risk in RISKS else None, loss=loss if loss in LOSSES else None, **limits)
    plot = {
        "kind": "plot",
        "spec": risk_map(weighed),
        "label": f"Risk and loss of what was tried. {weighed.recommendation}",
        "caption": "Numbers are k. Click a point to take it.",
        "figures": None,
    }
    return {"found": weighed, "plot": plot, "limits": limits, "ranges": asked}


def start(desk: Desk, asked: Asked) -> Response:
    """Start a sweep of the plan as it stands."""
    opened = desk.opened()
    methods = [name for name in asked.fields("method") if name in shoal.METHODS]
    if not methods:
        raise shoal.PlanError("tick at least one method")
    sample = asked.whole("sample", 0, most=10**7)
    run = desk.runs.start(
        "sweep",
        plan_text_or_mistakes(desk),
        path=str(opened.path),
        table=opened.path.name,
        records=opened.records,
        k=asked.field("k") or KS,
        methods=methods,
        sample=sample if 1 < sample < opened.records else None,
    )
    return go_to(f"/choose?run={run.number}")


def take(desk: Desk, asked: Asked) -> Response:
    """Take k, the method and its options from a combination of a sweep."""
    run = desk.run(asked.path["number"])
    found = shoal.read_sweep(run.folder / "sweep")
    place = asked.whole("place", -1)
    if found is None or not 0 <= place < len(found.results):
        raise NotThere("there is no such combination")
    plan = found.results[place].plan
    with desk.workspace.changed_settings() as settings:
        settings["k"] = plan.k
        draft.give(settings, "method", plan.method)
        draft.give(settings, "options", dict(plan.options))
    return go_to("/protect")


def found_so_far(run: Run) -> dict[str, Any]:
    """Return how many combinations are finished."""
    results = run.folder / "sweep" / "results"
    return {"found": sum(1 for path in results.glob("*.json")) if results.is_dir() else 0}


ROUTES = [
    ("GET", "/choose", show),
    ("POST", "/choose", start),
    ("POST", "/run/{number}/point", take),
]
