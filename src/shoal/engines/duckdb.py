"""DuckDB: Parquet files, relations and lazy frames that do not fit into memory, under a limit for the whole process.

Rows are numbered by file, in the order of the names, and by their place in it. A set of quasi-identifiers takes three
steps: the rows are written aside with their block, read again in the order of blocks, which DuckDB sorts on disk, and
written with what the workers release; at the end they are sorted by their number. So no more than the blocks at work
and DuckDB's own share are in memory. What is put aside is in a folder of its own that is removed with the release.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.engine import AFTER, BLOCK, GROUP, HEAD, ROW, Handing, Part, group_numbers
from shoal.engines.parquet import GROUP_ROWS, frame_of, parquet_files, put_columns, room_needed, write_parquet
from shoal.errors import DataError, FileError, MissingExtra, listed
from shoal.kernels.arrays import Ints
from shoal.tables.decimals import NOTHING_SAID, Precision

if TYPE_CHECKING:
    import polars as pl

_BATCHES = 16  # of a batch that fit into the memory of DuckDB
_LEAST = 2048  # rows of a batch: a vector of DuckDB
_SHORT, _LONG = 8, 64  # bytes of a number, and of a text, roughly
_READ = 0.5  # of the memory of DuckDB, for the row groups that its threads hold; sorting takes about as much
_SHARE = 0.45  # of the memory of the process, for DuckDB; the rest is for batches, workers and Python itself


_KEPT: list[object] = []  # engines whose lazy results somebody may still hold: what they put aside stays until the end


def new_folder(owner: object) -> Path:
    """Make a folder for what is put aside, which is removed with its owner, or when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


class DuckdbEngine:
    """Rows in Parquet files, moved by DuckDB."""

    name = "duckdb"

    def __init__(self, paths: Sequence[Path], memory: int | None = None, threads: int | None = None) -> None:
        duckdb = import_duckdb()
        self.precision: Precision = NOTHING_SAID
        self._paths = list(paths)
        self._folder = new_folder(self)
        self._connection = duckdb.connect()
        self._run(f"SET temp_directory = {_text(self._folder / 'sorting')}")
        self._run("SET preserve_insertion_order = true")
        self._threads = threads or os.cpu_count() or 1
        self._run(f"SET threads = {self._threads}")
        if memory is not None:
            self._run(f"SET threads = {self._readers(int(memory * _SHARE))}")
            self._run(f"SET memory_limit = '{int(memory * _SHARE)}B'")
        self._original = self._rows = self._numbered("original", self._paths)
        self._records = int(self._one(f"SELECT count(*) FROM {self._original}"))
        types = self._types(self._original)
        self._names = [name for name, _ in types]
        self._batch = GROUP_ROWS if memory is None else batch_rows([kind for _, kind in types], int(memory * _SHARE))
        taken = [name for name in self._names if name.startswith("__shoal_")]
        if taken:
            raise DataError(f"columns {listed(taken)} have names that are used inside; rename them")

    def head(self) -> pl.DataFrame:
        """Return the first rows, which tell names and types."""
        first = f"SELECT * FROM {self._original} WHERE {ROW} < {HEAD} ORDER BY {ROW}"
        with _told():
            table = self._connection.sql(first).to_arrow_table()
        return head_of(table.select(self._names))

    def count(self) -> int:
        """Return how many rows there are."""
        return int(self._one(f"SELECT count(*) FROM {self._rows}"))

    def add_up(
        self, columns: Sequence[str], part: Callable[[pl.DataFrame, Ints], Part], released: Sequence[str] = ()
    ) -> Part:
        """Call ``part(frame, rows)`` on batches of some columns of the original, and add up what it returns."""
        total: Part | None = None
        beside = [f"{_names([name])} AS {_names([AFTER + name])}" for name in released]
        after = f"(SELECT {', '.join([*beside, ROW])} FROM {self._rows})"
        before = f"(SELECT {_names([*columns, ROW])} FROM {self._original})"
        rows = f"{before} JOIN {after} USING ({ROW})" if columns and released else after if released else before
        names = [*columns, *(AFTER + name for name in released)]
        for table in self._batches(f"SELECT {_names([*names, ROW])} FROM {rows}"):
            own = part(frame_of(table, names), table.column(ROW).to_numpy())
            total = own if total is None else total + own
        if total is None:
            raise DataError("the table has no records; there is nothing to protect")
        return total

    def sizes(self, columns: Sequence[str], *, released: bool) -> Counter[int]:
        """Count how many combinations of some columns there are, by how many rows have them, before or after."""
        rows = self._rows if released else self._original
        keys = f"SELECT count(*) AS n FROM {rows} GROUP BY {_names(columns)}"
        return Counter(dict(self._run(f"SELECT n, count(*) FROM ({keys}) GROUP BY n").fetchall()))

    def protect_blocks(self, handing: Handing, threads: int | None, report: Callable[[int], None]) -> list[Any]:
        """Hand each block to its worker, put its columns in place, and return the figures of all."""
        with room_needed(self._folder), _told():
            blocked = self._folder / f"blocked-{handing.place}.parquet"
            self._put_aside(self._with_blocks(handing), blocked)
            released = self._folder / f"released-{handing.place}.parquet"
            figures: list[Any] = []
            self._put_aside(self._protected(handing, blocked, figures, threads, report), released)
            blocked.unlink()
            before, self._rows = self._rows, f"read_parquet({_text(released)})"
            if before != self._original:
                (self._folder / f"released-{handing.place - 1}.parquet").unlink()
        return figures

    def compare_with(self, path: str | Path) -> None:
        """Take the Parquet files of a release that was written before as what is released."""
        self._rows = self._numbered("released", parquet_files(path))

    def released_types(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return names and types of the columns before and after."""
        return self._types(self._original), self._types(self._rows)

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as a relation of DuckDB, in the order of the rows."""
        self.keep()
        return self._connection.cursor().sql(self._ordered(drop))

    def write(self, path: Path, drop: Sequence[str]) -> None:
        """Write the release, in the order of the rows, as a Parquet file or a folder of them."""
        with _told():
            reader = self._reader(self._ordered(drop))
            write_parquet(_tables(reader), reader.schema, path)

    def inputs(self) -> list[Path]:
        """Return the files that are read."""
        return self._paths

    def close(self) -> None:
        """Remove what was put aside."""
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def keep(self) -> Path:
        """Keep what was put aside until the process ends, and return where that is."""
        _KEPT.append(self)
        return self._folder

    def _readers(self, memory: int) -> int:
        """Return how many threads DuckDB may have: each holds a row group of the files, as it is and unpacked."""
        files = ", ".join(map(_text, self._paths))
        size = "sum(total_compressed_size + total_uncompressed_size) AS size"
        groups = f"SELECT {size} FROM parquet_metadata([{files}]) GROUP BY file_name, row_group_id"
        largest = self._one(f"SELECT max(size) FROM ({groups})") or 1
        return max(1, min(self._threads, int(memory * _READ // largest)))

    def _numbered(self, name: str, paths: Sequence[Path]) -> str:
        """Make a view of all rows of some files with their numbers, and return its name."""
        files = [_text(path) for path in paths]
        counts = self._run(f"SELECT file_name, num_rows FROM parquet_file_metadata([{', '.join(files)}])").fetchall()
        rows_of = dict(counts)
        first, starts = 0, []
        for path in paths:
            starts.append(f"({_text(path)}, {first})")
            first += rows_of[str(path)]
        numbered = f"read_parquet([{', '.join(files)}], filename = '__shoal_file', file_row_number = true)"
        self._run(
            f"CREATE VIEW {name} AS SELECT rows.* EXCLUDE (__shoal_file, file_row_number), "
            f"rows.file_row_number + files.first AS {ROW} FROM {numbered} AS rows "
            f"JOIN (VALUES {', '.join(starts)}) AS files(name, first) ON rows.__shoal_file = files.name"
        )
        return name

    def _with_blocks(self, handing: Handing) -> Iterator[Any]:
        """Yield all rows with their block."""
        import pyarrow as pa

        for table in self._batches(f"SELECT * FROM {self._rows}"):
            blocks = handing.block_of(frame_of(table, handing.columns), table.column(ROW).to_numpy())
            yield table.append_column(BLOCK, pa.array(blocks))

    def _protected(
        self, handing: Handing, blocked: Path, figures: list[Any], threads: int | None, report: Callable[[int], None]
    ) -> Iterator[Any]:
        """Yield all rows as they are released, block by block, in the order of the blocks."""
        waiting: deque[Future[tuple[Any, Any]]] = deque()
        workers = threads or self._threads
        done = 0
        with ThreadPoolExecutor(workers) as pool:
            try:
                for table in self._blocks(blocked):
                    waiting.append(pool.submit(protect_table, table, handing))
                    while len(waiting) > 2 * workers:
                        made, own = waiting.popleft().result()
                        figures.append(own)
                        done += made.num_rows
                        report(done)
                        yield made
                while waiting:
                    made, own = waiting.popleft().result()
                    figures.append(own)
                    yield made
            finally:
                for future in waiting:
                    future.cancel()

    def _blocks(self, blocked: Path) -> Iterator[Any]:
        """Yield the rows of each block."""
        import pyarrow as pa

        held: list[Any] = []
        for table in self._batches(f"SELECT * FROM read_parquet({_text(blocked)}) ORDER BY {BLOCK}, {ROW}"):
            numbers = table.column(BLOCK).to_numpy()
            cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
            if held and held[-1].column(BLOCK)[0].as_py() != numbers[0]:
                yield pa.concat_tables(held)
                held = []
            for start, stop in pairwise(cuts):
                held.append(table.slice(start, stop - start))
                if stop < len(numbers):
                    yield pa.concat_tables(held)
                    held = []
        if held:
            yield pa.concat_tables(held)

    def _put_aside(self, tables: Iterator[Any], path: Path) -> None:
        first = next(tables)

        def every() -> Iterator[Any]:
            yield first
            yield from tables

        write_parquet(every(), first.schema, path, self._batch)  # a row group is read as a whole

    def _ordered(self, drop: Sequence[str]) -> str:
        kept = [name for name in self._names if name not in drop]
        return f"SELECT {_names(kept)} FROM {self._rows} ORDER BY {ROW}"

    def _types(self, rows: str) -> list[tuple[str, str]]:
        found = self._run(f"DESCRIBE SELECT * FROM {rows}").fetchall()
        return [(name, kind) for name, kind, *_ in found if name != ROW and not name.startswith(GROUP)]

    def _batches(self, query: str) -> Iterator[Any]:
        with _told():
            yield from _tables(self._reader(query))

    def _reader(self, query: str) -> Any:
        return self._connection.cursor().sql(query).to_arrow_reader(self._batch)

    def _one(self, query: str) -> Any:
        return self._run(query).fetchall()[0][0]

    def _run(self, query: str) -> Any:
        with _told():
            return self._connection.execute(query)


def protect_table(table: Any, handing: Handing) -> tuple[Any, Any]:
    """Return the rows of a block, an Arrow table, as they are released, with their groups, and the figures."""
    import pyarrow as pa

    table = table.sort_by(ROW)
    block = int(table.column(BLOCK)[0].as_py())
    frame = frame_of(table, handing.worker.columns)
    made = handing.worker.protect(block, frame)
    table = put_columns(table, handing.worker.put(frame, made)).drop_columns([BLOCK])
    groups = pa.array(group_numbers(block, made.groups))
    return table.append_column(f"{GROUP}{handing.place}", groups), made.figures


def batch_rows(types: Sequence[str], memory: int) -> int:
    """Return how many rows of columns of these types a batch has, so that it takes a small part of the memory.

    >>> batch_rows(["DOUBLE"] * 5, 2**30), batch_rows(["DOUBLE"] * 100, 2**27)
    (131072, 10240)
    """
    width = sum(_LONG if kind.startswith(("VARCHAR", "BLOB", "STRUCT", "MAP")) else _SHORT for kind in types)
    return max(_LEAST, min(GROUP_ROWS, memory // _BATCHES // width // _LEAST * _LEAST))


def head_of(table: Any) -> pl.DataFrame:
    """Return an Arrow table as a polars frame; a column of a type that polars does not know has no values."""
    import polars as pl

    columns = []
    for name in table.column_names:
        try:
            columns.append(frame_of(table, [name])[name])
        except Exception:  # polars raises different errors, and panics, for such types
            columns.append(pl.Series(name, [None] * table.num_rows, dtype=pl.List(pl.Int8)))
    return pl.DataFrame(columns)


def import_duckdb() -> Any:
    """Return the module of DuckDB."""
    try:
        import duckdb
        import pyarrow  # noqa: F401 - what DuckDB gives batches as
    except ImportError:
        raise MissingExtra("the engine 'duckdb'", "duckdb") from None
    return duckdb


@contextmanager
def _told() -> Iterator[None]:
    """Say what DuckDB could not do in one sentence, without the query and without a cell."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise FileError(
            "DuckDB has not enough memory, which a row group of the files has to fit into, or no room to sort on disk; "
            "give it more (engine.memory, --memory), or set TMPDIR to a folder with room for twice the table"
        ) from None
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise FileError(f"DuckDB could not read or move the rows: {first}") from None


def _tables(reader: Any) -> Iterator[Any]:
    import pyarrow as pa

    for batch in reader:
        yield pa.Table.from_batches([batch])


def _names(columns: Sequence[str]) -> str:
    return ", ".join('"' + name.replace('"', '""') + '"' for name in columns)


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
