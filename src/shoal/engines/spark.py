"""Spark: tables that are larger than a machine. Each block is shuffled to one task, which protects it like any other.

Rows of Parquet files are numbered by file, in the order of the names, and by their place in it, which the reader tells
(``_metadata``); of other tables a column that the user names numbers them. Numbers that Spark makes up are not used:
they depend on partitions. Passes over the rows (``mapInArrow``) hand back one small part a partition, and the driver
adds them up. What is released is computed when it is asked for, at once and only once, since its figures and checks
need it, and kept on the disks of the executors; a lost one is computed again, to the same cells.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from shoal.engines.duckdb import head_of, protect_table
from shoal.engines.engine import AFTER, BLOCK, GROUP, HEAD, ROW, Handing, Part
from shoal.engines.parquet import frame_of, parquet_files, regrouped
from shoal.errors import DataError, FileError, MissingExtra, PlanError, ShoalError, counted, listed
from shoal.kernels.arrays import Ints
from shoal.plan.engine import EngineSettings
from shoal.tables.decimals import NOTHING_SAID, Precision

if TYPE_CHECKING:
    import polars as pl

_FILE, _INDEX, _FIGURES = "__shoal_file", "__shoal_index", "__shoal_figures"
_NO_NUMBER = (
    "the rows of this table have no stable number: read it from Parquet files, or name a column of whole numbers that "
    "is different in every row (engine: {'name': 'spark', 'row': ...}, or --row)"
)


class SparkEngine:
    """Rows of a DataFrame of Spark."""

    name = "spark"

    def __init__(self, frame: Any, row: str | None, paths: Sequence[Path] = (), own: Any = None) -> None:
        self.precision: Precision = NOTHING_SAID
        self._own = own  # a session that was started for these rows alone
        self._kept: list[Any] = []  # what the executors keep
        self._paths = list(paths)
        self._names = list(frame.columns)
        taken = [name for name in self._names if name.startswith("__shoal_")]
        if taken:
            raise DataError(f"columns {listed(taken)} have names that are used inside; rename them")
        _check_types(frame)
        with _told():
            self._original = self._rows = _numbered_by(frame, row) if row else _numbered_by_file(frame)

    def head(self) -> pl.DataFrame:
        """Return the first rows, which tell names and types."""
        with _told():
            return head_of(self._original.orderBy(ROW).limit(HEAD).select(*map(_quoted, self._names)).toArrow())

    def count(self) -> int:
        """Return how many rows there are."""
        with _told():
            return int(self._rows.count())

    def add_up(
        self, columns: Sequence[str], part: Callable[[pl.DataFrame, Ints], Part], released: Sequence[str] = ()
    ) -> Part:
        """Call ``part(frame, rows)`` on batches of some columns of the original, and add up what it returns."""
        from pyspark.sql import functions as f

        names = [*columns, *(AFTER + name for name in released)]

        def parts(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            total = None
            for table in regrouped(pa.Table.from_batches([batch]) for batch in batches if batch.num_rows):
                own = part(frame_of(table, names), table.column(ROW).to_numpy())
                total = own if total is None else total + own
            if total is not None:
                yield pa.RecordBatch.from_pydict({"part": pa.array([pickle.dumps(total)], pa.binary())})

        with _told():
            rows = self._original.select(*map(_quoted, [*columns, ROW]))
            if released:
                after = self._rows.select(*[f.col(_quoted(name)).alias(AFTER + name) for name in released], ROW)
                rows = rows.join(after, ROW) if columns else after
            found = rows.select(*map(_quoted, [*names, ROW])).mapInArrow(parts, "part binary").collect()
        if not found:
            raise DataError("the table has no records; there is nothing to protect")
        total: Part = pickle.loads(found[0]["part"])
        for row in found[1:]:
            total = total + pickle.loads(row["part"])
        return total

    def sizes(self, columns: Sequence[str], *, released: bool) -> Counter[int]:
        """Count how many combinations of some columns there are, by how many rows have them, before or after."""
        with _told():
            rows = self._rows if released else self._original
            keys = rows.groupBy(*map(_quoted, columns)).count().withColumnRenamed("count", "n")
            return Counter({row["n"]: row["count"] for row in keys.groupBy("n").count().collect()})

    def protect_blocks(self, handing: Handing, threads: int | None, report: Callable[[int], None]) -> list[Any]:
        """Hand each block to a task, put its columns in place, and return the figures of all."""
        from pyspark import StorageLevel
        from pyspark.sql.types import BinaryType, LongType, StructField, StructType

        fields = [StructField(field.name, field.dataType, True) for field in self._rows.schema.fields]
        with_block = StructType([*fields, StructField(BLOCK, LongType(), True)])
        group = StructField(f"{GROUP}{handing.place}", LongType(), True)
        with_figures = StructType([*fields, group, StructField(_FIGURES, BinaryType(), True)])

        def numbered(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for table in regrouped(pa.Table.from_batches([batch]) for batch in batches if batch.num_rows):
                blocks = handing.block_of(frame_of(table, handing.columns), table.column(ROW).to_numpy())
                yield from table.append_column(BLOCK, pa.array(blocks)).to_batches()

        def protected(table: Any) -> Any:
            import pyarrow as pa

            made, figures = protect_table(table, handing)
            told = pa.array([pickle.dumps(figures), *[None] * (made.num_rows - 1)], pa.binary())
            return made.append_column(_FIGURES, told)

        with _told():
            blocked = self._rows.mapInArrow(numbered, with_block)
            released = blocked.groupBy(BLOCK).applyInArrow(protected, with_figures).persist(StorageLevel.DISK_ONLY)
            told = released.where(f"{_FIGURES} is not null").select(_FIGURES).collect()
        report(int(handing.sizes.sum()))
        self._kept.append(released)
        self._rows = released.drop(_FIGURES)
        return [pickle.loads(row[0]) for row in told]

    def compare_with(self, path: str | Path) -> None:
        """Take the Parquet files of a release that was written before as what is released."""
        files = [one.resolve().as_uri() for one in parquet_files(path)]
        with _told():
            self._rows = _numbered_by_file(self._original.sparkSession.read.parquet(*files))

    def released_types(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return names and types of the columns before and after."""
        before, after = self._original.dtypes, self._rows.dtypes
        return [one for one in before if one[0] in self._names], [one for one in after if one[0] in self._names]

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as a DataFrame; as of any, its rows have no order but what a column gives them."""
        return self._rows.select(*[_quoted(name) for name in self._names if name not in drop])

    def write(self, path: Path, drop: Sequence[str]) -> None:
        """Write the release, in the order of the rows, as a folder of Parquet files that the executors can reach."""
        kept = [_quoted(name) for name in self._names if name not in drop]
        with _told():
            self._rows.orderBy(ROW).select(*kept).write.mode("overwrite").parquet(path.resolve().as_uri())
        for other in [*path.glob("_SUCCESS"), *path.glob(".*.crc")]:  # what Hadoop leaves beside the parts
            other.unlink()

    def inputs(self) -> list[Path]:
        """Return the files that are read."""
        return self._paths

    def close(self) -> None:
        """Let go of what the executors keep, and of the session where it was started for these rows."""
        with suppress(Exception):  # a session that broke down has said so
            for one in self._kept:
                one.unpersist()
            if self._own is not None:
                self._own.stop()


def open_spark(data: Any, asked: EngineSettings) -> SparkEngine:
    """Return the engine that has the rows of a DataFrame, or of the Parquet files at a path."""
    try:
        import pyarrow  # noqa: F401 - what tasks see rows as
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("the engine 'spark'", "spark") from None
    if not isinstance(data, str | Path):
        if asked.master or asked.settings:
            raise PlanError("engine.master, engine.settings: have no effect on a table of Spark, which has a session")
        return SparkEngine(data, asked.row)
    paths = parquet_files(data)
    session = SparkSession.getActiveSession()
    if session is not None and (asked.master or asked.settings):
        raise PlanError("engine.master, engine.settings: there is a session already, which is used; leave them out")
    own = _new_session(asked) if session is None else None
    reading: Any = session or own
    try:
        with _told():
            frame = reading.read.parquet(*[path.resolve().as_uri() for path in paths])
        return SparkEngine(frame, asked.row, paths, own)
    except BaseException:
        if own is not None:
            own.stop()
        raise


def _new_session(asked: EngineSettings) -> Any:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    java = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (java and (Path(java) / "bin" / "java").exists())):
        raise FileError("Spark needs Java 17, and there is none; install openjdk-17-jre-headless, or set JAVA_HOME")
    if "spark.pyspark.python" not in asked.settings and "spark.archives" not in asked.settings:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("shoal").config("spark.ui.enabled", "false")
    if asked.master:
        builder = builder.master(asked.master)
    for name, value in asked.settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise FileError(f"Spark could not be started: {str(error).splitlines()[0]}; see its log") from None


def _check_types(frame: Any) -> None:
    """Refuse types whose values Spark does not hand to tasks."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    other = []
    for field in frame.schema.fields:
        try:
            to_arrow_type(field.dataType)
        except PySparkException:
            other.append(f"'{field.name}' ({field.dataType.simpleString()})")
    if other:
        raise DataError(f"columns of types that Spark hands to no task: {', '.join(other)}; cast or drop them")


def _numbered_by(frame: Any, row: str) -> Any:
    """Return rows numbered by a column, which must be whole, there, and different in every row."""
    from pyspark.sql import functions as f

    if row not in frame.columns:
        raise PlanError(f"engine.row: column '{row}' is not in the table")
    if dict(frame.dtypes)[row] not in ("tinyint", "smallint", "int", "bigint"):
        raise PlanError(f"engine.row: column '{row}' is not of whole numbers")
    counts = frame.agg(f.count("*"), f.countDistinct(_quoted(row))).collect()[0]
    if counts[0] != counts[1]:
        raise DataError(
            f"engine.row: column '{row}' numbers {counted(counts[0], 'row')} and repeats itself; name another"
        )
    return frame.withColumn(ROW, f.col(_quoted(row)).cast("bigint"))


def _numbered_by_file(frame: Any) -> Any:
    """Return rows numbered by the files that they come from."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as f

    try:
        told = frame.select("*", f.col("_metadata.file_path").alias(_FILE), f.col("_metadata.row_index").alias(_INDEX))
        told.schema  # noqa: B018 - asks Spark whether there is such a column
    except AnalysisException:
        raise DataError(_NO_NUMBER) from None
    counts = {row[0]: row[1] for row in told.groupBy(_FILE).count().collect()}
    files = sorted(counts, key=lambda file: Path(unquote(urlparse(file).path)))
    starts = accumulate((counts[file] for file in files), initial=0)
    first = f.create_map(*[f.lit(x) for pair in zip(files, starts, strict=False) for x in pair])
    numbered = told.withColumn(ROW, f.element_at(first, f.col(_FILE)) + f.col(_INDEX)) if files else told
    return numbered.drop(_FILE, _INDEX)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _told() -> Iterator[None]:
    """Say what went wrong in Spark in one sentence; what a task refused is refused in its own words."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except ShoalError:
        raise
    except (PySparkException, Py4JError, pickle.PicklingError) as error:  # the last where tasks do not fit on the disk
        text = str(error)
        own = re.search(r"^shoal\.errors\.(\w+): (.*)$", text, re.MULTILINE)
        if own:
            raise {"DataError": DataError, "PlanError": PlanError}.get(own[1], FileError)(own[2]) from None
        if "PYTHON_VERSION_MISMATCH" in text or "different minor version" in text:
            raise FileError(
                "the workers of Spark run another Python than this one; set PYSPARK_PYTHON, or ship the environment, "
                "see docs/spark-cluster.md"
            ) from None
        if "No module named" in text or "ModuleNotFoundError" in text:
            raise FileError(
                "the workers of Spark do not have shoal; ship the environment, see docs/spark-cluster.md"
            ) from None
        if "No space left" in text:
            raise FileError(
                "Spark has no room left on a disk of the driver or of a worker; set spark.local.dir to a folder with "
                "room for twice the table"
            ) from None
        # what a task says of its own may show cells
        failed = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception)|KeyboardInterrupt)\b", text, re.MULTILINE)
        if "from the Python worker" in text and failed:
            raise FileError(f"a task of Spark failed with {failed[-1]}; the log of its worker says where") from None
        raise FileError(f"Spark could not read or move the rows: {text.splitlines()[0]}") from None
