"""One place for numba's flags, its cache, and the notice that a first run compiles.

Every kernel is compiled without the global interpreter lock, so that blocks run in threads, and without
``fastmath``: the promise that the same data give the same bytes rests on IEEE arithmetic in a fixed order.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config  # its settings are made at run time

_PACKAGE = Path(__file__).parent.parent
_WEEK = 7 * 24 * 3600


def _fingerprint() -> str:
    """Hash of all sources that hold kernels.

    numba's own cache looks only at the file of the outermost kernel; a changed callee in another file
    would go unnoticed. A folder named after all the sources cannot be stale.
    """
    digest = hashlib.sha256()
    for folder in ("blocking", "kernels", "partition"):
        for source in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """Return the folder for compiled kernels; folders of other versions unused for a week are removed."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return str(config.CACHE_DIR)
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shoal"
    folder = root / f"kernels-{_fingerprint()}"
    # numba falls back to its own places where this one cannot be written
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for other in root.glob("kernels-*"):
            if time.time() - other.stat().st_mtime > _WEEK:
                shutil.rmtree(other, ignore_errors=True)
    return str(folder)


_CACHE = _cache_folder()


def kernel(function: Function) -> Function:
    """Compile a function with shoal's flags: nogil, cached, strict IEEE arithmetic."""
    before = config.CACHE_DIR
    config.CACHE_DIR = _CACHE
    try:
        compiled = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
    return cast("Function", compiled)


class _FirstCompile(event.Listener):
    """Calls back once, when numba starts to compile in the listening process."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify
        self._lock = threading.Lock()
        self._said = False

    def on_start(self, event: Any) -> None:
        with self._lock:
            first, self._said = not self._said, True
        if first:
            self._notify()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def on_first_compile(notify: Callable[[], None]) -> Iterator[None]:
    """Call ``notify`` once if anything has to be compiled inside the block; kernels from the cache do not count."""
    listener = _FirstCompile(notify)
    with event.install_listener("numba:compile", listener):
        yield
