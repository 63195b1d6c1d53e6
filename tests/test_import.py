"""`import shoal` is quick, its public names exist, and every example in a docstring is true."""

import doctest
import importlib
import pkgutil

import pytest

import shoal
from command_line import in_new_python

HEAVY = [
    *("numba", "polars", "pandas", "pyarrow", "duckdb", "pyspark"),
    *("rich", "typer", "altair", "jinja2", "vl_convert", "matplotlib", "flask", "fastapi"),
]
MODULES = ["shoal", *(module.name for module in pkgutil.walk_packages(shoal.__path__, "shoal."))]


def test_importing_shoal_loads_nothing_heavy():
    assert in_new_python(f"import sys, shoal; print([name for name in {HEAVY} if name in sys.modules])") == "[]"


def test_protecting_a_polars_table_does_not_load_pandas():
    code = (
        "import sys, shoal; shoal.protect(shoal.example(30), k=3, quasi_identifiers='age', identifiers='name');"
        "print([name for name in ('pandas', 'rich', 'typer') if name in sys.modules])"
    )
    assert in_new_python(code) == "[]"


def test_public_names_exist_and_are_sorted():
    missing = [name for name in shoal.__all__ if not hasattr(shoal, name)]
    assert missing == []
    assert dir(shoal) == sorted(shoal.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'shoal' has no attribute 'protec'"):
        _ = shoal.protec


def test_the_version_is_that_of_the_package():
    assert in_new_python("from importlib.metadata import version; print(version('shoal'))") == shoal.__version__


def test_doctests_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert {"shoal.plan.plan.Plan", "shoal.pipeline.protect", "shoal.tables.example.example"} <= {
        test.name for test in examples
    }


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0
