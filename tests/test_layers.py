"""Who may import whom: each layer imports only from itself and the layers above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import shoal

PACKAGE = Path(shoal.__file__).parent
LAYERS = [
    {
        "arrays",
        "errors",
        "schema",
        "settings",
        "hierarchy_settings",
        "category_settings",
        "rule_settings",
        "xml_input",
        "figures",
        "plan",
    },
    {"kernels"},
    {
        "encode",
        "aggregate",
        "hierarchy",
        "categories",
        "aggregate_categories",
        "mixed",
        "partition",
        "blocking",
        "measures",
        "check",
        "rules",
    },
    {"worker"},
    {"files", "tables", "cells", "table_categories", "engines", "examples", "inspection", "hierarchy_inspection"},
    {
        "columns",
        "declare",
        "editing",
        "rule_checks",
        "rule_guard",
        "rule_reports",
        "aggregating",
        "progress",
        "summary",
        "release",
        "pipeline",
        "comparison",
        "evaluation",
        "measured",
        "measurement",
        "searching",
        "searching_mixed",
        "sweeps",
        "before_after",
        "notebook",
        "outlines",
    },
    {"report"},
    {"cli", "__init__", "__main__"},
]
THIRD_PARTY = {
    0: {"numpy", "pydantic", "yaml", "lxml"},
    1: {"numpy", "numba"},
    2: {"numpy", "scipy", "yaml", "nltk", "elementpath", "lxml", "saxonche"},
    3: {"numpy"},
    4: {"numpy", "narwhals", "polars", "pandas", "pyarrow", "pyreadstat", "yaml", "lxml"},
    5: {"numpy", "rich", "narwhals", "polars", "altair", "threadpoolctl"},
    6: {"altair", "jinja2", "markupsafe", "vl_convert"},
    7: {"typer", "rich"},
}
_LATE = {"nltk", "polars", "pandas", "pyarrow", "pyreadstat", "rich", "altair", "jinja2", "markupsafe", "vl_convert"}
_LATE |= {"elementpath", "lxml", "saxonche"}
FILES = sorted(PACKAGE.rglob("*.py"))


def layer_of(module):
    return next(i for i, names in enumerate(LAYERS) if module in names)


def module_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Full names of the modules that a file imports, and whether it does so at its top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            yield node.module, id(node) in top


def test_every_module_has_a_layer():
    assert {module_of(path) for path in FILES} <= set().union(*LAYERS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_upwards_only(path):
    here = layer_of(module_of(path))
    for name, _ in imports(path):
        parts = name.split(".")
        if parts[0] == "shoal":
            if module_of(path) == "cli":
                assert name == "shoal" or parts[1] == "cli", "the command line uses public names only"
            elif len(parts) > 1:
                assert layer_of(parts[1]) <= here, f"{module_of(path)} imports {name} from a lower layer"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_third_party_packages_stay_in_their_layers(path):
    import sys

    here = layer_of(module_of(path))
    for name, _ in imports(path):
        package = name.split(".")[0]
        if package not in sys.stdlib_module_names and package != "shoal":
            assert package in THIRD_PARTY[here], f"{module_of(path)} imports {package}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_dataframe_libraries_are_imported_only_where_they_are_needed(path):
    for name, at_top in imports(path):
        if name.split(".")[0] in _LATE and module_of(path) != "cli":
            assert not at_top, f"{path.name} imports {name} at its top"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_fits_in_the_head(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
