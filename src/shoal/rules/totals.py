"""Totals kept: ``sum(V) unchanged`` is about a whole column, and no record keeps or breaks it by itself.

Means of groups have the total of the values that they stand for, and weighted means the weighted total. What is lost
is lost by rounding to whole numbers, or to the decimals of the column. Controlled rounding gives it back: some groups
are rounded the other way, those for which that costs least in squared error, so that the total is exactly what it was.
A group counts as often as it has records, or with their summed weight, so that this is a knapsack over the sizes of
groups, which dynamic programming solves. Where no choice has the total, as for groups of four records each and a total
that four does not divide, the rule is refused.

After controlled rounding, see for instance L. Willenborg and T. de Waal, Elements of statistical disclosure control,
2001, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Ints
from shoal.rules.evaluate import Observations

_STATES = 1 << 25  # most cells of the table of dynamic programming
_CLOSE = 1e-9  # relative difference of totals of floats that counts as none
_WEIGHT_DECIMALS = 3  # decimals of sampling weights up to which weighted totals of whole numbers are exact


@dataclass(frozen=True)
class Rounding:
    """Values of groups that have a total, and how many groups were rounded the other way; None where there are none."""

    values: Ints
    moved: int


def total_of(one: Observations, weights: Floats | None = None) -> Fraction | float:
    """Return the total of a column: exact for whole numbers and decimals without weights.

    >>> total_of(Observations(np.array([0.1, 0.2]), np.array([True, True]), 1))
    Fraction(3, 10)
    """
    seen = one.values[one.observed]
    if weights is not None:
        return float((seen.astype(np.float64) * weights[one.observed]).sum())
    if seen.dtype.kind in "iu":
        return Fraction(sum(seen.tolist()))
    if one.decimals is not None:
        scale = 10**one.decimals
        return Fraction(sum(np.rint(seen * scale).astype(np.int64).tolist()), scale)
    return float(seen.sum())


def same_total(before: Fraction | float, after: Fraction | float) -> bool:
    """Whether two totals are equal; floats up to their rounding.

    >>> same_total(Fraction(3), Fraction(3)), same_total(0.3, 0.1 + 0.2)
    (True, True)
    """
    if isinstance(before, Fraction) and isinstance(after, Fraction):
        return before == after
    return abs(float(before) - float(after)) <= _CLOSE * max(abs(float(before)), abs(float(after)), 1e-300)


def whole_weights(weights: Floats | None, records: int) -> Ints | None:
    """Return how often each record counts, as whole numbers; None where weights have too many decimals for that."""
    if weights is None:
        return np.ones(records, dtype=np.int64)
    for decimals in range(_WEIGHT_DECIMALS + 1):
        scaled = weights * 10.0**decimals
        if np.allclose(scaled, np.rint(scaled), rtol=0.0, atol=1e-9 * 10.0**decimals):
            return np.rint(scaled).astype(np.int64)
    return None


def round_to_total(means: Floats, counts: Ints, total: int, low: int, high: int) -> Rounding | None:
    """Return whole numbers near some means of which ``counts`` of each add up to a total; None where there are none.

    Parameters
    ----------
    means : float64 (groups,)
        What is rounded.
    counts : int64 (groups,)
        How often each group counts.
    total : int
        What ``sum(counts * values)`` has to be.
    low, high : int
        Limits of the values.

    Examples
    --------
    >>> round_to_total(np.array([1.4, 2.45, 3.2]), np.array([3, 3, 4]), 24, 0, 9).values
    array([1, 3, 3])
    """
    values = np.clip(np.rint(means), low, high).astype(np.int64)
    missing = total - int(sum((counts * values).tolist()))
    if missing == 0:
        return Rounding(values, 0)
    divisor = int(np.gcd.reduce(counts[counts > 0])) if (counts > 0).any() else 0
    if divisor == 0 or missing % divisor:
        return None
    counts, missing = counts // divisor, missing // divisor
    groups, steps, prices = _moves(means, values, counts, (low, high), missing)
    chosen = _cheapest(steps, prices, missing)
    if chosen is None:
        return None
    np.add.at(values, groups[chosen], np.sign(steps[chosen]))  # the first units are the cheapest
    return Rounding(values, len(np.unique(groups[chosen])))


def _moves(
    means: Floats, values: Ints, counts: Ints, limits: tuple[int, int], missing: int
) -> tuple[Ints, Ints, Floats]:
    """Return groups that may be rounded the other way, what the total gains by it, and its price, the cheapest first.

    A group may move by several units, each of them dearer than the one before. Of moves that count alike only the
    cheapest can be of use: as many as fill what is missing, and some more to make up for a remainder.
    """
    low, high = limits
    units = _units(int(counts.max()))
    found: list[tuple[Ints, Ints, Floats]] = []
    for way in (1, -1):
        group = np.tile(np.flatnonzero(counts > 0), units)
        start = values[group] + way * np.repeat(np.arange(units), len(group) // units)
        price = counts[group] * ((start + way - means[group]) ** 2 - (start - means[group]) ** 2)
        open_ = (start + way >= low) & (start + way <= high)
        group, price = group[open_], price[open_]
        order = np.lexsort((group, price, counts[group]))
        group, price = group[order], price[order]
        own = counts[group]
        useful = np.arange(len(own)) - np.searchsorted(own, own) < abs(missing) // own + 4 * units + 1
        found.append((group[useful], way * own[useful], price[useful]))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


def _units(largest: int) -> int:
    """Return by how many units a group may move: a single odd group among even ones has to make up for a remainder."""
    return min(largest, 16) if largest <= 200 else 2


def _cheapest(steps: Ints, prices: Floats, missing: int) -> Ints | None:
    """Return the moves with the least summed price whose steps add up to what is missing; None where none do."""
    if not len(steps):
        return None
    largest = int(np.abs(steps).max())
    reach = abs(missing) + (_units(largest) + 2) * largest
    size = 2 * reach + 1
    if size * len(steps) > _STATES * 8:
        return None
    best = np.full(size, np.inf)
    best[reach] = 0.0
    taken: list[NDArray[np.uint8]] = []
    # small moves of either sign in turn, so that partial sums stay within reach
    order = np.argsort(prices / np.abs(steps), kind="stable")
    for move in order.tolist():
        step = int(steps[move])
        moved = np.full(size, np.inf)
        if step > 0:
            moved[step:] = best[:-step] + prices[move]
        else:
            moved[:step] = best[-step:] + prices[move]
        better = moved < best
        best = np.where(better, moved, best)
        taken.append(np.packbits(better))
    at = reach + missing
    if not np.isfinite(best[at]):
        return None
    chosen = []
    for move, flags in zip(reversed(order.tolist()), reversed(taken), strict=True):
        if np.unpackbits(flags, count=size)[at]:
            chosen.append(move)
            at -= int(steps[move])
    return np.array(chosen, dtype=np.int64)
