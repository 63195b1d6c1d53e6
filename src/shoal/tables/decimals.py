"""With how many decimals a column of numbers is released: its own grid, or what was asked for.

Whole numbers have none, and decimals as many as their type. Floats of a text file have as many as the longest of the
column's cells, so that cents stay cents; where a cell has an exponent, or all digits together are more than a float
holds, they are released as they come out. Floats of other tables have no text: they keep all digits unless decimals are
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from shoal.plan.decimals import ALL, EVERY, MOST, Decimals

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.files import Source

_PLAIN = r"^[+-]?\d*\.?(\d*)$"  # a number without an exponent, and its decimals


@dataclass(frozen=True)
class Precision:
    """What is known about the decimals of a table's columns beside their types.

    Attributes
    ----------
    asked : dict
        As many as the plan asks for, by column or ``"*"``; ``"all"`` for as many as there are.
    written : callable
        ``written(name)`` returns with how many decimals a text file has a column; None where that is not fixed.
    """

    asked: Decimals = field(default_factory=dict)
    written: Callable[[str], int | None] = lambda name: None

    def of(self, name: str, series: nw.Series[Any]) -> int | None:
        """Return with how many decimals the numbers of a column are released; None for all that there are."""
        dtype, native = series.dtype, series.to_native()
        if dtype.is_integer():
            return 0
        asked = self.asked.get(name, self.asked.get(EVERY))
        if isinstance(dtype, nw.Decimal):
            kind = getattr(native, "dtype", getattr(native, "type", None))
            scale = getattr(getattr(kind, "pyarrow_dtype", kind), "scale", None)
            return None if scale is None else min(int(scale), asked if isinstance(asked, int) else int(scale))
        if not dtype.is_float() or asked == ALL:
            return None
        return asked if isinstance(asked, int) else self.written(name)


NOTHING_SAID = Precision()


def precision_of(source: Source | None, asked: Decimals) -> Precision:
    """Return what a file and a plan say about decimals."""
    cells = getattr(source.form, "cells", None) if source else None
    if source is None or cells is None or not hasattr(source.form, "forms"):
        return Precision(asked)

    @cache
    def written(name: str) -> int | None:
        if name not in cells.columns:
            return None
        column, form = source.frame[name].alias(""), source.form.forms.get(name)
        texts = cells[name].alias("").filter(column.is_not_null()).str.strip_chars()
        return written_decimals(form.read(texts) if form else texts, column)

    return Precision(asked, written)


def written_decimals(texts: pl.Series, numbers: pl.Series) -> int | None:
    """Return how many decimals the longest of some texts of numbers has; None where that is no grid for floats.

    >>> import polars as pl
    >>> written_decimals(pl.Series(["1.5", "2.25", "3"]), pl.Series([1.5, 2.25, 3.0]))
    2
    >>> written_decimals(pl.Series(["1.5", "2e5"]), pl.Series([1.5, 2e5]))
    """
    decimals = texts.str.extract(_PLAIN, 1).str.len_bytes()
    if not len(decimals) or decimals.null_count():
        return None
    most = int(decimals.to_numpy().max())
    largest = float(np.abs(numbers.drop_nulls().to_numpy()).max())
    return most if largest * 10.0**most < 10.0**MOST else None
