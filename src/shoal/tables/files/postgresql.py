"""Tables of a PostgreSQL server, through ADBC (the extra ``sql``): read in one query, written in one transaction.

Numbers with decimals stay exact, and types that have no column here, such as uuid, json or an enum, are texts; in the
same database they are written back as the types they were. A release is read again before it is committed, and what is
in the table must be what was checked. No message has what the server says: that may show cells, or the address.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import BrokenPromise, DataError, FileError, MissingExtra, OutputExists
from shoal.tables.files.named_tables import chosen, quoted
from shoal.tables.files.places import Address

if TYPE_CHECKING:
    import polars as pl

_AS_THEY_ARE = {"bool", "int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz", "time", "bytea"}
_TABLES = """SELECT n.nspname, c.relname, n.nspname = ANY (current_schemas(false)) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1, 2"""
_COLUMNS = """SELECT a.attname, t.typname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum"""
_WHERE = "SELECT pg_postmaster_start_time()::text, current_database()::text"
_STATES = {  # of SQL, by how they begin
    "42501": "the user may not do that",
    "08": "no server answers there, or it refuses the user, the password or the name of the database; a password may "
    "be in PGPASSWORD or in ~/.pgpass",
    "53": "the server has no room left",
    "57014": "the query was cancelled",
}


@dataclass(frozen=True)
class PostgresForm:
    """Where a table was, and what its columns are called there.

    Attributes
    ----------
    server : tuple of str
        When the server was started, and the database: two addresses with the same are one place.
    table : str
        The table, in quotes and with its schema.
    types : dict
        Type of each column, in the words of SQL.
    """

    server: tuple[str, str]
    table: str
    types: dict[str, str]


def read_postgresql(address: Address, table: str | None) -> tuple[pl.DataFrame, PostgresForm, str]:
    """Read a table or view: its columns, where it was, and what it is called."""
    with _connected(address) as cursor:
        name, full = _found(cursor, address, table or address.table)
        frame, types = _whole(cursor, full)
        return frame, PostgresForm(_rows(cursor, _WHERE)[0], full, types), name


def _whole(cursor: Any, full: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a table, and the types of its columns in the words of SQL."""
    import polars as pl

    columns = _rows(cursor, _COLUMNS, (full,))
    parts = [quoted(c) if kind in _AS_THEY_ARE else f"{quoted(c)}::text AS {quoted(c)}" for c, kind, _ in columns]
    cursor.execute(f"SELECT {', '.join(parts)} FROM {full}")
    frame = pl.DataFrame(cursor.fetch_arrow_table())
    types = {c: told for c, _, told in columns}
    return frame.with_columns(_decimals(frame[c], types[c]) for c, kind, _ in columns if kind == "numeric"), types


def _decimals(texts: pl.Series, told: str) -> pl.Series:
    """Return exact numbers with the decimals that their type says, or that they have."""
    import polars as pl

    inside = told.partition("(")[2].rstrip(")").split(",")
    written = texts.str.extract(r"\.(\d+)$", 1).str.len_bytes().fill_null(0)
    scale = int(inside[1]) if len(inside) == 2 else int(written.to_numpy().max(initial=0))
    try:
        return texts.cast(pl.Decimal(38, scale))
    except pl.exceptions.PolarsError:
        raise DataError(
            f"column '{texts.name}' has numbers of more digits than fit; cast it to double precision in a view"
        ) from None


def check_new(address: Address, form: object, overwrite: bool) -> None:
    """Refuse a table that cannot become a new one, or is the one that was read, before any work is done."""
    if address.table is None:
        raise FileError(f"'{address.shown}': name the table to write behind the address, as in {address.shown}#release")
    with _connected(address) as cursor:
        _check_free(cursor, address, form, overwrite)


def _check_free(cursor: Any, address: Address, form: object, overwrite: bool) -> str:
    """Return the full name of the table to write, which is not that of the original."""
    assert address.table is not None
    schema, _, own = address.table.rpartition(".")
    full = f"{quoted(schema)}.{quoted(own)}" if schema else quoted(own)
    there = _rows(cursor, "SELECT to_regclass($1)::text", (full,))[0][0]
    if there is None:
        return full
    if isinstance(form, PostgresForm) and form.server == _rows(cursor, _WHERE)[0]:
        same = _rows(cursor, "SELECT to_regclass($1) = to_regclass($2)", (full, form.table))[0][0]
        if same:
            raise FileError(f"the table '{address.table}' is the original; write to another table")
    if not overwrite:
        raise OutputExists(f"the table '{address.table}' is there already; name another, or replace it with --force")
    return full


@contextmanager
def written_postgresql(frame: pl.DataFrame, address: Address, form: object, overwrite: bool) -> Iterator[None]:
    """Write a table in a transaction that ends with the block: committed, or nothing of it is there."""
    with _connected(address) as cursor:
        full = _check_free(cursor, address, form, overwrite)
        own = form if isinstance(form, PostgresForm) and form.server == _rows(cursor, _WHERE)[0] else None
        types = {column.name: own.types[column.name] if own else _type_of(column) for column in frame}
        sent = _sendable(frame)
        cursor.adbc_ingest("shoal_sent", sent.with_row_index("shoal_row").to_arrow(), mode="create", temporary=True)
        if overwrite:
            cursor.execute(f"DROP TABLE IF EXISTS {full}")
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        cursor.execute(f"CREATE TABLE {full} ({declared})")
        cast = ", ".join(f"{quoted(name)}::{kind}" for name, kind in types.items())
        cursor.execute(f"INSERT INTO {full} SELECT {cast} FROM pg_temp.shoal_sent ORDER BY shoal_row")
        cursor.execute("DROP TABLE pg_temp.shoal_sent")
        _check_written(cursor, full, frame)
        yield
        cursor.connection.commit()


def _check_written(cursor: Any, full: str, frame: pl.DataFrame) -> None:
    """Compare what is in the table with the release, cell by cell."""
    there, _ = _whole(cursor, full)
    same = there.columns == frame.columns and len(there) == len(frame)
    for column in frame if same else ():
        expected = column.fill_nan(None) if column.dtype.is_float() else column
        same &= bool(there[column.name].cast(column.dtype).eq_missing(expected).all())
    if not same:
        raise BrokenPromise("the table as written does not have the cells of the release; nothing was written")


def _type_of(column: pl.Series) -> str:
    """Return the type of SQL that holds the values of a column."""
    import polars as pl

    dtype = column.dtype
    named: dict[Any, str] = {
        pl.Int8: "smallint", pl.Int16: "smallint", pl.UInt8: "smallint", pl.Int32: "integer", pl.UInt16: "integer",
        pl.Int64: "bigint", pl.UInt32: "bigint", pl.UInt64: "numeric(20,0)", pl.Float32: "real",
        pl.Float64: "double precision", pl.Boolean: "boolean", pl.String: "text", pl.Categorical: "text",
        pl.Enum: "text", pl.Date: "date", pl.Time: "time", pl.Binary: "bytea",
    }  # fmt: skip
    if isinstance(dtype, pl.Decimal):
        return f"numeric({dtype.precision},{dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        return "timestamptz" if dtype.time_zone else "timestamp"
    if dtype.base_type() not in named:
        raise FileError(f"column '{column.name}' has type {dtype}, which is not written to PostgreSQL; write .parquet")
    return named[dtype.base_type()]


def _sendable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of types that the driver sends; the server casts texts to what they are."""
    import polars as pl

    texts = [
        c.cast(pl.String) for c in frame if c.dtype.is_decimal() or c.dtype in (pl.UInt64, pl.Categorical, pl.Enum)
    ]
    whole = [c.cast(pl.Int16) for c in frame if c.dtype in (pl.Int8, pl.UInt8)]
    missing = [c.fill_nan(None) for c in frame if c.dtype.is_float()]
    return frame.with_columns(texts + whole + missing)


def _found(cursor: Any, address: Address, asked: str | None) -> tuple[str, str]:
    """Return what a table is called, and its full name in quotes."""
    there: dict[str, str] = {}
    for schema, name, near in _rows(cursor, _TABLES):
        full = f"{quoted(schema)}.{quoted(name)}"
        there[name if near else f"{schema}.{name}"] = full
        if near and asked == f"{schema}.{name}":
            there[asked] = full
    name = chosen(asked, list(there), address.shown, "table")
    return name, there[name]


def _rows(cursor: Any, query: str, parameters: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    cursor.execute(query, parameters or None)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@contextmanager
def _connected(address: Address) -> Iterator[Any]:
    """Connect for one transaction, whose errors are told without what the server says."""
    try:
        from adbc_driver_postgresql import dbapi  # an extra
    except ImportError:
        raise MissingExtra("reading and writing PostgreSQL", "sql") from None
    try:
        with dbapi.connect(address.uri) as connection, connection.cursor() as cursor:
            yield cursor
    except dbapi.Error as error:
        state = getattr(error, "sqlstate", None) or ("08000" if isinstance(error, dbapi.OperationalError) else "")
        told = next((words for begin, words in _STATES.items() if state.startswith(begin)), None)
        reason = told or f"the server reports the state {state or 'of an error'}"
        raise FileError(f"'{address.shown}': {reason}") from None
