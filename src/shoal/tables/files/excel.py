"""Excel workbooks: one sheet, with the names of the columns in its first row (the extra ``excel``).

What is read are the values that Excel shows, those of formulas too. A release is a workbook of one sheet without
formulas, comments and formats: what else was in the workbook may tell what the release does not.
"""

from __future__ import annotations

import io
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import DataError, FileError, MissingExtra
from shoal.tables.files.few_types import CellTypes, narrowed, retyped, with_text_for_nothing
from shoal.tables.files.named_tables import chosen

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS, _MOST_COLUMNS = 1_048_575, 16_384  # of a sheet, below its header
_LONGEST = 32_767  # letters of a cell
_FIRST_YEAR = 1900
_CELLS = CellTypes("a sheet", largest=2**53)  # every number is a float
_MADE = datetime(2000, 1, 1, tzinfo=UTC)  # when every workbook says it was made: the same plan gives the same bytes


@dataclass(frozen=True)
class SheetForm:
    """The sheet that a table was on."""

    sheet: str


def read_excel(path: Path, sheet: str | None) -> tuple[pl.DataFrame, SheetForm]:
    """Read a sheet, by its name or, where the workbook has only one, without it."""
    import polars as pl

    fastexcel = _imported("fastexcel")
    try:
        book = fastexcel.read_excel(str(path))
        name = chosen(sheet, book.sheet_names, path.name, "sheet")
        first = book.load_sheet(name, header_row=None, n_rows=1, dtypes="string").to_polars()
        _check_names([first[0, at] for at in range(first.width)] if len(first) else [], path, name)
        # all rows are looked at: one far below may have text among numbers
        with _without_warnings():
            frame = book.load_sheet(name, schema_sample_rows=None).to_polars()
    except fastexcel.FastExcelError:
        # what the reader says may show cells
        raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
    # a cell has a float in any case, for a day too
    whole = [c.cast(pl.Int64) for c in frame if c.dtype.is_float() and _is_whole(c)]
    days = [c.dt.date() for c in frame if c.dtype == pl.Datetime and bool((c.dt.time() == time()).all())]
    return with_text_for_nothing(frame.with_columns(*whole, *days)), SheetForm(name)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep the reader from telling the terminal which columns have no value."""
    told = logging.getLogger("fastexcel.types.dtype")

    def nothing(_: logging.LogRecord) -> bool:
        return False

    told.addFilter(nothing)
    try:
        yield
    finally:
        told.removeFilter(nothing)


def _is_whole(column: pl.Series) -> bool:
    """Whether the floats of a column are whole numbers that a float holds exactly."""
    return bool((column == column.round()).all()) and not bool((column.abs() > _CELLS.largest).any())


def _check_names(names: list[Any], path: Path, sheet: str) -> None:
    """Refuse a sheet whose first row does not name every column once; the reader would make names up."""
    if not names:
        raise DataError(f"'{path}': the sheet '{sheet}' is empty")
    counts = Counter(names)
    mistakes = [
        f"column name '{name}' occurs {count} times on the sheet '{sheet}'; rename the columns"
        if name
        else f"a column of the sheet '{sheet}' has no name; name every column in its first row"
        for name, count in counts.items()
        if not name or count > 1
    ]
    if mistakes:
        raise DataError(mistakes)


def write_excel(frame: pl.DataFrame, path: Path, form: SheetForm | None, kept: dict[str, pl.Series]) -> None:
    """Write a workbook of one sheet, made in memory: its writer would leave parts of it in other folders."""
    import polars as pl

    if len(frame) > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise FileError(
            f"'{path}': a sheet has at most {_MOST_ROWS} records and {_MOST_COLUMNS} columns; write .parquet"
        )
    plain = narrowed(frame, path, _CELLS, _no_cell)
    xlsxwriter = _imported("xlsxwriter")
    options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
    whole = io.BytesIO()
    with xlsxwriter.Workbook(whole, options) as book:
        book.set_properties({"created": _MADE})
        formats = {
            pl.Date: book.add_format({"num_format": "yyyy-mm-dd"}),
            pl.Datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
            pl.Time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        sheet = book.add_worksheet(form.sheet if form else "release")
        for at, column in enumerate(plain):
            sheet.write_string(0, at, column.name)
            look = formats.get(column.dtype.base_type())
            write = sheet.write_string if column.dtype == pl.String else sheet.write
            values = column.fill_nan(None) if column.dtype.is_float() else column
            cells = values.to_list()
            if column.dtype.is_float():
                cells = [None if cell is None else _AllDigits(cell) for cell in cells]
            for row, value in enumerate(cells, start=1):
                if value is not None:
                    write(row, at, value, look)
    path.write_bytes(whole.getvalue())


class _AllDigits(float):
    """A number that is written with all its digits: its writer would cut off the seventeenth."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _no_cell(column: pl.Series) -> str:
    """Say what of a column its writer would change or leave out."""
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        return f"has type {dtype}, which a sheet cannot hold; write .parquet"
    if dtype == pl.String and (column.str.len_chars().max() or 0) > _LONGEST:  # type: ignore[operator]
        return "has texts that are longer than a cell can be; write .csv"
    if dtype in (pl.Date, pl.Datetime) and bool((column.dt.year() < _FIRST_YEAR).any()):
        return f"has dates before {_FIRST_YEAR}, which a sheet does not have; write .csv"
    if dtype in (pl.Datetime, pl.Time) and bool((column.dt.nanosecond() % 1_000_000 != 0).any()):
        return "has times finer than the milliseconds of a sheet; write .csv"
    return ""


def read_excel_again(path: Path, frame: pl.DataFrame, form: SheetForm | None) -> tuple[pl.DataFrame, SheetForm]:
    """Read a file that ``frame`` was written to, with the types of the frame."""
    found, form = read_excel(path, None)
    return retyped(found, frame), form


def _imported(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra("reading and writing Excel files", "excel") from None
