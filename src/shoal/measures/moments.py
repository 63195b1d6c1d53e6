"""Joint central moments of every pair of columns, up to the fourth: what covariances and their errors are made of.

All of them come from nine products of matrices, taken a chunk of records at a time. O(n d^2), memory O(d^2).
A pair of columns uses the records that have both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Flags, Floats

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Moments:
    """Central moments of pairs of columns; entry (i, j) is over the records that have both i and j.

    Attributes
    ----------
    counts : float64 (d, d)
        How many records that is.
    means : float64 (d, d)
        Mean of column i.
    m11, m22, m31 : float64 (d, d)
        Means of u v, u^2 v^2 and u^3 v, with u and v the deviations of i and j from their means.
    m20, m40 : float64 (d, d)
        Means of u^2 and u^4.
    """

    counts: Floats
    means: Floats
    m11: Floats
    m20: Floats
    m22: Floats
    m31: Floats
    m40: Floats

    @property
    def correlations(self) -> Floats:
        """Pearson's correlations; NaN where one of the columns does not vary."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(
                (self.m20 > _NOTHING) & (self.m20.T > _NOTHING), self.m11 / np.sqrt(self.m20 * self.m20.T), np.nan
            )


_NOTHING = 1e-18  # a variance of scaled values below this is rounding


def joint_moments(values: Floats, observed: Flags | None = None) -> Moments:
    """Return the moments of a matrix (n, d) of scaled values; ``observed`` is None where none is missing.

    >>> joint_moments(np.array([[1.0, 2.0], [-1.0, -2.0]])).m11
    array([[1., 2.],
           [2., 4.]])
    """
    d = values.shape[1]
    sums = {powers: np.zeros((d, d)) for powers in _PRODUCTS}
    for start in range(0, len(values), _CHUNK):
        u = values[start : start + _CHUNK]
        seen = np.ones_like(u) if observed is None else observed[start : start + _CHUNK].astype(np.float64)
        u = u * seen
        powers = [seen, u, u * u]
        powers += [powers[2] * u, powers[2] * powers[2]]
        for first, second in _PRODUCTS:
            sums[first, second] += powers[first].T @ powers[second]
    counts = sums[0, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        e = {powers: total / counts for powers, total in sums.items()}
    a, b = e[1, 0], e[1, 0].T
    m20 = np.maximum(e[2, 0] - a * a, 0.0)
    m40 = np.maximum(e[4, 0] - 4 * a * e[3, 0] + 6 * a * a * e[2, 0] - 3 * a**4, 0.0)
    m11 = e[1, 1] - a * b
    m22 = (
        e[2, 2]
        - 2 * b * e[2, 1]
        - 2 * a * e[2, 1].T
        + b * b * e[2, 0]
        + a * a * e[2, 0].T
        + 4 * a * b * e[1, 1]
        - 3 * a * a * b * b
    )
    m31 = e[3, 1] - b * e[3, 0] - 3 * a * e[2, 1] + 3 * a * b * e[2, 0] + 3 * a * a * e[1, 1] - 3 * a**3 * b
    return Moments(counts, a, m11, m20, np.maximum(m22, 0.0), m31, m40)


_PRODUCTS = ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (2, 2), (3, 1))
