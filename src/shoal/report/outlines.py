"""A hierarchy with the records of both tables at and below each of its names: counts, never rows.

Only names that a value of a table has, or that are above one, are drawn. With ``least`` nothing is told about the
original: names and counts are those of the release, where every value has at least k records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.columns.hierarchy import Hierarchy, name_of
from shoal.kernels.arrays import Ints
from shoal.tables.table import Table


@dataclass(frozen=True)
class Outline:
    """The hierarchy of a column.

    Attributes
    ----------
    column : str
        Name of the column.
    names : list of str
        Nodes in pre-order.
    branches : list of str
        What is drawn before each name.
    before : list of int or None
        Records of the original at and below each node; None where it is not told.
    after : list of int
        The same of the release.
    """

    column: str
    names: list[str]
    branches: list[str]
    before: list[int] | None
    after: list[int]


def outline(column: str, hierarchy: Hierarchy, original: Table, released: Table, least: int = 0) -> Outline:
    """Count the records of both tables at and below each node; names that neither has are ignored.

    >>> import polars as pl
    >>> from shoal.columns.hierarchy import grow
    >>> from shoal.tables.table import open_table
    >>> pets = grow([("cat", "mammal"), ("dog", "mammal"), ("mammal", "animal"), ("frog", "animal")])
    >>> before, after = (open_table(pl.DataFrame({"pet": p})) for p in (["cat", "dog", "cat"], ["mammal"] * 3))
    >>> drawn = outline("pet", pets, before, after)
    >>> [f"{b}{name} {count}" for b, name, count in zip(drawn.branches, drawn.names, drawn.before, strict=True)]
    ['animal 3', '└── mammal 3', '    ├── cat 2', '    └── dog 1']
    """
    own = [_counts(column, hierarchy, table) for table in (original, released)]
    shown = own[1] > 0 if least else (own[0] > 0) | (own[1] > 0)
    kept = hierarchy.closure(np.flatnonzero(shown)) if shown.any() else np.array([hierarchy.root])
    before, after = (hierarchy.totals(counts)[kept].tolist() for counts in own)
    drawn = hierarchy.pruned(kept)
    return Outline(column, list(drawn.names), branches(drawn), None if least else before, after)


def _counts(column: str, hierarchy: Hierarchy, table: Table) -> Ints:
    cells, observed = table.cells(column)
    codes = hierarchy.codes_of(name_of(cell) for cell, there in zip(cells, observed.tolist(), strict=True) if there)
    return np.bincount(codes[codes >= 0], minlength=len(hierarchy))


def branches(hierarchy: Hierarchy) -> list[str]:
    """Return what is drawn before each name: lines from its parent, and past it to what comes later.

    >>> from shoal.columns.hierarchy import grow
    >>> branches(grow([("a", "b"), ("b", "*"), ("c", "*")]))
    ['', '├── ', '│   └── ', '└── ']
    """
    ends = np.arange(len(hierarchy)) + hierarchy.sizes
    last = [code == 0 or ends[code] == ends[hierarchy.parent[code]] for code in range(len(hierarchy))]
    drawn = [""]
    for code in range(1, len(hierarchy)):
        above = [a for a in hierarchy.ancestors(code)[::-1] if a]
        drawn.append("".join("    " if last[a] else "│   " for a in above) + ("└── " if last[code] else "├── "))
    return drawn
