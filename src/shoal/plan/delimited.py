"""Delimited text: which mark stands between the cells."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice


def first_rows(text: str, delimiter: str, most: int) -> Iterator[list[str]]:
    """Return the cells of the first rows; raises csv.Error where one has more than csv takes, 131 072 characters."""
    return islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), most)


def find_delimiter(text: str, marks: str, *, most: int = 1000, ragged: bool = False) -> str:
    """Return the mark that cuts most of the first rows into the same number of cells, the more the better.

    Where rows are ``ragged``, as those of a hierarchy are, the mark that stands in most of them. The first of ``marks``
    where it is even, or where none stands in any.

    >>> find_delimiter("a;b;c,d", ",;"), find_delimiter("a;b,c;d,e,f", ";,", ragged=True)
    (';', ';')
    """
    best, reached = marks[0], (0.0, 0 if ragged else 1)
    for mark in marks:
        try:
            widths = Counter(len(row) for row in first_rows(text, mark, most) if row)
        except csv.Error:  # a cell without end: it is another mark that cuts it
            continue
        if not widths:
            continue
        width, rows = widths.most_common(1)[0]
        score = (float(widths.total() - widths[1]), 0) if ragged else (round(rows / widths.total(), 1), width)
        if score > reached and (ragged or width > 1):
            best, reached = mark, score
    return best
