"""Open: a path, a file that is dropped, or the embedded example; its first rows, and how it was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

import shoal
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk, endings
from shoal.app.opened import ROWS
from shoal.app.rendering import page

DELIMITERS = {"": "found by looking", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ENCODINGS = {"": "found by looking", **dict.fromkeys(("utf-8", "latin-1", "cp1252", "utf-16"), "")}
DECIMALS = {"": "found by looking", ".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
_QUICK = 64 * 2**20  # bytes of a file that is read in other ways to see what they give
_EXAMPLE = "example.csv"


def show(desk: Desk, asked: Asked) -> Response:
    """Show what is open, or how to open something."""
    table = desk.workspace.table()
    shown: dict[str, Any] = {"opened": None, "unread": None, "fixes": [], "text": False}
    if table:
        path, reading = Path(table["path"]), desk.workspace.settings().get("reading") or {}
        try:
            opened = desk.opened()
        except shoal.ShoalError as error:
            shown |= {"unread": getattr(error, "mistakes", None) or [str(error)], "fixes": _fixes(path, reading)}
        else:
            last = max(opened.records - 1, 0) // ROWS * ROWS
            start = min(asked.whole("from", 0), last) // ROWS * ROWS
            shown |= {"opened": opened, "rows": opened.rows(start), "start": start, "last": last}
            if len(opened.columns) == 1:
                shown["fixes"] = _fixes(path, reading)
        shown |= {"text": _is_text(path), "reading": shoal.Reading(**reading), "example": table.get("example", False)}
    return page(
        desk,
        "open.html",
        "open",
        limit=desk.upload_limit,
        endings=endings(),
        page_rows=ROWS,
        delimiters=DELIMITERS,
        encodings=ENCODINGS,
        decimals=DECIMALS,
        thousands=THOUSANDS,
        **shown,
    )


def open_path(desk: Desk, asked: Asked) -> Response:
    """Open a file that the user names, where that is the user of this machine."""
    if desk.shared:
        raise shoal.FileError("files of this machine are not opened by their path while others can reach it")
    given = asked.field("path").strip().strip('"')
    if not given:
        raise shoal.FileError("name a file")
    path = Path(given).expanduser().absolute()
    try:
        desk.open(path)
    except shoal.ShoalError:
        if not path.is_file() or not _known(path):
            raise
        desk.workspace.open_table(path, unread=True)  # its page tells what is wrong, and ways to read it
    return go_to("/open")


def open_example(desk: Desk) -> None:
    """Open the embedded example, as a file like any other."""
    path = desk.workspace.place_for(_EXAMPLE).with_name(_EXAMPLE)
    shoal.example().write_csv(path)
    desk.open(path, example=True)


def take_example(desk: Desk, asked: Asked) -> Response:
    """Open the embedded example."""
    open_example(desk)
    return go_to("/open")


def read_again(desk: Desk, asked: Asked) -> Response:
    """Read the file in another way; roles are proposed anew, since types may change."""
    table = desk.workspace.table()
    if not table:
        return go_to("/open")
    reading: dict[str, Any] = {}
    for name, known in (("delimiter", DELIMITERS), ("encoding", ENCODINGS), ("decimal", DECIMALS),
                        ("thousands", THOUSANDS)):  # fmt: skip
        value = asked.field(name)
        if value and value in known:
            reading[name] = value
    missing = [text.strip() for text in asked.field("missing").split(",") if text.strip()]
    reading |= {"missing": missing} if missing else {}
    signs = asked.field("signs").split()
    reading |= {"signs": signs} if signs else {}
    if asked.has("whole_form") and not asked.has("header"):
        reading["header"] = False
    desk.open(Path(table["path"]), reading, **{name: value for name, value in table.items() if name == "example"})
    return go_to("/open")


def close(desk: Desk, asked: Asked) -> Response:
    """Close the table; its file and the runs stay."""
    desk.workspace.close_table()
    return go_to("/open")


def undo(desk: Desk, asked: Asked) -> Response:
    """Have back the plan before the last change."""
    desk.workspace.undo()
    back = asked.field("back")
    return go_to(f"/{back}" if back.isalpha() else "/roles")


def _known(path: Path) -> bool:
    return any(path.name.lower().removesuffix(".gz").endswith(ending) for ending in shoal.FORMATS)


def _is_text(path: Path) -> bool:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return ending in shoal.FORMATS and shoal.FORMATS[ending].text


def _fixes(path: Path, reading: dict[str, Any]) -> list[dict[str, Any]]:
    """Return other ways to read a text file, with what each gives, the one with most columns first."""
    if not path.is_file() or not _is_text(path) or path.stat().st_size > _QUICK:
        return []
    ways = [{"encoding": name} for name in ENCODINGS if name] + [{"delimiter": mark} for mark in DELIMITERS if mark]
    found: list[dict[str, Any]] = []
    for way in ways:
        try:
            frame = shoal.read_table(path, {**reading, **way})
        except shoal.ShoalError:
            continue
        name, value = next(iter(way.items()))
        words = DELIMITERS[value] if name == "delimiter" else value
        if frame.width > 1 and not any(one["columns"] == frame.width and one["name"] == name for one in found):
            found.append({"name": name, "value": value, "words": words, "columns": frame.width, "rows": frame.height})
    return sorted(found, key=lambda one: -int(one["columns"]))[:4]


ROUTES = [
    ("GET", "/open", show),
    ("POST", "/open/path", open_path),
    ("POST", "/open/example", take_example),
    ("POST", "/open/reading", read_again),
    ("POST", "/open/close", close),
    ("POST", "/undo", undo),
]
