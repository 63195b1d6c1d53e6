"""Text files: any delimiter and encoding, decimal commas, dates; cells that are not released stay as they were.

All cells are read as text first; :mod:`shoal.tables.files.cells` gives columns their types.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import DataError, FileError, counted, did_you_mean, printable
from shoal.plan.delimited import find_delimiter, first_rows, same_width
from shoal.plan.reading import Reading
from shoal.tables.files.cells import CellForm, several_zones, typed_cells, typed_like, written
from shoal.tables.files.packing import packed, unpacked

if TYPE_CHECKING:
    import polars as pl

_DELIMITERS = ",;\t|"
_SAMPLE = 1 << 18  # bytes that are looked at to find out how a file is written
_LOOK = 100  # lines looked at to find the delimiter


@dataclass(frozen=True)
class TextForm:
    """How a text file was written.

    Attributes
    ----------
    delimiter, encoding, newline : str
        As found or given.
    header : bool
        Whether the first line has the names.
    missing : str
        What a missing cell is written as.
    cells : polars.DataFrame
        Every cell as it was, as text.
    forms : dict
        How the cells of a column are written, where not plainly.
    """

    delimiter: str
    encoding: str
    newline: str
    header: bool
    missing: str
    cells: pl.DataFrame
    forms: dict[str, CellForm] = field(default_factory=dict)


def read_text(path: Path, reading: Reading) -> tuple[pl.DataFrame, TextForm, tuple[str, ...]]:
    """Read a text file: its typed columns, its form, and what was guessed."""
    import polars as pl

    data = unpacked(path)
    data, encoding, notes = _as_utf8(data, path, reading.encoding)
    if not data.strip():
        raise DataError(f"'{path}' is empty")
    if b"\n" not in data and b"\r" in data:
        raise FileError(f"'{path}' has lines that end in a carriage return alone; convert them to line feeds")
    sample = _sample(data)
    delimiter = reading.delimiter or find_delimiter(
        sample, _DELIMITERS, most=_LOOK, whole=len(sample.encode()) == len(data)
    )
    if len(delimiter.encode()) != 1:
        raise DataError(f"delimiter {delimiter!r}: give a single character")
    data = _without_blank_end(data, delimiter)
    names = _header(data, delimiter) if reading.header else _numbered(data, delimiter)
    try:
        cells = pl.read_csv(
            io.BytesIO(data), separator=delimiter, has_header=reading.header, new_columns=names, infer_schema=False
        )
    except pl.exceptions.PolarsError:
        _check_lines(data, delimiter, len(names), path, reading)
        # what polars says may show cells
        raise FileError(f"cannot read '{path}': a quote is left open or stands inside a cell; correct it") from None
    # lines with too few fields are filled up by polars: only an empty last cell can come from one
    if cells[:, -1].null_count() and cells.width > 1:
        cuts = data.count(delimiter.encode())
        if b'"' in data or cuts != (len(cells) + reading.header) * (cells.width - 1):
            _check_lines(data, delimiter, cells.width, path, reading)
    # without their names: one such as ^.*$ would be taken for a pattern
    present = {column.name: _without(column.alias(""), reading.missing) for column in cells}
    bare = {name: column.str.strip_chars() for name, column in present.items()}
    values, forms = typed_cells(bare, delimiter, reading)
    typed = [(column if column.dtype != pl.String else present[name]).alias(name) for name, column in values.items()]
    zones = [name for name, own in forms.items() if several_zones(bare[name], own)]
    if zones:
        notes += (f"times of several offsets from UTC, which a release has in UTC: {', '.join(map(printable, zones))}",)
    form = TextForm(
        delimiter=delimiter,
        encoding=encoding,
        newline="\r\n" if b"\r\n" in data[:65536] else "\n",
        header=reading.header,
        missing=reading.missing[0] if reading.missing else "",
        cells=cells,
        forms=forms,
    )
    return pl.DataFrame(typed), form, notes


def write_text(frame: pl.DataFrame, path: Path, form: TextForm | None, kept: dict[str, pl.Series]) -> None:
    """Write a text file in the given form; ``kept`` cells are written as they were."""
    import polars as pl

    form = plain_form(form, path)
    columns = []
    for column in frame:
        texts = written(column, form.forms.get(column.name)).alias("")
        if form.missing:
            texts = texts.fill_null(form.missing)
        if column.name in form.cells.columns and column.name in kept:
            texts = form.cells[column.name].alias("").zip_with(kept[column.name], texts)
        if frame.width == 1:  # quoted: readers pass over blank lines, at the end of a file or anywhere
            texts = texts.fill_null("")
        columns.append(texts.alias(column.name))
    data = pl.DataFrame(columns).write_csv(
        separator=form.delimiter, include_header=form.header, line_terminator=form.newline
    )
    try:
        encoded = data.encode(form.encoding)
    except UnicodeError:
        raise FileError(f"'{path}': some text cannot be written in {form.encoding}") from None
    path.write_bytes(packed(path, encoded))


def read_text_again(
    path: Path, frame: pl.DataFrame, form: TextForm | None, reading: Reading
) -> tuple[pl.DataFrame, TextForm]:
    """Read a file that ``frame`` was written to, with the types of the frame."""
    form = plain_form(form, path)
    return typed_like(_cells_of(path, frame, form), frame, form.forms, (form.missing, *reading.missing)), form


def _cells_of(path: Path, frame: pl.DataFrame, form: TextForm) -> pl.DataFrame:
    import polars as pl

    data = unpacked(path)
    if form.encoding.lower() not in ("utf-8", "utf8"):
        data = data.decode(form.encoding).encode()
    return pl.read_csv(
        io.BytesIO(data),
        separator=form.delimiter,
        has_header=form.header,
        new_columns=frame.columns,
        infer_schema=False,
    )


def plain_form(form: TextForm | None, path: Path) -> TextForm:
    """Return the form in which a text file is written: that of the file it came from, or the usual one."""
    import polars as pl

    form = form or TextForm(",", "utf-8", "\n", True, "", pl.DataFrame())
    return replace(form, delimiter="\t") if ".tsv" in path.suffixes else form


def _as_utf8(data: bytes, path: Path, encoding: str | None) -> tuple[bytes, str, tuple[str, ...]]:
    """Return the text in UTF-8 without a byte order mark, the encoding it was in, and what was guessed."""
    marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    guess = encoding or next((name for mark, name in marks if data.startswith(mark)), "utf-8")
    notes: tuple[str, ...] = ()
    try:
        text = data.decode(guess)
        recoded = data if guess == "utf-8" else text.encode()
    except LookupError:
        raise DataError(f"there is no encoding '{guess}'{did_you_mean(guess, _ENCODINGS)}") from None
    except ValueError:  # as encodings raise that cannot read it, or do not read texts at all
        if encoding:
            raise FileError(f"'{path}' is not in {encoding}; give another encoding") from None
        guess = "cp1252"
        try:
            recoded = data.decode(guess).encode()
        except UnicodeDecodeError:
            guess = "latin-1"
            recoded = data.decode(guess).encode()
        notes = (f"'{path.name}' is not in UTF-8 and was read as {guess}; give the encoding if that is wrong",)
    return recoded, guess, notes


_ENCODINGS = (
    "utf-8",
    "utf-16",
    "latin-1",
    "cp1252",
    "iso-8859-15",
    "cp1250",
    "cp437",
    "big5",
    "gb18030",
    "shift_jis",
    "euc-kr",
)


def _sample(data: bytes) -> str:
    """Return the first lines of a file that is UTF-8, the first of them whole."""
    sample = data[: max(_SAMPLE, data.find(b"\n") + 1)].decode("utf-8", errors="ignore")
    return sample[: sample.rfind("\n") + 1] or sample if len(data) > _SAMPLE else sample


def _first_line(data: bytes, delimiter: str) -> list[str]:
    """Return the cells of the first line."""
    try:
        return next(first_rows(_sample(data), delimiter, 1))
    except csv.Error:
        raise DataError(
            "a cell of the first line has no end; is a quote left open, or the delimiter another?"
        ) from None


def _header(data: bytes, delimiter: str) -> list[str]:
    """Return the names in the first line, checked."""
    names = [name.strip() for name in _first_line(data, delimiter)]
    mistakes = [
        f"column name '{name}' occurs {names.count(name)} times; rename the columns"
        if name
        else "a column has no name; name every column in the first line, or say that there is no header"
        for name in dict.fromkeys(names)
        if not name or names.count(name) > 1
    ]
    if mistakes:
        raise DataError(mistakes)
    return names


def _numbered(data: bytes, delimiter: str) -> list[str]:
    """Return names for the columns of a file without a header."""
    return [f"column_{place}" for place, _ in enumerate(_first_line(data, delimiter), start=1)]


def _without_blank_end(data: bytes, delimiter: str) -> bytes:
    r"""Drop blank lines at the end of a file, however many and also of spaces; what ends the last record stays.

    >>> _without_blank_end(b"x,y\r\n1, \r\n \r\n\r\n", ","), _without_blank_end(b"x\ty\n1\t2\n\t\n", chr(9))
    (b'x,y\r\n1, \r\n', b'x\ty\n1\t2\n\t\n')
    """
    end = len(data.rstrip(b" \t\r\n".replace(delimiter.encode(), b"")))
    return data[: data.find(b"\n", end) + 1 or len(data)]


def _check_lines(data: bytes, delimiter: str, width: int, path: Path, reading: Reading) -> None:
    """Refuse lines that do not have as many fields as there are columns, blank ones too."""
    text = data.decode()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        wrong = [reader.line_num for row in reader if len(row) != width]
    except csv.Error:  # lines cannot be told apart then, so none of them may pass for whole
        raise FileError(
            f"cannot read '{path}': a cell has more than {csv.field_size_limit()} characters; "
            "correct it if a quote is left open before it, or shorten it"
        ) from None
    if wrong:
        found = "was given" if reading.delimiter else "was found by looking"
        raise FileError(
            f"'{path}': {counted(len(wrong), 'line')} without {counted(width, 'field')}, the first is line {wrong[0]}; "
            f"the delimiter {delimiter!r} {found}; {_what_to_do(text, delimiter, width)}"
        )


def _what_to_do(text: str, delimiter: str, width: int) -> str:
    """Say which other delimiter cuts every line alike, or else that lines are to be corrected."""
    others = {mark: same_width(text, mark) or 0 for mark in _DELIMITERS if mark != delimiter}
    best = max(others, key=lambda mark: others[mark])
    # one that stands nowhere makes one column of every file; it is meant where the first line is not cut either
    if others[best] > 1 or (others[best] and width == 1):
        shown = repr(best)
        return (
            f"with {shown} every line has {counted(others[best], 'field')}: if that is meant, say so with "
            f"--delimiter {shown} (delimiter={shown} in `reading`)"
        )
    return "correct the lines, or name the delimiter if it is another (--delimiter, or delimiter in `reading`)"


def _without(column: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """Return a column of text with the marks of missing values taken out."""
    return column.set(column.str.strip_chars().is_in(list(missing)), None) if missing else column
