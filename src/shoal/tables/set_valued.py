"""Cells that hold several values, such as the diagnoses of a patient: found, spread over columns, and put together.

No method takes sets as they are. Spread over one column for each value that occurs, "yes" where a record has it, they
are what every method for categories knows: two records are as far apart as the part of these columns in which they
differ, which is the symmetric difference of their sets, and the mode of each column says whether most of a group have
the value, which makes the set with the least summed symmetric difference. k holds for all columns together, and so for
what is put together from them.

Cost: O(n v) for n records and v different values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from shoal.errors import DataError, counted, did_you_mean
from shoal.tables.table import open_table

MARKS = (";", "|", ",")
_BETWEEN = ": "  # a column and one of its values
_MOST = 1000  # columns that one becomes
YES, NO = "yes", "no"


def mark_of_sets(labels: Sequence[Any]) -> str | None:
    """Return the mark between several values of a cell, where the distinct values of a column look like sets.

    They do where cells hold different numbers of parts, and there are fewer parts than cells: a name such as
    ``Doe, Ann`` has two everywhere.

    >>> mark_of_sets(["I10", "E11;I10", "E11", "E11;I10;J45"])
    ';'
    >>> mark_of_sets(["Doe, Ann", "Doe, Bob", "Roe, Ann", "Roe, Bob"])
    """
    texts = [label for label in labels if isinstance(label, str)]
    for mark in MARKS:
        sets = [[part.strip() for part in text.split(mark)] for text in texts]
        lengths: dict[str, set[int]] = {}
        for parts in sets:
            for part in parts:
                lengths.setdefault(part, set()).add(len(parts))
        several = sum(len(parts) > 1 for parts in sets)
        proper = "" not in lengths and all(len(set(parts)) == len(parts) for parts in sets)
        again = sum(len(own) > 1 for own in lengths.values())
        if several > 1 and proper and len(lengths) < len(texts) and 2 * again >= len(lengths):
            return mark
    return None


def spread_sets(table: Any, column: str, delimiter: str = ";") -> Any:
    """Return a table with a column of "yes" and "no" for each value in the cells of one column, in its place.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
        Any.
    column : str
        A column of text.
    delimiter : str
        What stands between the values of a cell. An empty cell is a set without values; a missing one is missing.

    Examples
    --------
    >>> import polars as pl
    >>> ill = pl.DataFrame({"icd": ["E11;I10", "I10", "E11;I10", "J45"]})
    >>> spread_sets(ill, "icd").columns
    ['icd: E11', 'icd: I10', 'icd: J45']
    """
    frame = open_table(table).frame
    cells = _texts(frame, column)
    sets = [None if cell is None else {part.strip() for part in cell.split(delimiter)} - {""} for cell in cells]
    values = sorted({value for own in sets for value in own or ()})
    if not values:
        raise DataError(f"column '{column}' holds no values to spread; leave it as it is")
    if len(values) > _MOST:
        raise DataError(
            f"column '{column}' holds {counted(len(values), 'different value')}, and {_MOST} columns are the most; "
            "generalise them first"
        )
    made = {
        f"{column}{_BETWEEN}{value}": [None if own is None else (YES if value in own else NO) for own in sets]
        for value in values
    }
    if clash := [name for name in made if name in frame.columns]:
        raise DataError(f"the table has a column '{clash[0]}' already; rename it")
    return _replaced(frame, [column], made)


def gather_sets(table: Any, column: str, delimiter: str = ";") -> Any:
    """Return a table with the columns that :func:`spread_sets` made put together again.

    A record of which one of them is missing has no set.

    Examples
    --------
    >>> import polars as pl
    >>> ill = pl.DataFrame({"icd": ["E11;I10", "I10", "E11;I10", "I10;J45"]})
    >>> import shoal
    >>> spread = spread_sets(ill, "icd")
    >>> release = shoal.protect(spread, 4, spread.columns, method="sa-mdav")
    >>> gather_sets(release.data, "icd")["icd"].to_list()
    ['E11;I10', 'E11;I10', 'E11;I10', 'E11;I10']
    """
    frame = open_table(table).frame
    start = f"{column}{_BETWEEN}"
    names = [name for name in frame.columns if name.startswith(start)]
    if not names:
        raise DataError(f"the table has no columns '{start}...' to put together")
    columns = [_texts(frame, name) for name in names]
    rows = zip(*columns, strict=True)
    cells = [
        None
        if None in row
        else delimiter.join(name.removeprefix(start) for name, cell in zip(names, row, strict=True) if cell == YES)
        for row in rows
    ]
    return _replaced(frame, names, {column: cells})


def _texts(frame: nw.DataFrame[Any], column: str) -> list[str | None]:
    if column not in frame.columns:
        raise DataError(f"column '{column}' is not in the table{did_you_mean(column, frame.columns)}")
    cells = [None if gone else cell for cell, gone in zip(frame[column], frame[column].is_null(), strict=True)]
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        raise DataError(f"column '{column}' is not text; convert its cells to text with a mark between their values")
    return cells


def _replaced(frame: nw.DataFrame[Any], old: Sequence[str], cells: dict[str, list[str | None]]) -> Any:
    """Return a table with columns of text in the place of some others, which stand side by side or not."""
    made = []
    for name, own in cells.items():
        series = nw.new_series(name, own, nw.String, backend=frame.implementation).to_native()
        if frame.implementation.is_pandas():  # which puts what it joins in the order of an index
            series.index = frame.to_native().index
        made.append(nw.from_native(series, series_only=True).alias(name))
    at = frame.columns.index(old[0])
    kept = [name for name in frame.columns if name not in old]
    return frame.with_columns(*made).select([*kept[:at], *cells, *kept[at:]]).to_native()
