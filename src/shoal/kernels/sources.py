"""What a compiled kernel was made from: the hash that says whether machine code still belongs to its source.

A kernel's code follows from its own source, from the constants it names, and from all kernels it calls, at any depth;
from nothing else in its module, and not from where the module is. So a change makes stale what it changes, and a module
that moves makes nothing stale.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

Function = Callable[..., Any]

OPERATIONS: dict[Function, dict[type, Any]] = {}  # the kernel that stands for an operation, by the type of its argument

_files: dict[str, list[str]] = {}
_ABOVE, _HEADER, _FIRST, _DOCSTRING, _BODY = range(5)  # places in the source of a function
_PACKAGE = __name__.partition(".")[0]


class SourceMissingError(Exception):
    """The source of a kernel is not there: only its bytecode was installed."""


def keep_source(function: Function) -> None:
    """Read the file of a function now: somebody may change it later, while what was loaded runs on."""
    file = function.__code__.co_filename
    if file not in _files:
        _files[file] = linecache.getlines(file, function.__globals__)


@cache
def hash_of(function: Function) -> str:
    """Hash of the source of a kernel, of its constants and of all kernels it calls.

    Raises
    ------
    SourceMissingError
        Where a source cannot be read.
    """
    reached, waiting = {function}, [function]
    while waiting:
        for _, callee in _callees(waiting.pop()):
            if callee not in reached:
                reached.add(callee)
                waiting.append(callee)
    return hashlib.sha256("\n".join(sorted(map(_with_callees, reached))).encode()).hexdigest()[:32]


@cache
def _with_callees(function: Function) -> str:
    """Hash of a kernel, and by which name it calls which others."""
    return " ".join([_own(function), *sorted(f"{name}={_own(callee)}" for name, callee in _callees(function))])


@cache
def _own(function: Function) -> str:
    """Hash of a kernel's own source and of the constants that it names."""
    constants = sorted(f"{name}={_constant(value)}" for name, value in _globals(function) if not _kernels_in(value))
    return hashlib.sha256("\n".join([_source(function), *constants]).encode()).hexdigest()


def _source(function: Function) -> str:
    """Lines of a function without its docstring, blank lines and lines of comment.

    The standard library's way tokenises every function, which takes longer than all else here.
    """
    code = function.__code__
    keep_source(function)
    lines = _files[code.co_filename][code.co_firstlineno - 1 :]
    if not lines:
        raise SourceMissingError(code.co_filename)
    margin = len(lines[0]) - len(lines[0].lstrip())
    found: list[str] = []
    place, quotes = _ABOVE, ""
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if place == _DOCSTRING:
            place = _BODY if text.endswith(quotes) else place
            continue
        if place == _FIRST and text[:3] in ('"""', "'''"):
            quotes = text[:3]
            place = _BODY if len(text) > 3 and text.endswith(quotes) else _DOCSTRING
            continue
        if place == _BODY and len(line) - len(line.lstrip()) <= margin:
            break
        if place == _ABOVE and text.startswith("def "):
            place = _HEADER
        if place == _HEADER and text.partition("  #")[0].endswith(":"):
            place = _FIRST
        elif place == _FIRST:
            place = _BODY
        found.append(line[margin:].rstrip())
    return "\n".join(found)


def _callees(function: Function) -> list[tuple[str, Function]]:
    """Kernels that a kernel calls, with the names it has for them."""
    return [(name, callee) for name, value in _globals(function) for callee in _kernels_in(value)]


def _kernels_in(value: Any) -> list[Function]:
    """Functions of the kernels that a global stands for: one, or one for each type of an operation."""
    if hasattr(value, "py_func"):
        return [value.py_func]
    if callable(value) and value in OPERATIONS:
        return [kernel.py_func for kernel in OPERATIONS[value].values()]
    return []


@cache
def _globals(function: Function) -> list[tuple[str, Any]]:
    """Globals that a function names, and those of the package's modules that it reaches by a dot."""
    known = dict(function.__globals__)
    known.update(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ()), strict=True))
    names = sorted(set(_names(function.__code__)))
    found = [(name, known[name]) for name in names if name in known]
    for name, value in list(found):
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == _PACKAGE:
            found += [(f"{name}.{other}", getattr(value, other)) for other in names if hasattr(value, other)]
    return found


def _names(code: CodeType) -> Iterator[str]:
    """Names in a function and in the functions inside it: these hold the same in every version of Python."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constant(value: Any) -> str:
    """What a constant is to a compiler."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.generic):
        return f"{value.dtype}{value.item()!r}"
    if isinstance(value, bool | int | float | complex | str | bytes | None):
        return repr(value)
    if isinstance(value, tuple):
        return f"({','.join(map(_constant, value))})"
    if isinstance(value, type):
        return f"{value.__name__}{getattr(value, '_fields', '')}"
    return str(getattr(value, "__name__", type(value).__name__))
