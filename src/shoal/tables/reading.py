"""READ: a table in memory, or a file, to a :class:`shoal.tables.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import PlanError
from shoal.plan.plan import Reading, as_reading
from shoal.tables.files import Source, read_file
from shoal.tables.table import Table, open_table


def read(data: Any, settings: Mapping[str, Any]) -> tuple[Source | None, Table]:
    """Open a table, or read it from a file."""
    reading = as_reading(settings.get("reading"))
    if isinstance(data, str | Path):
        source = read_file(Path(data), reading)
        return source, open_table(source.frame)
    if reading != Reading():
        raise PlanError("reading: has no effect on a table that is in memory; leave it out")
    return None, open_table(data)
