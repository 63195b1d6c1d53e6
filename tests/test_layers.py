"""Who may import whom: the rooms of the house stand in one order, and each imports only from lower ones."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import shoal

PACKAGE = Path(shoal.__file__).parent
# From the lowest to the highest. Rooms of one line do not import each other.
ORDER = [
    {"errors"},
    {"plan"},
    {"kernels"},
    {"columns"},
    {"tables", "aggregate", "blocking"},
    {"partition"},
    {"rules", "measures"},
    {"engines"},
    {"release"},
    {"pipeline"},
    {"sweeps", "report", "sklearn"},
    {"app", "cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
TO_THE_REPORT = ("release/release.py", "shoal", "report_page")  # the one way up: a release writes its report
THIRD_PARTY = {
    "errors": set(),
    "plan": {"pydantic", "yaml", "lxml"},
    "kernels": {"numpy", "numba", "rich"},
    "columns": {"scipy", "numpy", "yaml", "nltk", "lxml"},
    "tables": {
        *("numpy", "narwhals", "polars", "pandas", "pyarrow", "pyreadstat", "yaml", "lxml"),
        *("adbc_driver_postgresql", "duckdb", "zstandard"),  # and, by name: fastexcel, xlsxwriter
    },
    "aggregate": {"numpy"},
    "blocking": {"numpy"},
    "partition": {"highspy", "numpy", "scipy"},
    "rules": {"numpy", "scipy", "narwhals", "polars", "elementpath", "lxml", "saxonche", "yaml"},
    "measures": {"numpy", "scipy", "narwhals", "threadpoolctl"},
    "engines": {"numpy", "polars", "pyarrow", "duckdb", "pyspark", "py4j"},
    "release": {"numpy", "narwhals", "polars"},
    "pipeline": {"numpy"},
    "sweeps": {"numpy", "narwhals", "polars", "altair", "threadpoolctl"},
    "report": {"numpy", "narwhals", "altair", "jinja2", "markupsafe", "vl_convert"},
    "sklearn": {"numpy", "polars", "sklearn"},
    "app": {"polars", "yaml", "jinja2", "starlette", "uvicorn"},
    "cli": {"typer", "rich"},
}
PUBLIC = {"app", "cli"}  # rooms that use what a user can import, and nothing else
LATE = {"nltk", "polars", "pandas", "pyarrow", "pyreadstat", "rich", "altair", "jinja2", "markupsafe", "vl_convert"}
LATE |= {"elementpath", "lxml", "saxonche", "adbc_driver_postgresql", "duckdb", "zstandard", "pyspark", "py4j"}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.stem.startswith("__"))
MOST_ENTRIES = 18


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Modules that a file imports with the names it takes from them, and whether it does so at its top."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, (), id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)}: imports name the module in full"
            yield node.module, tuple(alias.name for alias in node.names), id(node) in top


def test_every_room_has_its_place_in_the_order():
    rooms = {room_of(path) for path in FILES}
    assert rooms == set(LEVEL)
    assert set(THIRD_PARTY) == set(LEVEL)


def test_the_house_has_few_rooms():
    entries = {path.name for path in PACKAGE.iterdir() if not path.name.startswith("_")} - {"py.typed"}  # no room
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_room_imports_only_lower_ones_and_itself(path):
    here = room_of(path)
    for module, names, _ in imports(path):
        parts = module.split(".")
        if parts[0] != "shoal" or (len(parts) > 1 and parts[1] == here):
            continue
        if here in PUBLIC:
            # sentences are made with the same words everywhere
            assert module in ("shoal", "shoal.errors"), f"{here} uses the public names only"
        elif len(parts) == 1:
            assert (name_of(path), module, *names) == TO_THE_REPORT, f"{here} imports the public names of shoal"
        else:
            assert LEVEL[parts[1]] < LEVEL[here], f"{name_of(path)} imports {module}, which is not lower"


def test_modules_import_each_other_in_no_circle():
    """Not by late imports either, but for the one from a release to its report."""
    own = {".".join(["shoal", *path.relative_to(PACKAGE).with_suffix("").parts]): path for path in FILES}
    known = {module.removesuffix(".__init__"): path for module, path in own.items()}
    graph = {}
    for module, path in known.items():
        named = [(of, name) for of, names, _ in imports(path) for name in (names or ("",))]
        graph[module] = {f"{of}.{name}" if f"{of}.{name}" in known else of for of, name in named}
    done: set[str] = set()
    walked: list[str] = []

    def walk(module):
        assert module not in walked, " -> ".join([*walked[walked.index(module) :], module])
        if module in done:
            return
        walked.append(module)
        for other in sorted(graph[module] & set(known) - {module}):
            walk(other)
        walked.pop()
        done.add(module)

    for module in sorted(known):
        walk(module)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_third_party_packages_stay_in_their_rooms(path):
    here = room_of(path)
    for module, _, at_top in imports(path):
        package = module.split(".")[0]
        if package not in sys.stdlib_module_names and package != "shoal":
            assert package in THIRD_PARTY[here], f"{name_of(path)} imports {package}"
            assert not at_top or package not in LATE or here in PUBLIC, f"{name_of(path)} imports {package} at its top"


def test_a_module_fits_in_the_head():
    root = Path(__file__).resolve().parents[1]
    every = [path for folder in ("src", "tests", "benchmarks", "tools") for path in (root / folder).rglob("*.py")]
    long = [path.name for path in every if len(path.read_text(encoding="utf-8").splitlines()) > 400]
    assert long == []


def test_the_picture_of_the_house_is_of_these_imports(monkeypatch):
    root = PACKAGE.parent.parent
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import house

    assert house.PICTURE.read_text(encoding="utf-8") == house.drawn(), "run: python benchmarks/house.py"
