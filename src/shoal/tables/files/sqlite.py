"""SQLite databases, through Python's own module: one table of it is read, and a release is a database of one table.

SQLite has types of values, not of columns. A column is what its values are; one of both texts and numbers is refused.
What the table declares is declared again. Dates are texts there, and are read as dates where all of a column are.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shoal.errors import DataError, FileError
from shoal.tables.files.cells import CellForm
from shoal.tables.files.dated import as_texts, with_dates
from shoal.tables.files.few_types import CellTypes, narrowed, retyped
from shoal.tables.files.named_tables import chosen, quoted

if TYPE_CHECKING:
    import polars as pl

_CELLS = CellTypes("SQLite", largest=2**63 - 1, infinite=True, bytes=True)
_SHOWN = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


@dataclass(frozen=True)
class SqliteForm:
    """What a table is called, what its columns were declared as, and how its dates are written."""

    table: str
    declared: dict[str, str] = field(default_factory=dict)
    dates: dict[str, CellForm] = field(default_factory=dict)


def read_sqlite(path: Path, table: str | None) -> tuple[pl.DataFrame, SqliteForm]:
    """Read a table or view of a database, by its name or, where there is only one, without it."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            there = [name for (name,) in connection.execute(f"{_SHOWN} ORDER BY name")]
            name = chosen(table, there, path.name, "table")
            about = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
            rows = connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()
    except sqlite3.Error:
        raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
    declared = {column: kind for _, column, kind, *_ in about}
    frame, dates = with_dates(_typed(list(declared), rows))
    return frame, SqliteForm(name, declared, dates)


def _typed(names: list[str], rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """Return the columns with the types of their values."""
    import polars as pl

    columns, mixed = [], []
    for at, name in enumerate(names):
        values = [row[at] for row in rows]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int}:
            dtype: pl.DataType | type[pl.DataType] = pl.Int64 if kinds else pl.String
        elif kinds <= {int, float}:
            dtype = pl.Float64
        else:
            dtype = pl.String if kinds == {str} else pl.Binary
            mixed += [name] if len(kinds) > 1 else []
        if name not in mixed:
            columns.append(pl.Series(name, values, dtype=dtype))
    if mixed:
        raise DataError(
            [f"column '{name}' has values of several types; give it one with CAST in a view" for name in mixed]
        )
    return pl.DataFrame(columns)


def write_sqlite(frame: pl.DataFrame, path: Path, form: SqliteForm | None, kept: dict[str, pl.Series]) -> None:
    """Write a database with one table, made in memory and written in one piece."""
    form = form or SqliteForm("release")
    plain = _plain(frame, form.dates, path)
    columns = ", ".join(f"{quoted(c.name)} {form.declared.get(c.name, _affinity(c.dtype))}" for c in plain)
    marks = ", ".join("?" * plain.width)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {quoted(form.table)} ({columns})")
        connection.executemany(f"INSERT INTO {quoted(form.table)} VALUES ({marks})", plain.iter_rows())
        connection.commit()
        path.write_bytes(connection.serialize())


def _plain(frame: pl.DataFrame, dates: dict[str, CellForm], path: Path) -> pl.DataFrame:
    """Return a table of whole numbers, floats, texts and bytes."""
    import polars as pl

    return as_texts(narrowed(frame, path, _CELLS), dates).with_columns(pl.col(pl.Boolean).cast(pl.Int64))


def _affinity(dtype: pl.DataType) -> str:
    import polars as pl

    if dtype.is_integer():
        return "INTEGER"
    return "REAL" if dtype.is_float() else "BLOB" if dtype == pl.Binary else "TEXT"


def read_sqlite_again(path: Path, frame: pl.DataFrame, form: SqliteForm | None) -> tuple[pl.DataFrame, SqliteForm]:
    """Read a file that ``frame`` was written to, with the types of the frame."""
    found, form = read_sqlite(path, None)
    return retyped(found, frame), form
