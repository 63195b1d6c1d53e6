"""Files in and out: CSV, row-wise XML, Parquet, Arrow IPC, and SPSS, Stata and SAS with an extra.

A file is read into a polars frame of typed columns. Formats in which reading loses something, such as ``1.50``
or ``007`` in CSV and the codes of user-defined missing values in SPSS, keep the cells as they were beside it,
and cells that the release leaves alone are written back from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, PlanError
from shoal.plan.plan import Reading
from shoal.tables.files.formats import FORMATS, Format, check_writable, file_format
from shoal.tables.files.rows import RowForm

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMATS",
    "Format",
    "Source",
    "check_writable",
    "checksum",
    "file_format",
    "read_file",
    "write_file",
]


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    path : Path
        Where it is.
    frame : polars.DataFrame
        Its columns, typed.
    form : TextForm, RowForm, StatisticalForm, the form of another format, or None
        How the file was written, and its cells as they were.
    sha256 : str
        Checksum of the file as it was read.
    notes : tuple of str
        What was guessed and the user should know.
    """

    path: Path
    frame: pl.DataFrame
    form: Any = None
    sha256: str = ""
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> RowForm | None:
        """How a row-wise XML file was written; None for other files."""
        return self.form if isinstance(self.form, RowForm) else None


def read_file(path: Path, reading: Reading) -> Source:
    """Read a table from a file."""
    import polars as pl

    found = file_format(path)
    if not found.reading and reading != Reading():
        raise PlanError(f"reading: has no effect on '{path.name}', which is not a text file")
    if not os.path.isfile(path):  # noqa: PTH113 - is_file() raises where a name is too long
        raise FileError(f"'{path}' is {'a folder' if os.path.isdir(path) else 'not there'}; name a file that exists")  # noqa: PTH112
    try:
        frame, form, notes = found.read(path, reading)
    except pl.exceptions.PolarsError:
        # what polars says may show cells
        raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read '{path}': {error.strerror or 'it is damaged'}") from None
    except MemoryError:
        raise FileError(f"cannot read '{path}': what is in it does not fit into memory") from None
    return Source(path, frame, form, checksum(path), notes)


def write_file(frame: pl.DataFrame, path: Path, source: Source | None, released: Container[str]) -> None:
    """Write a table, in the manner of the file that it came from where the formats agree.

    Cells of columns that were not ``released`` are written as they were. Of the others nothing is: the way in which a
    number was written, or a missing one was marked, could tell the members of a group apart.
    """
    import polars as pl

    check_writable(path)
    found = file_format(path)
    kept = _kept_cells(frame, source.frame, released) if source else {}
    assert found.write is not None
    try:
        found.write(frame, path, found.own(source.form) if source else None, kept)
    except pl.exceptions.PolarsError:
        raise FileError(f"cannot write '{path}': is the disk full? Nothing was written") from None


def _kept_cells(frame: pl.DataFrame, before: pl.DataFrame, released: Container[str]) -> dict[str, pl.Series]:
    """Return for each column that was not released which of its cells are to be written as they were."""
    # without their names: one such as ^.*$ would be taken for a pattern
    return {
        column.name: before[column.name].alias("").eq_missing(column.alias(""))
        for column in frame
        if column.name not in released
    }


def marked_in_several_ways(source: Source, names: Iterable[str]) -> list[str]:
    """Return the columns, of some, whose missing cells are marked in more than one way in the file they came from."""
    cells = getattr(source.form, "cells", None)
    if cells is None:
        return []
    found = []
    for name in names:
        if name in cells.columns and name in source.frame.columns:
            column = source.frame[name].alias("")
            missing = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
            if cells[name].alias("").filter(missing).n_unique() > 1:
                found.append(name)
    return found


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
