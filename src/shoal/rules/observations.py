"""The columns of a table as rules see them: numbers, dates or texts, and which there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import narwhals as nw
import numpy as np

from shoal.rules.evaluate import Observations
from shoal.rules.tuples import text_of, whole_numbers
from shoal.tables.table import Table

Orders = Mapping[str, Sequence[str]]


def read_observations(table: Table, names: Iterable[str], orders: Orders | None = None) -> dict[str, Observations]:
    """Return columns by name; numbers of a fixed number of decimals say how many that is.

    ``orders`` are the declared orders of columns of categories.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> read_observations(open_table(pl.DataFrame({"A": [1, None]})), ["A"])["A"].observed
    array([ True, False])
    """
    found = {name: _observations(table, name) for name in names}
    for name in set(found) & set(orders or {}):
        found[name] = found[name]._replace(order=tuple((orders or {})[name]))
    return found


def _observations(table: Table, name: str) -> Observations:
    series = table.frame[name]
    dtype = series.dtype
    if dtype.is_numeric():
        column = table.column(name)
        if not column.whole:
            return Observations(column.values, column.observed, table.decimals(name))
        return Observations(whole_numbers(column, column.values), column.observed, 0)
    values, observed = table.cells(name)
    if isinstance(dtype, nw.Date | nw.Datetime):
        unit = "D" if isinstance(dtype, nw.Date) else dtype.time_unit
        column = table.column(name)
        ticks = whole_numbers(column, column.values).astype(np.int64)
        return Observations(ticks.view(f"datetime64[{unit}]"), observed)
    texts = np.array([text_of(v) if o else "" for v, o in zip(values, observed.tolist(), strict=True)], dtype=object)
    return Observations(texts, observed)
