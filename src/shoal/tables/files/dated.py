"""Dates and times in formats that have only texts for them, JSON and SQLite: read as such, written as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shoal.plan.reading import Reading
from shoal.tables.files.cells import CellForm, typed_column, written

if TYPE_CHECKING:
    import polars as pl


def with_dates(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, CellForm]]:
    """Return a table whose columns of texts that are all dates, or all times, are such, and how they are written.

    >>> import polars as pl
    >>> frame, forms = with_dates(pl.DataFrame({"day": ["31.12.2024", None], "code": ["1", "2"]}))
    >>> frame.dtypes, forms["day"].date
    ([Date, String], '%d.%m.%Y')
    """
    import polars as pl

    columns, forms = [], {}
    for column in frame:
        if column.dtype == pl.String and column.null_count() < len(column):
            typed, form, _ = typed_column(column.alias("").str.strip_chars(), ",", Reading())
            if typed.dtype.is_temporal() and form:
                forms[column.name] = form
                columns.append(typed.alias(column.name))
                continue
        columns.append(column)
    return pl.DataFrame(columns), forms


def as_texts(frame: pl.DataFrame, forms: Mapping[str, CellForm]) -> pl.DataFrame:
    """Return a table with its dates and times as texts, in the form that they were read in, or else in that of ISO."""
    columns = [
        written(column.alias(""), forms.get(column.name)).alias(column.name) if column.dtype.is_temporal() else column
        for column in frame
    ]
    return frame.with_columns(columns)
