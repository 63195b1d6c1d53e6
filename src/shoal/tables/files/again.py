"""A file that was just written, read again as it is, so that what is checked is what a user gets."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import BrokenPromise
from shoal.plan.plan import Reading
from shoal.tables.files import Source, file_format, read_file
from shoal.tables.files.rows import RowForm, read_row_cells
from shoal.tables.files.text import TextForm, plain_form

if TYPE_CHECKING:
    import polars as pl


def read_again(path: Path, frame: pl.DataFrame, source: Source | None, reading: Reading) -> Source:
    """Read a file that ``frame`` was written to; its columns have the frame's types and the file's values."""
    import polars as pl

    try:
        return _read(path, frame, source, reading)
    except pl.exceptions.PolarsError:
        # what polars says may show cells
        raise BrokenPromise("the file as written cannot be read as what was written") from None


def _read(path: Path, frame: pl.DataFrame, source: Source | None, reading: Reading) -> Source:
    kind = file_format(path)
    if kind == "text":
        form = plain_form(source.text if source else None, path)
        typed = _typed_like(_text_cells(path, frame, form), frame, form, reading)
        found = Source(path, typed)
    elif kind == "xml":
        root, cells = read_row_cells(path)
        cells = cells.select(
            cells[name] if name in cells.columns else _absent(name, len(cells)) for name in frame.columns
        )
        dates = source.rows.date_formats if source and source.rows else {}
        typed = _typed_like(cells, frame, TextForm(",", "utf-8", "\n", True, "", cells, date_formats=dates), Reading())
        found = Source(path, typed, rows=RowForm(**root, cells=cells, date_formats=dates))
    else:
        found = read_file(path, Reading())
    if found.frame.columns != frame.columns or len(found.frame) != len(frame):
        raise BrokenPromise("the file as written does not have the records and columns of the release")
    return found


def _absent(name: str, length: int) -> pl.Series:
    import polars as pl

    return pl.Series(name, [None] * length, pl.String)


def _text_cells(path: Path, frame: pl.DataFrame, form: TextForm) -> pl.DataFrame:
    import polars as pl

    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        data = gzip.decompress(data)
    if form.encoding.lower() not in ("utf-8", "utf8"):
        data = data.decode(form.encoding).encode()
    return pl.read_csv(
        io.BytesIO(data),
        separator=form.delimiter,
        has_header=form.header,
        new_columns=frame.columns,
        infer_schema=False,
    )


def _typed_like(cells: pl.DataFrame, frame: pl.DataFrame, form: TextForm, reading: Reading) -> pl.DataFrame:
    """Give columns of text the types of a table."""
    import polars as pl

    columns = []
    for column, like in zip(cells, frame, strict=True):
        bare = column.str.strip_chars()
        texts = column.set(bare.is_in(["", form.missing, *reading.missing]), None)
        kind = like.dtype
        if kind.is_numeric():
            if column.name in form.decimal_comma:
                texts = texts.str.replace(",", ".", literal=True)
            typed = texts.str.strip_chars().cast(kind if kind.is_integer() else pl.Float64)
        elif kind == pl.Date:
            typed = texts.str.strip_chars().str.to_date(form.date_formats.get(column.name))
        elif kind == pl.Datetime:
            unit: Any = getattr(kind, "time_unit", "us")
            typed = texts.str.strip_chars().str.to_datetime(form.date_formats.get(column.name), time_unit=unit)
        elif kind == pl.Boolean:
            typed = texts.str.strip_chars().str.to_lowercase() == "true"
        else:
            typed = texts
        columns.append(typed.alias(column.name))
    return pl.DataFrame(columns)
