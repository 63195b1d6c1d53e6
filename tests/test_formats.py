"""Excel, SQLite, DuckDB, JSON lines, Zstandard, pieces of Parquet: read and written whole, with types and codes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from datetime import date, datetime
from pathlib import Path

import fastexcel
import polars as pl
import pytest
import zstandard

import shoal

FRAME = pl.DataFrame(
    {
        "x": [1, 2, 6, 11, 12, 16],
        "pay": [1.5, 2.5, 5.0, 6.0, 7.25, 9.25],
        "day": [date(2020, 1, n) for n in (1, 2, 6, 11, 12, 16)],
        "code": ["007", "b", None, "=1+1", "é", "-9"],
        "left": [5, -9, 7, 8, 9, 10],
    }
)
ENDINGS = [".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".csv.zst", ".xlsx", ".sqlite", ".db", ".parquet"]


def write(frame: pl.DataFrame, path: Path) -> Path:
    """Write a table without code of shoal, dates as texts where a format has no other."""
    texts = frame.with_columns(pl.col(pl.Date).cast(pl.String))
    if ".jsonl" in path.suffixes or ".ndjson" in path.suffixes:
        content = "".join(json.dumps(row) + "\n" for row in texts.to_dicts()).encode()
        packs = {".gz": __import__("gzip").compress, ".zst": zstandard.compress}
        path.write_bytes(packs.get(path.suffix, bytes)(content))
    elif path.suffix == ".zst":
        path.write_bytes(zstandard.compress(texts.write_csv().encode()))
    elif path.suffix == ".xlsx":
        frame.write_excel(path, "people")
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE people (x INTEGER, pay REAL, day DATE, code VARCHAR(9), left INT)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", texts.rows())
        connection.close()
    return path


def read(path: Path) -> pl.DataFrame:
    """Read a table without code of shoal, dates as dates."""
    if ".jsonl" in path.suffixes or ".ndjson" in path.suffixes or path.suffix == ".zst":
        data = path.read_bytes()
        unpack = {".gz": __import__("gzip").decompress, ".zst": zstandard.decompress}.get(path.suffix, bytes)
        data = unpack(data)
        found = pl.read_csv(data, schema_overrides={"code": pl.String}) if ".csv" in path.suffixes else None
        found = pl.DataFrame([json.loads(line) for line in data.splitlines()]) if found is None else found
    elif path.suffix == ".xlsx":
        return fastexcel.read_excel(str(path)).load_sheet("people").to_polars().with_columns(pl.col("day").dt.date())
    elif path.suffix == ".parquet":
        return pl.read_parquet(path)
    else:
        with sqlite3.connect(path) as connection:
            found = pl.read_database("SELECT * FROM people", connection)
        connection.close()
    return found.with_columns(pl.col("day").cast(pl.String).str.to_date())


def protect(source, target, **settings):
    settings = {
        "k": 3,
        "quasi_identifiers": ["x", "pay", "day"],
        "method": "mdav",
        "confidential": ["code", "left"],
    } | settings
    return shoal.protect(source, output=target, **settings)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_release_has_the_types_and_the_other_cells_of_its_original(tmp_path, ending):
    source, target = write(FRAME, tmp_path / f"in{ending}"), tmp_path / f"out{ending}"
    protect(source, target)
    back = read(target)
    assert back.schema == read(source).schema
    assert back["x"].to_list() == [3] * 3 + [13] * 3
    assert back["pay"].to_list() == pytest.approx([3.0] * 3 + [7.5] * 3)
    assert back["day"].to_list() == [date(2020, 1, 3)] * 3 + [date(2020, 1, 13)] * 3
    assert back.select("code", "left").equals(read(source).select("code", "left"))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        [source.name, target.name, f"{target.name}.manifest.json"]
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_plan_gives_the_same_bytes(tmp_path, ending):
    source = write(FRAME, tmp_path / f"in{ending}")
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    protect(source, first)
    protect(source, second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("ending", [".jsonl", ".xlsx", ".sqlite", ".parquet", ".csv.zst"])
def test_codes_for_missing_values_are_missing_and_stay_where_nothing_is_released(tmp_path, ending):
    table = FRAME.with_columns(x=pl.Series([1, 2, 6, 11, -9, 16]))
    source, target = write(table, tmp_path / f"in{ending}"), tmp_path / f"out{ending}"
    settings = {"reading": {"missing": ["-9"]}, "quasi_identifiers": ["x"], "k": 2}
    release = protect(source, target, **settings)
    assert release.data["left"].null_count() == 1
    back = read(target)
    assert release.data["x"][4] is None
    assert release.data["x"].min() > 0
    assert back["x"][4] == (-9 if ".csv" in ending else None)  # the first of the marks
    assert back["left"].to_list() == FRAME["left"].to_list()
    assert back["code"].to_list() == FRAME["code"].to_list()


@pytest.mark.parametrize("ending", [".jsonl", ".xlsx", ".sqlite"])
def test_edit_rules_are_checked_on_the_file(tmp_path, ending):
    source, target = write(FRAME, tmp_path / f"in{ending}"), tmp_path / f"out{ending}"
    release = protect(source, target, quasi_identifiers=["x"], rules=["x >= 1"])
    assert release.summary.rules[0].violations_after == 0


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".xlsx", ".sqlite", ".parquet"])
@pytest.mark.parametrize("other", [".csv", ".jsonl", ".xlsx", ".sqlite", ".parquet"])
def test_formats_can_be_changed_on_the_way(tmp_path, ending, other):
    source = tmp_path / f"in{ending}"
    FRAME.write_csv(source) if ending == ".csv" else write(FRAME, source)
    protect(source, tmp_path / f"out{other}")
    again = shoal.protect(
        tmp_path / f"out{other}",
        k=3,
        quasi_identifiers=["x", "day"],
        method="mdav",
        confidential=["code", "left", "pay"],
    )
    assert again.data["x"].to_list() == [3] * 3 + [13] * 3


@pytest.mark.parametrize("ending", [".xlsx", ".sqlite"])
def test_one_of_several_tables_is_chosen_by_name(tmp_path, ending):
    source = tmp_path / f"in{ending}"
    if ending == ".xlsx":
        import xlsxwriter

        with xlsxwriter.Workbook(source) as book:
            for name in ("people", "notes"):
                FRAME.write_excel(book, name)
    else:
        write(FRAME, source)
        with sqlite3.connect(source) as connection:
            connection.execute('CREATE TABLE "my ""notes""" (a)')
        connection.close()
    with pytest.raises(shoal.DataError, match=r"has 2 (sheets|tables); say which with table"):
        protect(source, tmp_path / "out.csv")
    with pytest.raises(shoal.DataError, match="did you mean 'people'"):
        protect(source, tmp_path / "out.csv", reading={"table": "peopel"})
    release = protect(source, tmp_path / f"out{ending}", reading={"table": "people"})
    assert len(release.data) == 6
    assert read(tmp_path / f"out{ending}").columns == FRAME.columns


def test_a_table_has_no_effect_on_a_file_of_one(tmp_path):
    source = write(FRAME, tmp_path / "in.parquet")
    with pytest.raises(shoal.PlanError, match="table has no effect"):
        protect(source, tmp_path / "out.csv", reading={"table": "people"})


def test_duckdb_is_read_and_not_written(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    source = tmp_path / "in.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.register("given", FRAME.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT *, 1.25::DECIMAL(9, 2) AS rate FROM given")
    release = protect(source, tmp_path / "out.parquet")
    assert release.data["x"].to_list() == [3] * 3 + [13] * 3
    assert release.data.schema["rate"] == pl.Decimal(9, 2)
    with pytest.raises(shoal.FileError, match=r"DuckDB can be read but not written; write \.parquet instead"):
        protect(source, tmp_path / "out.duckdb")


def test_readers_of_others_say_nothing_on_the_terminal(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "in.duckdb")) as connection:
        connection.register("given", FRAME.to_arrow())
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    write(FRAME.with_columns(nothing=pl.lit(None, dtype=pl.String)), tmp_path / "in.xlsx")
    code = "import shoal\nfor ending in ('xlsx', 'duckdb'): shoal.read_table(f'in.{ending}')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_workbook_has_one_sheet_and_nothing_of_the_others(tmp_path):
    import xlsxwriter

    source, target = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(source) as book:
        FRAME.write_excel(book, "people")
        secret = book.add_worksheet("secret")
        secret.write(0, 0, "Ada Lovelace")
        book.get_worksheet_by_name("people").write_comment("A2", "this is Ada Lovelace")
    protect(source, target, reading={"table": "people"})
    with zipfile.ZipFile(target) as parts:
        assert not any(b"Lovelace" in parts.read(name) for name in parts.namelist())


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pl.Series("wide", [2**60] * 6), "more digits than a sheet holds"),
        (pl.Series("long", ["a" * 40_000] * 6), "longer than a cell"),
        (pl.Series("parts", [[1]] * 6), "cannot hold"),
        (pl.Series("moment", [datetime(2020, 1, 1)] * 6).dt.replace_time_zone("UTC"), "cannot hold"),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused_and_not_left_out(tmp_path, column, words):
    with pytest.raises(shoal.FileError, match=words):
        shoal.protect(
            FRAME.with_columns(column), k=3, quasi_identifiers="x", method="mdav", output=tmp_path / "out.xlsx"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("header", [["x", "x"], ["x", None]])
def test_a_sheet_whose_columns_are_not_named_once_is_refused(tmp_path, header):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "in.xlsx") as book:
        sheet = book.add_worksheet("people")
        for at, name in enumerate(header):
            if name:
                sheet.write(0, at, name)
        for row in range(1, 4):
            sheet.write_row(row, 0, [row, row])
    with pytest.raises(shoal.DataError, match=r"occurs 2 times|has no name"):
        protect(tmp_path / "in.xlsx", tmp_path / "out.csv", quasi_identifiers="x", confidential=None)


def test_a_column_of_sqlite_with_texts_and_numbers_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "in.db") as connection:
        connection.execute("CREATE TABLE t (x, y)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, 3), (4, None)])
    connection.close()
    with pytest.raises(shoal.DataError, match="column 'y' has values of several types"):
        shoal.protect(tmp_path / "in.db", k=3, quasi_identifiers="x")


@pytest.mark.parametrize(
    "name", ["bad.xlsx", "bad.db", "bad.duckdb", "bad.jsonl", "bad.csv.zst", "bad.jsonl.gz", "bad.ods"]
)
@pytest.mark.parametrize("content", [b"neither this nor that 4711", b"{4711\n{}\n"])
def test_a_damaged_file_is_told_without_what_is_in_it(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(shoal.FileError, match=r"bad\.") as told:
        shoal.protect(tmp_path / name, k=3, quasi_identifiers="x")
    assert "4711" not in str(told.value)


@pytest.mark.parametrize("cut", [1, 30])
def test_zstandard_that_is_cut_off_is_refused(tmp_path, cut):
    whole = zstandard.compress(FRAME.write_csv().encode())
    (tmp_path / "in.csv.zst").write_bytes(whole[:-cut])
    with pytest.raises(shoal.FileError, match="not a Zstandard file, or is cut off"):
        shoal.protect(tmp_path / "in.csv.zst", k=3, quasi_identifiers="x")


def test_zstandard_in_several_frames_is_one_file(tmp_path):
    lines = FRAME.write_csv().encode().splitlines(keepends=True)
    (tmp_path / "in.csv.zst").write_bytes(b"".join(zstandard.compress(line) for line in lines))
    assert len(shoal.protect(tmp_path / "in.csv.zst", k=3, quasi_identifiers="x", method="mdav").data) == 6


def in_pieces(folder):
    (folder / "deep").mkdir(parents=True)
    FRAME[:2].write_parquet(folder / "a.parquet")
    FRAME[2:3].write_parquet(folder / "b.parquet")
    FRAME[3:].write_parquet(folder / "deep" / "c.parquet")
    FRAME.write_parquet(folder / "_metadata.parquet")
    FRAME.write_parquet(folder / ".hidden.parquet")
    return folder


@pytest.mark.parametrize(
    ("name", "files", "rows"), [("", 3, 6), ("*.parquet", 3, 9), ("[ab].parquet", 2, 3), ("**/[abc].parquet", 3, 6)]
)
def test_a_folder_or_pattern_of_parquet_is_one_table(tmp_path, name, files, rows):
    folder = in_pieces(tmp_path / "data")
    release = protect(folder / name, tmp_path / "out.parquet")
    assert len(release.data) == rows
    told = json.loads((tmp_path / "out.parquet.manifest.json").read_text())["input"]
    assert (told["name"], told["files"]) == ("data/", files)
    assert release.data["left"].to_list()[:3] == FRAME["left"].to_list()[:3]


def test_pieces_of_different_columns_are_refused(tmp_path):
    folder = in_pieces(tmp_path / "data")
    FRAME.with_columns(pl.col("pay").cast(pl.Float32)).write_parquet(folder / "d.parquet")
    with pytest.raises(shoal.DataError, match=r"d\.parquet.*differ in 'pay'"):
        protect(folder, tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["", "*.parquet"])
def test_a_release_is_never_written_among_the_pieces_that_it_is_made_of(tmp_path, name):
    folder = in_pieces(tmp_path / "data")
    with pytest.raises(shoal.FileError, match="part of the original when that is read again"):
        protect(folder / name, folder / "release.parquet")
    with pytest.raises(shoal.FileError, match=r"part of the original|is the original"):
        protect(folder / name, folder / "a.parquet")


def test_a_folder_without_parquet_is_refused(tmp_path):
    with pytest.raises(shoal.FileError, match=r"the ending ''|a folder without Parquet"):
        protect(tmp_path, tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("https://example.org/people.csv", "download or copy the file first"),
        ("s3://bucket/people.parquet", "download or copy the file first"),
        ("mysql://ada:secret@host/db", "write the table to a Parquet or CSV file"),
        ("people.zip", "unpack it"),
        ("people.pkl", "a pickle can run any program"),
        ("people.rds", "from R"),
        ("people.json", "one object a line"),
        ("people.mdb", "from Access"),
    ],
)
def test_anything_else_is_refused_with_what_to_do(tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    for use in ({"data": name}, {"data": FRAME, "output": name}):
        with pytest.raises(shoal.FileError, match=words) as told:
            shoal.protect(**use, k=3, quasi_identifiers="x", method="mdav")
        assert "secret" not in str(told.value)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("ending", [".xlsx", ".sqlite", ".jsonl.zst"])
def test_a_new_file_is_open_to_nobody_to_whom_the_original_is_not(tmp_path, ending):
    source = write(FRAME, tmp_path / f"in{ending}")
    source.chmod(0o600)
    protect(source, tmp_path / f"out{ending}")
    assert (tmp_path / f"out{ending}").stat().st_mode & 0o777 == 0o600
