"""A file that was just written, read again as it is, so that what is checked is what a user gets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import BrokenPromise
from shoal.plan.reading import Reading
from shoal.tables.files import Source, decoded, file_format, read_file

if TYPE_CHECKING:
    import polars as pl


def read_again(path: Path, frame: pl.DataFrame, source: Source | None, reading: Reading) -> Source:
    """Read a file that ``frame`` was written to; its columns have the frame's types and the file's values."""
    import polars as pl

    found = file_format(path)
    try:
        if found.read_again:
            again = Source(path, *found.read_again(path, frame, found.own(source.form) if source else None, reading))
            again = decoded(again, reading)
        else:
            again = read_file(path, Reading(missing=reading.missing))
    except pl.exceptions.PolarsError:
        # what polars says may show cells
        raise BrokenPromise("the file as written cannot be read as what was written") from None
    if again.frame.columns != frame.columns or len(again.frame) != len(frame):
        raise BrokenPromise("the file as written does not have the records and columns of the release")
    return again
