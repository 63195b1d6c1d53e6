"""Kernels from the library: the same bits as compiled ones, and never an error where there is no library."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.kernels import library, signatures, sources
from shoal.kernels.compiling import kernel
from shoal.kernels.draws import draw, open_stream, uniform
from shoal.kernels.ordering import distribution_distances
from shoal.kernels.representatives import Grouping, group_rows
from shoal.kernels.selection import winner

ROOT = Path(__file__).parents[1]
HERE = library.open_library()


def build_program():
    specification = importlib.util.spec_from_file_location("build_kernels", ROOT / "tools" / "kernels" / "build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def held(function, *arguments):
    """Whether the library holds a kernel for these arguments."""
    entries = {} if HERE is None else HERE.kernels.get(sources.hash_of(function.py_func), {})
    return signatures.text_of(arguments) in entries


def in_new_python(code, **environment):
    """Run code in a new interpreter, whose folder for compiled kernels is named, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", library.SWITCH)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=kept | environment
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


needs_library = pytest.mark.skipif(HERE is None, reason="no library for this machine")
needs_current = pytest.mark.skipif(
    not held(group_rows, np.zeros(3, np.int64)), reason="the library is not for these sources: make kernels"
)


@pytest.mark.slow
@needs_library
def test_the_library_holds_every_kernel_of_the_list_as_it_is_now():
    program = build_program()
    assert program.stale(list(program.read_signatures(program.SIGNATURES))) == []


@needs_library
def test_a_kernel_that_has_changed_is_named(monkeypatch):
    program = build_program()
    wanted = [line for line in program.read_signatures(program.SIGNATURES) if line[0].endswith(":group_rows")]
    monkeypatch.setattr(program, "hash_of", lambda function: "another source")
    assert program.stale(wanted) == ["shoal.kernels.representatives:group_rows"]


# the same bits -------------------------------------------------------------------------------------------------------


@needs_current
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (group_rows, (np.array([2, 0, 1, 0, 2, 2]),)),
        (distribution_distances, (np.sort(np.random.default_rng(0).normal(size=99)), np.linspace(-1, 2, 50))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_library_gives_the_bits_that_numba_gives(function, arguments):
    assert held(function, *arguments)
    ours, theirs = function(*arguments), function.dispatcher(*arguments)
    assert type(ours) is type(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def releases(**environment):
    """Hashes of releases of the methods that a first user meets, and whether numba was needed."""
    code = """
import hashlib, sys
import numpy as np, polars as pl
import shoal
random = np.random.default_rng(0)
numbers = pl.DataFrame({c: random.lognormal(size=400) for c in "abc"})
mixed = numbers.with_columns(job=pl.Series(random.choice(list("uvwx"), 400)))
holes = numbers.with_columns(a=pl.when(pl.Series(random.random(400) < 0.1)).then(None).otherwise(pl.col("a")))
large = pl.DataFrame({c: random.normal(size=6000) for c in "abc"})
found = [shoal.protect(t, 4, list("abc"), method=m) for t, m in
    ((numbers, "optimal"), (numbers, "mdav"), (holes, "optimal"), (holes, "mdav"), (large, "mdav"))]
found.append(shoal.protect(mixed, 4, [*"abc", "job"]))
found.append(shoal.protect(numbers, 4, list("abc"), aggregators="median"))
for release in found:
    print(hashlib.sha256(release.data.write_csv().encode()).hexdigest())
figures = shoal.measure(numbers, found[1].data, list("abc"))
print(hashlib.sha256(str(figures).encode()).hexdigest())
print("numba" in sys.modules)
"""
    return in_new_python(code, **environment).splitlines()


@pytest.mark.slow
@needs_current
def test_releases_are_the_same_bytes_with_the_library_and_without_and_numba_is_not_imported():
    *ours, imported = releases()
    *compiled, needed = releases(SHOAL_PREBUILT="off")
    assert ours == compiled
    assert (imported, needed) == ("False", "True")


@needs_current
def test_numba_is_not_imported_where_the_library_has_all_that_is_needed():
    code = "import numpy as np, sys\nfrom shoal.kernels.representatives import group_rows\n"
    code += "print(group_rows(np.array([1, 0, 1])).order.tolist(), 'numba' in sys.modules)"
    assert in_new_python(code) == "[1, 0, 2] False"


@needs_current
@pytest.mark.parametrize(("n", "k", "strata"), [(7000, 3, 1), (7000, 12, 1), (7000, 60, 2), (90_000, 100, 1)])
def test_numba_is_not_imported_for_large_tables_and_large_groups(n, k, strata):
    code = "import numpy as np, sys, polars as pl, shoal\nrng = np.random.default_rng(0)\n"
    code += f"table = pl.DataFrame(rng.normal(size=({n}, 3)), schema=list('xyz'))\n"
    code += f"table = table.with_columns(s=pl.Series(rng.integers({strata}, size={n}).astype(str).tolist()))\n"
    code += f"shoal.protect(table, {k}, list('xyz'), strata='s')\nprint('numba' in sys.modules)"
    assert in_new_python(code) == "False"


def test_a_kernel_of_another_type_is_compiled():
    tournament = np.array([0, 5, 2, 5], dtype=np.float32)
    assert not held(winner, tournament)
    assert winner(tournament) == 1


def test_kernels_call_kernels_and_take_names_for_arguments():
    @kernel
    def twice(stream, below):
        return draw(stream, below) + draw(stream, below)

    stream = open_stream(0)
    assert twice(below=10, stream=stream) == 8 + 4
    assert 0.0 <= uniform(stream) < 1.0


# calls ---------------------------------------------------------------------------------------------------------------


@needs_current
def test_an_exception_inside_a_kernel_is_the_one_that_numba_raises():
    nothing = np.array([], np.int64)
    with pytest.raises(ValueError, match="zero-size") as ours:
        group_rows(nothing)
    with pytest.raises(ValueError, match="zero-size") as theirs:
        group_rows.dispatcher(nothing)
    assert str(ours.value) == str(theirs.value)


@needs_current
def test_memory_of_results_lives_as_long_as_they_and_no_longer():
    groups = np.arange(250_000)
    order = group_rows(groups).order[10:20]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):  # 4 MB each
        group_rows(groups)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50_000  # KiB
    assert order.tolist() == list(range(10, 20))


@needs_current
def test_results_are_named_tuples_of_arrays_that_can_be_written():
    found = group_rows(np.array([1, 0]))
    assert isinstance(found, Grouping)
    assert found.order.flags.c_contiguous
    assert found.order.flags.writeable
    found.order[0] = 7
    assert found.order.tolist() == [7, 0]


@needs_current
def test_threads_call_the_library_at_a_time():
    groups = [np.random.default_rng(seed).permutation(np.arange(20_000) // 5) for seed in range(8)]
    expected = [np.argsort(g, kind="stable") for g in groups]
    gate = threading.Barrier(4)

    def one(seed):
        if seed < 4:
            gate.wait()
        return group_rows(groups[seed]).order

    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(one, range(8)), expected, strict=True):
            assert (found == wanted).all()


def _order_in_child(groups):
    return group_rows(groups).order.tolist()


@needs_current
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_calls_the_library():
    groups = np.array([1, 0, 1])
    group_rows(groups)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_order_in_child, (groups,)) == [1, 0, 2]


# what a kernel was made from -----------------------------------------------------------------------------------------

CALLEE = """
from shoal.kernels.compiling import kernel
LIMIT = {limit}
@kernel
def inner(x):
    {comment}
    return {inner}
@kernel
def other(x):
    return {other}
@kernel
def outer(x):
    '''{words}'''
    return inner(x) if x < LIMIT else 0
"""


def hashes(folder, name, **changes):
    text = CALLEE.format(
        **{"limit": 3, "comment": "# why", "inner": "x + 1", "other": "x", "words": "Words."} | changes
    )
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return {each: sources.hash_of(getattr(module, each).py_func) for each in ("inner", "other", "outer")}


def test_the_hash_follows_the_source_the_constants_and_the_kernels_that_are_called_and_nothing_else(tmp_path):
    first = hashes(tmp_path, "first")
    assert hashes(tmp_path, "moved", comment="# another reason", words="Other words\n\n    in two lines.") == first
    unrelated = hashes(tmp_path, "unrelated", other="x + x")
    assert unrelated["other"] != first["other"]
    assert unrelated | {"other": first["other"]} == first
    called = hashes(tmp_path, "called", inner="x + 2")
    assert called["inner"] != first["inner"]
    assert called["outer"] != first["outer"]
    assert called["other"] == first["other"]
    constant = hashes(tmp_path, "constant", limit=4)
    assert constant["outer"] != first["outer"]
    assert constant["inner"] == first["inner"]


# whatever is wrong with the library, kernels are compiled -------------------------------------------------------------


def damaged(folder, damage):
    """Copy the library into a folder, damaged in some way."""
    binary, listing = (next(library.FOLDER.glob(f"*{ending}")) for ending in (".so", ".json"))
    code, text = binary.read_bytes(), listing.read_text(encoding="utf-8")
    told = json.loads(text)
    code, text = {
        "truncated": lambda: (code[: len(code) // 2], text),
        "a byte is another": lambda: (code[:5000] + bytes([code[5000] ^ 1]) + code[5001:], text),
        "empty": lambda: (b"", text),
        "list truncated": lambda: (code, text[:1000]),
        "list of something else": lambda: (code, "[]"),
        "foreign": lambda: (b"not an ELF file", json.dumps(told | {"sha256": sha256(b"not an ELF file")})),
    }[damage]()
    (folder / binary.name).write_bytes(code)
    (folder / listing.name).write_text(text, encoding="utf-8")


def sha256(contents):
    import hashlib

    return hashlib.sha256(contents).hexdigest()


@needs_library
@pytest.mark.parametrize(
    "damage", ["truncated", "a byte is another", "empty", "list truncated", "list of something else", "foreign"]
)
def test_a_library_that_is_not_whole_is_left_aside(tmp_path, monkeypatch, damage):
    damaged(tmp_path, damage)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    assert library.open_library.__wrapped__() is None


@needs_library
def test_a_library_for_another_processor_or_python_is_left_aside(monkeypatch):
    monkeypatch.setattr(library.platform, "machine", lambda: "riscv64")
    assert library.open_library.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(library, "_HEADER", 32)
    assert library.open_library.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(library, "_reads_arrays", lambda code: False)
    assert library.open_library.__wrapped__() is None


# what numba has compiled, on disk ------------------------------------------------------------------------------------

COMPILE = """
from shoal.kernels.compiling import on_first_compile
from shoal.kernels.draws import draw, open_stream
notices = []
with on_first_compile(lambda: notices.append(1)):
    found = draw(open_stream(0), 10)
from shoal.kernels import just_in_time
folder = just_in_time._folder()
print(found, len(notices), folder and len(list(folder.glob("*.kernel"))))
"""

DAMAGE = """
import hashlib
from shoal.kernels import just_in_time
from shoal.kernels.draws import draw, open_stream
assert draw(open_stream(0), 10) == 8
compiled = []
just_in_time.listeners.append(lambda: compiled.append(1))
files = sorted(just_in_time._folder().iterdir())
whole = [file.read_bytes() for file in files]
foreign = b"cnumba_that_is_not\\nthere\\n."
for contents in (
    [w[: len(w) // 2] for w in whole],
    [b"" for w in whole],
    [w[:900] + bytes([w[900] ^ 255]) + w[901:] for w in whole],
    [hashlib.sha256(foreign).digest() + foreign for w in whole],
    whole,
):
    for file, content in zip(files, contents):
        file.write_bytes(content)
    compiled.clear()
    assert just_in_time.compiled(draw.py_func, False)(open_stream(0), 10) == 8
    print(len(compiled))
"""


def test_compiled_code_on_disk_that_is_damaged_or_foreign_is_compiled_anew(tmp_path):
    found = in_new_python(DAMAGE, XDG_CACHE_HOME=str(tmp_path), SHOAL_PREBUILT="off")
    assert found.split() == ["1", "1", "1", "1", "0"]


def test_what_was_compiled_is_kept_and_the_notice_comes_only_when_something_is_compiled(tmp_path):
    settings = {"XDG_CACHE_HOME": str(tmp_path), "SHOAL_PREBUILT": "off"}
    assert in_new_python(COMPILE, **settings) == "8 1 2"  # with what it calls
    assert in_new_python(COMPILE, **settings) == "8 0 2"


def test_nothing_is_an_error_where_no_folder_can_be_written(tmp_path):
    (tmp_path / "a file").write_text("in the way", encoding="utf-8")
    nowhere = str(tmp_path / "a file" / "folder")
    assert in_new_python(COMPILE, XDG_CACHE_HOME=nowhere, SHOAL_PREBUILT="off") == "8 1 None"


def test_nothing_is_an_error_where_nobody_is_at_home(tmp_path):
    code = "import pathlib\ndef home():\n    raise RuntimeError('no home')\npathlib.Path.home = home\n" + COMPILE
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(shoal.__file__).parents[1]), "SHOAL_PREBUILT": "off"},
    )
    assert run.stdout.strip() == "8 1 None", run.stderr
