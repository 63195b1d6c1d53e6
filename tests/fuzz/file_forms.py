"""Tables in files of every kind, written and read for the fuzzer without any code of shoal.

JSON lines, sheets and SQLite do not hold every type: a table is first made one that its file holds, so that what is
read from the file is the table.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import duckdb
import fastexcel
import numpy as np
import polars as pl
import zstandard

FEW_TYPES = ("jsonl", "jsonl.zst", "xlsx", "sqlite", "duckdb")  # endings of files that do not hold every type
TEXT = (".csv", ".tsv", ".csv.gz", ".csv.zst")
_LARGEST = 2**53  # whole number that a sheet holds


def held(frame, form):
    """Return a table that a file of few types holds exactly."""
    columns = [_held(column, form) for column in frame]
    return pl.DataFrame([c.cast(pl.String) if c.null_count() == len(c) else c for c in columns])


def _held(column, form):
    dtype = column.dtype
    if form == "duckdb":  # which takes categories from elsewhere as text, and has one zone and one unit for times
        if dtype == pl.Datetime and dtype.time_zone:
            return column.dt.cast_time_unit("us").dt.convert_time_zone("Etc/UTC")
        return column.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else column
    if dtype.is_integer():
        most = _LARGEST if form == "xlsx" else 2**63 - 1
        fits = [v if v is None or abs(v) <= most else None for v in column.to_list()]
        return pl.Series(column.name, fits, dtype=pl.Int64)
    if dtype.is_float() or dtype.is_decimal():
        floats = [float(v) if v is not None and np.isfinite(float(v)) else None for v in column.to_list()]
        whole = all(v is None or (v == int(v) and abs(v) <= _LARGEST) for v in floats)
        if form == "xlsx":  # the writer of sheets cuts off the seventeenth digit
            floats = [v if v is None else float(f"{v:.16G}") for v in floats]
        column = pl.Series(column.name, floats, dtype=pl.Float64)
        return column.cast(pl.Int64) if whole and form == "xlsx" else column
    if dtype in (pl.Categorical, pl.Enum) or (dtype == pl.Boolean and form == "sqlite"):
        return column.cast(pl.String)
    if dtype == pl.Datetime:
        column = column.dt.replace_time_zone(None).dt.truncate("1s").cast(pl.Datetime("ms" if form == "xlsx" else "us"))
        days = form == "xlsx" and bool((column.dt.truncate("1d") == column).all())  # which a sheet has no other way for
        return column.dt.date() if days else column
    return column


def write(frame, form, folder):
    """Write a table to a file, or to a folder of Parquet files, and return its path."""
    path = folder / f"original.{form}"
    if form == "csv":
        if frame.width == 1:  # a blank line at the end of a file is no record
            frame = frame.cast(pl.String).fill_null("")
        frame.write_csv(path)
    elif form == "parquet":
        frame.write_parquet(path)
    elif form == "pieces":
        path.mkdir()
        for number, start in enumerate(range(0, len(frame), max(len(frame) // 3, 1))):
            frame[start : start + max(len(frame) // 3, 1)].write_parquet(path / f"{number:03}.parquet")
    elif form in ("jsonl", "jsonl.zst"):
        rows = frame.with_columns(pl.col(pl.Date, pl.Datetime).cast(pl.String)).to_dicts()
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(zstandard.compress(content) if form.endswith("zst") else content)
    elif form == "xlsx":
        frame.write_excel(path, "sheet")
    elif form == "sqlite":
        _write_sqlite(frame, path)
    elif form == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("given", frame.to_arrow())
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    else:
        frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    return path


def _write_sqlite(frame, path):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    rows = frame.with_columns(pl.col(pl.Date, pl.Datetime).cast(pl.String)).rows()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE t ({names})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * frame.width)})", rows)
        connection.commit()


def rows_of(path):
    """Return the names of the columns and the rows of a text file, of plain Python values."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    data = zstandard.decompress(data) if path.suffix == ".zst" else data
    if ".jsonl" in path.suffixes:
        rows = [json.loads(line, parse_float=Decimal) for line in data.decode().split("\n") if line]
        return list(rows[0]), [list(row.values()) for row in rows]
    lines = io.StringIO(data.decode(), newline="")  # polars leaves quotes in names doubled
    names, *rows = csv.reader(lines, delimiter="\t" if path.suffix == ".tsv" else ",")
    return names, [row or [""] for row in rows]


def database_rows(path):
    """Return the names of the columns and the rows of the only table of a database of SQLite."""
    with closing(sqlite3.connect(path)) as connection:
        ((name,),) = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        found = connection.execute('SELECT * FROM "' + name.replace('"', '""') + '"')
        return [about[0] for about in found.description], found.fetchall()


def sheet_rows(path):
    """Return the names of the columns and the rows of the only sheet of a workbook."""
    book = fastexcel.read_excel(str(path))
    (name,) = book.sheet_names
    header = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
    return list(header), book.load_sheet(name, schema_sample_rows=None).to_polars().rows()


def as_type(value, dtype, narrow):
    """Return a cell of a file of few types as what it is in the table that was written."""
    if value is None or dtype is None or (dtype.is_numeric() and str(value).lower() in ("", "nan")):
        return None if dtype is not None and dtype.is_numeric() else value
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return value
    if dtype.is_integer():
        return int(str(value).removesuffix(".0"))  # pandas has floats where a cell is missing
    if narrow and dtype.is_decimal():
        exact = round(Decimal(str(value)), dtype.scale)
        assert isinstance(value, Decimal | str) or abs(exact) < 10**13, "more digits than a float holds"
        return exact
    if dtype.is_float() or dtype.is_decimal():
        return float(np.float32(value)) if narrow and dtype == pl.Float32 else float(value)
    if dtype == pl.Boolean:
        return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
    return _moment(value, dtype)


def _moment(value, dtype):
    if dtype == pl.Duration:
        days, seconds = re.fullmatch(r"P(?:(\d+)D)?(?:T(\d+)S)?", value).groups()
        return timedelta(days=int(days or 0), seconds=int(seconds or 0))
    if dtype == pl.Time:
        if isinstance(value, datetime):
            return value.time()
        return time.fromisoformat(value) if isinstance(value, str) else value
    if isinstance(value, str):
        value = date.fromisoformat(value) if dtype == pl.Date else datetime.fromisoformat(value)
    if isinstance(value, datetime) and dtype == pl.Date:
        assert value == datetime.combine(value.date(), datetime.min.time()), "a day with a time"
        return value.date()
    if isinstance(value, date) and not isinstance(value, datetime) and dtype != pl.Date:
        value = datetime.combine(value, datetime.min.time())
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value
