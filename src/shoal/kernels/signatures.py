"""The types of a call: what decides which machine code of a kernel runs.

They are told apart as numba does, for the arguments that kernels get: arrays by type, number of dimensions, layout and
whether they may be written; numbers; None; tuples and named tuples of these.

As text, for the list of what is in the library, ``float64[2C]`` is an array of two dimensions in C order, ``[1A]`` one
whose rows are not next to each other, and ``const`` one that may not be written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_ndarray, _int64, _float64, _bool = np.ndarray, np.int64, np.float64, np.bool_
_C, _F, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400  # of numpy's array flags
_FLAGS = _C | _F | _ALIGNED | _WRITEABLE
_SCALARS = {int: "int64", np.int64: "int64", float: "float64", np.float64: "float64", bool: "bool", np.bool_: "bool"}
_FORMATS = {"int64": "q", "float64": "d", "bool": "q"}


def read(arguments: Iterable[Any], key: list[Any], slots: list[Any]) -> None:
    """Append what tells the types of a call apart to ``key``, and what is passed to the library to ``slots``.

    An array is passed as the address of the Python object: the library reads where its data are.
    """
    for argument in arguments:
        kind = type(argument)
        if kind is _ndarray:
            key.append(argument.dtype)
            key.append(argument.ndim << 12 | argument.flags.num & _FLAGS)
            slots.append(id(argument))
        elif kind is int or kind is float or kind is _int64 or kind is _float64:
            key.append(kind)
            slots.append(argument)
        elif kind is bool or kind is _bool:
            key.append(kind)
            slots.append(int(argument))
        elif argument is None:
            key.append(None)
        elif isinstance(argument, tuple):
            key.append(kind)
            key.append(len(argument))
            read(argument, key, slots)
        else:
            key.append(kind)


def text_of(arguments: Iterable[Any]) -> str | None:
    """Types of a call as text, or None where the library does not do with them."""
    parts = [_text(argument) for argument in arguments]
    return None if None in parts else ", ".join(map(str, parts))


def _text(argument: Any) -> str | None:
    if argument is None:
        return "none"
    if isinstance(argument, tuple):
        names = getattr(type(argument), "_fields", None)
        parts = [_text(part) for part in argument]
        if None in parts:
            return None
        if names is None:
            return f"({', '.join(map(str, parts))})"
        return f"{type(argument).__name__}({', '.join(f'{n}={p}' for n, p in zip(names, parts, strict=True))})"
    if type(argument) is not np.ndarray:
        return _SCALARS.get(type(argument))
    flags = argument.flags.num
    if not argument.dtype.isnative or argument.dtype.kind not in "biuf" or not flags & _ALIGNED or argument.ndim == 0:
        return None
    layout = "C" if flags & _C else "F" if flags & _F else "A"
    return f"{'' if flags & _WRITEABLE else 'const '}{argument.dtype}[{argument.ndim}{layout}]"


def pack_format(arguments: Iterable[Any]) -> str:
    """Format by which :class:`struct.Struct` packs the slots of a call, whose types have a text."""
    parts = []
    for argument in arguments:
        if isinstance(argument, tuple):
            parts.append(pack_format(argument))
        elif isinstance(argument, np.ndarray):
            parts.append("Q")
        elif argument is not None:
            parts.append(_FORMATS[_SCALARS[type(argument)]])
    return "".join(parts)
