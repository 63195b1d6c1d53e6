"""Columns of some records of a table, in the origin, units and codes that the whole column has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.columns.categories import AnyColumn, Category
from shoal.columns.numbers import Column
from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.kernels.arrays import Floats
from shoal.tables.table import Table
from shoal.tables.weights import in_range


def part_of_set(whole: QuasiIdentifiers, part: Table) -> QuasiIdentifiers:
    """Return a set of quasi-identifiers with the values of some records; scales are those of the whole."""
    return replace(whole, columns=[part_of_column(column, part) for column in whole.columns])


def part_of_column(whole: AnyColumn, part: Table) -> AnyColumn:
    """Return the values that some records have in a column.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> whole = open_table(pl.DataFrame({"x": [7, 9, 12]})).column("x")
    >>> part_of_column(whole, open_table(pl.DataFrame({"x": [12]}))).values
    array([5])
    """
    if isinstance(whole, Category):
        factor = part.factor(whole.name)
        code_of = {label: code for code, label in reversed(list(enumerate(whole.names)))}
        codes = np.array([code_of[label] for label in factor.labels] or [0], dtype=np.int64)
        values = np.where(factor.observed, codes[factor.codes], 0)
        return replace(whole, values=values, observed=factor.observed)
    numbers, observed = part.numbers(whole.name)
    if not whole.whole:
        return replace(whole, values=np.where(observed, numbers, 0.0), observed=observed)
    with np.errstate(over="ignore"):
        above = (numbers - numbers.dtype.type(whole.origin)).view(np.int64)
    return replace(whole, values=np.where(observed, above, 0) // whole.step, observed=observed)


def part_of_weights(whole: Column, part: Table) -> Floats:
    """Return the sampling weights of some records, over the power of two that those of the whole table need."""
    every = whole.values.astype(np.float64) + whole.origin
    own = part_of_column(whole, part)
    return in_range(own.values.astype(np.float64) + whole.origin, float(every.min()), float(every.max()))
