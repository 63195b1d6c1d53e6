"""Delimited text: which mark stands between the cells."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

_DECIMAL_COMMA = re.compile(r"\s*[+-]?[\d.]*,\d+\s*")


def first_rows(text: str, delimiter: str, most: int) -> Iterator[list[str]]:
    """Return the cells of the first rows; raises csv.Error where one has more than csv takes, 131 072 characters."""
    return islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), most)


def find_delimiter(text: str, marks: str, *, most: int = 1000, ragged: bool = False, whole: bool = True) -> str:
    """Return the mark that cuts all of the first rows into the same number of cells, the more the better.

    A comma that stands in nothing but numbers is a decimal comma where another mark cuts all rows, too. Where none
    does, the mark that cuts most rows as it cuts the first of them, or else that cuts most of them alike. One that cuts
    inside of quotes comes after one that does not. Where rows are ``ragged``, as those of a hierarchy are, the mark
    that stands in most of them. The first of ``marks`` where it is even, or where none stands in any. A text that is
    not ``whole`` may end inside a row.

    >>> find_delimiter("a;b;c,d", ",;"), find_delimiter("a;b,c;d,e,f", ";,", ragged=True)
    (';', ';')
    """
    best, reached = marks[0], (0.0, False, 0.0, 0)
    cut = {mark: rows for mark in marks if (rows := _cut_rows(text, mark, most, whole))}
    even = {mark for mark, rows in cut.items() if {len(row) for row in rows} == {len(rows[0])} != {1}}
    if not ragged and "," in even and any(_only_decimal_commas(cut[mark]) for mark in even - {","}):
        del cut[","]
    for mark, rows in cut.items():
        widths = Counter(map(len, rows))
        if ragged:
            score = (float(len(rows) - widths[1]), False, 0.0, 0)
        else:
            width, alike = widths.most_common(1)[0]
            found = (float(width == len(rows[0])), not _cuts_quotes(rows), alike / len(rows), width)
            score = found if width > 1 else reached
        if score > reached:
            best, reached = mark, score
    return best


def same_width(text: str, delimiter: str) -> int | None:
    """Return how many cells every row has; None where some has another number, or where quotes are cut.

    >>> same_width("a;b" + chr(10) + "1,5;2,5", ";"), same_width("a;b" + chr(10) + "1,5;2,5", ",")
    (2, None)
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        width = len(next(rows, ()))
        return width if width and all(len(row) == width and not _cuts_quotes([row]) for row in rows) else None
    except csv.Error:  # a cell without end
        return None


def _cut_rows(text: str, mark: str, most: int, whole: bool) -> list[list[str]]:
    """Return the first rows but blank ones; none where a cell has no end: it is another mark that cuts it."""
    try:
        rows = list(first_rows(text, mark, most))
    except csv.Error:
        return []
    if not whole and 1 < len(rows) < most:
        del rows[-1]
    return [row for row in rows if len(row) > 1 or any(cell.strip() for cell in row)]


def _cuts_quotes(rows: list[list[str]]) -> bool:
    """Whether a cell has half of a pair of quotes: what was cut stands inside of a quoted cell of another mark."""
    return any(cell.count('"') % 2 for row in rows for cell in row)


def _only_decimal_commas(rows: list[list[str]]) -> bool:
    """Whether every cell with a comma is a number with a decimal comma."""
    return all(_DECIMAL_COMMA.fullmatch(cell) for row in rows for cell in row if "," in cell)
