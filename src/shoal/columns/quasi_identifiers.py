"""A set of quasi-identifiers that is microaggregated together, with everything that is known about its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.columns.categories import AnyColumn
from shoal.columns.mixed import Mixed, mix
from shoal.columns.numbers import Column
from shoal.columns.scaling import Records, Scale, encode, encode_points
from shoal.kernels.arrays import Ints


@dataclass(frozen=True)
class QuasiIdentifiers:
    """Columns that are microaggregated together.

    Attributes
    ----------
    columns : list of Column or Category
        Their values.
    scales : list of Scale or None
        How each is made comparable, fitted to the whole table; None for categories.
    shares : list of float
        How much each counts in distances between records that mix kinds, and in their loss.
    aggregators : list of str
        What each is released as.
    """

    columns: list[AnyColumn]
    scales: list[Scale | None]
    shares: list[float]
    aggregators: list[str]

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def incomplete(self) -> int:
        """How many columns have missing values."""
        return sum(not column.observed.all() for column in self.columns)

    @property
    def mixed(self) -> bool:
        """Whether there are categories among the columns."""
        return any(not isinstance(column, Column) for column in self.columns)

    def take(self, rows: Ints) -> QuasiIdentifiers:
        """Return the set restricted to some rows; scales stay those of the whole table."""
        return replace(self, columns=[column.take(rows) for column in self.columns])

    def only(self, names: Sequence[str]) -> QuasiIdentifiers:
        """Return the set restricted to some of its columns, in its own order."""
        return self._at([j for j, column in enumerate(self.columns) if column.name in names])

    def numbers(self) -> QuasiIdentifiers:
        """Return the columns that are numbers or dates."""
        return self._at([j for j, column in enumerate(self.columns) if isinstance(column, Column)])

    def with_aggregators(self, aggregators: Mapping[str, str]) -> QuasiIdentifiers:
        """Return the set with other aggregators for some columns."""
        now = [aggregators.get(name, own) for name, own in zip(self.names, self.aggregators, strict=True)]
        return replace(self, aggregators=now)

    def scaled(self) -> Records:
        """Return the columns of numbers and dates side by side, their means at 0."""
        return encode(*self._numbers())

    def points(self, threads: int = 1) -> Records:
        """Return the columns of numbers and dates as points, as methods see them.

        Where there is no scaling, they are as they are; a missing cell is at the distance that is to be expected.
        """
        return replace(encode_points(*self._numbers()), threads=threads)

    def ordered(self, threads: int = 1) -> Records:
        """Return the columns of numbers and dates for methods that sort them: values, and which there are."""
        return replace(encode(*self._numbers(), centred=False), threads=threads)

    def counted(self, threads: int = 1) -> Mixed:
        """Return distinct records of any kind with their frequencies, as methods for categories see them."""
        pairs = zip(self.names, self.aggregators, strict=True)
        squared = [name for name, aggregator in pairs if aggregator == "least-squares"]
        return mix(self.columns, self.scales, self.shares, threads, squared)

    def _at(self, places: Sequence[int]) -> QuasiIdentifiers:
        return QuasiIdentifiers(
            [self.columns[j] for j in places],
            [self.scales[j] for j in places],
            [self.shares[j] for j in places],
            [self.aggregators[j] for j in places],
        )

    def _numbers(self) -> tuple[list[Column], list[Scale]]:
        chosen = [column for column in self.columns if isinstance(column, Column)]
        return chosen, [scale for scale in self.scales if scale is not None]


def join_sets(sets: Sequence[QuasiIdentifiers]) -> QuasiIdentifiers:
    """Return all columns of some sets in one."""
    return QuasiIdentifiers(
        [column for quasi in sets for column in quasi.columns],
        [scale for quasi in sets for scale in quasi.scales],
        [share for quasi in sets for share in quasi.shares],
        [aggregator for quasi in sets for aggregator in quasi.aggregators],
    )
