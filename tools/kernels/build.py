"""Build the library of kernels: python tools/kernels/build.py [--check] [--jobs N].

numba compiles every line of signatures.txt for x86-64-v3, each with a small entry point that takes addresses instead of
Python objects; what it makes is put into one module, and zig (from the package ``ziglang``) links that with shim.c
against an old glibc. ``--check`` says what the library lacks or has out of date, and builds nothing.

Nothing here is needed where shoal runs.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import shoal
from shoal.kernels.compiling import Kernel
from shoal.kernels.library import FOLDER
from shoal.kernels.sources import hash_of

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "build" / "kernels"
SIGNATURES = HERE / "signatures.txt"
CPU = "x86-64-v3"
TARGET = "x86_64-linux-gnu.2.17"
NAME = "linux-x86_64"

SETTINGS = {
    "NUMBA_CPU_NAME": CPU,
    "NUMBA_CPU_FEATURES": "+sse2",  # what the name implies; without this numba adds what this machine has
    "NUMBA_DISABLE_INTEL_SVML": "1",
    "SHOAL_PREBUILT": "off",
}


def main() -> None:
    """Build the library, or say whether it is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is missing or out of date")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many to compile at a time")
    arguments = parser.parse_args()
    wanted = list(read_signatures(SIGNATURES))
    if arguments.check:
        missing = stale(wanted)
        if missing:
            sys.exit("not in the library as they are now, run `make kernels`: " + ", ".join(missing))
        return
    build(wanted, arguments.jobs)


def kernels_of_shoal() -> dict[str, Kernel]:
    """All kernels by module and name."""
    found = {}
    for info in pkgutil.walk_packages(shoal.__path__, "shoal."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            if isinstance(value, Kernel):
                found[f"{value.__module__}:{value.__qualname__}"] = value
    return found


def read_signatures(path: Path) -> Iterator[tuple[str, Kernel, str]]:
    """Name, kernel and types of each line; a kernel whose module has moved is known by its name and parameters."""
    kernels = kernels_of_shoal()
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, types = line.partition(" ")
        if name in kernels:
            yield name, kernels[name], types
            continue
        file, function = name.rpartition(".")[2].split(":")
        same = [other for other in kernels if other.rpartition(".")[2] == f"{file}:{function}"]
        same = same or [other for other in kernels if other.endswith(f":{function}")]
        if len(same) == 1:
            yield same[0], kernels[same[0]], types
        else:
            print(f"passed over, there is no kernel {name} now", file=sys.stderr)


def stale(wanted: list[tuple[str, Kernel, str]]) -> list[str]:
    """Names of the kernels that the library does not hold as they are now."""
    listing = json.loads((FOLDER / f"{NAME}.json").read_text(encoding="utf-8"))
    held = {(kernel["hash"], entry[1]) for kernel in listing["kernels"] for entry in kernel["entries"]}
    passed = {(name, types) for name, types in listing["passed_over"]}
    return sorted(
        {
            name
            for name, kernel, types in wanted
            if (hash_of(kernel.py_func), types) not in held and (name, types) not in passed
        }
    )


def build(wanted: list[tuple[str, Kernel, str]], jobs: int) -> None:
    """Compile, link, and write the library with its listing."""
    os.environ.update(SETTINGS)  # before numba is imported
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    whole, kernels, passed = llvm.parse_assembly(""), defaultdict(list), []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
        tasks = [(name, types, _symbol(name, types)) for name, _, types in wanted]
        for (name, kernel, types), (bitcode, result), task in zip(
            wanted, workers.map(_compile, tasks), tasks, strict=True
        ):
            if bitcode is None:
                print(f"passed over: {name} {types}: {result}", file=sys.stderr)
                passed.append((name, types))
                continue
            print(task[2], name, len(bitcode), file=sys.stderr)
            kernels[name, hash_of(kernel.py_func)].append((task[2], types, result))
            whole.link_in(llvm.parse_bitcode(bitcode))
    symbols = {entry[0] for entries in kernels.values() for entry in entries}
    FOLDER.mkdir(exist_ok=True)
    binary = FOLDER / f"{NAME}.so"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "kernels.o"
        made.write_bytes(machine_code(llvm, whole))
        link(made, binary)
    listing = {
        "cpu": CPU,
        "target": TARGET,
        "sha256": hashlib.sha256(binary.read_bytes()).hexdigest(),
        "kernels": [
            {"name": name, "hash": digest, "entries": entries} for (name, digest), entries in sorted(kernels.items())
        ],
        "passed_over": passed,
    }
    text = json.dumps(listing, indent=1) + "\n"
    (FOLDER / f"{NAME}.json").write_text(text, encoding="utf-8")
    print(f"{len(symbols)} entries of {len(kernels)} kernels, {binary.stat().st_size / 1e6:.2f} MB", file=sys.stderr)


def _compile(task: tuple[str, str, str]) -> tuple[bytes | None, str]:
    """Compile one line of the list, in a process of its own; return bitcode and results, or None and the reason.

    What was compiled before is taken from the folder ``build``.
    """
    from numba import __version__

    from entry_points import NotExpressibleError, compile_entry

    name, types, symbol = task
    kernel = _kernels()[name]
    program = (HERE / "entry_points.py").read_text(encoding="utf-8")
    made_of = (hash_of(kernel.py_func), types, symbol, program, __version__, sorted(SETTINGS.items()))
    kept = KEPT / hashlib.sha256(repr(made_of).encode()).hexdigest()
    if kept.exists():
        result, _, bitcode = kept.read_bytes().partition(b"\n")
        return bitcode, result.decode()
    try:
        module, result = compile_entry(kernel, types, symbol)
    except NotExpressibleError as reason:
        return None, str(reason)
    # names are unique in a process only
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration and part.name != symbol:
            part.linkage = "internal"
    bitcode = module.as_bitcode()
    KEPT.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(result.encode() + b"\n" + bitcode)
    return bitcode, result


def _symbol(name: str, types: str) -> str:
    return f"{name.rpartition(':')[2]}_{hashlib.sha256(f'{name} {types}'.encode()).hexdigest()[:8]}"


@cache
def _kernels() -> dict[str, Kernel]:
    return kernels_of_shoal()


def machine_code(llvm: Any, module: Any) -> bytes:
    """Object code of a module in which nothing is left that the entry points do not use."""
    module.triple = "x86_64-unknown-linux-gnu"
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=CPU, opt=3, reloc="pic", codemodel="default"
    )
    passes = llvm.create_new_module_pass_manager()
    passes.add_constant_merge_pass()
    passes.add_merge_functions_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_symbols_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0)))
    return machine.emit_object(module)


def link(made: Path, binary: Path) -> None:
    """Link object code and the shim into a library that needs an old glibc and no more."""
    compiler = [os.environ["SHOAL_CC"]] if os.environ.get("SHOAL_CC") else [sys.executable, "-m", "ziglang", "cc"]
    target = [] if os.environ.get("SHOAL_CC") else ["-target", TARGET, "-mcpu=x86_64"]
    flags = ["-shared", "-O2", "-fPIC", "-fvisibility=hidden", "-s", "-Wl,--gc-sections", "-Wl,--no-undefined"]
    subprocess.run([*compiler, *target, *flags, "-o", str(binary), str(HERE / "shim.c"), str(made), "-lm"], check=True)
    binary.write_bytes(without_folders(binary.read_bytes()))


def without_folders(code: bytes) -> bytes:
    """Return a library without the folders of the machine that built it, which numba writes into errors.

    They stand in pickles, which know their lengths: dots take the place of the letters.
    """
    import numba  # after its settings are made

    folders = (str(Path(numba.__file__).parent.parent), str(HERE.parent.parent / "src"))
    for folder in folders:
        code = code.replace(folder.encode(), b"." * len(folder.encode()))
    return code


if __name__ == "__main__":
    main()
