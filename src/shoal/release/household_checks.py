"""Check on the released table that k counts households: as a reader of the file would, by columns and by counting.

Separate from what makes groups: nothing but the two tables and the plan goes in. A failure is a bug in shoal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import BrokenPromise, counted, listed
from shoal.plan.plan import Plan
from shoal.tables.households import Households
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class HouseholdSummary:
    """What k counts where records belong together, and what the release shows of it.

    Attributes
    ----------
    column : str
        The column that tells households apart.
    households, largest : int
        How many there are, and the most records of one.
    variables : list of str
        Quasi-identifiers that are released once for each household.
    release : {"renumbered", "same", "removed"}
        What became of the column.
    size : {"counted", "merged", "ignored"}
        Whether sizes are kept apart.
    rare_sizes : int
        Households whose size fewer than k have.
    fewest : int or None
        Fewest households that share a combination of released values of a set, with their size where it is counted;
        None where patterns of missing cells are ignored.
    recognisable : int
        Households that share with fewer than k - 1 others what is released of all their members together.
    """

    column: str
    households: int
    largest: int
    variables: list[str]
    release: str
    size: str
    rare_sizes: int
    fewest: int | None
    recognisable: int


def check_households(
    plan: Plan, sets: Sequence[Sequence[str]], households: Households, table: Table, out: Table
) -> HouseholdSummary:
    """Check that households are whole, that their variables are, and that k of them share every key of each set."""
    import polars as pl

    asked = plan.household
    assert asked is not None
    frame = _plain(table, [asked.id]).rename({"c0": "id"})
    frame = frame.with_columns(pl.len().over("id").alias("size"))
    if asked.release != "removed":
        frame = frame.with_columns(_plain(out, [asked.id])["c0"].alias("now"))
        pairs = frame.select("id", "now").n_unique()
        if pairs != frame["id"].n_unique() or pairs != frame["now"].n_unique():
            raise BrokenPromise("a household was taken apart, or put together with another")
    sized = ["size"] if asked.size == "counted" else []
    fewest, keys = None, []
    for place, names in enumerate(sets):
        own = _plain(out, list(names))
        with_own = frame.hstack(own)
        theirs = set(names) <= set(households.variables)
        if theirs and with_own.select("id", *own.columns).n_unique() != len(households):
            raise BrokenPromise(f"members of a household have different values of {listed(names)}")
        if plan.missing_patterns == "counted":
            counts = with_own.group_by([*own.columns, *sized]).agg(pl.col("id").n_unique())["id"]
            fewest = min(int(counts.min()), len(households) if fewest is None else fewest)  # type: ignore[arg-type]
        keys.append(with_own.select(pl.struct(own.columns).rank("dense").alias(f"k{place}")).to_series())
    if fewest is not None and fewest < plan.k:
        raise BrokenPromise(
            f"a combination of released values is that of {counted(fewest, 'household')}, fewer than k = {plan.k}"
        )
    return HouseholdSummary(
        column=asked.id,
        households=len(households),
        largest=int(households.sizes.max()),
        variables=list(households.variables),
        release=asked.release,
        size=asked.size,
        rare_sizes=households.of_rare_size(plan.k),
        fewest=fewest,
        recognisable=_recognisable(frame.hstack(keys), [key.name for key in keys], plan.k),
    )


def _plain(table: Table, names: list[str]) -> pl.DataFrame:
    """Return columns under names that polars takes for nothing else, with every missing cell as null."""
    import polars as pl

    own = [table.series(name).to_polars() for name in names]
    own = [column.fill_nan(None) if column.dtype.is_float() else column for column in own]
    return pl.DataFrame([column.alias(f"c{place}") for place, column in enumerate(own)])


def _recognisable(frame: pl.DataFrame, keys: list[str], k: int) -> int:
    """Count the households whose members, taken together, are released like those of fewer than k households."""
    import polars as pl

    member = frame.select("id", pl.concat_str([pl.col(key).cast(pl.String) for key in keys], separator=",").alias("of"))
    whole = member.group_by("id").agg(pl.col("of").sort()).select(pl.col("of").list.join(";"))
    alike = whole.group_by("of").len()["len"]
    return int(alike.filter(alike < k).sum())
