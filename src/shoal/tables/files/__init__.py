"""Files in and out, by their endings, and tables of servers, by their addresses.

A file is read into a polars frame of typed columns. Formats in which reading loses something, such as ``1.50``
or ``007`` in CSV and the codes of user-defined missing values in SPSS, keep the cells as they were beside it,
and cells that the release leaves alone are written back from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, PlanError
from shoal.plan.reading import Reading
from shoal.tables.files.formats import FORMATS, Format, check_writable, file_format
from shoal.tables.files.pieces import ENDINGS, checksum_of, fixed_folder, piece_paths, read_pieces
from shoal.tables.files.places import Address, is_stream, place_of
from shoal.tables.files.postgresql import read_postgresql
from shoal.tables.files.rows import RowForm
from shoal.tables.files.streams import standard_input
from shoal.tables.files.text import TextForm

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMATS",
    "Format",
    "Source",
    "check_writable",
    "checksum",
    "decoded",
    "file_format",
    "format_of",
    "kept_cells",
    "read_file",
    "settings_read",
    "with_codes",
    "write_file",
]


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    path : Path or None
        Where it is; None for a table of a server.
    frame : polars.DataFrame
        Its columns, typed.
    form : TextForm, RowForm, StatisticalForm, the form of another format, or None
        How the file was written, and its cells as they were.
    sha256 : str
        Checksum of the file as it was read.
    notes : tuple of str
        What was guessed and the user should know.
    coded : polars.DataFrame or None
        Columns as they were before codes for missing values were taken out, where nothing else keeps them.
    table : str
        Name of a table of a server.
    pieces : int
        How many files it is in, where those of a folder or a pattern; 0 for one file.
    """

    path: Path | None
    frame: pl.DataFrame
    form: Any = None
    sha256: str = ""
    notes: tuple[str, ...] = ()
    coded: pl.DataFrame | None = None
    table: str = ""
    pieces: int = 0

    @property
    def name(self) -> str:
        """Name of the file without its folder, of the folder of several with a slash, or of the table of a server."""
        if self.path is None:
            return self.table
        if not self.pieces:
            return self.path.name
        return f"{(self.path if self.path.is_dir() else fixed_folder(self.path)).name}/"

    def described(self) -> dict[str, Any]:
        """Return what a manifest says about it."""
        several = {"files": self.pieces} if self.pieces else {}
        return {"name": self.name, **({"sha256": self.sha256} if self.sha256 else {}), **several}

    @property
    def rows(self) -> RowForm | None:
        """How a row-wise XML file was written; None for other files."""
        return self.form if isinstance(self.form, RowForm) else None


def format_of(name: str | Path) -> Format | None:
    """Return the format of what a name stands for; None for a table of a server."""
    if is_stream(name):
        return file_format(standard_input())
    place = place_of(name)
    if isinstance(place, Address):
        return None
    return FORMATS[ENDINGS[0]] if piece_paths(place) else file_format(place)


def settings_read(name: object) -> frozenset[str]:
    """Return which settings of ``reading`` have an effect on what a name stands for; none on a table in memory."""
    if not isinstance(name, str | Path):
        return frozenset()
    found = format_of(name)
    if found:
        return found.settings
    place = place_of(name)
    own = isinstance(place, Address) and place.table is not None
    return frozenset({"missing"}) if own else frozenset({"table", "missing"})


def read_file(name: str | Path, reading: Reading) -> Source:
    """Read a table from a file, several files, standard input or a server."""
    settings = settings_read(name)
    without = [setting for setting in sorted(reading.model_fields_set - settings) if _said(reading, setting)]
    place = standard_input() if is_stream(name) else place_of(name)
    if without:
        shown = place.shown if isinstance(place, Address) else place.name
        raise PlanError(f"reading: {', '.join(without)} has no effect on '{shown}'; leave it out")
    if isinstance(place, Address):
        frame, form, table = read_postgresql(place, reading.table)
        return decoded(Source(None, frame, form, table=table), reading)
    pieces = piece_paths(place)
    if pieces:
        frame, sha256 = read_pieces(pieces, place), checksum_of(pieces, place)
        return decoded(Source(place, frame, None, sha256, pieces=len(pieces)), reading)
    return decoded(_read_one(place, reading), reading)


def _said(reading: Reading, setting: str) -> bool:
    return bool(getattr(reading, setting) != Reading.model_fields[setting].default)


def _read_one(path: Path, reading: Reading) -> Source:
    import polars as pl

    found = file_format(path)
    if not os.path.isfile(path):  # noqa: PTH113 - is_file() raises where a name is too long
        if os.path.isdir(path):  # noqa: PTH112 - the same
            raise FileError(f"'{path}' is a folder without Parquet files; name a file that exists")
        raise FileError(f"'{path}' is not there; name a file that exists")
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


def decoded(source: Source, reading: Reading) -> Source:
    """Take codes for missing values out of columns of numbers and texts; text files have none left."""
    import polars as pl

    if not reading.missing or (source.path and isinstance(source.form, TextForm)):
        return source
    numbers = [number for code in reading.missing if (number := _number(code)) is not None]
    codes = pl.Series(list(reading.missing))
    columns = []
    for column in source.frame:
        bare = column.alias("")
        if column.dtype.is_numeric():
            coded = bare.cast(pl.Float64).is_in(numbers)
        elif column.dtype == pl.String:
            coded = bare.str.strip_chars().is_in(codes)
        else:
            continue
        if coded.any():
            columns.append(bare.set(coded, None).alias(column.name))
    as_they_were = source.frame.select([column.name for column in columns])
    return replace(source, frame=source.frame.with_columns(columns), coded=as_they_were)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def write_file(frame: pl.DataFrame, path: Path, source: Source | None, released: Container[str]) -> None:
    """Write a table, in the manner of the file that it came from where the formats agree.

    Cells of columns that were not ``released`` are written as they were. Of the others nothing is: the way in which a
    number was written, or a missing one was marked, could tell the members of a group apart.
    """
    import polars as pl

    check_writable(path)
    found = file_format(path)
    kept = kept_cells(frame, source.frame, released) if source else {}
    assert found.write is not None
    if source is not None:
        frame = with_codes(frame, source, kept)
    try:
        found.write(frame, path, found.own(source.form) if source else None, kept)
    except pl.exceptions.PolarsError:
        raise FileError(f"cannot write '{path}': is the disk full? Nothing was written") from None


def with_codes(frame: pl.DataFrame, source: Source, kept: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return a table with the codes for missing values back in the ``kept`` cells of columns that were not released."""
    if source.coded is None:
        return frame
    names = [name for name in source.coded.columns if name in kept]
    return frame.with_columns(source.coded[name].zip_with(kept[name], frame[name]) for name in names)


def kept_cells(frame: pl.DataFrame, before: pl.DataFrame, released: Container[str]) -> dict[str, pl.Series]:
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
