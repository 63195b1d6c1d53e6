"""The workspace: a folder of plain files with all that was opened, chosen and made.

::

    table.json        which table is open
    plan.yaml         the plan as it stands; plan-1.yaml, plan-2.yaml, ... what it was before, for Undo
    tables/           tables that were dropped into the browser
    runs/0001/        a run: its plan, its progress and what it made; see `shoal.app.runs`

Every file appears whole or not at all, and nobody but its owner can read it. Names of files never come from requests
as they are: they are numbers, or are made harmless first.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import shoal

TABLES, RUNS = "tables", "runs"
_TABLE, _PLAN, _LOCK = "table.json", "plan.yaml", "lock"
_UNDONE = 50  # earlier plans that are kept
_LONGEST = 80  # letters of a file's name


class Workspace:
    """A folder, and the one server that works in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.changing = threading.RLock()
        try:
            for place in (self.folder, self.folder / TABLES, self.folder / RUNS):
                place.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise shoal.FileError(f"the workspace '{folder}' cannot be made: {error.strerror}") from None
        self._lock = _locked(self.folder / _LOCK)

    def close(self) -> None:
        """Let another server work here."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # the table

    def table(self) -> dict[str, Any] | None:
        """Return what is known of the table that is open: ``path``, and ``example`` where it is the embedded one."""
        found: dict[str, Any] | None = read_json(self.folder / _TABLE)
        return found

    def open_table(self, path: Path, **more: Any) -> None:
        """Take note of the table that is open from now on; there is no plan for it yet."""
        with self.changing:
            for old in self.folder.glob("plan*.yaml"):
                old.unlink()
            write_json(self.folder / _TABLE, {"path": str(path), **more})

    def close_table(self) -> None:
        """Forget which table is open, and its plan; runs stay."""
        with self.changing:
            for old in (*self.folder.glob("plan*.yaml"), self.folder / _TABLE):
                old.unlink(missing_ok=True)

    def place_for(self, name: str) -> Path:
        """Return where a table that somebody sends is stored: under its own name, made harmless."""
        safe = safe_name(name)
        return free_path(self.folder / TABLES / safe)

    # the plan

    def settings(self) -> dict[str, Any]:
        """Return the settings of the plan as they stand, which need not fit together yet."""
        import yaml

        try:
            found = yaml.safe_load((self.folder / _PLAN).read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError):
            return {}
        return found if isinstance(found, dict) else {}

    def has_plan(self) -> bool:
        """Whether there is a plan."""
        return (self.folder / _PLAN).is_file()

    @contextmanager
    def changed_settings(self) -> Iterator[dict[str, Any]]:
        """Give the settings to be changed; they are stored afterwards, and what they were can be had back."""
        with self.changing:
            settings = self.settings()
            before = as_yaml(settings)
            yield settings
            after = as_yaml(settings)
            if after == before and self.has_plan():
                return
            if self.has_plan():
                earlier = self._earlier()
                number = int(earlier[-1].stem.split("-")[1]) + 1 if earlier else 1
                write_text(self.folder / f"plan-{number}.yaml", before)
                for old in earlier[:-_UNDONE]:
                    old.unlink()
            write_text(self.folder / _PLAN, after)

    def undo(self) -> bool:
        """Have back the plan that was there before the last change; False where there is none."""
        with self.changing:
            earlier = self._earlier()
            if not earlier:
                return False
            earlier[-1].replace(self.folder / _PLAN)
            return True

    def can_undo(self) -> bool:
        """Whether there is an earlier plan."""
        return bool(self._earlier())

    def _earlier(self) -> list[Path]:
        found = [path for path in self.folder.glob("plan-*.yaml") if path.stem.split("-")[1].isdecimal()]
        return sorted(found, key=lambda path: int(path.stem.split("-")[1]))

    # space

    def space(self) -> int:
        """Return the bytes that are free on its disk."""
        return shutil.disk_usage(self.folder).free


def as_yaml(settings: dict[str, Any]) -> str:
    """Return settings as YAML, as plans are written."""
    import yaml

    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def safe_name(name: str) -> str:
    r"""Return the name of a file without a folder, with letters, digits and a few marks only.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\Daten\\Löhne 2024.csv"), safe_name("..")
    ('passwd', 'Löhne 2024.csv', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w. ()-]", "_", last).strip(". ")
    stem, dots, ending = plain.rpartition(".")
    short = f"{stem[:_LONGEST]}{dots}{ending[:10]}" if dots else plain[:_LONGEST]
    return short or "table"


def free_path(path: Path) -> Path:
    """Return a path that is not taken: the path itself, or with a number."""
    stem, *endings = path.name.split(".")
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(".".join([f"{stem}-{number}", *endings]))
    return found


def write_text(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_json(path: Path, content: Any) -> None:
    """Write JSON so that it appears whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON; None where the file is not there or is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _locked(path: Path) -> int | None:
    """Take the lock of a workspace, which the system gives back when the server ends, however it does."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise shoal.FileError(
            f"another `shoal app` works in '{path.parent}'; use its window, or give another --workspace"
        ) from None
    return handle
