"""Kernels compiled beforehand: machine code in one shared library beside this module, called without numba.

``make kernels`` builds it from the list in ``tools/kernels``; ``prebuilt/*.json`` says what is in it. A kernel is found
by the hash of its source and the types of the call. Where the library is not for this machine, is damaged, or lacks
what is asked for, the kernel is compiled instead: the results are the same bits, only later. ``SHOAL_PREBUILT=off``
leaves the library aside.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pickle
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent / "prebuilt"
SWITCH = "SHOAL_PREBUILT"

_HEADER = 16  # bytes of a Python object before its own fields; more in builds for debugging or without the global lock

Call = Callable[[tuple[Any, ...], list[Any]], Any]


class Entry(NamedTuple):
    """One kernel for one set of types: its symbol in the library, and its results as in :mod:`.signatures`."""

    symbol: str
    result: str


class Library(NamedTuple):
    """An open library."""

    code: ctypes.CDLL
    kernels: dict[str, dict[str, Entry]]  # by hash and types

    def bind(self, entry: Entry, pack_format: str, names: dict[str, Any]) -> Call:
        """Return a function that calls an entry, given the arguments and what stands for them in its slots.

        ``names`` are the globals of the kernel, among them the named tuple that it returns. The function raises
        :class:`struct.error` where a number is too large for its slot.
        """
        function = self.code[entry.symbol]
        function.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
        function.restype = ctypes.c_int
        pack = struct.Struct(f"={pack_format}").pack
        words, give = _results(entry.result, _release_of(self.code), names)
        unpack = struct.Struct(f"={words}").unpack_from
        room = ctypes.c_uint64 * max(1, len(words))

        def call(arguments: tuple[Any, ...], slots: list[Any]) -> Any:
            out = room()
            status = function(pack(*slots), out)
            if status:
                raise _error(out[0])
            return give(iter(unpack(out)), arguments)

        return call


@cache
def open_library() -> Library | None:
    """Return the library for this machine, or None where there is none that works."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return None
    name = f"{sys.platform}-{platform.machine()}"
    try:
        return _open(FOLDER / f"{name}.so", FOLDER / f"{name}.json")
    except Exception:  # whatever is wrong with a library, compiling is the way out
        return None


def _open(binary: Path, listing: Path) -> Library | None:
    """Open a library after looking whether it is whole: a loader may crash on a damaged one."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEADER or np.dtype(np.intp).itemsize != 8:
        return None
    contents = json.loads(listing.read_text(encoding="utf-8"))
    if hashlib.sha256(binary.read_bytes()).hexdigest() != contents["sha256"]:
        return None
    code = ctypes.CDLL(str(binary))
    if code.shoal_runs_here() != 1 or not _reads_arrays(code):
        return None
    kernels: dict[str, dict[str, Entry]] = {}
    for kernel in contents["kernels"]:  # two of the same source are one
        entries = {types: Entry(symbol, result) for symbol, types, result in kernel["entries"]}
        kernels.setdefault(kernel["hash"], {}).update(entries)
    return Library(code, kernels)


def _reads_arrays(code: ctypes.CDLL) -> bool:
    """Whether the library finds address, shape and strides of an array where this numpy keeps them."""
    probe = np.zeros((3, 5, 2))[:, 1:3]
    found = (ctypes.c_int64 * 7)()
    code.shoal_read_array.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    code.shoal_read_array(id(probe), found)
    return list(found) == [probe.__array_interface__["data"][0], *probe.shape, *probe.strides]


_Give = Callable[[Iterator[Any], tuple[Any, ...]], Any]


def _results(text: str, release: Callable[[int], None], names: dict[str, Any]) -> tuple[str, _Give]:
    """Words that a result takes, as a :mod:`struct` format, and a function that makes it of them."""
    if text == "none":
        return "", lambda words, arguments: None
    if text in ("int64", "float64"):
        return {"int64": "q", "float64": "d"}[text], lambda words, arguments: next(words)
    if text == "bool":
        return "q", lambda words, arguments: next(words) != 0
    if text.endswith(")"):
        name, _, inside = text[:-1].partition("(")
        parts = [_results(part.rpartition("=")[2], release, names) for part in inside.split(", ")]
        make = names[name]._make if name else tuple
        gives = [give for _, give in parts]
        return "".join(words for words, _ in parts), lambda words, arguments: make([g(words, arguments) for g in gives])
    kind, _, shape = text.rstrip("]").partition("[")
    dimensions, typestr = int(shape[:-1]), np.dtype(kind).str

    def array(words: Iterator[Any], arguments: tuple[Any, ...]) -> Any:
        owner, data = next(words), next(words)
        sizes = tuple(next(words) for _ in range(dimensions))
        steps = tuple(next(words) for _ in range(dimensions))
        return np.asarray(_Memory(owner, arguments, release, data, shape=sizes, strides=steps, typestr=typestr))

    return "QQ" + "q" * 2 * dimensions, array


class _Memory:
    """Memory of an array that a kernel has made, given back when nobody holds it; or part of an argument's."""

    def __init__(
        self,
        owner: int,
        arguments: tuple[Any, ...],
        release: Callable[[int], None],
        data: int,
        *,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        typestr: str,
    ) -> None:
        self._owner, self._release = owner, release
        self._arguments = None if owner else arguments
        self.__array_interface__ = {
            "version": 3,
            "data": (data, False),
            "shape": shape,
            "strides": strides,
            "typestr": typestr,
        }

    def __del__(self) -> None:
        if self._owner:
            self._release(self._owner)


@cache
def _release_of(code: ctypes.CDLL) -> Callable[[int], None]:
    release = code.shoal_release
    release.argtypes, release.restype = (ctypes.c_void_p,), None
    return release


class _ErrorInside(ctypes.Structure):
    """How numba keeps an exception: a pickle of its class, its arguments and its place."""

    _fields_ = (("pickled", ctypes.c_void_p), ("size", ctypes.c_int32))


def _error(address: int) -> BaseException:
    """Return the exception that a kernel has raised."""
    if not address:
        return ValueError("arrays in a kernel do not fit together; SHOAL_PREBUILT=off tells more")
    inside = _ErrorInside.from_address(address)
    kind, arguments, _ = pickle.loads(ctypes.string_at(inside.pickled, inside.size))  # of our own library
    return kind(*arguments)
