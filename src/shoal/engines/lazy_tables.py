"""Relations of DuckDB and lazy frames of polars: put aside as Parquet, which numbers their rows, and given back lazily.

Neither says which row is which when it is asked twice, so that it is asked once. What comes back reads the file of the
release, which lives as long as the release or what was made of it does.
"""

from __future__ import annotations

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
    folder = tempfile.TemporaryDirectory(prefix="shoal-")
    file = Path(folder.name) / "original.parquet"
    with room_needed(Path(folder.name)):
        if kind == "polars":
            data.sink_parquet(file)
        else:
            data.write_parquet(str(file))
    engine = (LazyFrameEngine if kind == "polars" else DuckdbEngine)([file], asked.memory_bytes, threads)
    engine.originals = folder  # removed with it
    if kind == "duckdb":
        _check_types(engine, data)
    return engine


class LazyFrameEngine(DuckdbEngine):
    """Rows of a lazy frame of polars."""

    def result(self, drop: Sequence[str]) -> Any:
        """Return the release as a lazy frame, in the order of the rows."""
        import polars as pl

        folder = tempfile.TemporaryDirectory(prefix="shoal-")
        file = Path(folder.name) / "release.parquet"
        with room_needed(Path(folder.name)):
            self.write(file, drop)
        frame = pl.scan_parquet(file)
        weakref.finalize(self, folder.cleanup)
        return frame


def _check_types(engine: DuckdbEngine, relation: Any) -> None:
    """Refuse types that Parquet does not hold as they are."""
    held = dict(engine.released_types()[0])
    own = zip(relation.columns, map(str, relation.types), strict=True)
    other = [f"'{name}' ({kind})" for name, kind in own if held[name] != kind]
    if other:
        raise DataError(f"columns of types that Parquet does not hold: {', '.join(other)}; cast them")
