"""Hierarchies in CSV: rows from a leaf to the root, or from a child to its parent, which are the same with two cells.

A row is ``leaf;...;root``, as long as it is deep; a cell that repeats the one before it fills the row up, and so do
empty cells at its end. Every two neighbours are a child and its parent, so that inner nodes may have rows of their own.

The first row is taken for a header where none of its names stands in any other row: as a part of the tree it could
not be reached from the rest.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import pairwise

from shoal.columns.hierarchy.growing import Found
from shoal.columns.hierarchy.tree import Hierarchy
from shoal.errors import DataError, counted
from shoal.plan.delimited import find_delimiter

MARKS = ";\t,"  # that may stand between names, in this order where it is even
Line = tuple[int, list[str]]  # its number in the file, and its cells


def read_rows(text: str, delimiter: str | None = None, header: bool | None = None, most: int | None = None) -> Found:
    """Return the (child, parent) pairs in a CSV text, the root where it stands alone, and what is wrong with its rows.

    ``most`` is how many cells a row may have. Messages tell places, and none of what stands there.

    >>> read_rows("Spain;Europe;*" + chr(10) + "Japan;*;*").pairs
    [('Spain', 'Europe'), ('Europe', '*'), ('Japan', '*')]
    """
    lines = list(_lines(text, delimiter or find_delimiter(text, MARKS, ragged=True)))
    if header or (header is None and _is_header(lines)):
        lines = lines[1:]
    pairs: list[tuple[str, str]] = []
    alone, mistakes = None, []
    seen: dict[tuple[str, ...], int] = {}
    places: dict[str, str] = {}
    for number, cells in lines:
        if "" in cells:
            mistakes.append(f"line {number}: cell {cells.index('') + 1} is empty; only the end of a row may be")
            continue
        if most is not None and len(cells) > most:
            mistakes.append(f"line {number}: has {counted(len(cells), 'cell')}, a child and its parent are 2")
        names = [name for place, name in enumerate(cells) if place == 0 or name != cells[place - 1]]
        if tuple(names) in seen:
            mistakes.append(f"line {number}: repeats line {seen[tuple(names)]}; give a name one row")
        seen.setdefault(tuple(names), number)
        for place, name in enumerate(cells, start=1):
            places.setdefault(name, f"line {number}, cell {place}")
        pairs += pairwise(names)
        if len(names) == 1:
            alone = names[0]
    # a name alone is the root only where nothing says so otherwise
    return Found(pairs, alone if not pairs else None, mistakes, places)


def write_rows(hierarchy: Hierarchy, delimiter: str = ";") -> str:
    """Return a hierarchy as leaf-to-root rows, one for each leaf, or as child-parent rows where it is no tree.

    >>> from shoal.columns.hierarchy import grow
    >>> print(write_rows(grow([("Spain", "Europe"), ("Europe", "*"), ("Japan", "*")])), end="")
    Spain;Europe;*
    Japan;*
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if not hierarchy.is_tree:
        writer.writerows(hierarchy.as_settings()["pairs"])
        return text.getvalue()
    for code in range(len(hierarchy)):
        if hierarchy.leaves[code]:
            writer.writerow([hierarchy.names[code], *(hierarchy.names[a] for a in hierarchy.ancestors(code))])
    return text.getvalue()


def _lines(text: str, delimiter: str) -> Iterator[Line]:
    """Return the cells of each line that has any, without the spaces around them and the empty ones at the end."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield reader.line_num, cells
    except csv.Error:
        raise DataError(
            f"line {reader.line_num} cannot be read as CSV: a quote is left open, or a cell is huge"
        ) from None


def _is_header(lines: list[Line]) -> bool:
    if len(lines) < 2:
        return False
    others = {name for _, cells in lines[1:] for name in cells}
    return not others & set(lines[0][1])
