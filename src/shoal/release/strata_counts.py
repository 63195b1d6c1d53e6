"""Strata of a table that is read in batches: the combinations, by first appearance, and their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.arrays import Ints

if TYPE_CHECKING:
    import polars as pl

_ROW, _COUNT, _CODE = "__row", "__count", "__code"


@dataclass(frozen=True)
class StrataCounts:
    """The combinations of some columns, with the first row and the number of records of each.

    Attributes
    ----------
    names : tuple of str
        The columns; none where the whole table is one stratum.
    found : polars.DataFrame or None
        The combinations, by first row.
    records : int
        How many records there are where there are no columns.
    """

    names: tuple[str, ...]
    found: pl.DataFrame | None
    records: int = 0

    @classmethod
    def none(cls, records: int) -> StrataCounts:
        """Return one stratum of so many records."""
        return cls((), None, records)

    @property
    def sizes(self) -> Ints:
        """How many records each stratum has."""
        return np.array([self.records]) if self.found is None else self.found[_COUNT].to_numpy()

    def __add__(self, other: StrataCounts) -> StrataCounts:
        import polars as pl

        assert self.found is not None
        assert other.found is not None
        return StrataCounts(self.names, _once(pl.concat([self.found, other.found]), self.names))

    def codes(self, frame: pl.DataFrame) -> Ints:
        """Return the stratum of each row of a batch."""
        import polars as pl

        if self.found is None:
            return np.zeros(len(frame), dtype=np.int64)
        numbered = self.found.select(self.names).with_columns(pl.int_range(len(self.found)).alias(_CODE))
        joined = frame.select(self.names).join(
            numbered, on=list(self.names), how="left", nulls_equal=True, maintain_order="left"
        )
        return np.asarray(joined[_CODE].to_numpy(), dtype=np.int64)

    def labels(self) -> list[str]:
        """Return what tells each stratum, as errors name it."""
        assert self.found is not None
        keys = self.found.select(self.names).iter_rows()
        return [
            ", ".join(f"{n} = {'missing' if v is None else v}" for n, v in zip(self.names, key, strict=True))
            for key in keys
        ]


@dataclass(frozen=True)
class StrataCounter:
    """Counts the strata of a batch: the part of a pass, which may travel to another machine."""

    names: tuple[str, ...]

    def __call__(self, frame: pl.DataFrame, rows: Ints) -> StrataCounts:
        """Count the combinations of a batch, with their first rows."""
        import polars as pl

        numbered = frame.select(self.names).with_columns(pl.Series(_ROW, rows), pl.lit(1, pl.Int64).alias(_COUNT))
        return StrataCounts(self.names, _once(numbered, self.names))


def _once(table: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    return table.group_by(names).agg(pl.col(_ROW).min(), pl.col(_COUNT).sum()).sort(_ROW)
