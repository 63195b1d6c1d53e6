"""How easily records are found in a table as it is: the risk before anything is done about it.

What :func:`shoal.measure` tells of a release, told of one table alone, and only what takes seconds for a million
records: keys are numbered by hashing, and the risk of columns is computed from the different keys. O(d n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.errors import DataError, PlanError, did_you_mean
from shoal.kernels.arrays import Floats
from shoal.measures.keys import number_keys, with_mask
from shoal.measures.risk import global_risk, risk_by_attribute
from shoal.plan.reading import Reading
from shoal.plan.roles import MEASURABLE
from shoal.tables.reading import read
from shoal.tables.table import Table

_SMALL = (2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Uniqueness:
    """How many records share their values with few others.

    Attributes
    ----------
    records, keys : int
        Rows of the table, and different combinations of the columns among them.
    unique : int
        Records that share theirs with no other.
    smaller : dict
        How many records are in groups of fewer than 2, 3, 5, 10, 20 and 50 that have the same combination.
    global_risk : float
        Mean over the records of 1 / the number that share its combination, in percent.
    by_column : dict
        For each column the global risk in percent where it alone is known (``risk_alone``), and by how much the risk
        would fall without it (``risk_added``).
    """

    records: int
    keys: int
    unique: int
    smaller: dict[int, int]
    global_risk: float
    by_column: dict[str, dict[str, float]]

    def fewer_than(self, k: int) -> int | None:
        """Return how many records share their combination with fewer than k - 1 others, where that was counted."""
        return self.smaller.get(k)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, texts and dictionaries."""
        return asdict(self)


def uniqueness(
    data: Any,
    columns: Sequence[str],
    *,
    k: int | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
) -> Uniqueness:
    """Count how many records of a table some columns single out, and which of these do it.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or path
        The table.
    columns : list of str
        What an intruder knows: the quasi-identifiers. A missing value is a value of its own.
    k : int
        Count the records in groups of fewer than this, too.
    reading : Reading or dict
        How to read a text file.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 40, 40], "town": ["A", "A", "A", "B"]})
    >>> found = uniqueness(people, ["age", "town"])
    >>> found.unique, found.global_risk, found.by_column["town"]["risk_added"]
    (2, 75.0, 25.0)
    """
    _, table = read(data, {} if reading is None else {"reading": reading})
    strange = [f"column '{name}' is not in the table{did_you_mean(name, table.names)}" for name in columns
               if name not in table.names]  # fmt: skip
    if strange or not columns:
        raise PlanError(strange or "columns: name at least one")
    if not len(table):
        raise DataError("the table has no record")
    parts = {name: _key_parts(table, name) for name in dict.fromkeys(columns)}
    keys = number_keys([part for own in parts.values() for part in own])
    risk = global_risk(keys)
    codes = [number_keys([part[keys.first] for part in own]).of for own in parts.values()]
    levels = sorted({*_SMALL, *(() if k is None else (k,))})
    return Uniqueness(
        records=len(table),
        keys=len(keys.sizes),
        unique=int((keys.sizes == 1).sum()),
        smaller={level: int(keys.sizes[keys.sizes < level].sum()) for level in levels},
        global_risk=risk,
        by_column=dict(zip(parts, risk_by_attribute(codes, keys.sizes, risk), strict=True)),
    )


def _key_parts(table: Table, name: str) -> list[Floats]:
    """Return a column as parts of a key: its values or codes, and which there are where some are missing."""
    if table.kind(name) in MEASURABLE:
        numbers, seen = table.numbers(name)
        values = np.where(seen, numbers, 0)
        if values.dtype.kind == "f":
            return with_mask(values.astype(np.float64), seen)
        halves = [(values >> 32).astype(np.float64), (values & 0xFFFFFFFF).astype(np.float64)]  # a float holds 53 bits
        return [*with_mask(halves[1], seen), *(halves[:1] if halves[0].any() else [])]
    factor = table.factor(name)
    return with_mask(factor.codes.astype(np.float64), factor.observed)
