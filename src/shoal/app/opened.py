"""The table that is open: its rows a page at a time, what was found in it, and the risk before.

It is read once and kept in memory while its file and the way of reading it stay the same. All counting is done here;
a page gets a few rows and figures.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.app.workspace import NotThere

if TYPE_CHECKING:
    import polars as pl

ROWS = 25  # of a page
_LONGEST = 60  # letters of a cell that are shown
_RISKS = 7  # answers about the risk of columns that are kept beside the last one
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
    offered : dict
        Settings of reading that looking at it proposes beside those that it was read with.
    """

    path: Path
    inspection: shoal.Inspection
    offered: dict[str, Any] = field(default_factory=dict)

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
        """Return the name of the column at a place; raises NotThere where there is none."""
        if not place.isdecimal() or len(place) > 6 or int(place) >= len(self.columns):
            raise NotThere("there is no such column")
        return self.columns[int(place)]

    def rows(self, start: int) -> list[list[str | None]]:
        """Return a page of rows as texts, long ones cut; None where a cell is missing."""
        return [[_shown(cell) for cell in row] for row in self.frame.slice(start, ROWS).rows()]

    def values(self, name: str, most: int | None = None) -> list[str]:
        """Return the different values of a column as texts, the commonest first; all, or so many at most."""
        counts = self.frame.get_column(name).alias("").drop_nulls().value_counts(sort=True)
        found = counts.get_column("")
        return [_named(value) for value in (found if most is None else found.head(most)).to_list()]


def _shown(cell: Any) -> str | None:
    if cell is None:
        return None
    text = shoal.printable(str(cell))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _named(value: Any) -> str:
    """Return the name that a value has in hierarchies and orders: a whole number has no decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def by_size(value: str) -> tuple[float, str]:
    """Return what values are sorted by: numbers by their size, before all other texts."""
    try:
        return float(value), value
    except ValueError:
        return float("inf"), value


def _said(reading: Mapping[str, Any]) -> str:
    """Return what is said about reading as a text, whatever stands there at its default."""
    return shoal.Reading(**reading).model_dump_json(exclude_defaults=True)


def inspected(path: Path, reading: Mapping[str, Any] | None) -> Opened:
    """Read a table as it is said, and look at it; without a reading, as looking at it proposes."""
    found = shoal.inspect(path, reading)
    if reading is None:
        return Opened(path, found)
    own, better = shoal.Reading(**reading), found.reading
    if own == better:
        return Opened(path, found)
    frame = shoal.read_table(path, own)
    said = own.model_dump(mode="json")
    offered = {}
    for name, value in better.model_dump(mode="json", exclude_defaults=True).items():
        if value != said[name]:
            offered[name] = [one for one in value if one not in said[name]] if isinstance(value, list) else value
    return Opened(path, replace(shoal.inspect(frame), reading=own), offered)


class Tables:
    """Keeps the table that is open, and the risk of the columns that were last asked about."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._opened: Opened | None = None
        self._risks: dict[Any, shoal.Uniqueness] = {}

    def open(self, path: Path, reading: Mapping[str, Any] | None) -> Opened:
        """Return a table, read anew where its file or the way of reading it has changed.

        Without a reading, not even an empty one, it is proposed; with one, that is taken as it is.
        """
        stat = path.stat() if path.is_file() else None
        file = (str(path), stat and (stat.st_mtime_ns, stat.st_size))
        with self._lock:
            if self._opened is None or reading is None or (*file, _said(reading)) != self._key:
                self._opened, self._key, self._risks = None, None, {}
                self._opened = inspected(path, reading)
                self._key = (*file, _said(self._opened.inspection.reading.model_dump(mode="json")))
            return self._opened

    def risk(self, opened: Opened, columns: Sequence[str], k: int) -> shoal.Uniqueness:
        """Return how many records some columns single out."""
        key = (tuple(sorted(columns)), k)
        with self._lock:
            if key not in self._risks:
                latest = list(self._risks.items())[-_RISKS:]  # so that taking a change back counts nothing again
                self._risks = {**dict(latest), key: shoal.uniqueness(opened.frame, columns, k=k)}
            return self._risks[key]
