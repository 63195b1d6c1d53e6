"""Small tables that tests are about: random numbers, matrices as tables, and their cells again."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl


def normal(n=30, d=3, seed=0):
    """Return n records of d independent normal numbers."""
    return np.random.default_rng(seed).normal(size=(n, d))


def table_of(values, name="v"):
    """Return a table of a matrix, with the columns v0, v1 and so on."""
    return pl.DataFrame({f"{name}{j}": values[:, j] for j in range(values.shape[1])})


def lettered(values):
    """Return a table of a matrix, with the columns a, b and so on; NaN becomes missing."""
    return pl.DataFrame(values, schema=list("abcdefghij"[: values.shape[1]])).fill_nan(None)


def cells(table, name):
    """Return a column of any table as a list, with None for what is missing."""
    return nw.from_native(table, eager_only=True)[name].to_arrow().to_pylist()
