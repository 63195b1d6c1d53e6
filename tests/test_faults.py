"""What is left when things go wrong: a killed process, SIGTERM, a full disk, two writers, outputs that are there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import shoal
from faults import ENDINGS, full_disk, in_child, killed_at_each_change
from shoal.cli import program
from shoal.tables.files.journal import complete_renames
from shoal.tables.files.writing_whole import write_whole, written_whole

TABLE = "a,b,job\n" + "".join(f"{i},{(i * 7) % 11},{'xyz'[i % 3]}\n" for i in range(12))
SETTINGS = {"k": 3, "quasi_identifiers": ["a", "b"], "method": "mdav"}


def write_all(paths, content):
    with written_whole(*paths) as part:
        for path in paths:
            part(path).write_text(content)


def contents(paths):
    return [path.read_text() if path.exists() else None for path in paths]


def strays(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize(
    ("apart", "first"),
    [(False, lambda folder: folder), (True, lambda folder: folder), (True, lambda folder: folder / "pages")],
    ids=["one folder", "two folders, the first is looked at", "two folders, the second is looked at"],
)
def test_a_process_killed_anywhere_leaves_all_files_old_or_all_new(tmp_path, before, apart, first):
    (tmp_path / "pages").mkdir()
    paths = [tmp_path / "r.csv", tmp_path / "r.csv.manifest.json", tmp_path / ("pages" if apart else "") / "r.html"]
    if before:
        write_all(paths, before)
    seen = set()
    for _ in killed_at_each_change(lambda: write_all(paths, "new")):
        now = contents(paths)
        assert before is None or None not in now, "an old file went from its name"
        complete_renames(first(tmp_path))
        now = contents(paths)
        assert now in ([before] * 3, ["new"] * 3)
        seen.add(now[0])
        for path in paths:
            path.unlink(missing_ok=True)
            if before:
                path.write_text(before)
        write_whole(tmp_path / "other", "x")
        write_whole(tmp_path / "pages" / "other", "x")
        assert strays(tmp_path) == []
    assert seen == {before, "new"}


def test_what_a_run_is_writing_now_is_not_removed_by_another(tmp_path):
    path = tmp_path / "slow.csv"
    with written_whole(path) as part:
        part(path).write_text("slow")
        assert in_child(lambda: write_whole(tmp_path / "quick.csv", "quick")) == 0
        assert strays(tmp_path) == [part(path).name]
    assert path.read_text() == "slow"
    assert strays(tmp_path) == []


def test_files_with_such_names_that_are_no_files_of_a_run_stay(tmp_path):
    mine = tmp_path / ".shoal-notes"
    mine.write_text("mine")
    os.mkfifo(tmp_path / ".shoal-0123456789abcdef-0.csv")
    write_whole(tmp_path / "x", "x")
    assert strays(tmp_path) == [".shoal-0123456789abcdef-0.csv", ".shoal-notes"]


@pytest.mark.parametrize(
    "journal",
    [
        {"folders": {"": [[["victim", "r.csv"]], []]}},
        {"folders": {"": [[[".shoal-0123456789abcdef-0.csv", "../victim"]], []]}},
        {"folders": {"": [[[".shoal-0123456789abcdef-/../victim", "r.csv"]], []]}},
        {"folders": {"": [[], ["../victim"]]}},
        {"folders": {"..": [[], ["victim"]]}},
        {"folders": {"": [1]}},
        {"see": ".."},
        "cut off",
    ],
)
def test_a_journal_cannot_touch_other_files(tmp_path, journal):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "victim").write_text("v")
    (folder / "victim").write_text("v")
    (folder / ".shoal-0123456789abcdef-0.csv").write_text("bad")
    text = journal if isinstance(journal, str) else json.dumps(journal)
    (folder / ".shoal-0123456789abcdef.renames").write_text(text)
    write_whole(folder / "x", "x")
    assert contents([tmp_path / "victim", folder / "victim"]) == ["v", "v"]
    assert strays(folder) == []


def test_a_rename_that_fails_puts_back_what_was_there(tmp_path, monkeypatch):
    paths = [tmp_path / "r.csv", tmp_path / "r.csv.manifest.json", tmp_path / "r.html"]
    write_all(paths[:2], "old")
    replace = Path.replace

    def fail_at_the_page(self, target):
        if Path(target) == paths[2]:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail_at_the_page)
    with pytest.raises(shoal.FileError, match="No space left on device; nothing was written"):
        write_all(paths, "new")
    assert contents(paths) == ["old", "old", None]
    assert strays(tmp_path) == []


WRITER = """
import sys
from pathlib import Path
from shoal.tables.files.writing_whole import written_whole
paths = [Path(path) for path in sys.argv[2:]]
for turn in range(60):
    with written_whole(*paths) as part:
        for path in paths:
            part(path).write_text(f"{sys.argv[1]} {turn}")
"""


def test_writers_at_the_same_time_leave_files_of_one_of_them(tmp_path):
    paths = [tmp_path / "r.csv", tmp_path / "r.csv.manifest.json"]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name, *map(str, paths)]) for name in ("one", "two", "three")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(set(contents(paths))) == 1
    assert strays(tmp_path) == []


SLOW = """
import sys, time
import shoal.release.release as module
write_file = module.write_file
def slow(frame, path, *rest):
    write_file(frame, path, *rest)
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)
module.write_file = slow
from shoal.cli import main
main()
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_nothing_or_what_the_next_one_removes(tmp_path, table, ending):
    words = ["protect", str(table), "-o", str(tmp_path / "r.csv"), "-k", "3", "-q", "a,b", "-m", "mdav"]
    with subprocess.Popen([sys.executable, "-c", SLOW, *words], stderr=subprocess.PIPE, text=True) as process:
        while "writing" not in process.stderr.readline():
            time.sleep(0.01)
        process.send_signal(ending)
        told = process.stderr.read()
    if ending == signal.SIGTERM:
        assert process.returncode == 143
        assert told == "terminated; nothing was written\n"
    else:
        assert len(strays(tmp_path)) == 2
        shoal.protect(table, output=tmp_path / "r.csv", **SETTINGS)
    assert strays(tmp_path) == []
    assert (tmp_path / "r.csv").exists() == (ending == signal.SIGKILL)


def mode(path):
    return oct(path.stat().st_mode & 0o777)


@pytest.fixture
def usual_mask():
    former = os.umask(0o022)
    yield
    os.umask(former)


@pytest.mark.parametrize(
    ("original", "expected"), [(0o600, "0o600"), (0o640, "0o640"), (0o644, "0o644"), (0o444, "0o644")]
)
def test_new_files_are_open_to_nobody_to_whom_the_original_is_not(tmp_path, table, usual_mask, original, expected):
    table.chmod(original)
    release = shoal.protect(table, output=tmp_path / "r.csv", report=tmp_path / "r.html", **SETTINGS)
    release.report(tmp_path / "external.html", edition="external")
    shoal.write_report(table, tmp_path / "r.csv", tmp_path / "again.html", ["a", "b"])
    shoal.measure(table, tmp_path / "r.csv", ["a", "b"], output=tmp_path / "m.json")
    names = ["r.csv", "r.csv.manifest.json", "r.html", "external.html", "again.html", "m.json"]
    assert {mode(tmp_path / name) for name in names} == {expected}


def test_a_file_that_was_there_keeps_its_permissions(tmp_path, table, usual_mask):
    table.chmod(0o600)
    for name, given in (("r.csv", 0o644), ("r.csv.manifest.json", 0o440)):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(given)
    shoal.protect(table, output=tmp_path / "r.csv", **SETTINGS)
    assert [mode(tmp_path / "r.csv"), mode(tmp_path / "r.csv.manifest.json")] == ["0o644", "0o440"]


@pytest.mark.parametrize("ending", [*ENDINGS, "report"])
def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path, ending):
    frame = pl.DataFrame({"a": range(3000), "b": [(i * 7919) % 3001 for i in range(3000)]})
    release = shoal.protect(frame, k=1000, quasi_identifiers="a", method="individual-ranking")
    out = tmp_path / ("r.csv" if ending == "report" else f"r{ending}")
    out.write_text("an earlier release")
    with full_disk(100_000 if ending == "report" else 2000), pytest.raises(shoal.FileError, match="othing was written"):
        release.write(out, tmp_path / "r.html" if ending == "report" else None)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "an earlier release"


def run(*words):
    result = CliRunner().invoke(program, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def inputs(tmp_path, table, monkeypatch):
    """Files that commands read, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("h.csv").write_text("x;v;all\ny;v;all\nz;w;all\n")
    Path("x.txt").write_text("a >= 0\n")
    Path("plan.yaml").write_text("k: 3\nquasi_identifiers: [a, b]\nmethod: mdav\n")
    Path("words.csv").write_text("value;word\nx;dog\ny;cat\nz;car\n")
    Path("sweep").mkdir()
    for name, of in (("sweep.csv", "t.csv"), ("recommended.yaml", "plan.yaml")):
        (Path("sweep") / name).write_bytes(Path(of).read_bytes())
    pl.read_csv(table).write_parquet("t.parquet")
    assert run("protect", "t.csv", "-o", "r.csv", "--plan", "plan.yaml").exit_code == 0
    Path("r.html").write_text("a page")


OVER_INPUTS = [
    "protect t.csv -o t.csv -k 3 -q a -m mdav",
    "protect t.csv -o ./h.csv -k 3 -q job --hierarchy job=h.csv --keep a",
    "protect t.csv -o x.txt -k 3 -q a --rules x.txt --keep job -m mdav",
    "protect t.csv -o h.csv --plan with-hierarchy.yaml",
    "measure t.csv r.csv -q job --hierarchy job=h.json -o h.json",
    "hierarchy from-wordnet t.csv --column job -o words.csv --words words.csv",
    "hierarchy from-wordnet t.csv --column job -o t.csv --words words.csv",
    "rules convert x.txt -o x.txt",
    "sweep sweep/sweep.csv -o sweep -k 3 -m mdav -q a,b",
    "sweep t.csv -o sweep -k 3 -m mdav --plan sweep/recommended.yaml",
]


@pytest.mark.parametrize("command", OVER_INPUTS)
def test_no_command_writes_over_one_of_its_inputs(tmp_path, inputs, command, monkeypatch):
    Path("with-hierarchy.yaml").write_text("k: 3\nquasi_identifiers: [job]\nhierarchies: {job: {file: h.csv}}\n")
    Path("h.json").write_text('{"all": {"v": ["x", "y"], "w": ["z"]}}')
    monkeypatch.setattr("shoal.pipeline.read", lambda *_: pytest.fail("work was done"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    force = [] if command.startswith("sweep") else ["--force"]
    result = run(*command.split(), *force)
    assert result.exit_code == 2
    assert "another" in result.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


OVER_OUTPUTS = {
    "protect t.csv -o r.csv --plan plan.yaml -k 4": "r.csv",
    "protect t.csv -o new.csv --report r.html --plan plan.yaml": "r.html",
    "report t.csv r.csv -o r.html": "r.html",
    "measure t.csv r.csv -o m.json": "m.json",
    "inspect t.csv -o plan.yaml": "plan.yaml",
    "rules convert x.txt -o x.sch": "x.sch",
}


@pytest.mark.parametrize("command", OVER_OUTPUTS)
def test_a_file_that_is_there_is_replaced_only_with_force(tmp_path, inputs, command):
    target = Path(OVER_OUTPUTS[command])
    if not target.exists():
        target.write_text("something")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run(*command.split())
    assert result.exit_code == 1
    assert result.stderr == f"error: '{target}' is there already; name another file, or replace it with --force\n"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert run(*command.split(), "--force").exit_code == 0
    assert target.read_bytes() != before.get(tmp_path / target)


def test_a_hierarchy_that_is_there_is_not_replaced_where_that_is_not_wanted(tmp_path, inputs):
    with pytest.raises(shoal.FileError, match="is there already"):
        shoal.inspect_hierarchy("h.csv").write("h.csv", overwrite=False)
    shoal.inspect_hierarchy("h.csv").write("h.csv")


def test_a_file_that_appears_meanwhile_is_not_replaced_either(tmp_path):
    path = tmp_path / "x.txt"

    def write():
        with written_whole(path, overwrite=False) as part:
            part(path).write_text("mine")
            path.write_text("theirs")

    with pytest.raises(FileExistsError, match="has appeared in the meantime"):
        write()
    assert path.read_text() == "theirs"
    assert strays(tmp_path) == []
