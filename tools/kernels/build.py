"""Build the library of kernels: python tools/kernels/build.py [--check].

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
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SIGNATURES = HERE / "signatures.txt"
CPU = "x86-64-v3"
TARGET = "x86_64-linux-gnu.2.17"
NAME = "linux-x86_64"

os.environ.update(
    NUMBA_CPU_NAME=CPU,
    NUMBA_CPU_FEATURES="+sse2",  # what the name implies; without this numba adds what this machine has
    NUMBA_DISABLE_INTEL_SVML="1",
    SHOAL_PREBUILT="off",
)

import shoal  # noqa: E402 - after the settings of its compiler
from shoal.kernels.compiling import Kernel  # noqa: E402
from shoal.kernels.library import FOLDER  # noqa: E402
from shoal.kernels.sources import hash_of  # noqa: E402


def main() -> None:
    """Build the library, or say whether it is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is missing or out of date")
    arguments = parser.parse_args()
    wanted = list(read_signatures(SIGNATURES))
    if arguments.check:
        missing = stale(wanted)
        if missing:
            sys.exit("not in the library as they are now, run `make kernels`: " + ", ".join(missing))
        return
    build(wanted)


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


def build(wanted: list[tuple[str, Kernel, str]]) -> None:
    """Compile, link, and write the library with its listing."""
    from entry_points import NotExpressibleError, compile_entry
    from llvmlite import binding as llvm

    whole, kernels, passed = None, defaultdict(list), []
    for number, (name, kernel, types) in enumerate(wanted):
        symbol = f"k{number}"
        try:
            module, result = compile_entry(kernel, types, symbol)
        except NotExpressibleError as reason:
            print(f"passed over: {name} {types}: {reason}", file=sys.stderr)
            passed.append((name, types))
            continue
        print(f"{number + 1}/{len(wanted)} {name}", file=sys.stderr)
        kernels[name, hash_of(kernel.py_func)].append((symbol, types, result))
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    symbols = {entry[0] for entries in kernels.values() for entry in entries}
    FOLDER.mkdir(exist_ok=True)
    binary = FOLDER / f"{NAME}.so"
    with tempfile.TemporaryDirectory() as folder:
        made = Path(os.environ.get("SHOAL_KEEP_OBJECT") or Path(folder) / "kernels.o")
        made.write_bytes(machine_code(llvm, whole, symbols))
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


def machine_code(llvm: Any, module: Any, keep: set[str]) -> bytes:
    """Object code of a module in which only the entry points are visible, and nothing is left that they do not use."""
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in keep else "internal"
    for value in module.global_variables:
        if not value.is_declaration:
            value.linkage = "internal"
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
    subprocess.run(
        [*compiler, *target, *flags, "-o", str(binary), str(HERE / "shim.c"), str(made), "-lm"], check=True
    )


if __name__ == "__main__":
    main()
