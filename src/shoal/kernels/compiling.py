"""Kernels: functions that run as machine code, from the library that comes with shoal or compiled by numba.

A kernel looks up the types of its arguments. What is in the library (:mod:`.library`) runs at once, and numba is not
even imported; everything else is compiled when it is first called, and kept on disk (:mod:`.just_in_time`). Both ways
give the same bits.
"""

from __future__ import annotations

import functools
import inspect
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from shoal.kernels import library, signatures, sources

Function = TypeVar("Function", bound=Callable[..., Any])

RECORD = "SHOAL_RECORD_KERNELS"  # a file that gets a line for each kernel and types that are called

_lock = threading.RLock()
_listeners: list[Callable[[], None]] = []


class Kernel:
    """A function that runs as machine code.

    Attributes
    ----------
    py_func
        The function as it is written.
    """

    __qualname__: str

    def __init__(self, function: Callable[..., Any], inline: bool, counted: bool = True) -> None:
        functools.update_wrapper(self, function)
        sources.keep_source(function)
        self.py_func = function
        self._inline, self._counted = inline, counted
        self._compiled_only = False  # known once it was called
        self._calls: dict[tuple[Any, ...], library.Call | None] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code for the types of these arguments."""
        if self._compiled_only:
            return self.dispatcher(*arguments, **named)
        if named:
            arguments = inspect.signature(self.py_func).bind(*arguments, **named).args
        key: list[Any] = []
        slots: list[Any] = []
        signatures.read(arguments, key, slots)
        try:
            call = self._calls[tuple(key)]
        except KeyError:
            call = self._calls[tuple(key)] = self._find(arguments)
        if call is not None:
            with suppress(struct.error):  # a number of more than 64 bits
                return call(arguments, slots)
        return self.dispatcher(*arguments)

    def __reduce__(self) -> str:
        return self.__qualname__

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's object for this kernel."""
        with _lock:
            from shoal.kernels import just_in_time

            if not just_in_time.listeners:
                just_in_time.listeners.append(_tell)
            # a second thread may have waited for the lock
            return self.__dict__.get("dispatcher") or just_in_time.compiled(self.py_func, self._inline, self._counted)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for when it compiles a kernel that calls this one."""
        return self.dispatcher._numba_type_

    def _find(self, arguments: tuple[Any, ...]) -> library.Call | None:
        """Return the library's code for the types of these arguments, or None."""
        types = signatures.text_of(arguments)
        if types is not None and os.environ.get(RECORD):
            with Path(os.environ[RECORD]).open("a", encoding="utf-8") as file:
                file.write(f"{self.__module__}:{self.__qualname__} {types}\n")
        opened = library.open_library()
        entries: dict[str, library.Entry] = {}
        with suppress(sources.SourceMissingError):
            entries = {} if opened is None else opened.kernels.get(sources.hash_of(self.py_func), {})
        self._compiled_only = not entries and not os.environ.get(RECORD)
        if opened is None or types not in entries:
            return None
        return opened.bind(entries[types], signatures.pack_format(arguments), self.py_func.__globals__)


@overload
def kernel(function: Function) -> Function: ...
@overload
def kernel(*, inline: bool = False, counted: bool = True) -> Callable[[Function], Function]: ...
def kernel(function: Function | None = None, *, inline: bool = False, counted: bool = True) -> Any:
    """Make a function a kernel; ``inline`` puts it into its callers, for small ones that are called in a hot loop.

    One that neither makes nor returns an array, nor calls one that does, need not have references to arrays
    ``counted``, which can take longer than all else where it works on tuples of many.
    """
    if function is None:
        return functools.partial(Kernel, inline=inline, counted=counted)
    return cast("Function", Kernel(function, inline, counted))


def implement(operation: Callable[..., Any], kernels: dict[type, Any]) -> None:
    """Say which kernel stands for an operation inside kernels, by the type of its first argument."""
    sources.OPERATIONS[operation] = kernels


def _tell() -> None:
    for listener in list(_listeners):
        listener()


@contextmanager
def on_first_compile(notify: Callable[[], None]) -> Iterator[None]:
    """Call ``notify`` once if anything has to be compiled inside the block; kernels kept on disk do not count."""
    first = threading.Lock()

    def listener() -> None:
        if first.acquire(blocking=False):
            notify()

    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
