"""The verbs of an engine: what it takes to protect a table that no single place has to hold.

An engine reads rows with a number that stays the same however often and wherever they are read, adds up what a function
finds in batches of them, counts, hands each block to a worker and takes back its columns, checks and writes. It knows
nothing of microaggregation; the pipeline is written against these verbs, and everything that decides what is released
is integers, extremes and exact sums of whatever order, or happens inside the worker of a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from shoal.blocking.counting import Summable
from shoal.kernels.arrays import Ints, Masked
from shoal.tables.decimals import Precision

if TYPE_CHECKING:
    import polars as pl

ROW = "__shoal_row"  # number of a row in the original
BLOCK = "__shoal_block"
GROUP = "__shoal_group_"  # group of a row in each set: block * 2^32 + number in the block
AFTER = "__shoal_after_"  # what a column of the release is called beside that of the original
HEAD = 1000  # rows that tell types

Part = TypeVar("Part", bound=Summable)


class Block(Protocol):
    """What a worker made of a block: released values by column, the groups, and figures that are handed back."""

    @property
    def released(self) -> dict[str, Masked]:
        """Values of each column, as its numbers or codes, and which there are."""
        ...

    @property
    def groups(self) -> Ints:
        """Number of each record's group in the block."""
        ...

    @property
    def figures(self) -> Any:
        """What is counted and added up."""
        ...


class Worker(Protocol):
    """Protects blocks; see :class:`shoal.release.block_worker.BlockWorker`."""

    @property
    def columns(self) -> list[str]:
        """The columns that a block needs."""
        ...

    @property
    def released_columns(self) -> list[str]:
        """Those that are released."""
        ...

    @property
    def held(self) -> dict[str, Any]:
        """How the values of released columns are held, by name."""
        ...

    def protect(self, block: int, frame: pl.DataFrame) -> Block:
        """Protect the records of a block, in the order of their row numbers."""
        ...

    def put(self, frame: pl.DataFrame, block: Any) -> pl.DataFrame:
        """Return the released columns of a block, of the types that they had."""
        ...


@dataclass(frozen=True)
class Handing:
    """How the blocks of a set of quasi-identifiers are handed out.

    Attributes
    ----------
    place : int
        The place of the set among all.
    columns : list of str
        Columns that tell the block of a row.
    block_of : callable
        ``block_of(frame, rows)`` returns the block of each row of a batch.
    sizes : int64 (blocks,)
        How many records each has.
    worker : Worker
        What protects it.
    """

    place: int
    columns: list[str]
    block_of: Callable[[pl.DataFrame, Ints], Ints]
    sizes: Ints
    worker: Worker

    @property
    def needed(self) -> list[str]:
        """All columns that are needed, once."""
        return list(dict.fromkeys([*self.columns, *self.worker.columns]))


class Engine(Protocol):
    """What moves the rows of a table."""

    name: str
    precision: Precision  # what the files say about decimals

    def head(self) -> pl.DataFrame:
        """Return the first rows, which tell names and types."""
        ...

    def count(self) -> int:
        """Return how many rows there are."""
        ...

    def add_up(
        self, columns: Sequence[str], part: Callable[[pl.DataFrame, Ints], Part], released: Sequence[str] = ()
    ) -> Part:
        """Call ``part(frame, rows)`` on batches of some columns of the original, and add up what it returns.

        Columns of the ``released`` rows stand beside them, with ``AFTER`` before their names.
        """
        ...

    def sizes(self, columns: Sequence[str], *, released: bool) -> Counter[int]:
        """Count how many combinations of some columns there are, by how many rows have them, before or after."""
        ...

    def protect_blocks(self, handing: Handing, threads: int | None, report: Callable[[int], None]) -> list[Any]:
        """Hand each block to its worker, put its columns in place, and return the figures of all."""
        ...

    def compare_with(self, path: str | Path) -> None:
        """Take the Parquet files of a release that was written before as what is released."""
        ...

    def released_types(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return names and types of the columns before and after."""
        ...

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as the kind of table that went in, without some columns."""
        ...

    def write(self, path: Path, drop: Sequence[str]) -> None:
        """Write the release, in the order of the rows, as a Parquet file or a folder of them."""
        ...

    def inputs(self) -> list[Path]:
        """Return the files that are read."""
        ...

    def close(self) -> None:
        """Remove what was put aside."""
        ...


def group_numbers(block: int, groups: Ints) -> Ints:
    """Return numbers of groups that no other block has.

    >>> group_numbers(1, np.array([0, 1])).tolist()
    [4294967296, 4294967297]
    """
    return groups.astype(np.int64) + (np.int64(block) << np.int64(32))


def released_beside(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the columns of the release that stand beside those of the original, under their own names."""
    return frame.select([f"{AFTER}{name}" for name in names]).rename({f"{AFTER}{name}": name for name in names})
