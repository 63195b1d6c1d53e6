"""Distances and centres of records that mix numbers and categories.

The values of records are ``float64 (m, d)``: a scaled number, or the code of a category; NaN where missing.

The distance of two records is the weighted sum of those of their cells. A missing cell is 0 from another one,
1 from a category, and from a number x, in a column of mean m and variance v, as far as is to be expected: the root of
(x - m)^2 + v. So an outlier is not nearer to a missing cell than to a value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Floats, Ints
from shoal.kernels.compiling import kernel

NUMBER, EQUAL, TABLE = range(3)
SLACK = 1e-9  # sums within this part of each other are equal: they are added up in different orders


class Metric(NamedTuple):
    """What distances and centres need to know of the columns.

    One view of seven arrays costs a kernel nothing: numba passes a tuple as its members.

    Attributes
    ----------
    kinds : int64 (d,)
        NUMBER, EQUAL or TABLE.
    tables : float64, flat
        The distance from code a to code b of a TABLE is at ``offset + a * width + b``.
    offset, width : int64 (d,)
        Where the distances of a column start, and how many codes it has.
    mean, deviation : float64 (d,)
        Of the scaled values of a NUMBER.
    start : int64 (d + 1,)
        Where the sums of a column start among those of a set of records (:func:`add_sums`); the last is their number.
    weights : float64 (d,)
        The part of each column in a distance; they add up to 1.
    centring : float64, flat
        What centres are found from, laid out as ``tables``: these, or their squares in columns for which the name with
        the least squared distance is released.
    """

    kinds: Ints
    tables: Floats
    offset: Ints
    width: Ints
    mean: Floats
    deviation: Floats
    start: Ints
    weights: Floats
    centring: Floats


@kernel(inline=True, counted=False)
def cell_distance(a: float, b: float, metric: Metric, j: int) -> float:
    """Distance of two cells of a column, of which the second may be a centre."""
    kind = metric.kinds[j]
    if np.isnan(a) or np.isnan(b):
        if np.isnan(a) and np.isnan(b):
            return 0.0
        if kind != NUMBER:
            return 1.0
        off = (b if np.isnan(a) else a) - metric.mean[j]
        return np.sqrt(off * off + metric.deviation[j] * metric.deviation[j])
    if kind == NUMBER:
        return abs(a - b)
    if kind == TABLE:
        return float(metric.tables[metric.offset[j] + int(a) * metric.width[j] + int(b)])
    return 0.0 if a == b else 1.0


@kernel(inline=True, counted=False)
def distance(one: Floats, other: Floats, metric: Metric) -> float:
    """Distance of a record (d,) from another or from a centre (d,)."""
    total = 0.0
    for j in range(len(metric.kinds)):
        total += metric.weights[j] * cell_distance(one[j], other[j], metric, j)
    return total


@kernel
def distances(values: Floats, centre: Floats, metric: Metric) -> Floats:
    """Distances (m,) of records (m, d) from a centre (d,)."""
    off = np.empty(len(values))
    for i in range(len(values)):
        off[i] = distance(values[i], centre, metric)
    return off


@kernel(counted=False)
def add_sums(record: Floats, amount: float, metric: Metric, sums: Floats, seen: Floats) -> None:
    """Add a record, so many times, to the sums that the centre of a set is found from, with a weight of 1."""
    add_weighted(record, amount, 1.0, metric, sums, seen)


@kernel(counted=False)
def add_weighted(record: Floats, amount: float, weight: float, metric: Metric, sums: Floats, seen: Floats) -> None:
    """Add a record of some weight, so many times, to the sums that the centre of a set is found from.

    ``sums`` (start[-1],): of a TABLE the summed distance from each code; of EQUAL the records with each code; of a
    NUMBER the sum and the records; all weighted. ``seen`` (d,): records that have a value, not weighted. A negative
    amount takes a record out.
    """
    mass = amount * weight
    kinds, start = metric.kinds, metric.start
    for j in range(len(kinds)):
        a = record[j]
        if np.isnan(a):
            continue
        seen[j] += amount
        if kinds[j] == NUMBER:
            sums[start[j]] += mass * a
            sums[start[j] + 1] += mass
        elif kinds[j] == EQUAL:
            sums[start[j] + int(a)] += mass
        else:
            row = metric.offset[j] + int(a) * metric.width[j]
            first = start[j]
            for c in range(metric.width[j]):
                sums[first + c] += mass * metric.centring[row + c]


@kernel(counted=False)
def centre_of(metric: Metric, sums: Floats, seen: Floats, centre: Floats) -> None:
    """Write the centre (d,) of a set: mean, mode, or the code with the least summed distance; NaN where none is seen.

    Ties go to the lowest code, which is the value that appears first.
    """
    kinds = metric.kinds
    for j in range(len(kinds)):
        if seen[j] < 0.5:
            centre[j] = np.nan
            continue
        first = metric.start[j]
        if kinds[j] == NUMBER:
            centre[j] = sums[first] / sums[first + 1]
            continue
        slack = SLACK * seen[j]
        best, least = 0, np.inf
        for c in range(metric.width[j]):
            s = sums[first + c] if kinds[j] == TABLE else -sums[first + c]
            if s < least - slack:
                best, least = c, s
        centre[j] = best
