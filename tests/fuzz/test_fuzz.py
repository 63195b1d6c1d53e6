"""Random tables x random plans: a run is refused with an error that shows no cell, or its file keeps every promise.

``make fuzz`` runs this for as long as one likes, with another seed each time; the tests run it with a fixed one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from command_line import run as run_command
from file_forms import TEXT
from random_plans import plans
from random_tables import LARGE_SIZES, MARK, in_its_form, tables
from read_back import ReadBack, cells_of_file, cells_of_frame, written_decimals
from shoal.cli import program
from shoal.tables.files.streams import standard_input

EXAMPLES = int(os.environ.get("SHOAL_FUZZ_EXAMPLES", "250"))
_LONG = r"\d[\d.e+-]{6,}"
ENDINGS = (*TEXT, ".parquet", ".arrow", ".jsonl", ".jsonl.zst", ".xlsx", ".sqlite")
PIPED = (".csv", ".parquet", ".arrow", ".jsonl")  # what standard input tells from its first bytes
REFUSED = (shoal.PlanError, shoal.DataError, shoal.FileError)


def shows_no_cell(text, table, asked):
    """No text with the mark of a cell, and no long number that is one and not in the plan."""
    assert MARK not in text, f"a message shows a cell: {text}"
    long = set(re.findall(_LONG, text)) - set(re.findall(_LONG, str(asked)))
    cells = {str(v).lstrip("-") for column in cells_of_frame(table.frame).values() for v in column if v is not None}
    assert not long & cells, f"a message shows a cell: {text}"


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def by_command(data, settings_, out, folder):
    """Release a file by the command line, and return what it says where it is refused."""
    plan = folder / "plan.yaml"
    plan.write_text(shoal.Plan(**settings_).to_yaml(), encoding="utf-8")
    result = run_command("protect", data, "-o", out, "--plan", plan, "--threads", "2", "--force")
    assert result.exit_code in (0, 1, 2), result.output
    return None if result.exit_code == 0 else result.output


def by_pipe(data, settings_, folder):
    """Release what is sent to standard input, and return what comes out, or what is said where it is refused."""
    plan = folder / "plan.yaml"
    plan.write_text(shoal.Plan(**settings_).to_yaml(), encoding="utf-8")
    standard_input.cache_clear()  # it is read once in a process
    words = ["protect", "-", "-o", "-", "--plan", str(plan), "--threads", "2"]
    result = CliRunner().invoke(program, words, input=data.read_bytes())
    assert result.exit_code in (0, 1, 2), result.output
    return result.stdout_bytes if result.exit_code == 0 else result.output


def check_types(table, out, ending):
    """A file that holds types has those that went in; categories of a release are only those that it has."""
    if ending not in (".parquet", ".arrow") or table.form == "csv" or "pandas" in table.form:
        return
    after = pl.read_parquet(out) if ending == ".parquet" else pl.read_ipc(out)
    for name, dtype in after.schema.items():
        before = table.frame.schema[name]
        if isinstance(before, pl.Enum) or table.form == "arrow":
            assert type(dtype) is type(before), f"column {name} is {dtype}, not {before}"
        else:
            assert dtype == before, f"column {name} is {dtype}, not {before}"


def persons_of(plan, original):
    """The identifiers whose distinct values k counts: those asked for, and keys that repeat where nothing is said."""
    names = plan.get("identifiers", ())
    repeat = [
        name for name in names if max(Counter(v for v in original[name] if v is not None).values(), default=0) > 1
    ]
    return plan.get("persons", repeat)


def truth(table, data):
    """Return the cells that went in, and their types, which text and pandas do not keep as polars has them."""
    if "pandas" in table.form:
        frame = pl.from_pandas(data)
        return cells_of_frame(frame), dict(frame.schema)
    schema = dict(table.frame.schema)
    if table.form == "csv":
        original = cells_of_file(data, schema, narrow=False)
        return original, {name: pl.Float64() if d.is_decimal() or d.is_float() else d for name, d in schema.items()}
    return cells_of_frame(table.frame), schema


def check_inspection(data, table):
    """Looking at any table works, and shows none of its cells."""
    try:
        told = shoal.inspect(data).to_yaml(k=2)
    except REFUSED as error:
        told = str(error)
    shows_no_cell(told, table, {})


def check_measures(release, table):
    """Whatever was released can be measured, and every part of a hundred is one."""
    try:
        found = release.measure()
    except REFUSED as error:
        shows_no_cell(str(error), table, {})
        return
    for name in ("dbrl", "interval_disclosure", "global_risk", "dr"):
        value = getattr(found, name)
        assert value is None or -1e-9 <= value <= 100 + 1e-9, f"{name} is {value}"


def check_run(table, asked, ending, folder, *, inspected=False, measured=False):
    """Release a table twice and check everything; return how it ended."""
    data = in_its_form(table, folder)
    before = files_in(folder)
    if inspected:
        check_inspection(data, table)
    out = folder / f"release{ending}"
    try:
        release = shoal.protect(data, output=out, threads=1, progress=False, **asked)
    except REFUSED as error:
        assert files_in(folder) == before, "a run that was refused leaves files"
        shows_no_cell(str(error), table, asked)
        return f"refused: {type(error).__name__}"
    manifest = out.with_name(out.name + ".manifest.json")
    assert set(files_in(folder)) == {*before, out.name, manifest.name}
    told = json.loads(manifest.read_text(encoding="utf-8"))
    assert told["output"]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    shows_no_cell(" ".join(release.summary.notes) + str(release.summary), table, asked)
    assert MARK not in manifest.read_text(encoding="utf-8")

    original, schema = truth(table, data)
    released = cells_of_file(out, schema, narrow=table.form != "csv")
    weight = asked.get("weight")
    by_column = shoal.METHODS[release.summary.method].by_column
    written = written_decimals(data) if table.form == "csv" else None
    back = ReadBack(original, schema, released, asked, table.kinds, release.groups, by_column, written=written)
    back.check(persons_of(asked, original), original[weight] if weight else None, table.edits)
    check_types(table, out, ending)
    if measured:
        check_measures(release, table)

    first = out.read_bytes()
    again = folder / f"again{ending}"
    plan = shoal.Plan.from_yaml(release.plan.to_yaml())
    shoal.protect(data, output=again, threads=2, progress=False, plan=plan)
    assert again.read_bytes() == first, "the same plan gives other bytes with two threads"
    if isinstance(data, Path):
        refused = by_command(data, asked, again, folder)
        assert refused is None, refused
        assert again.read_bytes() == first, "the command line gives other bytes"
        if data.name == f"original{ending}" and ending in PIPED:
            assert by_pipe(data, asked, folder) == first, "a pipe gives other bytes"
    return f"released: {release.summary.method}"


HOW = {
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    "phases": [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    "print_blob": True,
}


@settings(max_examples=EXAMPLES, **HOW)
@given(data=st.data())
def test_a_run_is_refused_or_its_file_keeps_every_promise(data):
    table = data.draw(tables(), label="table")
    fuzz(data, table, data.draw(plans(table), label="plan"))


@settings(max_examples=max(EXAMPLES // 150, 1), **HOW)
@given(data=st.data())
def test_a_run_on_thousands_of_records_is_refused_or_its_file_keeps_every_promise(data):
    table = data.draw(tables(LARGE_SIZES), label="table")
    fuzz(data, table, data.draw(plans(table, large=True), label="plan"))


def fuzz(data, table, asked):
    """Run a plan on a table, and everything about it that is still to be drawn."""
    ending = data.draw(st.sampled_from(ENDINGS), label="ending")
    inspected, measured = (data.draw(st.integers(0, 4), label=label) == 4 for label in ("inspected", "measured"))
    if any(kind in (pl.List, pl.Binary, pl.Duration, pl.Time) for kind in table.frame.dtypes) and ending in TEXT:
        ending = ".parquet"
    note(f"form {table.form}, columns {table.frame.schema}")
    with tempfile.TemporaryDirectory() as name:
        ended = check_run(table, asked, ending, Path(name), inspected=inspected, measured=measured)
    event(ended)
    event(ended.partition(":")[0])
