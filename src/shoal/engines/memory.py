"""The engine in memory: a table of pandas, polars or pyarrow, whose blocks run on threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.blocking.blocks import rows_of_blocks
from shoal.engines.engine import AFTER, GROUP, HEAD, Block, Handing, Part, group_numbers
from shoal.errors import PlanError
from shoal.kernels.arrays import Ints
from shoal.kernels.numbering import number_keys
from shoal.kernels.threads import run_tasks
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


class MemoryEngine:
    """All rows in one place."""

    name = "memory"

    def __init__(self, table: Table, paths: Sequence[Path] = ()) -> None:
        self.precision = table.precision
        self._table = table
        self._frame: pl.DataFrame = table.to_polars()
        self._paths = list(paths)
        self._rows = np.arange(len(table))
        self._released: dict[str, Any] = {}
        self._groups: dict[str, Ints] = {}

    def head(self) -> pl.DataFrame:
        """Return the first rows, which tell names and types."""
        return self._frame.head(HEAD)

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self._table)

    def add_up(
        self, columns: Sequence[str], part: Callable[[pl.DataFrame, Ints], Part], released: Sequence[str] = ()
    ) -> Part:
        """Call ``part(frame, rows)`` on all rows at once."""
        import polars as pl

        after = self._put_in_place() if released else self._frame
        beside = [after[name].alias(f"{AFTER}{name}") for name in released]
        return part(pl.DataFrame([*self._frame.select(columns), *beside]), self._rows)

    def sizes(self, columns: Sequence[str], *, released: bool) -> Counter[int]:
        """Count how many combinations of some columns there are, by how many rows have them, before or after."""
        import polars as pl

        frame = self._frame
        if released:
            frame = self._put_in_place().with_columns([pl.Series(name, own) for name, own in self._groups.items()])
        counts = frame.group_by(columns).len()["len"].value_counts()
        return Counter(dict(zip(counts["len"].to_list(), counts["count"].to_list(), strict=True)))

    def protect_blocks(self, handing: Handing, threads: int | None, report: Callable[[int], None]) -> list[Any]:
        """Hand each block to its worker, on threads, and put its columns in place."""
        worker = handing.worker
        codes = handing.block_of(self._frame.select(handing.columns), self._rows)
        parts = rows_of_blocks(codes)
        frame = self._frame.select(worker.columns)
        done = 0

        def protect(rows: Ints, watch: Ints) -> Block:
            nonlocal done
            made = worker.protect(int(codes[rows[0]]), frame[rows])
            done += len(rows)
            return made

        made = run_tasks([partial(protect, rows) for rows in parts], lambda *_: report(done), threads)
        groups = np.empty(len(codes), dtype=np.int64)
        for rows, block in zip(parts, made, strict=True):
            groups[rows] = group_numbers(int(codes[rows[0]]), block.groups)
        for name, column in worker.held.items():
            values = np.zeros(len(codes), dtype=made[0].released[name].values.dtype)
            observed = np.zeros(len(codes), dtype=bool)
            for rows, block in zip(parts, made, strict=True):
                values[rows], observed[rows] = block.released[name]
            self._released[name] = (column, values, observed)
        self._groups[f"{GROUP}{handing.place}"] = groups
        return [block.figures for block in made]

    def compare_with(self, path: str | Path) -> None:
        """Refuse: two tables in memory are compared by ``shoal.measure``."""
        raise PlanError("engine: 'memory' compares tables without an engine; leave it out")

    def released_types(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return names and types of the columns before and after."""
        incomplete = {name for name, (_, _, observed) in self._released.items() if not observed.all()}
        return self._table.types(incomplete), open_table(self._table.replace(self._released, [])).types()

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as the kind of table that went in, without some columns."""
        return self._table.replace(self._released, list(drop))

    def groups(self) -> Ints:
        """Return the number of each row's group, by first appearance; a column for each set where there are several."""
        own = [number_keys(groups)[0] for groups in self._groups.values()]
        return own[0] if len(own) == 1 else np.column_stack(own)

    def write(self, path: Path, drop: Sequence[str]) -> None:
        """Write the release, in the order of the rows, as a Parquet file or a folder of them."""
        from shoal.engines.parquet import write_parquet

        frame = open_table(self.result(drop)).to_polars()
        table = frame.to_arrow()
        write_parquet([table], table.schema, path)

    def inputs(self) -> list[Path]:
        """Return the files that are read."""
        return self._paths

    def close(self) -> None:
        """Remove what was put aside: nothing is."""

    def _put_in_place(self) -> pl.DataFrame:
        return open_table(self._table.replace(self._released, [])).to_polars()
