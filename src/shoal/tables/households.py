"""Which records of a table belong together, and which of its columns are the same for all members of a household."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import DataError, counted
from shoal.kernels.arrays import Flags, Floats, Ints, Numbers
from shoal.kernels.numbering import number_keys
from shoal.tables.persons import Persons
from shoal.tables.table import Table


@dataclass(frozen=True)
class Households:
    """The households of a table.

    Attributes
    ----------
    name : str
        The column that tells them apart.
    codes : int64 (n,)
        Number of each record's household, by first appearance.
    first : int64 (households,)
        First record of each.
    sizes : int64 (households,)
        How many records each has.
    variables : tuple of str
        Quasi-identifiers that are released once for each household.
    weights : float64 (households,) or None
        Weight of each household.
    """

    name: str
    codes: Ints
    first: Ints
    sizes: Ints
    variables: tuple[str, ...] = ()
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.first)

    @property
    def persons(self) -> Persons:
        """What k counts."""
        return Persons(self.name, self.codes, len(self), "household")

    def one_record_each(self) -> Households:
        """Return the same households in a table that has the first record of each."""
        every = np.arange(len(self))
        return replace(self, codes=every, first=every)

    def of_rare_size(self, k: int) -> int:
        """Return how many households have a size that fewer than k have."""
        counts = np.bincount(self.sizes)
        return int(counts[counts < k].sum())

    def varying(self, values: Numbers, observed: Flags) -> int:
        """Return in how many households the members have different values (n,), or some have none.

        >>> whole = Households("hid", np.array([0, 0, 1, 1]), np.array([0, 2]), np.array([2, 2]))
        >>> whole.varying(np.array([5, 5, 6, 7]), np.ones(4, dtype=bool))
        1
        """
        of_first = self.first[self.codes]
        other = (observed != observed[of_first]) | (observed & (values != values[of_first]))
        return int(np.count_nonzero(np.bincount(self.codes[other], minlength=1)))


def read_households(table: Table, name: str) -> Households:
    """Return the households that a column tells apart; raises DataError where it does not do so for every record.

    >>> import polars as pl
    >>> from shoal.tables.table import open_table
    >>> read_households(open_table(pl.DataFrame({"hid": ["b", "a", "b"]})), "hid").sizes.tolist()
    [2, 1]
    """
    factor = table.factor(name)
    missing = int((~factor.observed).sum())
    if missing:
        raise DataError(
            f"household: column '{name}' is missing in {counted(missing, 'record')}; say to which household each "
            "record belongs, or leave such records out"
        )
    codes, first, sizes = number_keys(factor.codes)
    if len(first) == len(codes):
        raise DataError(
            f"household: no two records have the same value of column '{name}', so every record would be a household; "
            "leave household out"
        )
    return Households(name, codes, first, sizes)


def check_same_inside(households: Households, table: Table, name: str, role: str, advice: str) -> None:
    """Refuse a column of some role that differs between the members of a household."""
    factor = table.factor(name)
    varying = households.varying(factor.codes, factor.observed)
    if varying:
        raise DataError(varies(role, name, varying, len(households), advice))


def varies(role: str, name: str, varying: int, households: int, advice: str) -> str:
    """Say that a column differs inside some households."""
    return (
        f"{role}: column '{name}' differs between members, or is missing for some of them, in {varying} of "
        f"{counted(households, 'household')}; {advice}"
    )
