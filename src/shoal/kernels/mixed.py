"""Distances and centres of records that mix numbers and categories.

Cells are ``float64 (m, d)``: a scaled number, or the code of a category; NaN where missing. What a column is stands in

- ``kinds`` (d,): NUMBER, EQUAL or TABLE;
- ``tables`` flat, ``offset`` (d,), ``width`` (d,): the distance from code a to code b of a TABLE is at
  ``offset + a * width + b``;
- ``weights`` (d,): the part of the column in a distance; they add up to 1.

The distance of two records is the weighted sum of those of their cells. A missing cell is 1 away from any value and 0
from another missing cell.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

NUMBER, EQUAL, TABLE = range(3)
SLACK = 1e-9  # sums within this part of each other are equal: they are added up in different orders


@kernel
def cell_distance(a: float, b: float, kind: int, tables: Floats, offset: int, width: int) -> float:
    """Distance of two cells of a column, of which the second may be a centre."""
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else 1.0
    if kind == NUMBER:
        return abs(a - b)
    if kind == TABLE:
        return float(tables[offset + int(a) * width + int(b)])
    return 0.0 if a == b else 1.0


@kernel
def distance(
    one: Floats, other: Floats, kinds: Ints, tables: Floats, offset: Ints, width: Ints, weights: Floats
) -> float:
    """Distance of a record (d,) from another or from a centre (d,)."""
    total = 0.0
    for j in range(len(kinds)):
        total += weights[j] * cell_distance(one[j], other[j], kinds[j], tables, offset[j], width[j])
    return total


@kernel
def sums_start(width: Ints) -> Ints:
    """Return where the sums of each column start among those of a set of records: the last entry is their number."""
    start = np.zeros(len(width) + 1, np.int64)
    for j in range(len(width)):
        start[j + 1] = start[j] + width[j]
    return start


@kernel
def add_sums(
    record: Floats,
    amount: float,
    kinds: Ints,
    tables: Floats,
    offset: Ints,
    width: Ints,
    start: Ints,
    sums: Floats,
    seen: Floats,
) -> None:
    """Add a record, so many times, to the sums that the centre of a set is found from.

    ``sums`` (start[-1],): of a TABLE the summed distance from each code; of EQUAL the records with each code; of a
    NUMBER the sum. ``seen`` (d,): records that have a value. A negative amount takes a record out.
    """
    for j in range(len(kinds)):
        a = record[j]
        if np.isnan(a):
            continue
        seen[j] += amount
        if kinds[j] == NUMBER:
            sums[start[j]] += amount * a
        elif kinds[j] == EQUAL:
            sums[start[j] + int(a)] += amount
        else:
            row = offset[j] + int(a) * width[j]
            first = start[j]
            for c in range(width[j]):
                sums[first + c] += amount * tables[row + c]


@kernel
def centre_of(kinds: Ints, width: Ints, start: Ints, sums: Floats, seen: Floats, centre: Floats) -> None:
    """Write the centre (d,) of a set: mean, mode, or the code with the least summed distance; NaN where none is seen.

    Ties go to the lowest code, which is the value that appears first.
    """
    for j in range(len(kinds)):
        if seen[j] < 0.5:
            centre[j] = np.nan
            continue
        first = start[j]
        if kinds[j] == NUMBER:
            centre[j] = sums[first] / seen[j]
            continue
        slack = SLACK * seen[j]
        best, least = 0, np.inf
        for c in range(width[j]):
            s = sums[first + c] if kinds[j] == TABLE else -sums[first + c]
            if s < least - slack:
                best, least = c, s
        centre[j] = best
