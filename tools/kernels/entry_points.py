"""One kernel for one set of types, with an entry point that is called without Python.

``int entry(const uint64_t *slots, uint64_t *out)``: the slots hold numbers, and the addresses of array objects, one
after the other as ``shoal.kernels.signatures`` reads a call; the results go to ``out`` as ``shoal.kernels.library``
takes them. Where a kernel raises, the entry returns 1, and ``out[0]`` is where numba keeps the exception.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.np import numpy_support
from numba.np.arrayobj import populate_array

from shoal.kernels.compiling import Kernel

_DATA, _SHAPE, _STRIDES = 16, 32, 40  # bytes into an array object; part of numpy's binary interface
_WORD = ir.IntType(64)


class NotExpressibleError(Exception):
    """A kernel takes or returns what entry points cannot pass."""


def compile_entry(kernel: Kernel, text: str, symbol: str) -> tuple[Any, str]:
    """Return an LLVM module with the kernel and its entry point ``symbol``, and its results as text."""
    arguments = parse_types(text)
    dispatcher = kernel.dispatcher
    try:
        dispatcher.compile(arguments)
    except (NumbaError, TypeError) as error:  # the kernel has changed since it was recorded
        raise NotExpressibleError(f"it does not take these types now: {str(error).splitlines()[0]}") from error
    compiled = dispatcher.overloads[arguments]
    result = types.unliteral(compiled.signature.return_type)
    described = describe(result)
    with global_compiler_lock:
        library = _with_entry(compiled, arguments, compiled.signature.return_type, symbol)
        library.finalize()
    return library._final_module.clone(), described


def _with_entry(compiled: Any, arguments: tuple[Any, ...], result: Any, symbol: str) -> Any:
    context = compiled.target_context
    library = compiled.codegen.create_library(symbol)
    library.add_linking_library(compiled.library)
    module = library.create_ir_module(symbol)
    function = ir.Function(module, ir.FunctionType(ir.IntType(32), [_WORD.as_pointer()] * 2), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    slots, out = function.args
    callee = context.declare_function(module, compiled.fndesc)
    reader = _Slots(context, builder, slots)
    values = [reader.value(kind) for kind in arguments]
    status, returned = context.call_conv.call_function(builder, callee, result, arguments, values)
    with builder.if_then(status.is_error, likely=False):
        address = builder.select(status.is_user_exc, builder.ptrtoint(status.excinfoptr, _WORD), ir.Constant(_WORD, 0))
        builder.store(address, out)
        builder.ret(ir.Constant(ir.IntType(32), 1))
    _Results(context, builder, out).put(result, returned)
    builder.ret(ir.Constant(ir.IntType(32), 0))
    library.add_ir_module(module)
    return library


class _Slots:
    """Reads arguments from slots, one after the other."""

    def __init__(self, context: Any, builder: ir.IRBuilder, slots: Any) -> None:
        self._context, self._builder, self._slots, self._at = context, builder, slots, 0

    def _next(self) -> Any:
        self._at += 1
        return self._builder.load(self._builder.gep(self._slots, [ir.Constant(_WORD, self._at - 1)]))

    def value(self, kind: Any) -> Any:
        """Return an argument as numba's code takes it."""
        builder, context = self._builder, self._context
        if isinstance(kind, types.NoneType):
            return context.get_dummy_value()
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.value(part) for part in kind])
        if isinstance(kind, types.Array):
            return self._array(kind)
        if kind is types.boolean:
            return builder.icmp_unsigned("!=", self._next(), ir.Constant(_WORD, 0))
        if kind is types.float64:
            return builder.bitcast(self._next(), ir.DoubleType())
        return self._next()

    def _array(self, kind: Any) -> Any:
        builder, context = self._builder, self._context
        address = self._next()

        def field(offset: int) -> Any:
            at = builder.add(address, ir.Constant(_WORD, offset))
            return builder.load(builder.inttoptr(at, _WORD.as_pointer()))

        def lengths(offset: int) -> list[Any]:
            first = builder.inttoptr(field(offset), _WORD.as_pointer())
            return [builder.load(builder.gep(first, [ir.Constant(_WORD, i)])) for i in range(kind.ndim)]

        array = context.make_array(kind)(context, builder)
        data = builder.inttoptr(field(_DATA), context.get_data_type(kind.dtype).as_pointer())
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        populate_array(array, data, lengths(_SHAPE), lengths(_STRIDES), size, meminfo=None)
        return array._getvalue()


class _Results:
    """Writes results to words, one after the other."""

    def __init__(self, context: Any, builder: ir.IRBuilder, out: Any) -> None:
        self._context, self._builder, self._out, self._at = context, builder, out, 0

    def _put(self, word: Any) -> None:
        builder = self._builder
        if isinstance(word.type, ir.PointerType):
            word = builder.ptrtoint(word, _WORD)
        elif isinstance(word.type, ir.DoubleType):
            word = builder.bitcast(word, _WORD)
        elif word.type != _WORD:
            word = builder.zext(word, _WORD)
        builder.store(word, builder.gep(self._out, [ir.Constant(_WORD, self._at)]))
        self._at += 1

    def put(self, kind: Any, value: Any) -> None:
        """Write one result."""
        builder, context = self._builder, self._context
        if isinstance(kind, types.NoneType):
            return
        if isinstance(kind, types.BaseTuple):
            for number, part in enumerate(kind):
                self.put(part, builder.extract_value(value, number))
        elif isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            for word in (array.meminfo, array.data):
                self._put(word)
            for lengths in (array.shape, array.strides):
                for word in cgutils.unpack_tuple(builder, lengths, kind.ndim):
                    self._put(word)
        else:
            self._put(value)


def describe(kind: Any) -> str:
    """Text of a result."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.NoneType):
        return "none"
    if kind in (types.int64, types.float64, types.boolean):
        return {"int64": "int64", "float64": "float64", "bool": "bool"}[str(kind)]
    if isinstance(kind, types.Array):
        return f"{np.dtype(numpy_support.as_dtype(kind.dtype))}[{kind.ndim}{kind.layout}]"
    if isinstance(kind, types.BaseTuple) and not any(isinstance(part, types.BaseTuple) for part in kind):
        parts = [describe(part) for part in kind]
        if isinstance(kind, types.BaseNamedTuple):
            parts = [f"{field}={part}" for field, part in zip(kind.fields, parts, strict=True)]
        return f"{kind.instance_class.__name__ if isinstance(kind, types.BaseNamedTuple) else ''}({', '.join(parts)})"
    raise NotExpressibleError(f"it returns {kind}")


def parse_types(text: str) -> tuple[Any, ...]:
    """Types of numba for a line of signatures.txt."""
    return tuple(_parse(part) for part in _split(text))


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _parse(text: str) -> Any:
    simple = {"none": types.none, "int64": types.int64, "float64": types.float64, "bool": types.boolean}
    if text in simple:
        return simple[text]
    if text.endswith("]"):
        kind, _, shape = text.removeprefix("const ").rstrip("]").partition("[")
        scalar = numpy_support.from_dtype(np.dtype(kind))
        return types.Array(scalar, int(shape[:-1]), shape[-1], readonly=text.startswith("const "))
    name, _, inside = text.removesuffix(")").partition("(")
    if not name:
        return types.Tuple(tuple(_parse(part) for part in _split(inside)))
    fields = dict(part.split("=", 1) for part in _split(inside))
    return _named_tuple(name, tuple(fields), tuple(_parse(part) for part in fields.values()))


def _named_tuple(name: str, fields: tuple[str, ...], parts: tuple[Any, ...]) -> Any:
    for module in [module for path, module in sys.modules.items() if path.startswith("shoal")]:
        kind = getattr(module, name, None)
        if isinstance(kind, type) and getattr(kind, "_fields", None) == fields:
            alike = all(part == parts[0] for part in parts)
            return types.NamedUniTuple(parts[0], len(parts), kind) if alike else types.NamedTuple(parts, kind)
    raise NotExpressibleError(f"there is no named tuple {name} with the fields {', '.join(fields)} now")
