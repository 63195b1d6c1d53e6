"""What must be known of a whole table before its blocks are protected one by one: a table of a few of its records.

Declaring a plan asks for the kinds of columns, their lowest and highest values, which categories there are, whether
anything is missing. A few records answer that: of each column of numbers the first value, the extremes, one that is
missing and one that is not finite, of times also those that are not on a whole day, minute or second; of categories the
first record of each, with how often it occurs. They are found in one pass over batches in any order, and put into a
table on which the plan is declared as on any other. Counts of records come with it; scales are fitted in a second pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.columns.categories import Factor
from shoal.errors import DataError
from shoal.kernels.arrays import Ints
from shoal.plan.roles import MEASURABLE, Kind
from shoal.tables.decimals import Precision
from shoal.tables.identifying import Profile
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl

_MOST = 1_000_000  # values of a column that are counted
_STEPS = (86_400, 60, 1)  # seconds in the units that times may be given in


@dataclass(frozen=True)
class Witnesses:
    """The few records of a column that say what must be known of it.

    Attributes
    ----------
    found : polars.DataFrame
        ``value``, ``row`` and, of categories, ``count``.
    missing : int
        How many records have no value.
    whole : bool
        Whether all numbers are whole.
    """

    found: pl.DataFrame
    missing: int
    whole: bool = False

    @property
    def counted(self) -> bool:
        """Whether these are categories."""
        return "count" in self.found.columns

    def __add__(self, other: Witnesses) -> Witnesses:
        import polars as pl

        both = pl.concat([self.found, other.found])
        missing, whole = self.missing + other.missing, self.whole and other.whole
        if self.counted:
            return Witnesses(_once(both), missing)
        return Witnesses(_telling(both), missing, whole)


@dataclass(frozen=True)
class Survey:
    """The witnesses of all columns that were looked at, and how many records there are."""

    columns: dict[str, Witnesses]
    records: int

    def __post_init__(self) -> None:
        for name, own in self.columns.items():
            if own.counted and len(own.found) > _MOST:
                raise DataError(
                    f"column '{name}' has more than a million values, and an engine counts each; generalise it by a "
                    "level, or round it, first"
                )

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            {name: own + other.columns[name] for name, own in self.columns.items()}, self.records + other.records
        )


@dataclass(frozen=True)
class Surveyor:
    """Looks at a batch of records: the part of a pass, which may travel to another machine.

    Attributes
    ----------
    numbers, categories : tuple of str
        Columns that are numbers or dates, and those that are categories.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]

    def __call__(self, frame: pl.DataFrame, rows: Ints) -> Survey:
        """Survey the records of a batch, with their row numbers."""
        import polars as pl

        columns = {}
        for name in (*self.numbers, *self.categories):
            series = frame[name].alias("value")
            if name in self.categories:
                series = series.fill_nan(None) if series.dtype.is_float() else series
                table = pl.DataFrame([series, pl.Series("row", rows)])
                columns[name] = Witnesses(_once(table.with_columns(count=pl.lit(1, pl.Int64))), series.null_count())
            else:
                table = pl.DataFrame([series, pl.Series("row", rows)])
                numbers, observed = open_table(table).numbers("value")
                seen = np.asarray(numbers[observed], dtype=np.float64)
                whole = bool((seen == np.rint(seen)).all())
                columns[name] = Witnesses(_telling(table), int((~observed).sum()), whole)
        return Survey(columns, len(frame))


def _once(table: pl.DataFrame) -> pl.DataFrame:
    """Return each category with its first row, and how often it occurs, by first row."""
    import polars as pl

    return table.group_by("value").agg(pl.col("row").min(), pl.col("count").sum()).sort("row")


def _telling(table: pl.DataFrame) -> pl.DataFrame:
    """Return the records of a column of numbers that say what must be known of it, by row."""
    import polars as pl

    numbers, observed = open_table(table).numbers("value")
    rows = table["row"].to_numpy()
    chosen: list[int] = []
    absent, seen = np.flatnonzero(~observed), np.flatnonzero(observed)
    if len(absent):
        chosen.append(int(absent[np.argmin(rows[absent])]))
    if len(seen):
        chosen.append(int(seen[np.argmin(rows[seen])]))
        values = numbers[seen]
        looked = [values]
        if isinstance(table["value"].dtype, pl.Datetime):
            ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}[str(table["value"].dtype.time_unit)]
            looked += [values % (step * ticks) for step in _STEPS]
        for one in looked:
            chosen += [int(seen[np.argmin(one)]), int(seen[np.argmax(one)])]
    return table[sorted(set(chosen))].sort("row")


def table_of(
    survey: Survey,
    head: pl.DataFrame,
    precision: Precision,
    profiles: Mapping[str, Profile],
) -> Table:
    """Return the table of the witnesses of all columns; those that were not looked at have their first values.

    It says that it has as many records as the whole, and how often each category occurs in it.
    """
    import polars as pl

    length = max([2, *(len(own.found) for own in survey.columns.values())])
    columns, factors = [], {}
    for name in head.columns:
        if name not in survey.columns:
            columns.append(_stretched(head[name], length).alias(name))
            continue
        own = survey.columns[name]
        columns.append(_stretched(own.found["value"], length).alias(name))
        if own.counted:
            labels = own.found.filter(pl.col("value").is_not_null())
            factors[name] = labels["count"].to_numpy()
    frame = open_table(pl.DataFrame(columns), precision)
    return _Surveyed(frame.native, frame.frame, precision, survey.records, factors, dict(profiles))


def _stretched(series: pl.Series, length: int) -> pl.Series:
    """Repeat the first value until a column is long enough; its own values come first, in their order."""
    import polars as pl

    if len(series) >= length:
        return series[:length]
    there = series.drop_nulls()
    filler = there[:1] if len(there) else pl.Series(series.name, [None], dtype=series.dtype)
    return pl.concat([series, filler.new_from_index(0, length - len(series)).alias(series.name)])


@dataclass(frozen=True)
class _Surveyed(Table):
    """A table of witnesses: what a table says of itself, said of the whole."""

    records: int = 0
    counts: Mapping[str, Ints] | None = None
    profiles: Mapping[str, Profile] | None = None

    def __len__(self) -> int:
        return self.records

    def factor(self, name: str) -> Factor:
        """Return the categories of a column, with how often each occurs in the whole table."""
        found = super().factor(name)
        counts = (self.counts or {}).get(name)
        return found if counts is None else Factor(found.codes, found.observed, found.labels, counts)

    def profile(self, name: str) -> Profile:
        """Describe a column of the whole table."""
        return (self.profiles or {}).get(name) or super().profile(name)


def kinds_to_survey(head: Table, names: Sequence[str], named: set[str]) -> Surveyor:
    """Return how to look at some columns: numbers and dates by their types, unless they are ``named`` as categories."""
    numbers = tuple(name for name in names if name not in named and head.kind(name) in MEASURABLE)
    rest = [name for name in names if name not in numbers]
    return Surveyor(numbers, tuple(name for name in rest if head.kind(name) is not Kind.OTHER))
