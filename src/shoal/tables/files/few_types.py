"""Files whose cells have few types, such as JSON, sheets and SQLite: a table as they hold it exactly, or a refusal.

What a file cannot hold is never left out, rounded or written as missing: the column is named, with where to write to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError

if TYPE_CHECKING:
    import polars as pl

_WITHIN_LISTS = ("Binary", "Duration", "Object", "Decimal", "Date", "Time")  # types that a list may not be of


@dataclass(frozen=True)
class CellTypes:
    """What the cells of a kind of file hold.

    Attributes
    ----------
    what : str
        What it is called in messages.
    largest : int
        Whole numbers from minus to plus this one are held exactly.
    infinite : bool
        Whether numbers can be infinite.
    bytes : bool
        Whether bytes can be held.
    lists : bool
        Whether lists and records of numbers and texts can be held.
    """

    what: str
    largest: int
    infinite: bool = False
    bytes: bool = False
    lists: bool = False


def narrowed(
    frame: pl.DataFrame, path: Path, cells: CellTypes, also: Callable[[pl.Series], str] = lambda _: ""
) -> pl.DataFrame:
    """Return a table of whole numbers, floats, texts, booleans and what has to do with time, with the same values.

    ``also`` says for a column what else speaks against it, or nothing. Raises FileError that names every column that
    does not fit.
    """
    import polars as pl

    mistakes, columns = [], []
    for column in frame:
        dtype = column.dtype
        why = _held_by_no_cell(dtype, cells) or also(column)
        if not why and dtype.is_integer() and _beyond(column, cells.largest):
            why = f"has whole numbers of more digits than {cells.what} holds; write .csv"
        elif not why and dtype.is_float() and not cells.infinite and bool(column.is_infinite().any()):
            why = f"has infinite numbers, which {cells.what} does not hold; write .parquet"
        elif not why and dtype.is_decimal() and not _exact(column):
            why = f"has numbers of more digits than {cells.what} holds; write .csv or .parquet"
        if why:
            mistakes.append(f"column '{column.name}' {why}")
        elif dtype.is_decimal():
            columns.append(column.cast(pl.Float64))
        elif isinstance(dtype, pl.Categorical | pl.Enum):
            columns.append(column.cast(pl.String))
        elif dtype.is_unsigned_integer() and cells.largest < 2**63:
            columns.append(column.cast(pl.Int64))
    if mistakes:
        raise FileError(f"'{path}': {'; '.join(mistakes)}")
    return frame.with_columns(columns)


def _held_by_no_cell(dtype: pl.DataType, cells: CellTypes) -> str:
    import polars as pl

    listed = dtype.is_nested() and not (cells.lists and not any(word in str(dtype) for word in _WITHIN_LISTS))
    if listed or dtype in (pl.Object, pl.Duration) or (dtype == pl.Binary and not cells.bytes):
        return f"has type {dtype}, which {cells.what} cannot hold; write .parquet"
    return ""


def _beyond(column: pl.Series, largest: int) -> bool:
    """Whether a column has whole numbers beyond a largest one; of as many bits there is one more below 0."""
    least, most = column.min(), column.max()
    if least is None or most is None:
        return False
    return int(most) > largest or int(least) < -(largest + largest % 2)  # type: ignore[arg-type]


def _exact(column: pl.Series) -> bool:
    """Whether decimals are the same after they have been floats."""
    import polars as pl

    assert isinstance(column.dtype, pl.Decimal)
    digits = 15  # that a float holds of any number
    largest = max((abs(end) for end in (column.min(), column.max()) if end is not None), default=0)  # type: ignore[type-var, arg-type]
    return bool(largest * 10**column.dtype.scale < 10**digits)


def with_text_for_nothing(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose columns without any value are texts: a file of few types does not say what they are."""
    import polars as pl

    return frame.with_columns(pl.col(name).cast(pl.String) for name, dtype in frame.schema.items() if dtype == pl.Null)


def retyped(found: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Return what was read with the types of the table that was written."""
    import polars as pl

    rounded = [
        found[name].round(dtype.scale)
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.Decimal) and found[name].dtype.is_float()
    ]
    return found.with_columns(rounded).cast(frame.schema)
