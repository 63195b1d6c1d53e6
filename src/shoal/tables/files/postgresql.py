"""Tables of a PostgreSQL server, through ADBC (the extra ``sql``): read in one query, written in one transaction.

A release comes with a table of its own for its manifest, of one row and in the same transaction: there are both, or
neither. Numbers with decimals stay exact, and types that have no column here, such as uuid, json or an enum, are texts;
in the same database they are written back as the types they were. A release is read again before it is committed, and
what is in the table must be what was checked. No message has what the server says: that may show cells, or the address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_BESIDE = "_manifest"
_LONGEST = 63  # bytes of a name, of which the server cuts off the rest
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
        name, full = _found(cursor, address, address.table or table)
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
    if len(manifest_table(address.table).rpartition(".")[2].encode()) > _LONGEST:
        raise FileError(
            f"the table '{address.table}' has a name of more than {_LONGEST - len(_BESIDE)} bytes, too long for that "
            "of its manifest; choose a shorter one"
        )
    with _connected(address) as cursor:
        _check_free(cursor, address, form, overwrite)


def manifest_table(table: str) -> str:
    """Return what the table with the manifest of a release is called.

    >>> manifest_table("public.persons")
    'public.persons_manifest'
    """
    return f"{table}{_BESIDE}"


def read_manifest_table(address: Address) -> str | None:
    """Return the manifest in the table that is beside a release; None where there is none."""
    if address.table is None:
        return None
    beside = _full(manifest_table(address.table))
    with _connected(address) as cursor:
        if not _is_manifest(cursor, beside):
            return None
        rows = _rows(cursor, f"SELECT manifest::text FROM {beside}")
        return str(rows[0][0]) if len(rows) == 1 else None


def _full(table: str) -> str:
    """Return a name that may have a schema in front, in quotes."""
    schema, _, own = table.rpartition(".")
    return f"{quoted(schema)}.{quoted(own)}" if schema else quoted(own)


def _is_manifest(cursor: Any, full: str) -> bool:
    """Whether there is a table of that name that has the form of a manifest's."""
    if _rows(cursor, "SELECT to_regclass($1)::text", (full,))[0][0] is None:
        return False
    return [(name, kind) for name, kind, _ in _rows(cursor, _COLUMNS, (full,))] == [("manifest", "json")]


def _check_free(cursor: Any, address: Address, form: object, overwrite: bool) -> tuple[str, str]:
    """Return the full names of the table to write, which is not that of the original, and of its manifest's."""
    assert address.table is not None
    beside = manifest_table(address.table)
    here = isinstance(form, PostgresForm) and form.server == _rows(cursor, _WHERE)[0]
    for name in (address.table, beside):
        full = _full(name)
        if _rows(cursor, "SELECT to_regclass($1)::text", (full,))[0][0] is None:
            continue
        if isinstance(form, PostgresForm) and here:
            same = _rows(cursor, "SELECT to_regclass($1) = to_regclass($2)", (full, form.table))[0][0]
            if same:
                raise FileError(f"the table '{name}' is the original; write to another table")
        if not overwrite:
            raise OutputExists(f"the table '{name}' is there already; name another, or replace it with --force")
        if name == beside and not _is_manifest(cursor, full):
            raise FileError(
                f"the table '{name}', where the manifest goes, is there and is no manifest; write to another table"
            )
    return _full(address.table), _full(beside)


@contextmanager
def written_postgresql(
    frame: pl.DataFrame, address: Address, form: object, overwrite: bool
) -> Iterator[Callable[[str], None]]:
    """Write a table in a transaction that ends with the block: committed, or nothing of it is there.

    Gives a function that writes the manifest, as JSON, into the same transaction.
    """
    with _connected(address) as cursor:
        full, beside = _check_free(cursor, address, form, overwrite)
        own = form if isinstance(form, PostgresForm) and form.server == _rows(cursor, _WHERE)[0] else None
        types = {column.name: own.types[column.name] if own else _type_of(column) for column in frame}
        sent = _sendable(frame)
        cursor.adbc_ingest("shoal_sent", sent.with_row_index("shoal_row").to_arrow(), mode="create", temporary=True)
        if overwrite:
            cursor.execute(f"DROP TABLE IF EXISTS {full}")
            cursor.execute(f"DROP TABLE IF EXISTS {beside}")
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
        cursor.execute(f"CREATE TABLE {full} ({declared})")
        cast = ", ".join(f"{quoted(name)}::{kind}" for name, kind in types.items())
        cursor.execute(f"INSERT INTO {full} SELECT {cast} FROM pg_temp.shoal_sent ORDER BY shoal_row")
        cursor.execute("DROP TABLE pg_temp.shoal_sent")
        _check_written(cursor, full, frame)

        def tell(manifest: str) -> None:
            cursor.execute(f"CREATE TABLE {beside} (manifest json NOT NULL)")
            cursor.execute(f"REVOKE ALL ON {beside} FROM PUBLIC")  # it is not for those who get the release
            cursor.execute(f"INSERT INTO {beside} VALUES ($1::text::json)", (manifest,))

        yield tell
        _commit(cursor, address)


def _commit(cursor: Any, address: Address) -> None:
    """End the transaction; where no answer comes, nobody can say whether it was."""
    from adbc_driver_postgresql import dbapi

    try:
        cursor.connection.commit()
    except dbapi.OperationalError:
        raise FileError(
            f"'{address.shown}': the connection was lost at the last step; the release is there, and whole, where the "
            f"table '{manifest_table(address.table or '')}' is, and otherwise nothing of it"
        ) from None


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
