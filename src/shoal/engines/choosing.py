"""Which engine moves the rows: that of the kind of table, or the one that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.engines.duckdb import DuckdbEngine
from shoal.engines.engine import Engine
from shoal.engines.parquet import parquet_files
from shoal.errors import DataError, PlanError
from shoal.plan.engine import EngineSettings

_NATIVE = {"polars": "duckdb", "duckdb": "duckdb", "pyspark": "spark"}  # engine of the lazy tables of a library


def lazy_kind(data: object) -> str | None:
    """Return the library of a table that is not in memory: a lazy frame of polars, or a relation, or of Spark."""
    library = type(data).__module__.split(".")[0].lstrip("_")
    name = type(data).__name__
    if (library, name) in (("polars", "LazyFrame"), ("duckdb", "DuckDBPyRelation")):
        return library
    return "pyspark" if library == "pyspark" and name == "DataFrame" else None


def engine_settings(data: object, settings: Mapping[str, Any]) -> EngineSettings | None:
    """Return the engine of a table, from its kind and what was asked for; None treats the table as a whole."""
    asked = settings.get("engine")
    if isinstance(asked, str):
        asked = {"name": asked}
    named = isinstance(asked, Mapping) and all(isinstance(name, str) for name in asked)
    if asked is not None and not named and not isinstance(asked, EngineSettings):
        raise PlanError("engine: give its name, or name, memory, master, row and settings by name")
    found = EngineSettings(**asked) if isinstance(asked, Mapping) else asked
    kind = lazy_kind(data)
    if kind is None:
        return found
    needed = _NATIVE[kind]
    if found is None:
        return EngineSettings.model_validate({"name": needed})
    if found.name != needed:
        raise PlanError(f"engine: a table of {kind} is moved by '{needed}', not by '{found.name}'; leave it out")
    return found


def open_engine(data: object, asked: EngineSettings, threads: int | None) -> Engine:
    """Return the engine that has the rows of a table, or of the files at a path."""
    kind = lazy_kind(data)
    if asked.name == "spark":
        from shoal.engines.spark import open_spark

        return open_spark(data, asked)
    if kind is not None:
        from shoal.engines.lazy_tables import open_lazy

        return open_lazy(data, kind, asked, threads)
    if not isinstance(data, str | Path):
        raise DataError(
            f"a table in memory is not moved by '{asked.name}'; write it to Parquet and give the path, or leave engine "
            "out"
        )
    return DuckdbEngine(parquet_files(data), asked.memory_bytes, threads)


def writes_one_file(name: str) -> bool:
    """Whether an engine writes a single file where one is named: each task of Spark writes its own."""
    return name != "spark"
