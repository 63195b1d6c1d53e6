"""What a release says of the population: weighted means, totals and shares, and how far they are from the original's.

A sample is weighted so that its users can estimate means and totals of the population it was drawn from; that is what
they work with, and what the unweighted measures do not tell. Of a column of numbers with sampling weights w::

    mean = sum of w x / sum of w        total = sum of w x

over the cells that there are, so that a suppressed cell is missing in the total. The change of a mean is in percent of
the weighted standard deviation of the original, that of a total in percent of the original total; that of categories is
the weighted share of the records that would have to move, half the sum of the differences of their shares, where a
missing value is one, too. Dates have neither totals nor a place here. O(n) a column.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Flags, Floats
from shoal.measures.figures import Figures
from shoal.measures.pairs import CategoryPair, NumericPair, Pair


def weighted_estimates(pair: Pair, weights: Floats) -> Figures:
    """Return the weighted estimates of one column before and after; nothing of dates, None where one is not defined.

    >>> there = np.array([True, True])
    >>> pair = NumericPair("x", np.array([-1.0, 1.0]), np.array([-1.0, 0.0]), there, there, mean=4.0, unit=2.0)
    >>> found = weighted_estimates(pair, np.array([1.0, 3.0]))
    >>> found["weighted_mean_original"], found["weighted_mean"], round(found["weighted_total_change"], 2)
    (5.0, 3.5, -30.0)
    """
    if isinstance(pair, CategoryPair):
        shares = [
            np.bincount(codes + 1, weights, pair.categories + 1) / weights.sum()
            for codes in (pair.original, pair.released)
        ]
        return {"weighted_share_change": 50.0 * float(np.abs(shares[1] - shares[0]).sum())}
    if pair.dated:
        return {}
    with np.errstate(over="ignore", invalid="ignore"):
        (mean, total), (mean_now, total_now) = (
            _mean_and_total(pair, values, seen, weights)
            for values, seen in ((pair.original, pair.there), (pair.released, pair.kept))
        )
        deviation = _deviation(pair, weights)
        return {
            "weighted_mean_original": _finite(mean),
            "weighted_mean": _finite(mean_now),
            "weighted_mean_change": _finite(100.0 * (mean_now - mean) / deviation if deviation > 0.0 else np.nan),
            "weighted_total_original": _finite(total),
            "weighted_total": _finite(total_now),
            "weighted_total_change": _finite(100.0 * (total_now - total) / abs(total) if total else np.nan),
        }


def _mean_and_total(pair: NumericPair, values: Floats, seen: Flags, weights: Floats) -> tuple[float, float]:
    """Return the weighted mean and total in the units of the column; NaN where there are no values."""
    own = weights[seen]
    if not len(own):
        return np.nan, np.nan
    all_of_it = float(own.sum())
    mean = pair.mean + pair.unit * float((own / all_of_it) @ values[seen])
    return mean, mean * all_of_it


def _deviation(pair: NumericPair, weights: Floats) -> float:
    values, own = pair.original[pair.there], weights[pair.there]
    if not len(own):
        return 0.0
    own = own / own.sum()
    return float(pair.unit * np.sqrt(own @ (values - own @ values) ** 2))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
