"""Relations of DuckDB and lazy frames of polars: put aside as Parquet, which numbers their rows, and given back lazily.

Neither says which row is which when it is asked twice, so that it is asked once. What comes back reads the file of the
release, which lives until the process ends.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.engines.duckdb import DuckdbEngine, import_duckdb
from shoal.engines.parquet import room_needed
from shoal.errors import DataError
from shoal.plan.engine import EngineSettings


def open_lazy(data: Any, kind: str, asked: EngineSettings, threads: int | None) -> DuckdbEngine:
    """Return an engine that has the rows of a relation or a lazy frame."""
    import_duckdb()
    folder = Path(tempfile.mkdtemp(prefix="shoal-"))
    file = folder / "original.parquet"
    try:
        with room_needed(folder):
            if kind == "polars":
                data.sink_parquet(file)
            else:
                data.write_parquet(str(file))
        engine = (LazyFrameEngine if kind == "polars" else DuckdbEngine)([file], asked.memory_bytes, threads)
        weakref.finalize(engine, shutil.rmtree, folder, ignore_errors=True)
        if kind == "duckdb":
            _check_types(engine, data)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return engine


class LazyFrameEngine(DuckdbEngine):
    """Rows of a lazy frame of polars."""

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as a lazy frame, in the order of the rows."""
        import polars as pl

        file = self.keep() / "release.parquet"
        with room_needed(file.parent):
            self.write(file, drop)
        return pl.scan_parquet(file)


def _check_types(engine: DuckdbEngine, relation: Any) -> None:
    """Refuse types that Parquet does not hold as they are."""
    held = dict(engine.released_types()[0])
    own = zip(relation.columns, map(str, relation.types), strict=True)
    other = [f"'{name}' ({kind})" for name, kind in own if held[name] != kind]
    if other:
        raise DataError(f"columns of types that Parquet does not hold: {', '.join(other)}; cast them")
