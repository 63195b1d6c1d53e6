"""Open: a path, a file that is dropped, or the embedded example; its first rows, and how it was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

import shoal
from shoal.app.asking import Asked, go_to
from shoal.app.desk import Desk
from shoal.app.endings import can_open, ending, is_known, is_text
from shoal.app.opened import ROWS, Opened
from shoal.app.rendering import page

DELIMITERS = {"": "found by looking", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ENCODINGS = {"": "found by looking", **dict.fromkeys(("utf-8", "latin-1", "cp1252", "utf-16"), "")}
DECIMALS = {"": "found by looking", ".": "point", ",": "comma"}
THOUSANDS = {"": "none", ",": "comma", ".": "point", " ": "space", "'": "apostrophe"}
MARKS = {"delimiter": DELIMITERS, "encoding": ENCODINGS, "decimal": DECIMALS, "thousands": THOUSANDS}
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
            asked_about = {question.words for question in opened.inspection.questions}
            shown |= {
                "guesses": _guesses(opened),
                "notes": [note for note in opened.inspection.notes if note not in asked_about],
                "numeric": [series.dtype.is_numeric() for series in opened.frame],
            }
            if len(opened.columns) == 1:
                shown["fixes"] = _fixes(path, reading)
        shown |= {
            "text": is_text(path),
            "can_say": _can_say(path),
            "reading": shoal.Reading(**reading),
            "example": table.get("example", False),
        }
    return page(
        desk,
        "open.html",
        "open",
        limit=desk.upload_limit,
        endings=can_open(),
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
        if not path.is_file() or not is_known(path):
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
    """Read the file as the form says; what it does not show stays as it is."""
    reading = dict(desk.workspace.settings().get("reading") or {})
    for name, known in MARKS.items():
        if asked.has(name):
            _give(reading, name, asked.field(name) if asked.field(name) in known else "")
    if asked.has("missing"):
        _give(reading, "missing", [text.strip() for text in asked.field("missing").split(",") if text.strip()])
    if asked.has("signs"):
        _give(reading, "signs", asked.field("signs").split())
    if asked.has("table"):
        _give(reading, "table", asked.field("table").strip())
    if asked.has("names"):  # which a box that is not ticked is not
        _give(reading, "header", None if asked.has("header") else False)
    desk.read_again(reading)
    return go_to("/open")


def mend(desk: Desk, asked: Asked) -> Response:
    """Change one thing about the way a file is read: what one click offers."""
    reading = dict(desk.workspace.settings().get("reading") or {})
    name, value, how = asked.field("name"), asked.field("value"), asked.field("how")
    if how == "offered":
        for own, more in desk.opened().offered.items():
            reading[own] = [*reading.get(own, ()), *more] if isinstance(more, list) else more
    elif name in MARKS and value in MARKS[name]:
        _give(reading, name, value)
    elif name in ("missing", "signs") and value:
        others = [one for one in reading.get(name, ()) if one != value]
        _give(reading, name, others if how == "drop" else [*others, value])
    else:
        raise shoal.PlanError("reading: there is no such way to read a file")
    desk.read_again(reading)
    return go_to("/open")


def _give(reading: dict[str, Any], name: str, value: Any) -> None:
    """Say something about reading; nothing, where it is empty."""
    if value in (None, "", []):
        reading.pop(name, None)
    else:
        reading[name] = value


def _guesses(opened: Opened) -> list[dict[str, Any]]:
    """Return what a text file is read with, each with the change that takes it back."""
    reading = opened.inspection.reading
    found = [
        {"words": f"“{mark}” is read as missing", "button": "It is a value", "name": "missing", "value": mark,
         "how": "drop"} for mark in reading.missing
    ]  # fmt: skip
    found += [
        {"words": f"“{sign}” beside numbers is left out", "button": "Leave it as text", "name": "signs", "value": sign,
         "how": "drop"} for sign in reading.signs
    ]  # fmt: skip
    for name, mark in (("decimal", reading.decimal), ("thousands", reading.thousands)):
        if mark and (name, mark) != ("decimal", "."):
            words = f"The {'mark of decimals' if name == 'decimal' else 'mark of thousands'} is a {MARKS[name][mark]}"
            found.append({"words": words, "button": "It is not", "name": name, "value": "", "how": ""})
    return found


def close(desk: Desk, asked: Asked) -> Response:
    """Close the table; its file and the runs stay."""
    desk.workspace.close_table()
    return go_to("/open")


def undo(desk: Desk, asked: Asked) -> Response:
    """Have back the plan before the last change."""
    desk.workspace.undo()
    back = asked.field("back")
    return go_to(f"/{back}" if back.isalpha() else "/roles")


def _can_say(path: Path) -> frozenset[str]:
    """Return which settings of reading have an effect on a file."""
    return shoal.FORMATS[ending(path)].settings if is_known(path) else frozenset()


def _fixes(path: Path, reading: dict[str, Any]) -> list[dict[str, Any]]:
    """Return other ways to read a text file, with what each gives, the one with most columns first."""
    if not path.is_file() or not is_text(path) or path.stat().st_size > _QUICK:
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
    ("POST", "/open/mend", mend),
    ("POST", "/open/close", close),
    ("POST", "/undo", undo),
]
