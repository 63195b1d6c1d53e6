"""A real PostgreSQL: a table is read, a release is written in one transaction, types stay, and no password is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import shoal

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="the extra sql is not installed")
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
USER = "postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None  # the server refuses to run as root
SECRET = "s3cret-word"
CREATE = """
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE persons (age smallint, income numeric(9,2), born date, seen timestamptz, rate real,
    code char(4), id uuid, mood mood, note text, extra jsonb);
INSERT INTO persons SELECT 20 + i * 3, 1000.25 + i * 7, date '2000-01-01' + i,
    timestamptz '2020-01-01 12:00+01' + i * interval '1 day', i / 4.0, '00' || i,
    ('00000000-0000-0000-0000-00000000000' || i)::uuid, CASE WHEN i % 2 = 0 THEN 'low' ELSE 'high' END::mood,
    CASE WHEN i = 3 THEN NULL ELSE 'n' || i END, '{"a": 1}' FROM generate_series(0, 9) i;
CREATE SCHEMA other;
CREATE TABLE other.persons (x integer);
"""


def as_user(*words):
    command = ["runuser", "-u", USER, "--", *words] if USER else list(words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        pytest.skip(f"PostgreSQL cannot be started here: {done.stderr.strip()[-200:]}")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server of its own on a local socket; the address of its database."""
    if not PROGRAMS:
        pytest.skip("PostgreSQL's server is not installed (Debian's package postgresql)")
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path is short
    if USER:
        shutil.chown(folder, USER)
    data, programs = folder / "data", PROGRAMS[-1].parent
    as_user(
        str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "ada", "--no-sync", "-E", "UTF8", "--locale=C"
    )
    options = f"-k {folder} -h '' -F"
    as_user(str(programs / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    address = f"postgresql://ada:{SECRET}@/postgres?host={folder}"
    try:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            for statement in CREATE.split(";\n"):
                if statement.strip():
                    cursor.execute(statement)
            connection.commit()
        yield address
    finally:
        as_user(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def query(address, text):
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()


SETTINGS = {
    "k": 5,
    "quasi_identifiers": ["age", "income", "born", "seen", "rate"],
    "method": "mdav",
    "identifiers": ["id"],
    "confidential": ["code", "mood", "note", "extra"],
    "reading": {"table": "persons"},
}


def test_a_table_comes_back_as_a_table_with_its_types(server, tmp_path):
    release = shoal.protect(server, **SETTINGS, output=f"{server}#released", manifest=tmp_path / "m.json")
    types = "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attnum > 0 "
    types += "AND attrelid = '{}'::regclass"
    before, after = (dict(query(server, types.format(name))) for name in ("persons", "released"))
    assert after == {name: kind for name, kind in before.items() if name != "id"}
    rows = query(server, "SELECT count(*), count(DISTINCT (age, income, born, seen, rate)) FROM released")
    assert rows == [(10, 2)]
    kept = "SELECT code::text, mood::text, note, extra::text FROM {} ORDER BY ctid"
    assert query(server, kept.format("released")) == query(server, kept.format("persons"))
    # the mean of 1000.25 + 7 i over the first five, in cents
    assert release.data["income"].to_list()[0] == Decimal("1014.25")
    assert query(server, "SELECT DISTINCT income::text FROM released ORDER BY 1") == [("1014.25",), ("1049.25",)]
    told = (tmp_path / "m.json").read_text()
    assert json.loads(told)["input"] == {"name": "persons"}
    assert json.loads(told)["output"] == {"name": "released"}
    assert SECRET not in told
    assert "ada" not in told


def test_a_file_goes_to_a_table_and_a_table_to_a_file(server, tmp_path):
    shoal.protect(server, **SETTINGS, output=tmp_path / "out.csv")
    again = {**SETTINGS, "identifiers": None, "reading": None}
    shoal.protect(tmp_path / "out.csv", **again, output=f"{server}#from_csv")
    assert query(server, "SELECT count(*), min(pg_typeof(income)::text) FROM from_csv") == [(10, "double precision")]


def test_edit_rules_hold_in_the_table(server):
    settings = {**SETTINGS, "rules": ["age >= 18"]}
    shoal.protect(server, **settings, output=f"{server}#with_rules")
    assert query(server, "SELECT count(*) FROM with_rules WHERE age < 18") == [(0,)]


def test_nothing_is_there_where_writing_fails(server, monkeypatch, tmp_path):
    def broken(*_):
        raise shoal.BrokenPromise("on purpose")

    monkeypatch.setattr("shoal.tables.files.postgresql._check_written", broken)
    with pytest.raises(shoal.BrokenPromise):
        shoal.protect(server, **SETTINGS, output=f"{server}#broken", manifest=tmp_path / "m.json")
    assert query(server, "SELECT to_regclass('broken')::text") == [(None,)]
    assert list(tmp_path.iterdir()) == []


def there(server, *names):
    found = query(server, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
    return {name for (name,) in found} & set(names)


def test_the_manifest_is_beside_the_table_and_measuring_takes_it_from_there(server, tmp_path):
    release = shoal.protect(server, **SETTINGS, output=f"{server}#told", manifest=tmp_path / "m.json")
    ((text, public),) = query(
        server, "SELECT manifest::text, has_table_privilege('public', 'told_manifest', 'SELECT') FROM told_manifest"
    )
    assert json.loads(text) == json.loads((tmp_path / "m.json").read_text())
    assert public is False
    found = shoal.measure(f"{server}#persons", f"{server}#told")
    assert found.k_anonymity == 5
    assert found.interval_disclosure == release.measure().interval_disclosure
    again = shoal.Plan(**json.loads(text)["plan"])
    assert again == release.plan


STATEMENTS = ["CREATE TABLE", "INSERT INTO", "DROP TABLE pg_temp", 'CREATE TABLE "cut_manifest"', "REVOKE", "commit"]


@pytest.mark.parametrize("at", STATEMENTS)
@pytest.mark.parametrize("earlier", [False, True])
def test_a_connection_lost_at_any_statement_leaves_what_was_there(server, monkeypatch, tmp_path, at, earlier):
    release = shoal.protect(server, **SETTINGS)
    query_all(server, 'DROP TABLE IF EXISTS "cut", "cut_manifest"')
    if earlier:
        shoal.protect(server, **{**SETTINGS, "k": 3}, output=f"{server}#cut")
    before = query(server, "SELECT manifest::text FROM cut_manifest") if earlier else None

    def lose():
        query(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    execute, commit = dbapi.Cursor.execute, dbapi.Connection.commit

    def executed(self, text, *rest):
        done = execute(self, text, *rest)
        if at in text and "SELECT pg_" not in text:
            lose()
        return done

    monkeypatch.setattr(dbapi.Cursor, "execute", executed)
    monkeypatch.setattr(dbapi.Connection, "commit", lambda self: (at == "commit" and lose(), commit(self))[1])
    with pytest.raises(shoal.FileError):
        release.write(f"{server}#cut", manifest=tmp_path / "m.json")
    monkeypatch.undo()
    assert there(server, "cut", "cut_manifest") == ({"cut", "cut_manifest"} if earlier else set())
    if earlier:
        assert query(server, "SELECT manifest::text FROM cut_manifest") == before
    assert list(tmp_path.iterdir()) == []


def query_all(server, text):
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(text)
        connection.commit()


KILLED = """
import os, signal, sys
import shoal
from adbc_driver_postgresql import dbapi
server, folder, when = sys.argv[1:]
release = shoal.protect(f"{server}#persons", k=5, quasi_identifiers="age", method="mdav", identifiers="id")
commit = dbapi.Connection.commit
def kill(self):
    if when == "after":
        commit(self)
    os.kill(os.getpid(), signal.SIGKILL)
dbapi.Connection.commit = kill
release.write(f"{server}#killed", manifest=f"{folder}/m.json")
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_leaves_a_table_with_its_manifest_or_neither(server, tmp_path, when):
    query_all(server, "DROP TABLE IF EXISTS killed, killed_manifest")
    done = subprocess.run([sys.executable, "-c", KILLED, server, str(tmp_path), when], check=False)
    assert done.returncode == -signal.SIGKILL
    assert there(server, "killed", "killed_manifest") == ({"killed", "killed_manifest"} if when == "after" else set())
    if when == "after":
        assert shoal.measure(f"{server}#persons", f"{server}#killed").k_anonymity == 5


def test_files_that_fail_after_the_table_is_there_are_told_as_that(server, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    release = shoal.protect(server, **SETTINGS)
    monkeypatch.setattr("shoal.tables.files.writing_whole.rename_together", full)
    with pytest.raises(shoal.FileError, match=r"No space left on device; the table 'late' was written.*late_manifest"):
        release.write(f"{server}#late", manifest=tmp_path / "m.json")
    assert there(server, "late", "late_manifest") == {"late", "late_manifest"}


def test_a_manifest_takes_the_place_of_nothing_else(server):
    query_all(server, "CREATE TABLE IF NOT EXISTS mine_manifest (x integer)")
    release = shoal.protect(server, **SETTINGS)
    with pytest.raises(shoal.FileError, match="'mine_manifest', where the manifest goes, is there and is no manifest"):
        release.write(f"{server}#mine")
    with pytest.raises(shoal.FileError, match="too long for that of its manifest"):
        shoal.protect(server, **SETTINGS, output=f"{server}#{'n' * 55}")
    assert there(server, "mine", "mine_manifest") == {"mine_manifest"}


def test_a_table_that_the_address_names_is_not_named_again(server):
    with pytest.raises(shoal.PlanError, match="table has no effect"):
        shoal.protect(f"{server}#persons", **SETTINGS)


def test_a_table_that_is_there_is_replaced_only_where_that_was_asked_for(server):
    release = shoal.protect(server, **SETTINGS)
    release.write(f"{server}#twice")
    with pytest.raises(FileExistsError, match="'twice' is there already"):
        release.write(f"{server}#twice", overwrite=False)
    release.write(f"{server}#twice")
    assert query(server, "SELECT count(*) FROM twice") == [(10,)]


@pytest.mark.parametrize("name", ["persons", "public.persons"])
def test_the_original_is_never_replaced(server, name):
    with pytest.raises(shoal.FileError, match="is the original"):
        shoal.protect(server, **SETTINGS, output=f"{server}#{name}")
    assert query(server, "SELECT count(*) FROM persons") == [(10,)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.replace("/postgres?", "/nowhere?"), "the name of the database"),
        (lambda a: f"postgresql://ada:{SECRET}@localhost:1/db", "no server answers"),
    ],
)
def test_a_server_that_refuses_is_told_without_the_password(server, change, words):
    with pytest.raises(shoal.FileError, match=words) as told:
        shoal.protect(change(server), **SETTINGS)
    assert SECRET not in str(told.value)
    assert "ada" not in str(told.value)


def test_tables_are_named_where_one_has_to_be_chosen(server):
    with pytest.raises(shoal.DataError, match="say which with table"):
        shoal.inspect(server)
    with pytest.raises(shoal.DataError, match="did you mean 'persons'"):
        shoal.inspect(server, {"table": "person"})
    assert shoal.inspect(f"{server}#persons").records == 10


def test_the_command_line_tells_no_password(server, tmp_path):
    from command_line import run

    plan, out = tmp_path / "plan.yaml", tmp_path / "out.parquet"
    looked = run("inspect", server, "--table", "persons", "-o", str(plan))
    made = run(
        "protect", server, "--table", "persons", "-o", str(out), "-k", "5", "-q", "age", "-m", "mdav", "--drop", "id"
    )
    assert (looked.exit_code, made.exit_code) == (0, 0), made.output
    files = "".join(path.read_text(errors="replace") for path in (plan, Path(f"{out}.manifest.json")))
    assert SECRET not in looked.output + made.output + files
    assert pl.read_parquet(out)["age"].n_unique() == 2
    measured = run("measure", server, str(out), "--table", "persons", "--json")
    assert measured.exit_code == 0, measured.output
