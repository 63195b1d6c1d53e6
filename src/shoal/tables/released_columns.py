"""Released numbers and names back into tables: each library's own types, missing cells and index stay what they were.

A representative is rounded to the type of its column: to the next number that a float of 16 or 32 bits holds, to the
digits of a decimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.kernels.arrays import Flags
from shoal.tables.factors import Named, nullable, put_pandas, put_polars, put_pyarrow

Released = Mapping[str, tuple[Any, Flags, Flags]]
"""Numbers or names of a column, where to put them, and where to put nothing."""


def put_into_pandas(frame: Any, columns: Released, drop: list[str]) -> Any:
    """Return a pandas table with released columns in their places, and without some."""
    import pandas as pd  # only where the user has it already

    frame = frame.drop(columns=drop)
    for place, name in enumerate(frame.columns):
        if name not in columns:
            continue
        numbers, put, suppress = columns[name]
        old = frame.iloc[:, place]
        if isinstance(numbers, Named):
            frame.isetitem(place, put_pandas(old, numbers, put, suppress))
            continue
        if suppress.any():
            old = old.astype(nullable(old.dtype))
        new = old.array.copy()
        if isinstance(old.dtype, pd.ArrowDtype):
            filled = _put_arrow(new.__arrow_array__(), old.dtype.pyarrow_dtype, numbers, put, suppress)
            new = pd.array(filled.to_pandas(types_mapper=pd.ArrowDtype), dtype=old.dtype)
        elif isinstance(old.dtype, pd.DatetimeTZDtype):
            stamps = pd.DatetimeIndex(numbers[put].view(f"M8[{old.dtype.unit}]"), tz="UTC")
            new[put] = stamps.tz_convert(old.dtype.tz).array
        elif old.dtype.kind == "M":
            new[put] = numbers[put].view(old.dtype)
        else:
            new[put] = numbers[put].astype(getattr(old.dtype, "numpy_dtype", old.dtype))
        if suppress.any() and not isinstance(old.dtype, pd.ArrowDtype):
            new[suppress] = getattr(old.dtype, "na_value", np.nan)
        frame.isetitem(place, pd.Series(new, index=frame.index, copy=False))
    return frame


def put_into_polars(frame: Any, columns: Released, drop: list[str]) -> Any:
    """Return a polars table with released columns in their places, and without some."""
    import polars as pl

    changed = []
    for name, (numbers, put, suppress) in columns.items():
        old = frame[name].alias("")  # a name such as ^.*$ would be taken for a pattern, also in a column's own methods
        if isinstance(numbers, Named):
            changed.append(put_polars(old, numbers, put, suppress).alias(name))
            continue
        new = pl.Series(numbers)
        if old.dtype == pl.Date:
            new = new.cast(pl.Int32)
        if old.dtype.is_decimal():
            new = new.round(old.dtype.scale)
        new = new.cast(old.dtype).zip_with(pl.Series(put), old)
        changed.append(pl.select(pl.when(pl.Series(suppress)).then(None).otherwise(new)).to_series().alias(name))
    released = frame.with_columns(changed)
    return pl.DataFrame([column for column in released if column.name not in drop]) if drop else released


def put_into_pyarrow(table: Any, columns: Released, drop: list[str]) -> Any:
    """Return a pyarrow table with released columns in their places, and without some."""
    for name, (numbers, put, suppress) in columns.items():
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        table = table.set_column(place, field, _put_arrow(table.column(place), field.type, numbers, put, suppress))
    return table.drop_columns(drop) if drop else table


def _put_arrow(old: Any, kind: Any, numbers: Any, put: Flags, suppress: Flags) -> Any:
    import pyarrow as pa  # only where the user has it already
    import pyarrow.compute as pc

    if isinstance(numbers, Named):
        return put_pyarrow(old, kind, numbers, put, suppress)
    if pa.types.is_date32(kind):
        numbers = numbers.astype(np.int32)
    elif pa.types.is_date64(kind):
        numbers = numbers * 86_400_000
    elif pa.types.is_decimal(kind):
        numbers = np.round(numbers, kind.scale)
    new = pc.if_else(pa.array(put), pa.array(numbers).cast(kind, safe=False), old)
    return pc.if_else(pa.array(suppress), pa.scalar(None, kind), new)
