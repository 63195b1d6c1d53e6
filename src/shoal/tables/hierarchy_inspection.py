"""A hierarchy beside the column that it is for: whether every value is in it, and how many records have each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.columns.hierarchy import Hierarchy, check_covered, load_hierarchy, name_of, write_rows
from shoal.columns.hierarchy.nested import write_nested
from shoal.errors import DataError, FileError, PlanError, did_you_mean
from shoal.kernels.arrays import Ints
from shoal.plan.hierarchies import HierarchySettings
from shoal.plan.reading import Reading, as_reading
from shoal.tables.factors import codes_only
from shoal.tables.files import read_file
from shoal.tables.files.writing_whole import check_target, write_whole
from shoal.tables.table import open_table

FEWEST = 5  # records that a count is about, where it is shown without being asked for


@dataclass(frozen=True)
class Line:
    """A node as it is drawn: how deep it is, its name, and records with it as their value, and with it or one below."""

    depth: int
    name: str
    own: int | None
    below: int | None


@dataclass(frozen=True)
class HierarchyInspection:
    """A hierarchy, and how a column fits it.

    Attributes
    ----------
    hierarchy : Hierarchy
        The tree.
    column : str or None
        Column that it was compared with.
    records, missing, distinct : int
        Rows of the table, those without a value, and different values; 0 without a column.
    counts : int64 (nodes,) or None
        Records with each node as their value.
    notes : tuple of str
        What was guessed while reading the table.
    """

    hierarchy: Hierarchy
    column: str | None = None
    records: int = 0
    missing: int = 0
    distinct: int = 0
    counts: Ints | None = None
    notes: tuple[str, ...] = ()

    @property
    def inner(self) -> int:
        """Values of the column that are not leaves."""
        return 0 if self.counts is None else int(((self.counts > 0) & ~self.hierarchy.leaves).sum())

    def lines(self) -> Iterator[Line]:
        """Return the nodes in the order in which they are drawn."""
        totals = None if self.counts is None else self.hierarchy.totals(self.counts)
        for code, name in enumerate(self.hierarchy.names):
            own, below = (None, None) if totals is None or self.counts is None else (self.counts[code], totals[code])
            yield Line(
                int(self.hierarchy.depth[code]),
                name,
                None if own is None else int(own),
                None if below is None else int(below),
            )

    def to_dict(self) -> dict[str, Any]:
        """Return what was found in numbers, without counts of single values."""
        return {
            "nodes": len(self.hierarchy),
            "leaves": int(self.hierarchy.leaves.sum()),
            "height": self.hierarchy.height,
            "root": self.hierarchy.names[0],
            "column": self.column,
            "records": self.records,
            "missing": self.missing,
            "distinct": self.distinct,
            "inner_values": self.inner,
            "notes": list(self.notes),
        }

    def write(self, path: str | Path, *, overwrite: bool = True) -> None:
        """Write the hierarchy: leaf-to-root rows to ``.csv``, nested names to ``.yaml``."""
        path = Path(path)
        writers = {".csv": write_rows, ".yaml": write_nested, ".yml": write_nested}
        if path.suffix.lower() not in writers:
            raise FileError(f"'{path}': a hierarchy is written as .csv (leaf to root) or .yaml (nested)")
        check_target(path, overwrite=overwrite)
        write_whole(path, writers[path.suffix.lower()](self.hierarchy), overwrite=overwrite)


def inspect_hierarchy(
    source: str | Path | Mapping[str, Any] | HierarchySettings | Hierarchy,
    data: Any = None,
    column: str | None = None,
    reading: Reading | Mapping[str, Any] | None = None,
) -> HierarchyInspection:
    """Load a hierarchy, check that it is a tree, and that it has every value of a column.

    Parameters
    ----------
    source : path, dict or Hierarchy
        Where it comes from, see :func:`shoal.load_hierarchy`.
    data : pandas, polars or pyarrow table, or path
        The table with the column.
    column : str
        Name of the column.
    reading : dict
        How to read a text file.

    Raises
    ------
    DataError
        Everything that is wrong with the hierarchy, and all values that it does not have.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"country": ["Spain", "Japan", "Spain", "Europe"]})
    >>> places = {"tree": {"world": {"Europe": ["Spain", "France"], "Japan": None}}}
    >>> found = inspect_hierarchy(places, people, "country")
    >>> found.distinct, found.inner, found.counts.tolist()
    (3, 1, [0, 1, 2, 0, 1])
    """
    if (data is None) != (column is None):
        raise PlanError("name the table and its column together: one has no effect without the other")
    if data is None or column is None:
        return HierarchyInspection(load_hierarchy(source))
    notes: tuple[str, ...] = ()
    if isinstance(data, str | Path):
        read = read_file(data, as_reading(reading))
        data, notes = read.frame, read.notes
    table = open_table(data)
    if column not in table.names:
        raise PlanError(f"column '{column}' is not in the table{did_you_mean(column, table.names)}")
    cells, observed = table.cells(column)
    values: dict[str, int] = {}
    for cell, there in zip(cells, observed.tolist(), strict=True):
        if there:
            values[name_of(cell)] = values.get(name_of(cell), 0) + 1
    try:
        hierarchy = check_covered(load_hierarchy(source, values), values)
    except DataError as error:
        raise DataError([f"column '{column}': {m}" if "value" in m else m for m in error.mistakes]) from None
    counts = np.zeros(len(hierarchy), dtype=np.int64)
    np.add.at(counts, hierarchy.codes_of(values), list(values.values()))
    missing = int((~observed).sum())
    holds = table.holds(column)
    if any(holds(hierarchy.names[node]) is None for node in hierarchy.closure(hierarchy.codes_of(values))):
        notes = (*notes, codes_only([column]))
    return HierarchyInspection(hierarchy, column, len(table), missing, len(values), counts, notes)
