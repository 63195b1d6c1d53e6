"""SPSS, Stata and SAS files, with the labels of variables and values, through pyreadstat (the extra ``formats``).

User-defined missing values (SPSS codes such as 99) are missing for the release; in columns that are not released they
are written back as the codes they were. Numbers that the file shows without decimals are whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, MissingExtra
from shoal.tables.files.transport import check_whole

if TYPE_CHECKING:
    import polars as pl

_WHOLE_FORMAT = re.compile(r"(?i)(F\d+(\.0)?|%-?\d*\.0f)$")


@dataclass(frozen=True)
class StatisticalForm:
    """What a statistical file says about its columns.

    Attributes
    ----------
    suffix : str
        Ending of the file: labels can be written back only into the same format.
    cells : polars.DataFrame
        Its values with the codes of user-defined missing values in place.
    metadata
        pyreadstat's metadata.
    """

    suffix: str
    cells: pl.DataFrame
    metadata: Any


def _pyreadstat() -> Any:
    try:
        import pyreadstat  # an extra
    except ImportError:
        raise MissingExtra("reading and writing SPSS, Stata and SAS files", "formats") from None
    return pyreadstat


def read_statistical(path: Path) -> tuple[pl.DataFrame, StatisticalForm]:
    """Read a file: its columns, and what it says about them."""
    pyreadstat = _pyreadstat()
    suffix = path.suffix.lower()
    read = {
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".dta": pyreadstat.read_dta,
        ".xpt": pyreadstat.read_xport,
        ".sas7bdat": pyreadstat.read_sas7bdat,
    }[suffix]
    if suffix == ".xpt":
        check_whole(path)
    try:
        frame, metadata = read(str(path), output_format="polars")
        cells = frame
        if suffix in (".sav", ".zsav"):
            cells, metadata = read(str(path), output_format="polars", user_missing=True)
    except pyreadstat.ReadstatError as error:
        raise FileError(f"cannot read '{path}': {error}") from None
    return frame.with_columns(_whole_columns(frame, metadata)), StatisticalForm(suffix, cells, metadata)


def _whole_columns(frame: pl.DataFrame, metadata: Any) -> list[pl.Series]:
    """Return the columns of numbers without decimals, by their format and their values, as integers."""
    import polars as pl

    whole = []
    for column in frame:
        shown = str(metadata.original_variable_types.get(column.name, ""))
        stored = str(metadata.readstat_variable_types.get(column.name, ""))
        if column.dtype.is_float() and (_WHOLE_FORMAT.match(shown) or stored.startswith("int")):
            numbers = column.fill_nan(None)
            if bool((numbers == numbers.round()).all()):
                whole.append(numbers.cast(pl.Int64))
    return whole


def write_statistical(
    frame: pl.DataFrame, path: Path, form: StatisticalForm | None, kept: dict[str, pl.Series]
) -> None:
    """Write a file with the labels of the one it came from; ``kept`` cells, of columns not released, as they were."""
    pyreadstat = _pyreadstat()
    suffix = path.suffix.lower()
    options: dict[str, Any] = {}
    if form is not None:
        spss = (".sav", ".zsav")
        same_form = form.suffix == suffix or (form.suffix in spss and suffix in spss)
        if same_form:
            cells = form.cells
            frame = frame.with_columns(
                [
                    cells[c.name].zip_with(kept[c.name], now) if c.name in kept else now
                    for c in frame
                    for now in [c.cast(cells[c.name].dtype)]
                ]
            )
        options = _labels(frame, suffix, form, same_form, released=[n for n in frame.columns if n not in kept])
    write = {
        ".sav": pyreadstat.write_sav,
        ".zsav": pyreadstat.write_sav,
        ".dta": pyreadstat.write_dta,
        ".xpt": pyreadstat.write_xport,
    }[suffix]
    if suffix == ".zsav":
        options["compress"] = True
    try:
        write(frame, str(path), **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise FileError(f"cannot write '{path}': {error}; nothing was written") from None
    if suffix == ".xpt":
        try:
            check_whole(path, len(frame))  # for which the writer does not look
        except FileError:
            raise FileError(f"cannot write '{path}': is the disk full? Nothing was written") from None


def _labels(
    frame: pl.DataFrame, suffix: str, form: StatisticalForm, same_form: bool, released: Sequence[str]
) -> dict[str, Any]:
    """Return pyreadstat's arguments for the labels that a format can hold.

    Of a released column only the labels of values that the release has: another one tells what a record had.
    """
    metadata = form.metadata

    def of(mapping: dict[str, Any]) -> dict[str, Any]:
        return {name: mapping[name] for name in frame.columns if mapping.get(name)}

    options: dict[str, Any] = {
        "file_label": metadata.file_label or "",
        "column_labels": of(metadata.column_names_to_labels),
    }
    if suffix in (".sav", ".zsav", ".dta"):
        labels = of(metadata.variable_value_labels)
        for name in set(released) & set(labels):
            there = set(frame[name].unique().to_list())
            labels[name] = {value: label for value, label in labels[name].items() if value in there}
        options["variable_value_labels"] = {name: own for name, own in labels.items() if own}
    if same_form and suffix in (".sav", ".zsav"):
        # a released mean may be the code of a missing value by chance
        ranges = of(metadata.missing_ranges)
        options["missing_ranges"] = {name: own for name, own in ranges.items() if name not in released}
        options["variable_measure"] = of(metadata.variable_measure)
    if same_form:
        options["variable_format"] = of(metadata.original_variable_types)
    return options
