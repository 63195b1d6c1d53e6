"""JSON lines: one object a line, with the names of the columns in each. Also packed."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import DataError, FileError
from shoal.tables.files.cells import CellForm
from shoal.tables.files.dated import as_texts, with_dates
from shoal.tables.files.few_types import CellTypes, narrowed, retyped, with_text_for_nothing
from shoal.tables.files.packing import packed, unpacked

if TYPE_CHECKING:
    import polars as pl


_CELLS = CellTypes("JSON", largest=2**64 - 1, lists=True)


@dataclass(frozen=True)
class JsonForm:
    """How dates and times are written, by column."""

    dates: dict[str, CellForm]


def read_json_lines(path: Path) -> tuple[pl.DataFrame, JsonForm]:
    """Read a file; columns whose texts are all dates or times are such, and a name that is left out is missing."""
    import polars as pl

    data = unpacked(path)
    if not data.strip():
        raise DataError(f"'{path}' is empty")
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except RuntimeError:  # of polars before 1.30, which has no error of its own for this
        raise FileError(f"cannot read '{path}': it is damaged, or not what its ending says") from None
    frame, dates = with_dates(with_text_for_nothing(frame))
    return frame, JsonForm(dates)


def write_json_lines(frame: pl.DataFrame, path: Path, form: JsonForm | None, kept: dict[str, pl.Series]) -> None:
    """Write a file; a missing value is null."""
    texts = as_texts(narrowed(frame, path, _CELLS), form.dates if form else {})
    path.write_bytes(packed(path, texts.write_ndjson().encode()))


def read_json_lines_again(path: Path, frame: pl.DataFrame, form: JsonForm | None) -> tuple[pl.DataFrame, JsonForm]:
    """Read a file that ``frame`` was written to, with the types of the frame."""
    import polars as pl

    form = form or JsonForm({})
    found = pl.read_ndjson(io.BytesIO(unpacked(path)), infer_schema_length=None)
    dated, _ = with_dates(found)
    return retyped(dated, frame), form
