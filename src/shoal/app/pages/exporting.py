"""Report and export: the release, its manifest and reports, the plan, and the same job as a command and a script."""

from __future__ import annotations

import shlex
from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse, Response

import shoal
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.rendering import page
from shoal.app.runs import Run
from shoal.app.security import REPORT_POLICY
from shoal.app.workspace import NotThere, as_yaml, read_json, safe_name

_TYPE = "application/octet-stream"


def show(desk: Desk, asked: Asked) -> Response:
    """Show what can be had of a run."""
    desk.opened()
    run, runs = desk.chosen_release(asked.field("run"))
    if run is None or not run.release:
        return page(desk, "export.html", "export", run=None, runs=runs)
    others = [other for other in desk.runs.all("export") if other.asked.get("of") == run.number]
    endings = [ending for ending, form in shoal.FORMATS.items() if form.write]
    return page(
        desk,
        "export.html",
        "export",
        run=run,
        runs=runs,
        others=others,
        endings=[ending for ending in endings if ending != run.release.suffix],
        plan=again(run).to_yaml(),
        command=command(run),
        script=script(run),
        size=run.release.stat().st_size,
        reports=[edition for edition in ("internal", "external") if (run.folder / f"report-{edition}.html").is_file()],
    )


def again(run: Run) -> shoal.Plan:
    """Return the plan that makes the release of a run again, byte by byte: with steps where it was stopped."""
    exact = read_json(run.folder / "again.json")
    return shoal.Plan(**exact) if exact else run.plan


def command(run: Run) -> str:
    """Return the command that makes the release again."""
    words = [shlex.quote(str(run.asked["path"])), "-o", shlex.quote(str(run.asked["output"]))]
    return f"shoal protect {' '.join(words)} --plan plan.yaml"


def script(run: Run) -> str:
    """Return the same as a script in Python."""
    settings = again(run).to_dict()
    lines = [f"    {name}={value!r}," for name, value in settings.items()]
    table, output = str(run.asked["path"]), str(run.asked["output"])
    return "\n".join(
        [
            "import shoal",
            "",
            "plan = shoal.Plan(",
            *lines,
            ")",
            f"release = shoal.protect({table!r}, plan=plan, output={output!r})",
            "print(release.summary)",
            "",
        ]
    )


def download(desk: Desk, asked: Asked) -> Response:
    """Send one of the files of a run."""
    run = desk.run(asked.path["number"])
    what = asked.path["what"]
    stem = safe_name(Path(str(run.asked.get("table", "table"))).name.split(".")[0])
    release = run.release
    if what == "plan":
        return _text(again(run).to_yaml(), "plan.yaml")
    if what == "script" and release:
        return _text(script(run), f"{stem}.py")
    if what == "release" and release:
        return FileResponse(release, media_type=_TYPE, filename=f"{stem}-release{''.join(release.suffixes)}")
    if what == "manifest" and release:
        manifest = release.with_name(f"{release.name}.manifest.json")
        return FileResponse(manifest, media_type=_TYPE, filename=f"{stem}-{manifest.name}")
    if what in ("internal", "external"):
        report = run.folder / f"report-{what}.html"
        if report.is_file() and asked.has("save"):
            return FileResponse(report, media_type=_TYPE, filename=f"{stem}-report-{what}.html")
        if report.is_file():
            text = report.read_text(encoding="utf-8")
            return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})
    raise NotThere("there is no such file")


def _text(text: str, name: str) -> Response:
    return Response(text, media_type=_TYPE, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def start_format(desk: Desk, asked: Asked) -> Response:
    """Make the release of a run again in another format."""
    run, ending = desk.run(asked.path["number"]), asked.field("ending")
    if ending not in shoal.FORMATS or shoal.FORMATS[ending].write is None:
        raise shoal.FileError("there is no such format to write")
    started = desk.runs.start(
        "export",
        as_yaml(again(run).to_dict()),
        of=run.number,
        path=run.asked["path"],
        table=run.asked["table"],
        records=run.asked["records"],
        output=f"release{ending}",
    )
    return go_to(f"/run/{started.number}")


ROUTES = [
    ("GET", "/export", show),
    ("GET", "/run/{number}/file/{what}", download),
    ("POST", "/run/{number}/format", start_format),
]
