"""What a group costs at least, whatever is released for it: bounds for columns of any kind.

From its pairs. Whatever c is released for the s records of a group, the sum over its pairs of what both lose has every
record s - 1 times. So a group loses at least the sum of ``apart`` over s - 1, where ``apart`` is what two records lose
at least together, whatever c is:

- of a column of categories, the least of d(a, c)^2 + d(b, c)^2 over all names c, times its part in the information
  loss;
- of records, half the square of e = sum_j r_j e_j, where e_j is |a - b| for numbers and the least d(a, c) + d(b, c)
  over all names c for categories: D(x, c) + D(y, c) >= e, and two numbers of sum e have squares of e^2 / 2 or more.

Numbers in the information loss have more: sum (x - c)^2 is at least that about the mean, the sum of the squared
differences of the pairs, ``spread``, over s.

From all of its records. They cost at least the sum over the columns of the least sum of d(x, c)^2, times its part in
the information loss, and the square of the sum over the columns of r_j times the least sum of d(x, c), over s:
no s numbers of a sum t have squares that add up to less than t^2 / s.

Nothing here needs distances to be a metric, nor c to be the centre: a column that is suppressed, sampling weights and
aggregators change c alone. A missing cell loses nothing and is in no pair; the records that have the cell are s or
fewer.

A group of s costs less than some prices only where one of its subsets of s - 1 has bounds below its prices: each record
is in s - 1 of these s subsets, so what they lose with the c of the group adds up to s - 1 times what the group loses,
and their prices to s - 1 times its prices; one of the subsets loses less with that c than its prices, and its bounds
are no higher.

Cost: O(d m^2 + codes^3) for the pairs of m distinct records, O(s codes) for a group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.arrays import Flags, Floats, Ints
from shoal.kernels.compiling import kernel
from shoal.kernels.mixed import NUMBER, TABLE, Metric
from shoal.partition.semantic_optimal.state import Setting

ROUNDED = 1e-9  # part by which the bound of a pair is lowered: more than the rounding errors of its sum


class PairBounds(NamedTuple):
    """What pairs of distinct records (m, m) add to the bound of a group of s, over s and over s - 1."""

    spread: Floats
    apart: Floats


def pair_bounds(setting: Setting) -> PairBounds:
    """Return the bounds of all pairs of distinct records."""
    m = len(setting.values)
    spread, apart = np.zeros((m, m)), np.zeros((m, m))
    _fill(setting, _least_sums(setting.metric, 1), _least_sums(setting.metric, 2), spread, apart)
    return PairBounds(spread, apart)


@kernel
def _least_sums(metric: Metric, power: int) -> Floats:
    """Least d(a, c)^power + d(b, c)^power over all names c, laid out as the tables of the columns."""
    least = np.zeros(len(metric.tables))
    for j in range(len(metric.kinds)):
        if metric.kinds[j] != TABLE:
            continue
        first, width = metric.offset[j], metric.width[j]
        end = metric.offset[j + 1] if j + 1 < len(metric.kinds) else len(metric.tables) - 1
        there = (end - first) // width  # codes that records have come first
        for a in range(there):
            for b in range(there):
                best = np.inf
                for c in range(width):
                    off = metric.tables[first + a * width + c]
                    other = metric.tables[first + b * width + c]
                    best = min(best, off + other if power == 1 else off * off + other * other)
                least[first + a * width + b] = best
    return least


@kernel
def _fill(setting: Setting, sums: Floats, squares: Floats, spread: Floats, apart: Floats) -> None:
    """Write the bounds (m, m) of all pairs."""
    metric, values = setting.metric, setting.values
    for i in range(len(values)):
        for other in range(i):
            both, by_number, by_name = 0.0, 0.0, 0.0
            for j in range(len(metric.kinds)):
                a, b = values[i, j], values[other, j]
                if np.isnan(a) or np.isnan(b):
                    continue
                if metric.kinds[j] == NUMBER:
                    both += setting.of_records[j] * abs(a - b)
                    by_number += setting.of_columns[j] * (a - b) * (a - b)
                elif metric.kinds[j] == TABLE:
                    at = metric.offset[j] + int(a) * metric.width[j] + int(b)
                    both += setting.of_records[j] * sums[at]
                    by_name += setting.of_columns[j] * squares[at]
                elif a != b:
                    both += setting.of_records[j]
                    by_name += setting.of_columns[j]
            spread[i, other] = spread[other, i] = (1.0 - ROUNDED) * by_number
            apart[i, other] = apart[other, i] = (1.0 - ROUNDED) * (0.5 * both * both + by_name)


@kernel
def below_prices(setting: Setting, sets: Ints, prices: Floats) -> Flags:
    """Which sets (sets, s) of records cost less than their prices (m,) as far as the bound from all records tells."""
    below = np.empty(len(sets), np.bool_)
    held = np.empty(sets.shape[1])
    for g in range(len(sets)):
        priced = 0.0
        for one in sets[g]:
            priced += prices[one]
        below[g] = (1.0 - ROUNDED) * _least_cost(setting, sets[g], held) < priced
    return below


@kernel
def _least_cost(setting: Setting, group: Ints, held: Floats) -> float:
    """What a group (s,) costs at least whatever is released for it; ``held`` (s,) is room."""
    metric, values = setting.metric, setting.values
    moved, squares = 0.0, 0.0
    for j in range(len(metric.kinds)):
        there = 0
        for one in group:
            if not np.isnan(values[one, j]):
                held[there] = values[one, j]
                there += 1
        if there < 2:
            continue
        own = held[:there]
        own.sort()
        off, square = np.inf, np.inf
        if metric.kinds[j] == NUMBER:
            mean, off, square = own.mean(), 0.0, 0.0
            for x in own:
                off += abs(x - own[there // 2])
                square += (x - mean) * (x - mean)
        elif metric.kinds[j] == TABLE:
            first, width = metric.offset[j], metric.width[j]
            for c in range(width):
                to, squared = 0.0, 0.0
                for a in own:
                    d = metric.tables[first + int(a) * width + c]
                    to += d
                    squared += d * d
                off, square = min(off, to), min(square, squared)
        else:
            most, run = 1, 1
            for t in range(1, there):
                run = run + 1 if own[t] == own[t - 1] else 1
                most = max(most, run)
            off = square = float(there - most)
        moved += setting.of_records[j] * off
        squares += setting.of_columns[j] * square
    return moved * moved / len(group) + squares
