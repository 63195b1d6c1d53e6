"""Renames that happen together: the lock of a folder, the journal of the renames, and what a killed run left behind.

One rename is atomic, several are not. What is to be renamed is therefore written down first, in a file
``.shoal-TOKEN.renames`` in the folder of the first file, when all that it names is whole and on disk; files of that
name in other folders say where it is. A run that comes later completes what a killed one began. Journals of other users
are not read, and only files with such names are ever renamed.

Runs keep out of each other's way by locks that end with their process: of the folder while names change, and of a file
while it is written. Where there are none (Windows, some network folders), nothing is completed or removed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from shoal.errors import FileError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_DIGITS = 16
_OURS = re.compile(rf"\.shoal-[0-9a-f]{{{_DIGITS}}}[-.].+", re.DOTALL)
_JOURNAL, _DRAFT = ".renames", ".draft"
_NOT_NAMES = {"", ".", ".."}
_PATIENCE = 60.0  # seconds to wait for another run, which needs milliseconds
_TICK = 0.005

_Renames = dict[Path, tuple[list[tuple[str, str]], list[str]]]
"""For each folder what to rename, from and to, and what to remove."""


def new_token() -> str:
    """Return what the names of all files of one run of :func:`rename_together` have in common."""
    return secrets.token_hex(_DIGITS // 2)


def own_name(token: str, rest: str) -> str:
    """Return the name of a file that is not yet, or no longer, at its place."""
    return f".shoal-{token}{rest}"


def try_lock(handle: int) -> bool:
    """Lock an open file or folder until it is closed; whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(folders: Iterable[Path]) -> Iterator[bool]:
    """Keep other runs from changing names in some folders; gives whether that was possible."""
    with ExitStack() as stack:
        # in one order, so that two runs cannot wait for each other
        held = [_lock_folder(stack, folder) for folder in sorted({Path(os.path.realpath(f)) for f in folders})]
        yield all(held)


def _lock_folder(stack: ExitStack, folder: Path) -> bool:
    if fcntl is None:
        return False
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder that may be written to, but not listed
        return False
    stack.callback(os.close, handle)
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise FileError(f"another run has been writing to '{folder}' for a minute; end it first") from None
            time.sleep(_TICK)
        except OSError:
            return False
        else:
            return True


def rename_together(parts: Mapping[Path, Path], token: str) -> None:
    """Rename every part to its path, all or none, in folders that are locked.

    ``parts`` has the part of each path, in the path's own folder. What was at a path keeps its name until the moment in
    which it is replaced, and a second name until all are, as the way back.
    """
    if len(parts) == 1:
        for path, part in parts.items():
            part.replace(path)
        return
    folders = list(dict.fromkeys(path.parent for path in parts))
    former: dict[Path, Path] = {}
    try:
        for number, path in enumerate(parts):
            if os.path.lexists(path):
                former[path] = path.with_name(own_name(token, f"-{number}.before"))
                _second_name(path, former[path])
        forward = _by_folder(folders, {part: path for path, part in parts.items()}, [])
        for other in folders[1:]:
            _put_down(other, token, {"see": str(folders[0].absolute())})
        _put_down(folders[0], token, _told(forward))
        try:
            _carry_out(forward)
        except OSError:
            done = [path for path, part in parts.items() if not os.path.lexists(part)]
            before = {former[path]: path for path in done if path in former}
            back = _by_folder(folders, before, [path for path in done if path not in former])
            _put_down(folders[0], token, _told(back))
            _carry_out(back)
            raise
        except BaseException as stop:  # too late to stop: some of the names are new
            _carry_out(forward)
            stop.add_note("all files were written before")
            raise
    finally:
        for left in (own_name(token, _JOURNAL), own_name(token, _DRAFT)):
            for folder in folders:
                (folder / left).unlink(missing_ok=True)
        for second in former.values():
            second.unlink(missing_ok=True)


def _by_folder(folders: Iterable[Path], renames: Mapping[Path, Path], removals: Iterable[Path]) -> _Renames:
    found: _Renames = {folder: ([], []) for folder in folders}
    for part, path in renames.items():
        found[path.parent][0].append((part.name, path.name))
    for path in removals:
        found[path.parent][1].append(path.name)
    return found


def _second_name(path: Path, second: Path) -> None:
    """Give a file a second name; a copy where the disk knows no hard links."""
    try:
        os.link(path, second, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(path, second, follow_symlinks=False)


def _told(renames: _Renames) -> dict[str, Any]:
    """Return what a journal says; its own folder is nameless, so that it may be moved."""
    own = next(iter(renames))
    return {"folders": {"" if f == own else str(f.absolute()): names for f, names in renames.items()}}


def _put_down(folder: Path, token: str, content: Mapping[str, Any]) -> None:
    """Write a journal, or where it is, and see to it that it is on disk."""
    draft = folder / own_name(token, _DRAFT)
    with draft.open("w", encoding="ascii") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / own_name(token, _JOURNAL))
    _fsync_folder(folder)


def _carry_out(renames: _Renames) -> None:
    """Rename what has not been renamed yet, and remove what is not to be there."""
    for folder, (names, removals) in renames.items():
        for name, target in names:
            if os.path.lexists(folder / name):
                (folder / name).replace(folder / target)
        for name in removals:
            (folder / name).unlink(missing_ok=True)
        _fsync_folder(folder)


def _fsync_folder(folder: Path) -> None:
    with suppress(OSError):  # not all systems can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def complete_renames(folder: Path) -> None:
    """Complete what a killed run began to rename in a folder, there and wherever else it wrote at the same time."""
    with suppress(OSError):  # a journal that cannot be completed now stays for another time
        for name in _own_files(folder):
            if name.endswith(_JOURNAL):
                main = _main_folder(folder / name)
                _complete(main / name)
                if main != folder:
                    with locked([folder]) as alone:
                        if alone and not os.path.lexists(main / name):
                            (folder / name).unlink(missing_ok=True)


def _complete(journal: Path) -> None:
    found = _read_journal(journal)
    if not found:
        return
    with locked(found) as alone:
        found = _read_journal(journal) if alone else None  # another run may have been faster
        if found:
            _carry_out(found)
            for folder in reversed(found):  # its own comes last, since the others lead to it
                (folder / journal.name).unlink(missing_ok=True)


def _read(journal: Path) -> dict[str, Any]:
    """Return what a journal says, which is nothing where it is damaged or somebody else's."""
    try:
        found = json.loads(journal.read_text(encoding="ascii")) if journal.name in _own_files(journal.parent) else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _main_folder(journal: Path) -> Path:
    """Return the folder that has the journal itself, where this one only says where that is."""
    other = _read(journal).get("see")
    return Path(other) if isinstance(other, str) and Path(other).is_absolute() else journal.parent


def _read_journal(journal: Path) -> _Renames | None:
    """Return the renames of a journal; None where it names anything but files of this program, or other folders."""
    found: _Renames = {}
    try:
        for folder, (names, removals) in _read(journal)["folders"].items():
            pairs = [(str(name), str(target)) for name, target in names]
            plain = [*(target for _, target in pairs), *map(str, removals)]
            sound = all(_OURS.fullmatch(name) and "/" not in name for name, _ in pairs) and not set(plain) & _NOT_NAMES
            if (
                not sound
                or not all(Path(name).name == name for name in plain)
                or (folder and not Path(folder).is_absolute())
            ):
                return None
            found[Path(folder) if folder else journal.parent] = (pairs, list(map(str, removals)))
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    return found


def tidy(folder: Path) -> None:
    """Complete what a killed run began in a folder, and remove what such runs left there and nobody holds."""
    complete_renames(folder)
    with suppress(OSError), locked([folder]) as alone:
        names = _own_files(folder) if alone else []
        waiting = {_token(n) for n in names if n.endswith(_JOURNAL) and _read_journal(_main_folder(folder / n) / n)}
        for name in names:
            if _token(name) not in waiting:
                _remove_unheld(folder / name)


def _token(name: str) -> str:
    return name[: len(own_name("", "")) + _DIGITS]


def _own_files(folder: Path) -> list[str]:
    """Return the names of the files that this program left in a folder for this user."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if _OURS.fullmatch(entry.name)]
    user = os.geteuid() if hasattr(os, "geteuid") else None
    own = []
    for entry in found:
        with suppress(OSError):  # it went in the meantime
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and user in (None, about.st_uid):
                own.append(entry.name)
    return sorted(own)


def _remove_unheld(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            if try_lock(handle):
                path.unlink()
        finally:
            os.close(handle)
