"""Files in and out: CSV, row-wise XML, Parquet, Arrow IPC, and SPSS, Stata and SAS with an extra.

A file is read into a polars frame of typed columns. Formats in which reading loses something, such as ``1.50``
or ``007`` in CSV and the codes of user-defined missing values in SPSS, keep the cells as they were beside it,
and cells that the release leaves alone are written back from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError, PlanError
from shoal.plan.plan import Reading
from shoal.tables.files import rows, statistical, text

if TYPE_CHECKING:
    import polars as pl

_FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".dat": "text",
    ".data": "text",
    ".xml": "xml",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".sav": "statistical",
    ".zsav": "statistical",
    ".dta": "statistical",
    ".xpt": "statistical",
    ".sas7bdat": "statistical",
}


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    path : Path
        Where it is.
    frame : polars.DataFrame
        Its columns, typed.
    text : TextForm or None
        How a text file was written, and its cells as they were.
    statistical : StatisticalForm or None
        Labels and formats of an SPSS, Stata or SAS file, and its cells as they were.
    rows : RowForm or None
        How a row-wise XML file was written, and its values as they were.
    sha256 : str
        Checksum of the file as it was read.
    notes : tuple of str
        What was guessed and the user should know.
    """

    path: Path
    frame: pl.DataFrame
    text: text.TextForm | None = None
    statistical: statistical.StatisticalForm | None = None
    rows: rows.RowForm | None = None
    sha256: str = ""
    notes: tuple[str, ...] = ()


def file_format(path: Path) -> str:
    """Return the format of a file by its name, or raise FileError."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = len(suffixes) > 1 and suffixes[-1] == ".gz"
    last = suffixes[-2] if packed else (suffixes[-1] if suffixes else "")
    if last not in _FORMATS or (packed and _FORMATS[last] != "text"):
        raise FileError(f"'{path}': the ending '{last}' is none of {', '.join(_FORMATS)} (text files also with .gz)")
    return _FORMATS[last]


def read_file(path: Path, reading: Reading) -> Source:
    """Read a table from a file."""
    import polars as pl

    kind = file_format(path)
    if kind != "text" and reading != Reading():
        raise PlanError(f"reading: has no effect on '{path.name}', which is not a text file")
    if not os.path.isfile(path):  # noqa: PTH113 - is_file() raises where a name is too long
        raise FileError(f"'{path}' is {'a folder' if os.path.isdir(path) else 'not there'}; name a file that exists")  # noqa: PTH112
    try:
        if kind == "text":
            frame, form, notes = text.read_text(path, reading)
            return Source(path, frame, text=form, sha256=checksum(path), notes=notes)
        if kind == "xml":
            frame, row_form = rows.read_rows(path)
            return Source(path, frame, rows=row_form, sha256=checksum(path))
        if kind == "statistical":
            frame, labels = statistical.read_statistical(path)
            return Source(path, frame, statistical=labels, sha256=checksum(path))
        with path.open("rb") as handle:  # for polars a name may stand for several files
            frame = pl.read_parquet(handle) if kind == "parquet" else pl.read_ipc(handle)
    except pl.exceptions.PolarsError:
        # what polars says may show cells
        raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read '{path}': {error.strerror or 'it is damaged'}") from None
    except MemoryError:
        raise FileError(f"cannot read '{path}': what is in it does not fit into memory") from None
    return Source(path, frame, sha256=checksum(path))


def write_file(frame: pl.DataFrame, path: Path, source: Source | None, released: Container[str]) -> None:
    """Write a table, in the manner of the file that it came from where the formats agree.

    Cells of columns that were not ``released`` are written as they were; of the others only those that are
    missing, since the way in which a number was written could tell the members of a group apart.
    """
    kept = _kept_cells(frame, source.frame, released) if source else {}
    import polars as pl

    kind = file_format(path)
    try:
        _write_as(kind, frame, path, source, kept)
    except pl.exceptions.PolarsError:
        raise FileError(f"cannot write '{path}': is the disk full? Nothing was written") from None


def _write_as(kind: str, frame: pl.DataFrame, path: Path, source: Source | None, kept: dict[str, pl.Series]) -> None:
    if kind == "text":
        text.write_text(frame, path, source.text if source else None, kept)
    elif kind == "statistical":
        statistical.write_statistical(frame, path, source.statistical if source else None, kept)
    elif kind == "xml":
        rows.write_rows(frame, path, source.rows if source else None, kept)
    elif kind == "parquet":
        with path.open("wb") as handle:
            frame.write_parquet(handle)
    else:
        with path.open("wb") as handle:
            frame.write_ipc(handle)


def _kept_cells(frame: pl.DataFrame, before: pl.DataFrame, released: Container[str]) -> dict[str, pl.Series]:
    """Return for each column which of its cells are to be written as they were."""
    kept = {}
    for column in frame:
        old = before[column.name]
        kept[column.name] = old.is_null() & column.is_null() if column.name in released else old.eq_missing(column)
    return kept


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
