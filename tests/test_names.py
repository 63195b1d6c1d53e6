"""One word, one meaning: names of modules are not taken by functions, and long argument lists are values."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import shoal

PACKAGE = Path(shoal.__file__).parent
FOUND = pkgutil.walk_packages([str(PACKAGE)], "shoal.")
MODULES = sorted(module.name for module in FOUND if "__main__" not in module.name)
MOST = 6  # positional arguments outside kernels, whose arrays numba wants one by one


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_found_under_its_name_also_when_all_are_imported(name):
    for every in MODULES:
        importlib.import_module(every)
    above, _, own = name.rpartition(".")
    assert isinstance(getattr(importlib.import_module(above), own), ModuleType), f"{name} is shadowed"


def test_public_names_are_not_modules():
    for every in MODULES:
        importlib.import_module(every)
    assert [name for name in shoal.__all__ if isinstance(getattr(shoal, name), ModuleType)] == []


def functions():
    for path in sorted(PACKAGE.rglob("*.py")):
        if "cli" in path.parts:  # typer makes options of arguments
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                marks = {getattr(mark, "func", mark) for mark in node.decorator_list}
                if not {"kernel", "inlined"} & {getattr(mark, "id", "") for mark in marks}:
                    yield f"{path.relative_to(PACKAGE).as_posix()}:{node.name}", node.args


def test_no_function_outside_kernels_takes_many_positional_arguments():
    own = ("self", "cls")
    found = {
        name: [argument.arg for argument in (*args.posonlyargs, *args.args) if argument.arg not in own]
        for name, args in functions()
    }
    assert {name: names for name, names in found.items() if len(names) > MOST} == {}


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in MODULES}))
def test_a_package_has_no_name_of_its_own_that_is_one_of_its_modules(package):
    # importing the module would put it in the place of the name, from then on and for everybody
    source = ast.parse((PACKAGE.parent / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8"))
    taken = [node for node in source.body if isinstance(node, ast.ImportFrom) and node.module != package]
    names = {f"{package}.{alias.asname or alias.name}" for node in taken for alias in node.names}
    assert names & set(MODULES) == set()
