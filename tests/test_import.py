"""`import shoal` is quick, its public names exist, and every example in a docstring is true."""

import doctest
import importlib
import json
import pkgutil

import pytest

import shoal
from command_line import in_new_python
from shoal.cli.commands import COMMANDS

HEAVY = [
    *("numpy", "numba", "scipy", "polars", "narwhals", "pandas", "pyarrow", "duckdb", "pyspark", "pydantic", "yaml"),
    *("rich", "typer", "altair", "jinja2", "vl_convert", "matplotlib", "flask", "fastapi"),
]
MODULES = ["shoal", *(module.name for module in pkgutil.walk_packages(shoal.__path__, "shoal."))]


def loaded_by(code):
    """Run code in a new interpreter and return the modules that it loads, with what it prints."""
    ended = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint('LOADED', *sys.modules)"
    printed, _, modules = in_new_python(ended).rpartition("LOADED ")
    return set(modules.split()), printed


def loaded_by_command(*words):
    return loaded_by(f"sys.argv = {['shoal', *words]}; from shoal.cli import main; main()")


def test_importing_shoal_loads_nothing_heavy_and_no_other_module_of_it():
    loaded, _ = loaded_by("import shoal")
    assert not loaded & {*HEAVY, "importlib.metadata"}
    assert {name for name in loaded if name.startswith("shoal")} == {"shoal"}


def test_the_help_of_all_commands_loads_none_of_them():
    loaded, printed = loaded_by_command("--help")
    assert all(command in printed for command in COMMANDS)
    assert not loaded & set(HEAVY) - {"typer", "rich"}
    light = {"shoal", "shoal.cli", "shoal.cli.commands", "shoal.cli.process"}
    assert {name for name in loaded if name.startswith("shoal")} == light


@pytest.mark.parametrize("words", [*([command] for command in COMMANDS), ["rules", "check"], ["hierarchy", "show"]])
def test_the_help_of_a_command_loads_no_other_one_and_nothing_that_it_would_run(words):
    loaded, printed = loaded_by_command(*words, "--help")
    assert f"shoal {' '.join(words)} [OPTIONS]" in printed
    assert not loaded & set(HEAVY) - {"typer", "rich"}
    below = {name for name in loaded if name.startswith("shoal.") and not name.startswith("shoal.cli")}
    assert below <= {"shoal.errors"}, "the words of messages, which load nothing else"
    assert [command for command in COMMANDS if f"shoal.cli.{command}" in loaded] == words[:1]


def test_the_version_and_results_as_json_load_no_rich():
    loaded, printed = loaded_by_command("--version")
    assert printed == f"shoal {shoal.__version__}\n"
    assert not loaded & set(HEAVY) - {"typer"}
    loaded, printed = loaded_by_command("methods", "mdav", "--json")
    assert json.loads(printed)["methods"][0]["name"] == "mdav"
    assert "rich" not in loaded


def test_the_pipeline_loads_neither_readers_nor_solvers_before_they_are_needed():
    loaded, _ = loaded_by("import shoal.pipeline; shoal.Plan(k=3, quasi_identifiers='age')")
    assert not loaded & {"yaml", "scipy", "polars", "pandas", "lxml", "rich", "numba", "http.client", "ssl"}
    loaded, _ = loaded_by("import shoal; shoal.protect(shoal.example(30), 3, 'age', identifiers='name', method='mdav')")
    assert not loaded & {"scipy.optimize", "scipy.sparse", "scipy.spatial", "lxml", "http.client", "ssl"}


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


def test_no_submodule_takes_the_place_of_a_public_name():
    code = f"""
import importlib, shoal
before = {{name: getattr(shoal, name) for name in shoal.__all__}}
for name in {MODULES}:
    importlib.import_module(name)
starred = {{}}
exec("from shoal import *", starred)
print([name for name in before if not (getattr(shoal, name) is starred[name] is before[name] or name == "__version__")])
print([name for name in before if type(before[name]) is type(shoal)])
"""
    assert in_new_python(code) == "[]\n[]"


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
