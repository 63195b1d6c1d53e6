"""The table that is open: its rows a page at a time, what was found in it, and the risk before.

It is read once and kept in memory while its file and the way of reading it stay the same. All counting is done here;
a page gets a few rows and figures.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal

if TYPE_CHECKING:
    import polars as pl

ROWS = 25  # of a page
_LONGEST = 60  # letters of a cell that are shown
MOST_VALUES = 200  # categories of a column that are listed


@dataclass(frozen=True)
class Opened:
    """A table that was read.

    Attributes
    ----------
    path : Path
        Its file.
    inspection : shoal.Inspection
        What was found in it.
    """

    path: Path
    inspection: shoal.Inspection

    @property
    def frame(self) -> pl.DataFrame:
        """The table."""
        found: pl.DataFrame = self.inspection.table
        return found

    @property
    def records(self) -> int:
        """Its rows."""
        return self.inspection.records

    @property
    def columns(self) -> list[str]:
        """Names of its columns, in order: requests name a column by its place here."""
        return [proposal.profile.name for proposal in self.inspection.proposals]

    def column(self, place: str) -> str:
        """Return the name of the column at a place; raises LookupError where there is none."""
        if not place.isdecimal() or len(place) > 6 or int(place) >= len(self.columns):
            raise LookupError("there is no such column")
        return self.columns[int(place)]

    def rows(self, start: int) -> list[list[str | None]]:
        """Return a page of rows as texts, long ones cut; None where a cell is missing."""
        return [[_shown(cell) for cell in row] for row in self.frame.slice(start, ROWS).rows()]

    def values(self, name: str) -> list[str]:
        """Return the different values of a column as texts, the commonest first; not more than can be listed."""
        counts = self.frame.get_column(name).alias("").drop_nulls().value_counts(sort=True)
        return [str(value) for value in counts.get_column("").head(MOST_VALUES).to_list()]


def _shown(cell: Any) -> str | None:
    if cell is None:
        return None
    text = shoal.printable(str(cell))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class Tables:
    """Keeps the table that is open, and the risk of the columns that were last asked about."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._opened: Opened | None = None
        self._risks: dict[Any, shoal.Uniqueness] = {}

    def open(self, path: Path, reading: Mapping[str, Any] | None) -> Opened:
        """Return a table, read anew where its file or the way of reading it has changed.

        Without a reading it is proposed; with one, that is taken as it is.
        """
        given = dict(reading or {})
        stat = path.stat() if path.is_file() else None
        key = (str(path), stat and (stat.st_mtime_ns, stat.st_size), repr(sorted(given.items())))
        with self._lock:
            if self._opened is None or key != self._key:
                self._opened, self._key, self._risks = None, None, {}
                self._opened = Opened(path, shoal.inspect(path, given or None))
                self._key = key
                proposed = self._opened.inspection.reading.model_dump(mode="json", exclude_defaults=True)
                if proposed != given:  # what was proposed reads the same table
                    self._key = (*key[:2], repr(sorted(proposed.items())))
            return self._opened

    def risk(self, opened: Opened, columns: Sequence[str], k: int) -> shoal.Uniqueness:
        """Return how many records some columns single out."""
        key = (tuple(sorted(columns)), k)
        with self._lock:
            if key not in self._risks:
                self._risks = {key: shoal.uniqueness(opened.frame, columns, k=k)}
            return self._risks[key]
