"""DuckDB databases: one table is read (the extra ``sql``). They are not written: no two files have the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, MissingExtra
from shoal.tables.files.named_tables import chosen, quoted

if TYPE_CHECKING:
    import polars as pl


def read_duckdb(path: Path, table: str | None) -> pl.DataFrame:
    """Read a table or view of a database, by its name or, where there is only one, without it."""
    import polars as pl

    duckdb = _duckdb()
    try:
        with duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"}) as connection:
            found = connection.execute("SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL")
            there = {
                name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found.fetchall()
            }
            schema, name = there[chosen(table, list(there), path.name, "table")]
            # by way of Arrow: what polars takes from DuckDB itself, DuckDB complains of when the process ends
            return pl.DataFrame(connection.sql(f"SELECT * FROM {quoted(schema)}.{quoted(name)}").to_arrow_table())
    except duckdb.Error:
        raise FileError(f"cannot read '{path}': it is damaged, in use, or of another version of DuckDB") from None


def _duckdb() -> Any:
    try:
        import duckdb  # an extra
    except ImportError:
        raise MissingExtra("reading DuckDB files", "sql") from None
    return duckdb
