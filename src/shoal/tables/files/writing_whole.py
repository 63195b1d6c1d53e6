"""Output appears whole or not at all, and never in the place of something that was read.

A file is written under another name beside its place, locked while that goes on, and renamed at the end; several are
renamed together, see :mod:`shoal.tables.files.journal`. What killed runs left beside it is completed or removed first.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import FileError, OutputExists
from shoal.plan.files_read import Inputs
from shoal.tables.files.journal import complete_renames, locked, new_token, own_name, rename_together, tidy, try_lock
from shoal.tables.files.packing import PACKINGS
from shoal.tables.files.pieces import would_be_piece


def check_target(path: Path, inputs: Inputs = (), overwrite: bool = True) -> None:
    """Refuse a path that cannot become a new file, or is one that is read, before any work is done."""
    try:
        if path.is_dir():
            raise FileError(f"'{path}' is a folder; name a file in it, or remove it")
        if path.exists() and not path.is_file():
            raise FileError(f"'{path}' is a device or pipe; name a file")
        if not path.parent.is_dir():
            raise FileError(f"the folder '{path.parent}' is not there; make it first")
        if not os.access(path.parent, os.W_OK):
            raise FileError(f"the folder '{path.parent}' cannot be written to; choose another one")
        for what, read in inputs:
            if same_file(path, read):
                raise FileError(f"'{path}' is {what}; write to another file")
            if would_be_piece(path, read):
                raise FileError(f"'{path}' would be a part of {what} when that is read again; write to another folder")
        complete_renames(path.parent)
        if not overwrite and os.path.lexists(path):
            raise OutputExists(f"'{path}' is there already; name another file, or replace it with --force")
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"'{path}' cannot be written: {reason}; choose another name") from None


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths are one file, also where neither is there yet."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def write_whole(path: Path, content: str | bytes, *, like: Sequence[Path] = (), overwrite: bool = True) -> None:
    """Write a text in UTF-8, or bytes, to a file that appears whole or not at all, as :func:`written_whole` does."""
    with written_whole(path, like=like, overwrite=overwrite) as part:
        part(path).write_bytes(encoded(content) if isinstance(content, str) else content)


def encoded(text: str) -> bytes:
    r"""Return a text in UTF-8; what is no text, as in a file name of odd bytes, is spelt out as ``\udcff``.

    >>> encoded("é" + chr(0xDCFF)).decode()
    'é\\udcff'
    """
    return text.encode("utf-8", errors="backslashreplace")


@contextmanager
def written_whole(*paths: Path, like: Sequence[Path] = (), overwrite: bool = True) -> Iterator[Callable[[Path], Path]]:
    """Let files appear whole or not at all, and together.

    Inside the block each path is written under another name beside it, which the given function tells; at the end all
    are renamed, and on an error all are removed. A file that was there keeps its permissions; a new one is not open to
    anybody to whom the files that it is made from, ``like``, are not. Without ``overwrite`` no file is replaced.
    """
    parts: dict[Path, Path] = {}
    held: dict[Path, int] = {}
    try:
        for folder in dict.fromkeys(path.parent for path in paths):
            tidy(folder)
        token = new_token()
        for number, path in enumerate(paths):
            parts[path] = path.with_name(own_name(token, f"-{number}{format_ending(path)}"))
            held[path] = _open_part(parts[path], 0o600 if os.path.lexists(path) else _open_to(like, path.parent))
        yield parts.__getitem__
        for path, handle in held.items():
            _keep_permissions(path, handle)
            os.fsync(handle)
        with locked(path.parent for path in paths):
            there = next((path for path in paths if not overwrite and os.path.lexists(path)), None)
            if there:
                raise OutputExists(f"'{there}' has appeared in the meantime; nothing was written")
            while held:
                os.close(held.popitem()[1])
            if parts:
                rename_together(parts, token)
    except OSError as error:
        message = str(error)
        for path, part in parts.items():
            message = message.replace(str(part), str(path))
        if isinstance(error, FileError):
            raise type(error)(message) from None
        names = ", ".join(f"'{path}'" for path in paths)
        raise FileError(f"cannot write {names}: {error.strerror or message}; nothing was written") from None
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
        for handle in held.values():
            os.close(handle)


def format_ending(path: Path) -> str:
    """Return the endings that tell the format of a file."""
    suffixes = path.suffixes
    return "".join(suffixes[-2:] if suffixes and suffixes[-1].lower() in PACKINGS else suffixes[-1:])


def _open_part(part: Path, mode: int) -> int:
    """Make a new empty file and hold on to it, so that no other run takes it for one that was left behind."""
    while True:
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)  # less what the user's mask takes away
        if not try_lock(handle) or os.path.lexists(part):
            return handle
        os.close(handle)  # another run was faster than the lock and has removed it


def _open_to(like: Sequence[Path], folder: Path) -> int:
    """Return who may use a new file: its owner, and others as far as they may use all files that it is made from."""
    mode = 0o666
    for original in like:
        with suppress(OSError):
            about = original.stat()
            others, members = about.st_mode & 0o006, about.st_mode & 0o060
            if about.st_gid != _group_in(folder):
                members &= others << 3
            mode &= 0o600 | members | others
    return mode


def _group_in(folder: Path) -> int:
    """Return the group that a new file in a folder has."""
    about = folder.stat()
    inherited = about.st_mode & stat.S_ISGID or not hasattr(os, "getegid") or sys.platform == "darwin"
    return about.st_gid if inherited else os.getegid()


def _keep_permissions(path: Path, handle: int) -> None:
    """Give a file that is about to replace another its group and permissions."""
    if not hasattr(os, "fchmod"):
        return
    with suppress(FileNotFoundError):
        former, own = path.stat(), os.fstat(handle)
        mode = stat.S_IMODE(former.st_mode) & 0o777
        if former.st_gid != own.st_gid:
            try:
                os.fchown(handle, -1, former.st_gid)
            except OSError:
                mode &= ~0o070
        os.fchmod(handle, mode)
