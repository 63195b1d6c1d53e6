"""The file formats: which endings each has, and how it is read, written, and read again after writing.

To add one: write a module with its functions, and add it to ``FORMATS``. Reading, writing, the command line and the
messages take it from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError
from shoal.plan.reading import Reading
from shoal.tables.files.duckdb_file import read_duckdb
from shoal.tables.files.excel import SheetForm, read_excel, read_excel_again, write_excel
from shoal.tables.files.json_lines import JsonForm, read_json_lines, read_json_lines_again, write_json_lines
from shoal.tables.files.packing import PACKINGS
from shoal.tables.files.rows import RowForm, read_rows, read_rows_again, write_rows
from shoal.tables.files.sqlite import SqliteForm, read_sqlite, read_sqlite_again, write_sqlite
from shoal.tables.files.statistical import StatisticalForm, read_statistical, write_statistical
from shoal.tables.files.text import TextForm, read_text, read_text_again, write_text

if TYPE_CHECKING:
    import polars as pl

_TEXT = frozenset(Reading.model_fields) - {"table"}
_CODES = frozenset({"missing"})
_TABLES = frozenset({"missing", "table"})
_INSTEAD = {
    ".zip": "unpack it, and name the file inside",
    **dict.fromkeys((".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz"), "unpack it, and name the file inside"),
    **dict.fromkeys(
        (".pkl", ".pickle", ".joblib", ".npy"),
        "a pickle can run any program when it is read; write the table as .parquet, and name that",
    ),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "write the table as .parquet or .csv from R, and name that"),
    **dict.fromkeys((".mdb", ".accdb"), "export the table as .csv or .xlsx from Access, and name that"),
    **dict.fromkeys((".h5", ".hdf5", ".hdf", ".nc"), "write the table as .parquet, and name that"),
    ".json": "write one object a line, and name that .jsonl",
    ".html": "save the table as .csv or .xlsx, and name that",
    ".pdf": "a table in a PDF file has to be copied into .csv or .xlsx first",
    ".por": "save it as .sav from SPSS, and name that",
}


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        What it is called in messages.
    endings : tuple of str
        Endings of its files, in lower case and with the dot.
    read : callable
        ``read(path, reading)`` returns the typed columns, the form of the file or None, and what was guessed. An error
        of polars is told for it, since that may show cells.
    write : callable, optional
        ``write(frame, path, form, kept)`` writes a table in the form of the file that it came from, or with None in the
        usual one. ``kept`` has for each column that was not released which of its cells are to be written as they
        were. None where files can be read only.
    form : type, optional
        What a form is, where there is one. A format writes the forms of its own kind, and sees None for others.
    read_again : callable, optional
        ``read_again(path, frame, form, reading)`` reads what ``write`` wrote, with the types of the frame, and returns
        columns and form. ``read`` serves where the file itself says the types.
    settings : frozenset of str
        Which settings of ``reading`` have an effect.
    packed : bool
        Whether its files may be packed, with .gz or .zst behind the ending.
    instead : str
        Ending to write to where files can be read only.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[Path, Reading], tuple[pl.DataFrame, Any, tuple[str, ...]]]
    write: Callable[[pl.DataFrame, Path, Any, dict[str, pl.Series]], None] | None = None
    form: type | None = None
    read_again: Callable[[Path, pl.DataFrame, Any, Reading], tuple[pl.DataFrame, Any]] | None = None
    settings: frozenset[str] = _CODES
    packed: bool = False
    instead: str = ".csv"

    def own(self, form: object) -> Any:
        """Return a form if it is one of this format's, and None otherwise."""
        return form if self.form and isinstance(form, self.form) else None

    @property
    def text(self) -> bool:
        """Whether its cells are texts, of which looking tells what they are."""
        return "delimiter" in self.settings


def file_format(path: Path) -> Format:
    """Return the format of a file by its name, or raise FileError.

    >>> file_format(Path("survey.csv.gz")).name
    'text'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = len(suffixes) > 1 and suffixes[-1] in PACKINGS
    last = suffixes[-2] if packed else (suffixes[-1] if suffixes else "")
    found = FORMATS.get(last)
    if found is None or (packed and not found.packed):
        if last in _INSTEAD:
            raise FileError(f"'{path}': {last} is not read or written; {_INSTEAD[last]}")
        raise FileError(
            f"'{path}': the ending '{last}' is none of {', '.join(FORMATS)} (text and JSON lines also with .gz or .zst)"
        )
    return found


def check_writable(path: Path) -> None:
    """Refuse a file whose format cannot be written."""
    found = file_format(path)
    if found.write is None:
        raise FileError(f"'{path}': {found.name} can be read but not written; write {found.instead} instead")


def _read_parquet(path: Path, _: Reading) -> tuple[pl.DataFrame, None, tuple[str, ...]]:
    import polars as pl

    with path.open("rb") as file:  # as a name it may stand for several files
        return pl.read_parquet(file), None, ()


def _write_parquet(frame: pl.DataFrame, path: Path, form: None, kept: dict[str, pl.Series]) -> None:
    with path.open("wb") as file:
        frame.write_parquet(file)


def _read_arrow(path: Path, _: Reading) -> tuple[pl.DataFrame, None, tuple[str, ...]]:
    import polars as pl

    with path.open("rb") as file:
        return pl.read_ipc(file), None, ()


def _write_arrow(frame: pl.DataFrame, path: Path, form: None, kept: dict[str, pl.Series]) -> None:
    with path.open("wb") as file:
        frame.write_ipc(file)


FORMATS: dict[str, Format] = {
    ending: one
    for one in (
        Format(
            "text",
            (".csv", ".tsv", ".txt", ".dat", ".data"),
            read_text,
            write_text,
            TextForm,
            read_text_again,
            settings=_TEXT,
            packed=True,
        ),
        Format(
            "JSON lines",
            (".jsonl", ".ndjson"),
            lambda path, _: (*read_json_lines(path), ()),
            write_json_lines,
            JsonForm,
            lambda path, frame, form, _: read_json_lines_again(path, frame, form),
            packed=True,
        ),
        Format(
            "row-wise XML",
            (".xml",),
            lambda path, _: (*read_rows(path), ()),
            write_rows,
            RowForm,
            lambda path, frame, form, _: read_rows_again(path, frame, form),
        ),
        Format("Parquet", (".parquet", ".pq"), _read_parquet, _write_parquet),
        Format("Arrow IPC", (".arrow", ".ipc", ".feather"), _read_arrow, _write_arrow),
        Format(
            "Excel",
            (".xlsx",),
            lambda path, reading: (*read_excel(path, reading.table), ()),
            write_excel,
            SheetForm,
            lambda path, frame, form, _: read_excel_again(path, frame, form),
            settings=_TABLES,
        ),
        Format(
            "Excel before 2007, binary Excel and OpenDocument",
            (".xls", ".xlsb", ".xlsm", ".ods"),
            lambda path, reading: (*read_excel(path, reading.table), ()),
            form=SheetForm,
            settings=_TABLES,
            instead=".xlsx",
        ),
        Format(
            "SQLite",
            (".sqlite", ".sqlite3", ".db"),
            lambda path, reading: (*read_sqlite(path, reading.table), ()),
            write_sqlite,
            SqliteForm,
            lambda path, frame, form, _: read_sqlite_again(path, frame, form),
            settings=_TABLES,
        ),
        Format(
            "DuckDB",
            (".duckdb", ".ddb"),
            lambda path, reading: (read_duckdb(path, reading.table), None, ()),
            settings=_TABLES,
            instead=".parquet",
        ),
        Format(
            "SPSS, Stata and SAS transport",
            (".sav", ".zsav", ".dta", ".xpt"),
            lambda path, _: (*read_statistical(path), ()),
            write_statistical,
            StatisticalForm,
        ),
        Format(
            "SAS data sets",
            (".sas7bdat",),
            lambda path, _: (*read_statistical(path), ()),
            form=StatisticalForm,
            instead=".xpt",
        ),
    )
    for ending in one.endings
}
