"""READ: a table in memory, or a file, to a :class:`shoal.tables.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import PlanError
from shoal.plan.decimals import as_decimals
from shoal.plan.reading import Reading, as_reading
from shoal.tables.decimals import precision_of
from shoal.tables.files import Source, read_file
from shoal.tables.table import Table, open_table

if TYPE_CHECKING:
    import polars as pl


def read(data: Any, settings: Mapping[str, Any]) -> tuple[Source | None, Table]:
    """Open a table, or read it from a file; one that is open already stays what it is."""
    if isinstance(data, Table):
        return None, data
    reading = as_reading(settings.get("reading"))
    try:
        asked = as_decimals({} if settings.get("decimals") is None else settings["decimals"])
    except PlanError:  # told by the plan
        asked = {}
    if isinstance(data, str | Path):
        source = read_file(data, reading)
        return source, open_table(source.frame, precision_of(source, asked))
    if reading != Reading():
        raise PlanError("reading: has no effect on a table that is in memory; leave it out")
    return None, open_table(data, precision_of(None, asked))


def read_table(path: str | Path, reading: Reading | Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Read a table from a file, with the types that its release has.

    Parameters
    ----------
    path : path
        A file of one of the formats in docs/files.md.
    reading : Reading or dict
        How to read a text file, where looking at it is not enough.

    Examples
    --------
    >>> import shoal, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shoal.example(5).write_csv(f"{folder}/survey.csv")
    ...     read_table(f"{folder}/survey.csv").height
    5
    """
    return read_file(path, as_reading(reading)).frame
