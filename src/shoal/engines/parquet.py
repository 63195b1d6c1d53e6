"""Rows as Arrow tables: to the frames that workers see, back to the types that they had, and to Parquet files.

Files are written in row groups of a fixed number of rows, whatever batches the rows came in, so that the same rows give
the same bytes. Memory is freed as soon as a row group is written.
"""

from __future__ import annotations

import errno
import glob
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError

if TYPE_CHECKING:
    import polars as pl

GROUP_ROWS = 1 << 17  # rows of a row group, and of a batch
_PART_ROWS = 1 << 23  # rows of a file in a folder


def frame_of(table: Any, columns: list[str]) -> pl.DataFrame:
    """Return some columns of an Arrow table as a polars frame; texts in a dictionary become texts."""
    import polars as pl
    import pyarrow as pa

    chosen = table.select(columns)
    for place, field in enumerate(chosen.schema):
        if isinstance(field.type, pa.DictionaryType):
            chosen = chosen.set_column(place, field.name, chosen.column(place).cast(field.type.value_type))
    frame = pl.from_arrow(chosen)
    assert isinstance(frame, pl.DataFrame)
    return frame


def put_columns(table: Any, frame: pl.DataFrame) -> Any:
    """Return an Arrow table with the columns of a frame in their places, of the types that they had."""
    released = frame.to_arrow()
    for name in frame.columns:
        place = table.schema.get_field_index(name)
        field = table.schema.field(place).with_nullable(True)
        table = table.set_column(place, field, released.column(name).cast(field.type))
    return table


def regrouped(tables: Iterable[Any], size: int = GROUP_ROWS) -> Iterator[Any]:
    """Yield the rows of Arrow tables in tables of a fixed number of rows; the last may have fewer."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += table.num_rows
        while rows >= size:
            joined = pa.concat_tables(held)
            yield joined.slice(0, size).combine_chunks()
            rest = joined.slice(size)
            held, rows = [rest], rest.num_rows
    if rows:
        yield pa.concat_tables(held).combine_chunks()


def write_parquet(tables: Iterable[Any], schema: Any, path: Path, aside: int | None = None) -> None:
    """Write Arrow tables to a file, where the path ends in .parquet, or else into a folder, by some million rows.

    What is put ``aside`` has that many rows in a row group, and is compressed so that it is quick to read again.
    """
    import pyarrow.parquet as pq

    schema = schema.remove_metadata()
    writer, part, rows = None, 0, 0
    try:
        for table in regrouped(tables, aside or GROUP_ROWS):
            if writer is None:
                writer = pq.ParquetWriter(_part(path, part), schema, compression="lz4" if aside else "zstd")
            writer.write_table(table.cast(schema), row_group_size=GROUP_ROWS)
            rows += table.num_rows
            if rows >= _PART_ROWS and not single_file(path):
                writer.close()
                writer, part, rows = None, part + 1, 0
    finally:
        if writer is not None:
            writer.close()


def single_file(path: Path) -> bool:
    """Whether a path is that of one file, and not of a folder of them."""
    return path.suffix.lower() in (".parquet", ".pq")


def _part(path: Path, number: int) -> Path:
    if single_file(path):
        return path
    path.mkdir(exist_ok=True)
    return path / f"part-{number:05d}.parquet"


def parquet_files(path: str | Path) -> list[Path]:
    """Return the Parquet files at a path, in a folder or of a pattern, in the order of their names."""
    text = str(path)
    where = Path(path)
    if where.is_dir():
        found = sorted(where.glob("**/*.parquet"))
        found = [one for one in found if not any(p.startswith(("_", ".")) for p in one.relative_to(where).parts)]
        if not found:
            raise FileError(f"'{where}' has no files that end in .parquet; an engine reads Parquet")
        return found
    if where.is_file():
        if where.suffix.lower() not in (".parquet", ".pq"):
            raise FileError(
                f"'{where}' does not end in .parquet, and an engine reads Parquet: text does not say its types before "
                "all of it is read; leave engine out, or give a table that has types, such as polars.scan_csv(...)"
            )
        return [where]
    pattern = any(mark in text for mark in "*?[")
    found = [Path(one) for one in sorted(glob.glob(text, recursive=True))] if pattern else []  # noqa: PTH207 - from a root
    if not found:
        raise FileError(f"'{where}' is not there")
    return found


@contextmanager
def room_needed(folder: Path) -> Iterator[None]:
    """Say in one sentence that rows could not be put aside, whatever noticed it."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileError):
            raise
        full = error.errno == errno.ENOSPC or "No space left" in str(error)
        reason = "there is no room left" if full else error.strerror or str(error)
        raise FileError(
            f"rows could not be put aside in '{folder}': {reason}; set TMPDIR to a folder with room for twice the table"
        ) from None
