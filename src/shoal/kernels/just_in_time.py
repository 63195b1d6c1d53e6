"""Compiling kernels with numba, and keeping what was compiled on disk. Imported only when something has to be compiled.

Every kernel is compiled without the global interpreter lock, so that blocks run in threads, and without
``fastmath``: the promise that the same data give the same bytes rests on IEEE arithmetic in a fixed order.

Files are named after the hash of the kernel's source with all it calls, the types, and the machine, so that none can
be stale, and hold a checksum: a file that is damaged, or cannot be read or written, costs time and is no error.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event, serialize
from numba.core.compiler import CompileResult
from numba.extending import overload

from shoal.kernels.sources import OPERATIONS, SourceMissingError, hash_of

_WEEK = 7 * 24 * 3600
_rebuild: Any = CompileResult._rebuild  # untyped
_dumps: Any = serialize.dumps
_register: Any = event.register
_CHECKSUM = hashlib.sha256().digest_size

_implemented: set[Callable[..., Any]] = set()

listeners: list[Callable[[], None]] = []  # called whenever something is compiled


def compiled(function: Callable[..., Any], inline: bool, counted: bool = True) -> Any:
    """Return numba's dispatcher of a kernel; ``inline`` puts it into its callers, ``counted`` counts references."""
    _implement_operations()
    uncounted: dict[str, Any] = {} if counted else {"_nrt": False}
    dispatcher = numba.njit(nogil=True, error_model="numpy", forceinline=inline, **uncounted)(function)
    if hasattr(dispatcher, "_cache"):  # not where numba is told to leave functions as they are
        with suppress(SourceMissingError):
            dispatcher._cache = _Disk(function)
    return dispatcher


def _implement_operations() -> None:
    """Tell numba which kernel stands for an operation on each type; modules loaded since bring more of them."""
    for operation in OPERATIONS.keys() - _implemented:
        _implement(operation, OPERATIONS[operation])
        _implemented.add(operation)


def _implement(operation: Callable[..., Any], kernels: dict[type, Any]) -> None:
    def choose(first: Any, *_: Any) -> Any:
        return kernels[first.instance_class].py_func

    overload(operation, strict=False)(choose)


class _Disk(caching._Cache):
    """What numba's dispatcher asks for compiled code before it compiles."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__} {hash_of(function)}"
        self._stem = function.__name__

    @property
    def cache_path(self) -> str | None:
        folder = _folder()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        """There is nothing to enable."""

    def disable(self) -> None:
        """There is nothing to disable."""

    def flush(self) -> None:
        """There is no index that could be stale."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code for these types, or None."""
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        target_context.refresh()
        try:
            contents = path.read_bytes()
            if hashlib.sha256(contents[_CHECKSUM:]).digest() != contents[:_CHECKSUM]:
                return None
            code = _rebuild(target_context, *pickle.loads(contents[_CHECKSUM:]))
            with suppress(OSError):
                os.utime(path)
        except Exception:  # half written, of another version of numba, or of a module that has moved: compile
            return None
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code for these types."""
        path = self._path(sig, data.codegen)
        if path is None or data.lifted or data.library.has_dynamic_globals:
            return
        with suppress(Exception):
            contents = _dumps(data._reduce())
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.stem, delete=False) as file:
                try:
                    file.write(hashlib.sha256(contents).digest() + contents)
                    file.close()
                    Path(file.name).replace(path)  # at once, so that nobody reads half of it
                except OSError:
                    Path(file.name).unlink(missing_ok=True)
                    raise

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        folder = _folder()
        if folder is None:
            return None
        made_by = (platform.python_version(), numba.__version__, codegen.magic_tuple())
        name = hashlib.sha256(repr((self._name, str(sig), made_by)).encode()).hexdigest()[:32]
        return folder / f"{self._stem}-{name}.kernel"


@cache
def _folder() -> Path | None:
    """Return the folder for compiled kernels, None where none can be written; what nobody used for a week goes."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(named) if named else Path(caches) / "shoal" / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no such place, or nobody is at home
        return None
    for other in folder.glob("*.kernel*"):
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _WEEK:
                other.unlink()
    return folder


class _Compiling(event.Listener):
    def on_start(self, event: Any) -> None:
        for listener in list(listeners):
            listener()

    def on_end(self, event: Any) -> None:
        pass


_register("numba:compile", _Compiling())
